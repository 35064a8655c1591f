import undici, { type Dispatcher } from 'undici';
import { present } from '../../present.js';
import { ConnectionError } from '../api-errors.js';
import { isThisMachine } from '../profile.js';
import { authorities } from './authorities.js';
import { endingSafely } from './paused-end.js';
import { type ProxyFailure, type ProxyWords, proxyWords } from './proxy.js';

/**
 * Returns a dispatcher for one address: through HTTPS_PROXY, HTTP_PROXY and NO_PROXY unless it is on this machine. Its only timeout
 * is for connecting, as the library's own would fire first on a long query. Throws ConnectionError if a proxy has an invalid
 * address, and TlsError if the authorities cannot be read; requests through an unavailable proxy fail with a ConnectionError.
 */
export function dispatcherTo(
  base: URL,
  { isNear = isThisMachine(base), reader = 'the kernel' }: DispatcherOptions = {},
): Dispatcher {
  const tls = present({ ca: authorities() });
  const options = {
    ...{ connections: 16, headersTimeout: 0, bodyTimeout: 0, connectTimeout: 15_000 },
    connect: tls,
  };
  if (isNear) return endingSafely(new undici.Pool(base.origin, options));
  const words = proxyWords(reader);
  const clientFactory = (proxy: URL, proxyOptions: object) =>
    proxyPool(proxy, base.host, words, proxyOptions);
  try {
    return new undici.EnvHttpProxyAgent({
      ...{ ...options, requestTls: tls, proxyTls: tls, clientFactory },
      factory: (origin, poolOptions) => endingSafely(new undici.Pool(origin, poolOptions)),
    });
  } catch (cause) {
    throw proxyError(words.misnamed(), cause);
  }
}

interface DispatcherOptions {
  /** Whether the address is on this machine, to which no proxy leads. */
  readonly isNear?: boolean;
  /** Process that has read the proxy variables. */
  readonly reader?: Parameters<typeof proxyWords>[0];
}

/** Rejects as soon as a signal aborts: the library heeds it only once connected, which may take longer. */
export function unlessAborted<T>(signal: AbortSignal | null | undefined, work: Promise<T>): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Connects to a proxy, so that its failures are not attributed to the host behind it. */
function proxyPool(proxy: URL, host: string, words: ProxyWords, options: object): Dispatcher {
  const pool = new undici.Pool(proxy.origin, options);
  const tunnel = pool.connect.bind(pool);
  const connect = async (request: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> => {
    const answer = await tunnel(request).catch(cause => {
      throw proxyError(words.unreachable(proxy, host, cause), cause);
    });
    if (answer.statusCode === 200) return answer;
    answer.socket.on('error', () => undefined).destroy();
    throw proxyError(words.refusing(proxy, host, answer.statusCode));
  };
  return Object.assign(pool, { connect });
}

function proxyError({ message, code, hint }: ProxyFailure, cause?: unknown): ConnectionError {
  return new ConnectionError(message, { code, hint, cause });
}
