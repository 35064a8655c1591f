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

/** Agents for connections to the host of a bucket. */
export interface Agents {
  readonly httpAgent: Agent;
  readonly httpsAgent: Agent;
}

/**
 * Returns the agents for a bucket address: through the proxy that the environment names, unless the address is local, and with the
 * certificate authorities of AWS_CA_BUNDLE, which all AWS tools read, or of NODE_EXTRA_CA_CERTS. Throws ConnectionError for an invalid
 * proxy URL, and TlsError if the authorities cannot be read. If the proxy does not connect, requests fail with a ConnectionError.
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

/** Tunnels through a proxy, and reports its failures as such rather than as those of the bucket. */
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
