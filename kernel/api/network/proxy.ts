import { errorCodes } from '../failures/transport.js';

/** Reason why a proxy did not connect. */
export interface ProxyFailure {
  /** `proxy-unavailable` if it may work in a moment. */
  readonly code: 'proxy' | 'proxy-unavailable';
  readonly message: string;
  readonly hint: string;
}

/** Messages about proxies, worded for the process that uses them. */
export interface ProxyWords {
  /** For a variable that is not a URL. */
  misnamed(): ProxyFailure;
  /** For a proxy that does not respond. */
  unreachable(proxy: URL, host: string, cause: unknown): ProxyFailure;
  /** For a proxy that responds with a status instead of connecting. */
  refusing(proxy: URL, host: string, status: number): ProxyFailure;
}

/** Returns messages about proxies for the process that read their variables at startup. */
export function proxyWords(reader: 'the kernel' | 'the local service'): ProxyWords {
  const without = (host: string) =>
    `Name ${host} in NO_PROXY if it can be reached without a proxy, and restart ${reader}.`;
  return {
    misnamed: () => ({
      code: 'proxy',
      message: 'HTTPS_PROXY or HTTP_PROXY is not the address of a proxy',
      hint: `Write it as ${form.replace('USER:PASSWORD@', '')} or ${form}, and restart ${reader}.`,
    }),
    unreachable: (proxy, host, cause) => {
      const why = errorCodes(cause).join(', ') || 'it does not speak HTTP';
      return {
        code: 'proxy',
        message: `the proxy ${proxy.host} cannot be reached (${why})`,
        hint: `HTTPS_PROXY or HTTP_PROXY names it: check its address. ${without(host)}`,
      };
    },
    refusing: ({ host: proxy }, host, status) => {
      if (status === 407)
        return {
          code: 'proxy',
          message: `the proxy ${proxy} asks for a user and a password (status 407)`,
          hint: `Write them into HTTPS_PROXY, as in ${form}, or check the ones it has, and restart ${reader}.`,
        };
      const isPassing = status >= 502 && status <= 504;
      const how = isPassing ? 'cannot connect to' : 'refuses to connect to';
      const message = `the proxy ${proxy} ${how} ${host} (status ${status})`;
      if (!isPassing) return { code: 'proxy', message, hint: without(host) };
      const hint = `Run the cell again in a moment, and check the URL of the profile. ${without(host)}`;
      return { code: 'proxy-unavailable', message, hint };
    },
  };
}

const form = 'http://USER:PASSWORD@HOST:PORT';
