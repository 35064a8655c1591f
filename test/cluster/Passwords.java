import io.trino.spi.Plugin;
import io.trino.spi.security.AccessDeniedException;
import io.trino.spi.security.BasicPrincipal;
import io.trino.spi.security.PasswordAuthenticator;
import io.trino.spi.security.PasswordAuthenticatorFactory;
import java.util.List;
import java.util.Map;

/** Has one password for every user. Trino's own plugins for that are not in Maven Central. */
public class Passwords implements Plugin {
  @Override
  public Iterable<PasswordAuthenticatorFactory> getPasswordAuthenticatorFactories() {
    return List.of(
        new PasswordAuthenticatorFactory() {
          @Override
          public String getName() {
            return "one";
          }

          @Override
          public PasswordAuthenticator create(Map<String, String> config) {
            return (user, password) -> {
              if (password.equals(config.get("one.password"))) return new BasicPrincipal(user);
              throw new AccessDeniedException("Invalid credentials");
            };
          }
        });
  }
}
