import undici, { type Dispatcher } from 'undici';
import { ConnectionError } from './errors.js';
import { errorCodes } from './failures/transport.js';
import { isThisMachine } from './profile.js';

/**
 * Returns what connects to one address: as HTTPS_PROXY, HTTP_PROXY and NO_PROXY say if it is beyond this machine. It has no time
 * limit but that of connecting: the library's own would fire first on a long query. Throws ConnectionError for a proxy that has no
 * address; a proxy that gives no connection makes requests fail with one.
 */
export function dispatcherTo(base: URL, isNear = isThisMachine(base)): Dispatcher {
  const options = { connections: 16, headersTimeout: 0, bodyTimeout: 0, connectTimeout: 15_000 };
  if (isNear) return new undici.Pool(base.origin, options);
  const clientFactory = (proxy: URL, proxyOptions: object) => proxyPool(proxy, base.host, proxyOptions);
  try {
    return new undici.EnvHttpProxyAgent({ ...options, clientFactory });
  } catch (cause) {
    throw new ConnectionError('HTTPS_PROXY or HTTP_PROXY is not the address of a proxy', {
      code: 'proxy',
      hint: `Write it as ${proxyForm.replace('USER:PASSWORD@', '')} or ${proxyForm}, and restart the kernel.`,
      cause,
    });
  }
}

/** Rejects as soon as a signal aborts: the library heeds it only once there is a connection, for which it waits longer. */
export function unlessAborted<T>(signal: AbortSignal | null | undefined, work: Promise<T>): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

const proxyForm = 'http://USER:PASSWORD@HOST:PORT';

/** Connects to a proxy, whose failures would else be taken for those of the host behind it. */
function proxyPool(proxy: URL, host: string, options: object): Dispatcher {
  const pool = new undici.Pool(proxy.origin, options);
  const tunnel = pool.connect.bind(pool);
  const connect = async (request: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> => {
    const answer = await tunnel(request).catch(cause => {
      throw unreachableProxy(proxy, host, cause);
    });
    if (answer.statusCode === 200) return answer;
    answer.socket.on('error', () => undefined).destroy();
    throw refusingProxy(proxy, host, answer.statusCode);
  };
  return Object.assign(pool, { connect });
}

function unreachableProxy(proxy: URL, host: string, cause: unknown): ConnectionError {
  const why = errorCodes(cause).join(', ') || 'it does not speak HTTP';
  return new ConnectionError(`the proxy ${proxy.host} cannot be reached (${why})`, {
    code: 'proxy',
    hint: `HTTPS_PROXY or HTTP_PROXY names it: check its address. ${withoutProxy(host)}`,
    cause,
  });
}

/** Of a proxy that answers with a status in place of a connection. */
function refusingProxy({ host: proxy }: URL, host: string, status: number): ConnectionError {
  if (status === 407)
    return new ConnectionError(`the proxy ${proxy} asks for a user and a password (status 407)`, {
      code: 'proxy',
      hint: `Write them into HTTPS_PROXY, as in ${proxyForm}, or check the ones it has, and restart the kernel.`,
    });
  if (status >= 502 && status <= 504)
    return new ConnectionError(`the proxy ${proxy} cannot connect to ${host} (status ${status})`, {
      code: 'proxy-unavailable',
      hint: `Run the cell again in a moment, and check the URL of the profile. ${withoutProxy(host)}`,
    });
  return new ConnectionError(`the proxy ${proxy} refuses to connect to ${host} (status ${status})`, {
    code: 'proxy',
    hint: withoutProxy(host),
  });
}

function withoutProxy(host: string): string {
  return `Name ${host} in NO_PROXY if it can be reached without a proxy, and restart the kernel.`;
}
