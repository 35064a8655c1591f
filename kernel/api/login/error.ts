import { AplKernelError } from '../../errors.js';
import { oneLine, withoutTokens } from '../../text.js';
import { InterruptedError } from '../api-errors.js';
import { gatewayHint, inTheWay, refusedHint } from '../failures/statuses.js';
import { transportError } from '../failures/transport.js';
import type { Endpoint } from '../profile.js';

/** Signing in, renewing or revoking a token failed; the message contains no token, code or other secret. */
export class LoginError extends AplKernelError {
  constructor(message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super('login', message, options);
  }
}

/** A request to an authorization server. */
export interface Asking {
  readonly endpoint: Endpoint;
  /** Completes "could not {action}". */
  readonly action: string;
  readonly url: URL;
  /** Must not be shown. */
  readonly secrets: readonly string[];
}

/** Timeout of an authorization server. */
export interface LoginTimeout {
  readonly signal: AbortSignal;
  /** Milliseconds. */
  readonly answerMs: number;
}

/** Returns the error for what the OAuth library or the network threw. */
export function loginError(
  asking: Asking,
  error: unknown,
  { signal, answerMs }: LoginTimeout,
): AplKernelError {
  if (error instanceof AplKernelError) return error;
  if (signal.aborted) return new InterruptedError(error);
  const { endpoint, action, url } = asking;
  const { host } = url;
  if (!(error instanceof Error)) return new LoginError(`could not ${action}`, { cause: error });
  if (error.name === 'TimeoutError')
    return new LoginError(`could not ${action}: ${host} did not respond within ${answerMs / 1000} s`, {
      hint: 'Run the cell again in a moment.',
    });
  const { error: name, error_description: description, cause } = error as Error & RefusedAnswer;
  if (typeof name === 'string') return refused(asking, name, description);
  const { status } = (cause ?? {}) as { readonly status?: unknown };
  if (typeof status === 'number' && status >= 300)
    return new LoginError(`could not ${action}: ${host} responded with status ${status}`, {
      hint: statusHint(endpoint, status),
    });
  if (isOfLibrary(error))
    return new LoginError(`could not ${action}: the response from ${host} is not from an OAuth 2.0 server`, {
      hint: checkIssuer(endpoint),
    });
  return transportError({ endpoint, action, host }, error);
}

function statusHint(endpoint: Endpoint, status: number): string {
  if (status === 511 || status >= 520) return gatewayHint(status);
  if (inTheWay.has(status)) return refusedHint(status, endpoint.profileName);
  return status >= 500 ? 'Run the cell again in a moment.' : checkIssuer(endpoint);
}

/** Members of the library's errors for responses from an authorization server. */
interface RefusedAnswer {
  readonly error?: unknown;
  readonly error_description?: unknown;
}

/** Returns whether an error is the library's own, by its code; network errors have other codes, or none. */
function isOfLibrary(error: Error & { readonly code?: unknown }): boolean {
  return typeof error.code === 'string' && error.code.startsWith('OAUTH_');
}

function refused({ endpoint, action, url, secrets }: Asking, name: string, description: unknown): LoginError {
  const { profileName } = endpoint;
  const said = [name, description].filter(each => typeof each === 'string' && each !== '').join(': ');
  const shown = oneLine(withoutTokens(without(said, secrets), 1), 500);
  if (name === 'access_denied')
    return new LoginError(`the sign-in to ${profileName} was denied (${shown})`, {
      hint: `\`%login ${profileName}\` starts again.`,
    });
  if (name === 'invalid_grant' && action.startsWith('renew'))
    return new LoginError(`the sign-in to ${profileName} has ended: ${url.host} no longer renews it`, {
      hint: `\`%login ${profileName}\` signs in again.`,
    });
  return new LoginError(`could not ${action}: ${url.host} refused it (${shown})`, {
    hint: checkIssuer(endpoint),
  });
}

function without(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => (secret === '' ? rest : rest.replaceAll(secret, '***')), text);
}

/** Returns the hint for an address that does not respond like an authorization server. */
export function checkIssuer({ profileName }: Pick<Endpoint, 'profileName'>): string {
  return `Check oauth_issuer, oauth_client_id and oauth_scope of [deployments.${profileName}] in ~/.axiom.toml; a token from the console needs no sign-in.`;
}
