import { AplKernelError } from '../../errors.js';
import { present } from '../../present.js';
import { ConnectionError, TlsError } from '../api-errors.js';
import { type Endpoint, isOwnService } from '../profile.js';

/** A failed request; `action` completes "could not {action}". */
export interface Attempt {
  readonly endpoint: Endpoint;
  readonly action: string;
  readonly host: string;
}

/** Codes of connections that ended before the response was complete; the request may have been carried out. */
export const cutOffCodes: readonly string[] = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET'];

export const endedHint =
  'Run the cell again: the service is started again. If it ends again, the machine may be out of memory: request fewer rows or fields, or shorter values.';

/** Returns the error for a request without a complete response. */
export function transportError(attempt: Attempt, error: unknown): AplKernelError {
  const own = ownErrorIn(error);
  if (own !== undefined) return own;
  const codes = errorCodes(error);
  const has = (...wanted: readonly string[]) => wanted.some(code => codes.includes(code));
  const local = isOwnService(attempt.endpoint);
  if (has('ECONNREFUSED')) {
    return new ConnectionError(`nothing answers at ${attempt.host} (connection refused)`, {
      code: 'connection-refused',
      hint: local
        ? 'Run the cell again: the local service is started again.'
        : 'Check the address of the profile, and that the service is running.',
      cause: error,
    });
  }
  if (has('ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'ENODATA')) {
    return new ConnectionError(`the host name ${attempt.host} could not be resolved`, {
      code: 'host-not-found',
      hint: 'Check the spelling of the URL in the profile, and the network connection (VPN, DNS, proxy).',
      cause: error,
    });
  }
  const insecure = tlsError(attempt.host, error);
  if (insecure !== undefined) return insecure;
  if (local && has(...cutOffCodes)) {
    return new ConnectionError('the local service ended before it responded', {
      code: 'connection-lost',
      hint: endedHint,
      cause: error,
    });
  }
  return headError(attempt, error, codes) ?? lostConnection(attempt, error, codes);
}

/** Returns the error for a failed TLS connection; undefined for any other failure. */
export function tlsError(host: string, error: unknown): TlsError | undefined {
  const codes = errorCodes(error);
  if (!codes.some(code => tlsCode.test(code))) return undefined;
  return new TlsError(`no secure connection to ${host} (${codes.join(', ')})`, {
    code: 'tls',
    hint: tlsHint(codes),
    cause: error,
  });
}

/** Returns whether a response does not begin with a valid HTTP head: retrying would not help. */
export function isNotHttp(error: unknown): boolean {
  return unreadable(error) !== undefined;
}

/** Returns all codes along the chain of causes, outermost first; several tried addresses give an AggregateError. */
export function errorCodes(error: unknown): readonly string[] {
  const found: string[] = [];
  for (let each = error, depth = 0; each instanceof Error && depth < 8; each = each.cause, depth++) {
    const inner = each instanceof AggregateError ? each.errors.flatMap(errorCodes) : [];
    const { code } = each as NodeJS.ErrnoException;
    for (const item of [...inner, code]) if (item && !found.includes(item)) found.push(item);
  }
  return found;
}

/** Returns an error that is already ours, such as one about a proxy; HTTP libraries may wrap it. */
export function ownErrorIn(error: unknown): AplKernelError | undefined {
  if (error instanceof AplKernelError) return error;
  return error instanceof Error ? ownErrorIn(error.cause) : undefined;
}

const tlsCode = /^(CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/;

const ofAuthority =
  'The certificate is from an authority that this machine does not trust. If that is your company or its proxy, set NODE_EXTRA_CA_CERTS to its certificate file and restart the kernel; on an unfamiliar network, send nothing.';

/** Hints for failed TLS connections; the first row that matches a code applies. */
const tlsHints: readonly (readonly [code: RegExp, hint: string])[] = [
  [
    /^CERT_HAS_EXPIRED/,
    'The certificate of the service is no longer valid: check the clock of this machine, then ask the operator of the service to renew it.',
  ],
  [
    /^CERT_NOT_YET_VALID/,
    'The certificate of the service is not valid yet: check the clock of this machine.',
  ],
  [
    /ALTNAME/,
    'The certificate belongs to another host: check the host in the URL of the profile, and that no sign-in page of the network responds for it.',
  ],
  [
    /WRONG_VERSION_NUMBER|PACKET_LENGTH/,
    'That port does not speak TLS: check it in the URL of the profile, the proxy of HTTPS_PROXY if there is one, and that no sign-in page of the network responds for it. Only a service on your own machine or network may use http://.',
  ],
  [
    /CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE/,
    'The service may require a client certificate, which the kernel does not send, or share no cipher with it: ask its operator for an address that needs only a token.',
  ],
  [
    /PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL/,
    'The service uses a version of TLS before 1.2, which is not secure: ask its operator for a newer one.',
  ],
  [/^(DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/, ofAuthority],
];

function tlsHint(codes: readonly string[]): string {
  const [, hint] = tlsHints.find(([wanted]) => codes.some(code => wanted.test(code))) ?? [];
  return hint ?? 'Check the URL of the profile, and any proxy on the way to the service.';
}

/** Parser errors of the library for responses that are not HTTP; its other errors concern an HTTP head. */
const notHttp = /^(Expected |Invalid HTTP version|Invalid word|Invalid method)/;

/** Library messages about unexpected interim responses, which have no code. */
const interim = /^(bad response|bad upgrade)$/;

interface Unreadable {
  readonly isHttp: boolean;
  /** The library's name for the problem, if any. */
  readonly why?: string;
}

/** Returns what is wrong with a response's head; undefined for any other failure. */
function unreadable(error: unknown): Unreadable | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  if (error.name === 'HTTPParserError') {
    const [, why] = /\(([^()]+)\)$/.exec(error.message) ?? [];
    return { isHttp: why !== undefined && !notHttp.test(why), ...present({ why: why?.toLowerCase() }) };
  }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return { isHttp: true, why: 'its headers are too long' };
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return { isHttp: true, why: 'its length is ambiguous' };
  if (interim.test(error.message)) return { isHttp: true, why: 'an interim response that was not requested' };
  return unreadable(error.cause);
}

function headError(attempt: Attempt, error: unknown, codes: readonly string[]): ConnectionError | undefined {
  const found = unreadable(error);
  if (found === undefined) return undefined;
  const plain = attempt.endpoint.url.startsWith('http:');
  if (found.isHttp) {
    return new ConnectionError(
      `the response from ${attempt.host} does not start like HTTP (${found.why ?? codes.join(', ')})`,
      {
        code: 'connection-lost',
        hint: 'A proxy on the way may change the responses: connect without it (VPN, NO_PROXY), or show this to its operator.',
        cause: error,
      },
    );
  }
  return new ConnectionError(`${attempt.host} did not respond with HTTP`, {
    code: 'connection-lost',
    hint: plain
      ? 'If that port speaks https, write https:// in the URL of the profile; else check its host and port.'
      : 'Check the host and the port in the URL of the profile.',
    cause: error,
  });
}

/** Failed connections to other machines; the first row that matches a code applies. */
const lost: readonly { readonly of: RegExp; what(host: string): string; readonly hint: string }[] = [
  {
    of: /^(ENETUNREACH|EHOSTUNREACH|ENETDOWN|EHOSTDOWN|EADDRNOTAVAIL)$/,
    what: host => `there is no network route to ${host}`,
    hint: 'Check that this machine is connected (Wi-Fi, VPN). An IPv6-only network reaches an IPv4 service only through a proxy: set HTTPS_PROXY to it and restart the kernel.',
  },
  {
    of: /^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/,
    what: host => `${host} did not respond in time`,
    hint: 'A firewall, or a network that asks for a sign-in, may drop connections: open any page in a browser, connect as the network requires (sign-in, VPN, HTTPS_PROXY), then run the cell again.',
  },
  {
    of: /^(EACCES|EPERM)$/,
    what: host => `this machine refuses to connect to ${host}`,
    hint: 'A firewall on this machine may block it: allow the kernel to connect, or set HTTPS_PROXY to the proxy to use, and restart the kernel.',
  },
];

function lostConnection(
  { endpoint, host }: Attempt,
  error: unknown,
  codes: readonly string[],
): ConnectionError {
  const known = isOwnService(endpoint)
    ? undefined
    : lost.find(each => codes.some(code => each.of.test(code)));
  const what = known?.what(host) ?? `the connection to ${host} failed`;
  return new ConnectionError(`${what} (${codes.join(', ') || 'unknown cause'})`, {
    code: 'connection-lost',
    hint: known?.hint ?? againHint(endpoint),
    cause: error,
  });
}

function againHint(endpoint: Endpoint): string {
  if (isOwnService(endpoint)) return 'Run the cell again: the local service is started again if it stopped.';
  const secure = endpoint.url.startsWith('http:') ? ' Ports that speak https need https:// in the URL.' : '';
  return `Run the cell again; check the network if it fails again.${secure}`;
}
