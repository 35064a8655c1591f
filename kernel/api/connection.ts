import undici, { type Dispatcher } from 'undici';
import { ConnectionError } from './errors.js';
import { ProxyFailure } from './failure.js';

/**
 * Returns what connects to one address: as HTTPS_PROXY, HTTP_PROXY and NO_PROXY say where it is beyond this machine. It has no time
 * limit but that of connecting: the library's own would fire first on a long query. Throws ConnectionError for a proxy that has no
 * address.
 */
export function dispatcherTo(base: URL, isNear = isThisMachine(base)): Dispatcher {
  const options = { connections: 16, headersTimeout: 0, bodyTimeout: 0, connectTimeout: 15_000 };
  if (isNear) return new undici.Pool(base.origin, options);
  try {
    return new undici.EnvHttpProxyAgent({ ...options, clientFactory: proxyPool });
  } catch (cause) {
    throw new ConnectionError('what HTTPS_PROXY or HTTP_PROXY names is no address of a proxy', {
      code: 'proxy',
      hint: 'Write it as http://HOST:PORT, or http://USER:PASSWORD@HOST:PORT, and start the kernel again.',
      cause,
    });
  }
}

/** Connects to a proxy, whose failures would else be taken for those of the address behind it. */
function proxyPool(proxy: URL, options: object): Dispatcher {
  const pool = new undici.Pool(proxy.origin, options);
  const tunnel = pool.connect.bind(pool);
  const connect = async (request: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> => {
    const answer = await tunnel(request).catch(cause => {
      throw new ProxyFailure(proxy.host, undefined, cause);
    });
    if (answer.statusCode === 200) return answer;
    answer.socket.on('error', () => undefined).destroy();
    throw new ProxyFailure(proxy.host, answer.statusCode);
  };
  return Object.assign(pool, { connect });
}

/** Whether an address is one of this machine. */
export function isThisMachine({ hostname }: URL): boolean {
  return /^(localhost|\[::1\]|127(\.\d+){3})$/.test(hostname);
}
