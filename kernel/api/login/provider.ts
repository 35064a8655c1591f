import type { AuthorizationServer, Client } from 'oauth4webapi';
import undici, { type Dispatcher } from 'undici';
import { present } from '../../present.js';
import { underLimit } from '../../signals.js';
import { inTheWay } from '../failures/statuses.js';
import { dispatcherTo } from '../network/network-connection.js';
import { type Endpoint, isThisMachine } from '../profile.js';
import { type Asking, checkIssuer, LoginError, type LoginTimeout, loginError } from './error.js';
import type { AuthorizationEndpoints } from './login-store.js';

/** Tokens issued by an authorization server. */
export interface Granted {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Seconds; absent if the server does not report it. */
  readonly expiresIn?: number;
}

/** The start of a sign-in. */
export interface Authorization {
  /** The sign-in page. */
  readonly page: URL;
  readonly clientId: string;
  readonly server: AuthorizationEndpoints;
  /** Returns whether parameters belong to this sign-in, by their state. */
  isAnswer(parameters: URLSearchParams): boolean;
  /** Exchanges the code in such parameters for tokens. */
  exchange(parameters: URLSearchParams, timeout: LoginTimeout): Promise<Granted>;
}

/** Returns the sign-in page of a profile, with a client that may redirect to `redirectUri`. Throws LoginError. */
export async function authorize(
  endpoint: Endpoint,
  redirectUri: string,
  timeout: LoginTimeout,
): Promise<Authorization> {
  const oauth = await import('oauth4webapi');
  const server = await discover(endpoint, timeout);
  const clientId = endpoint.signIn?.clientId ?? (await register(endpoint, server, redirectUri, timeout));
  const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
  const page = new URL(server.authorization_endpoint);
  const offers = server.scopes_supported?.includes(OFFLINE);
  const scope = endpoint.signIn?.scope ?? (offers ? OFFLINE : undefined);
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    // Without consent there is no long-lived token: OpenID Connect Core, section 11.
    ...present({ scope, prompt: scope?.split(' ').includes(OFFLINE) ? 'consent' : undefined }),
  };
  for (const [name, value] of Object.entries(parameters)) page.searchParams.set(name, value);
  const client: Client = { client_id: clientId };
  return {
    page,
    clientId,
    server: endpointsOf(server),
    isAnswer: parameters => parameters.get('state') === state,
    exchange: (parameters, timeout) => {
      const secrets = [verifier, state, ...parameters.getAll('code')];
      return ask(
        { endpoint, action: 'sign in', url: new URL(server.token_endpoint), secrets },
        timeout,
        async options => {
          const valid = oauth.validateAuthResponse(server, client, parameters, state);
          const answer = await oauth.authorizationCodeGrantRequest(
            server,
            client,
            oauth.None(),
            valid,
            redirectUri,
            verifier,
            options,
          );
          return grantedIn(await oauth.processAuthorizationCodeResponse(server, client, answer));
        },
      );
    },
  };
}

/** Exchanges a refresh token for new tokens. Throws LoginError. */
export async function renew(
  endpoint: Endpoint,
  server: AuthorizationEndpoints,
  clientId: string,
  refreshToken: string,
  timeout: LoginTimeout,
): Promise<Granted> {
  const oauth = await import('oauth4webapi');
  const asking = {
    endpoint,
    action: `renew the token of ${endpoint.profileName}`,
    url: new URL(server.token_endpoint),
    secrets: [refreshToken],
  };
  return ask(asking, timeout, async options => {
    const client: Client = { client_id: clientId };
    const as: AuthorizationServer = { ...server };
    const answer = await oauth.refreshTokenGrantRequest(as, client, oauth.None(), refreshToken, options);
    return grantedIn(await oauth.processRefreshTokenResponse(as, client, answer));
  });
}

/** Revokes a token as specified by RFC 7009. Throws LoginError. */
export async function revoke(
  endpoint: Endpoint,
  server: AuthorizationEndpoints & { readonly revocation_endpoint: string },
  clientId: string,
  token: string,
  timeout: LoginTimeout,
): Promise<void> {
  const oauth = await import('oauth4webapi');
  const asking = {
    endpoint,
    action: 'revoke the token',
    url: new URL(server.revocation_endpoint),
    secrets: [token],
  };
  await ask(asking, timeout, async options => {
    const answer = await oauth.revocationRequest(
      { ...server },
      { client_id: clientId },
      oauth.None(),
      token,
      options,
    );
    await oauth.processRevocationResponse(answer);
  });
}

/** The scope of tokens that outlast the sign-in. */
const OFFLINE = 'offline_access';

/** The metadata that a sign-in needs. */
type Server = AuthorizationServer & AuthorizationEndpoints & { readonly authorization_endpoint: string };

