import undici, { type Dispatcher } from 'undici';

/**
 * Returns what connects to one address: as HTTPS_PROXY, HTTP_PROXY and NO_PROXY say where it is beyond this machine. It has no time
 * limit but that of connecting: the library's own would fire first on a long query.
 */
export function dispatcherTo(base: URL, isNear = isThisMachine(base)): Dispatcher {
  const options = { connections: 16, headersTimeout: 0, bodyTimeout: 0, connectTimeout: 15_000 };
  return isNear ? new undici.Pool(base.origin, options) : new undici.EnvHttpProxyAgent(options);
}

/** Whether an address is one of this machine. */
export function isThisMachine({ hostname }: URL): boolean {
  return /^(localhost|\[::1\]|127(\.\d+){3})$/.test(hostname);
}
