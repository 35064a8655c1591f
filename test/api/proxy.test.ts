import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect as connectTo, createServer as createSocketServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ConnectionError } from '../../kernel/api/api-errors.js';
import { loginError } from '../../kernel/api/login/error.js';
import { answer, failureOf, request, useService } from './connections.js';

const connections = useService();
const { connect } = connections;

const variables = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'https_proxy', 'http_proxy', 'no_proxy'];

let proxy: Server;
let proxyUrl: string;
/** CONNECT targets that the proxy received. */
let asked: string[];

/** Connects every host to the service of the test, except on port 443, as the service does not speak TLS. */
beforeEach(async () => {
  asked = [];
  for (const name of variables) vi.stubEnv(name, undefined);
  proxy = createServer().on('connect', ({ url = '' }, socket) => {
    asked.push(url);
    socket.on('error', () => undefined);
    if (url.endsWith(':443')) return socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const service = connectTo(Number(new URL(connections.service.url).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      service.pipe(socket).pipe(service);
    });
    return service.on('error', () => socket.destroy());
  });
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
  proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await new Promise(resolve => proxy.close(resolve));
});

describe('a request to another machine', () => {
  test.each(['HTTP_PROXY', 'http_proxy'])('goes through the proxy of %s', async name => {
    vi.stubEnv(name, proxyUrl);
    const { body } = await connect({ url: 'http://api.invalid:81' }).query(request);
    expect(JSON.parse(new TextDecoder().decode(body))).toEqual(answer);
    expect(asked).toEqual(['api.invalid:81']);
    expect(connections.service.seen.map(({ headers }) => headers.host)).toEqual(['api.invalid:81']);
  });

  test.each(['HTTPS_PROXY', 'https_proxy'])('over TLS goes through the proxy of %s', async name => {
    vi.stubEnv(name, proxyUrl);
    await failureOf(connect({ url: 'https://api.invalid' }).query(request));
    expect(asked[0]).toBe('api.invalid:443');
  });

  test.each(['NO_PROXY', 'no_proxy'])('bypasses the proxy if %s names the host', async name => {
    vi.stubEnv('HTTP_PROXY', proxyUrl);
    vi.stubEnv(name, 'api.invalid');
    await failureOf(connect({ url: 'http://api.invalid:81' }).query(request));
    expect(asked).toEqual([]);
  });
});

test.each(['local', 'prod'])(
  'a request of the profile %s to this machine uses no proxy',
  async profileName => {
    vi.stubEnv('HTTP_PROXY', proxyUrl);
    await connect({ profileName }).query(request);
    expect([asked, connections.service.seen.length]).toEqual([[], 1]);
  },
);

describe("a proxy error is reported as the proxy's", () => {
  const address = () => new URL(proxyUrl).host;
  const withoutProxy =
    'Name api.invalid in NO_PROXY if it can be reached without a proxy, and restart the kernel.';

  test.each([
    [
      407,
      1,
      'asks for a user and a password (status 407)',
      'Write them into HTTPS_PROXY, as in http://USER:PASSWORD@HOST:PORT, or check the ones it has, and restart the kernel.',
    ],
    [403, 1, 'refuses to connect to api.invalid (status 403)', withoutProxy],
    [
      502,
      4,
      'cannot connect to api.invalid (status 502)',
      `Run the cell again in a moment, and check the URL of the profile. ${withoutProxy}`,
    ],
  ])('with status %i', async (status, times, message, hint) => {
    proxy.removeAllListeners('connect').on('connect', ({ url = '' }, socket) => {
      asked.push(url);
      socket.on('error', () => undefined).end(`HTTP/1.1 ${status} No\r\n\r\n`);
    });
    vi.stubEnv('HTTPS_PROXY', proxyUrl.replace('//', '//user:pa55w0rd@'));
    const error = await failureOf(connect({ url: 'https://api.invalid' }).query(request));
    expect([error.code, error.message, error.hint, asked.length]).toEqual([
      times === 1 ? 'proxy' : 'proxy-unavailable',
      `the proxy ${address()} ${message}`,
      hint,
      times,
    ]);
  });

  test('if nothing answers at its address', async () => {
    const gone = createServer();
    await new Promise<void>(resolve => gone.listen(0, '127.0.0.1', resolve));
    const { port } = gone.address() as AddressInfo;
    await new Promise(resolve => gone.close(resolve));
    vi.stubEnv('HTTPS_PROXY', `http://127.0.0.1:${port}`);
    const error = await failureOf(connect({ url: 'https://api.invalid' }).query(request));
    expect([error.code, error.message]).toEqual([
      'proxy',
      `the proxy 127.0.0.1:${port} cannot be reached (ECONNREFUSED)`,
    ]);
  });

  test('if its host name is unknown', async () => {
    vi.stubEnv('HTTPS_PROXY', 'http://proxy.invalid:3128');
    const error = await failureOf(connect({ url: 'https://api.invalid' }, undefined, 1).query(request));
    expect(error.message).toMatch(
      /^the proxy proxy\.invalid:3128 cannot be reached \((ENOTFOUND|EAI_AGAIN)\)$/,
    );
  });

  test('if it does not speak HTTP', async () => {
    const other = createSocketServer(socket => socket.on('error', () => undefined).end('SSH-2.0\r\n'));
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    vi.stubEnv('HTTPS_PROXY', `http://127.0.0.1:${port}`);
    const error = await failureOf(connect({ url: 'https://api.invalid' }).query(request));
    other.close();
    expect([error.code, error.message]).toEqual([
      'proxy',
      `the proxy 127.0.0.1:${port} cannot be reached (it does not speak HTTP)`,
    ]);
  });

  test('during a sign-in', () => {
    const asking = {
      endpoint: { profileName: 'prod', url: 'https://api.invalid' },
      action: 'sign in',
      url: new URL('https://auth.invalid'),
      secrets: [],
    };
    const cause = new ConnectionError('the proxy proxy:1 refuses', { code: 'proxy' });
    const thrown = new TypeError('fetch failed', { cause });
    expect(loginError(asking, thrown, { signal: new AbortController().signal, answerMs: 1 })).toBe(cause);
  });

  test.each(['proxy.corp:3128', '::::', 'nonsense'])('if its address is %s', async value => {
    vi.stubEnv('HTTPS_PROXY', value);
    const error = await failureOf(connect({ url: 'https://api.invalid' }).query(request));
    expect([error.code, error.message]).toEqual([
      'proxy',
      'HTTPS_PROXY or HTTP_PROXY is not the address of a proxy',
    ]);
  });
});