async function discover(endpoint: Endpoint, timeout: LoginTimeout): Promise<Server> {
  const oauth = await import('oauth4webapi');
  const url = new URL(endpoint.signIn?.issuer ?? usualIssuer(endpoint.url));
  const asking = { endpoint, action: `sign in to ${endpoint.profileName}`, url, secrets: [] };
  const found = await ask(asking, timeout, async options => {
    for (const algorithm of ['oauth2', 'oidc'] as const) {
      const answer = await oauth.discoveryRequest(url, { ...options, algorithm });
      const isMetadata = answer.ok && /json/i.test(answer.headers.get('content-type') ?? '');
      if (isMetadata) return checkedServer(endpoint, await oauth.processDiscoveryResponse(url, answer));
      await answer.body?.cancel();
      if (answer.status >= 500 || inTheWay.has(answer.status))
        throw Object.assign(new Error('no metadata'), { cause: answer });
    }
    return undefined;
  });
  if (found !== undefined) return found;
  if (endpoint.signIn?.issuer === undefined && isConsole(url)) return consoleServer(url);
  throw new LoginError(`${url.host} does not say how to sign in: it has no OAuth 2.0 metadata`, {
    hint: checkIssuer(endpoint),
  });
}

/** The Axiom console issues tokens for its API; any other service is assumed to issue its own. */
function usualIssuer(url: string): string {
  const { protocol, host, origin } = new URL(url);
  return host.startsWith('api.') ? `${protocol}//app.${host.slice('api.'.length)}` : origin;
}

function isConsole({ host }: URL): boolean {
  return host.startsWith('app.');
}

/** Returns the documented addresses of a console without metadata. */
function consoleServer({ origin }: URL): Server {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/oauth/authorize`,
    token_endpoint: `${origin}/oauth/token`,
    code_challenge_methods_supported: ['S256'],
  };
}

function checkedServer(endpoint: Endpoint, server: AuthorizationServer): Server {
  const { host } = new URL(server.issuer);
  const { authorization_endpoint, token_endpoint, revocation_endpoint, registration_endpoint } = server;
  const urls = [authorization_endpoint, token_endpoint, revocation_endpoint, registration_endpoint];
  if (authorization_endpoint === undefined || token_endpoint === undefined || !urls.every(isUsable))
    throw new LoginError(`${host} has no usable sign-in address`, { hint: checkIssuer(endpoint) });
  if (!server.code_challenge_methods_supported?.includes('S256'))
    throw new LoginError(`${host} does not support PKCE by S256, without which a sign-in is not safe`, {
      hint: 'Use a token from the console: `token` in ~/.axiom.toml.',
    });
  return { ...server, authorization_endpoint, token_endpoint };
}

/** Returns whether tokens and codes may be sent to an address: over TLS, or on this machine. */
function isUsable(address: string | undefined): boolean {
  if (address === undefined) return true;
  if (!URL.canParse(address)) return false;
  const url = new URL(address);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isThisMachine(url));
}

function endpointsOf({ issuer, token_endpoint, revocation_endpoint }: Server): AuthorizationEndpoints {
  return { issuer, token_endpoint, ...present({ revocation_endpoint }) };
}

/** Registers a new client without a secret, as specified by RFC 7591, and returns its id. */
async function register(
  endpoint: Endpoint,
  server: Server,
  redirectUri: string,
  timeout: LoginTimeout,
): Promise<string> {
  const { profileName } = endpoint;
  const { host } = new URL(server.issuer);
  if (server.registration_endpoint === undefined)
    throw new LoginError(`${host} does not register clients, and ${profileName} names none`, {
      hint: `Add \`oauth_client_id = "…"\` to [deployments.${profileName}] in ~/.axiom.toml: the id of a client that may redirect to http://127.0.0.1.`,
    });
  const oauth = await import('oauth4webapi');
  const metadata = {
    client_name: 'apl-kernel',
    application_type: 'native',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  const asking = {
    endpoint,
    action: 'register a client',
    url: new URL(server.registration_endpoint),
    secrets: [],
  };
  return ask(asking, timeout, async options => {
    const answer = await oauth.dynamicClientRegistrationRequest(server, metadata, options);
    return (await oauth.processDynamicClientRegistrationResponse(answer)).client_id;
  });
}

function grantedIn(answer: {
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly expires_in?: number;
}): Granted {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn } = answer;
  if (!/^[\x21-\x7e]+$/.test(accessToken))
    throw new LoginError('the token of the sign-in contains characters that cannot be sent', {
      hint: 'This is a bug in the authorization server: use a token from the console.',
    });
  return { accessToken, ...present({ refreshToken, expiresIn }) };
}

type AskOptions = Awaited<ReturnType<typeof optionsOf>>;

/** Sends one request to an authorization server; throws LoginError, ConnectionError, TlsError or InterruptedError. */
async function ask<T>(
  asking: Asking,
  timeout: LoginTimeout,
  work: (options: AskOptions) => Promise<T>,
): Promise<T> {
  if (!isUsable(asking.url.href))
    throw new LoginError(`${asking.url.host} uses http, which anyone on the network can read`, {
      hint: 'Write https:// in the address.',
    });
  const dispatcher = dispatcherTo(asking.url);
  try {
    return await underLimit(timeout.signal, timeout.answerMs, async limited =>
      work(await optionsOf(dispatcher, limited)),
    );
  } catch (error) {
    throw loginError(asking, error, timeout);
  } finally {
    await dispatcher.destroy();
  }
}

async function optionsOf(dispatcher: Dispatcher, signal: AbortSignal) {
  const { allowInsecureRequests, customFetch } = await import('oauth4webapi');
  const send = (url: string, init: object) => undici.fetch(url, { ...init, dispatcher });
  // Addresses over http are known to be on this machine.
  return {
    [allowInsecureRequests]: true,
    [customFetch]: send as unknown as typeof fetch,
    signal,
  } as const;
}
