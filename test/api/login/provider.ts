import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';

/** A provider response that a test may change before it is sent. */
export interface Answered {
  readonly path: string;
  status: number;
  body: Record<string, unknown>;
  type: string;
}

export interface ProviderOptions {
  /** Changes responses; a promise delays them. */
  readonly change?: (answered: Answered) => void | Promise<void>;
  /** Lifetime of an access token, in seconds. */
  readonly seconds?: number;
  readonly configuration?: Configuration;
}

/** An authorization server on a free local port, and its state. */
export interface RunningProvider {
  readonly issuer: string;
  /** Requested paths with their methods, in order. */
  readonly asked: readonly string[];
  /** Request bodies, as text. */
  readonly bodies: readonly string[];
  change: ProviderOptions['change'];
  /** Returns whether the provider issued this access token. */
  knows(token: string): Promise<boolean>;
  /** Returns whether the provider accepts this refresh token. */
  renews(token: string): Promise<boolean>;
  /** Stops the server; its port stays free. */
  close(): Promise<void>;
}

/** Starts oidc-provider with client registration, mandatory PKCE and refresh token rotation. */
export async function startProvider({
  change,
  seconds = 3600,
  configuration = {},
}: ProviderOptions = {}): Promise<RunningProvider> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = quietly(() => new Provider(issuer, settings(seconds, configuration)));
  const asked: string[] = [];
  const bodies: string[] = [];
  const running: RunningProvider = {
    issuer,
    asked,
    bodies,
    change,
    knows: async token => {
      const found = await provider.AccessToken.find(token);
      return found?.isValid ?? false;
    },
    renews: async token => {
      const found = await provider.RefreshToken.find(token);
      return found?.isValid ?? false;
    },
    close: () => closed(server),
  };
  provider.use(async (context, next) => {
    asked.push(`${context.method} ${context.path}`);
    await next();
    if (typeof context.body !== 'object' || context.body === null) return;
    const answered: Answered = {
      path: context.path,
      status: context.status,
      body: context.body as Record<string, unknown>,
      type: 'application/json',
    };
    await running.change?.(answered);
    context.status = answered.status;
    context.body = answered.type === 'application/json' ? answered.body : String(answered.body.text);
    context.type = answered.type;
  });
  server.on('request', (request: IncomingMessage, response) => {
    request.on('data', (chunk: Buffer) => bodies.push(chunk.toString()));
    void provider.callback()(request, response);
  });
  return running;
}

function settings(seconds: number, configuration: Configuration): Configuration {
  return {
    features: { registration: { enabled: true }, revocation: { enabled: true, allowedPolicy: () => true } },
    scopes: ['offline_access'],
    ttl: { AccessToken: seconds, Grant: 86_400, Session: 86_400, Interaction: 600, RefreshToken: 86_400 },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    ...configuration,
  };
}

/** Silences the provider, which warns about every option left at its default. */
function quietly<T>(make: () => T): T {
  const { info, warn } = console;
  Object.assign(console, { info: () => undefined, warn: () => undefined });
  try {
    return make();
  } finally {
    Object.assign(console, { info, warn });
  }
}

async function closed(server: Server): Promise<void> {
  await new Promise<void>(resolve => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Signs in like a browser, with cookies, redirects and the provider's forms. Returns the redirect address at the end. */
export async function signIn(page: URL, answer: 'allow' | 'deny' = 'allow'): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = page;
  let form: Record<string, string> | undefined;
  for (let step = 0; step < 12; step += 1) {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    form = undefined;
    const text = await response.text();
    const location = response.headers.get('location');
    if (location !== null) {
      url = new URL(location, url);
      if (url.origin !== page.origin) return url;
    } else if (answer === 'deny') url = new URL(`${url.pathname}/abort`, url);
    else if (text.includes('name="login"')) form = { prompt: 'login', login: 'ada', password: 'x' };
    else if (text.includes('value="consent"')) form = { prompt: 'consent' };
    else throw new Error(`the provider shows ${text.slice(0, 2000)}`);
  }
  throw new Error('the sign-in has no end');
}

/** Follows the redirect back to the kernel; returns the text of its page. */
export async function comeBack(to: URL): Promise<string> {
  return (await fetch(to)).text();
}
