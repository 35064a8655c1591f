import { errorCodes } from '../failures/transport.js';

/** Why a proxy gave no connection, in words. */
export interface ProxyFailure {
  /** `proxy-unavailable`: it may give one in a moment. */
  readonly code: 'proxy' | 'proxy-unavailable';
  readonly message: string;
  readonly hint: string;
}

/** Words about proxies for one of their readers. */
export interface ProxyWords {
  /** Of a variable that holds no address. */
  misnamed(): ProxyFailure;
  /** Of a proxy that does not answer. */
  unreachable(proxy: URL, host: string, cause: unknown): ProxyFailure;
  /** Of a proxy that answers with a status in place of a connection. */
  refusing(proxy: URL, host: string, status: number): ProxyFailure;
}

/** Returns the words about proxies for what has read their variables when it started. */
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
