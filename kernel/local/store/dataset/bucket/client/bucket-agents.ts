import { Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import type { Socket } from 'node:net';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { getProxyForUrl } from 'proxy-from-env';
import { ConnectionError } from '../../../../../api/api-errors.js';
import { authorities } from '../../../../../api/network/authorities.js';
import { type ProxyFailure, proxyWords } from '../../../../../api/network/proxy.js';
import { isThisMachine } from '../../../../../api/profile.js';
import { AUTHORITIES_HANDED_ON } from '../../../../../machine.js';
import { present } from '../../../../../present.js';

type ConnectOptions = Parameters<HttpsProxyAgent<string>['connect']>[1];

const words = proxyWords('the local service');

/** What connects to the host of a bucket. */
export interface Agents {
  readonly httpAgent: Agent;
  readonly httpsAgent: Agent;
}

/**
 * Returns what connects to an address of a bucket: through the proxy that the environment names for it if it is beyond this machine, and with the authorities of
 * AWS_CA_BUNDLE, which all programs of AWS read, or of NODE_EXTRA_CA_CERTS. Throws ConnectionError for a proxy without an address, and
 * TlsError if the authorities cannot be read. A proxy that gives no connection makes requests fail with a ConnectionError.
 */
export function agentsTo(url: string): Agents {
  const options = {
    ...{ keepAlive: true, maxSockets: 50 },
    ...present({ ca: authorities(['AWS_CA_BUNDLE', AUTHORITIES_HANDED_ON]) }),
  };
  const proxy = isThisMachine(new URL(url)) ? '' : getProxyForUrl(url);
  if (proxy === '') return { httpAgent: new Agent(options), httpsAgent: new SecureAgent(options) };
  if (!URL.canParse(proxy)) throw proxyError(words.misnamed());
  const agent = new TunnelAgent(proxy, options);
  return { httpAgent: agent, httpsAgent: agent };
}

/** Tunnels through a proxy, whose failures would else be taken for those of the bucket behind it. */
class TunnelAgent extends HttpsProxyAgent<string> {
  readonly #ca: string[] | undefined;

  constructor(proxy: string, options: { readonly keepAlive: boolean; readonly ca?: string[] }) {
    super(proxy, options);
    this.#ca = options.ca;
  }

  override async connect(request: ClientRequest, options: ConnectOptions): Promise<Socket> {
    const host = `${options.host}`;
    let status: number | undefined;
    request.once('proxyConnect', (answer: IncomingMessage) => {
      status = answer.statusCode;
    });
    const socket = await super.connect(request, { ...options, ...present({ ca: this.#ca }) }).catch(cause => {
      throw proxyError(words.unreachable(this.proxy, host, cause), cause);
    });
    if (status === 200) return socket;
    socket.destroy();
    throw proxyError(words.refusing(this.proxy, host, status ?? 0));
  }
}

function proxyError({ message, hint, code }: ProxyFailure, cause?: unknown): ConnectionError {
  return new ConnectionError(message, { code, hint, cause });
}
