import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../../kernel/api/client.js';
import { Logins, type LoginsOptions } from '../../../kernel/api/login/logins.js';
import { AccessToken, type Endpoint } from '../../../kernel/api/profile.js';
import { type Service, startService } from '../service.js';
import { comeBack, type RunningProvider, signIn, startProvider } from './provider.js';

let provider: RunningProvider;
let service: Service;
let home: string;
let clock: number;
const never = new AbortController().signal;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'apl-logins-'));
  provider = await startProvider();
  service = await startService(() => ({ body: { id: 'u1', name: 'Ada' } }));
  clock = Date.now();
});

afterEach(async () => {
  await provider.close();
  await service.close();
  await rm(home, { recursive: true, force: true });
});

function endpoint(signIn: Endpoint['signIn'] = { issuer: provider.issuer }): Endpoint {
  return { profileName: 'prod', url: service.url, ...(signIn === undefined ? {} : { signIn }) };
}

function logins(options: Partial<LoginsOptions> = {}): Logins {
  return new Logins({ file: join(home, 'data', 'logins.json'), now: () => clock, ...options });
}

/** Signs in; returns the token and the page that the browser shows at the end. */
async function signedIn(own = logins(), to = endpoint()): Promise<{ token: AccessToken; page: string }> {
  const pending = await own.begin(to, never);
  const done = pending.browser(never);
  const page = await comeBack(await signIn(pending.page));
  await done.finally(() => pending.close());
  return { token: (await own.tokenFor(to)) as AccessToken, page };
}

/** Returns the message and the hint of a failure. */
async function failure(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => ({ message: 'it did not fail' }),
    cause => cause,
  );
  return [error.message, error.hint]
    .filter(Boolean)
    .join('. ')
    .replaceAll(hostOf(provider.issuer), '{issuer}');
}

function hostOf(url: string): string {
  return new URL(url).host;
}

/** Requests the current user with the token of the sign-in, like every other request. */
async function whoAmI(token: AccessToken, signal = never): Promise<unknown> {
  const client = createClient({ ...endpoint(), token }, { version: '1.2.3', retryMs: 1 });
  try {
    return await client.currentUser(signal);
  } finally {
    await client.close();
  }
}

const sent = () => service.seen.map(({ headers }) => headers.authorization);

describe('a sign-in', () => {
  test('gives a token, stored in a file that only the user can read', async () => {
    const { token, page } = await signedIn();
    expect(page).toContain('Signed in.');
    expect([await provider.knows(token.reveal()), token.kind]).toEqual([true, 'login']);
    const { mode } = await stat(join(home, 'data', 'logins.json'));
    expect([(mode & 0o777).toString(8), await readdir(join(home, 'data'))]).toEqual(['600', ['logins.json']]);
    await whoAmI(token);
    expect(sent()).toEqual([`Bearer ${token.reveal()}`]);
  });

  test('uses PKCE with S256, a state and a loopback redirect, without secrets in the URL', async () => {
    const pending = await logins().begin(endpoint(), never);
    const parameters = Object.fromEntries(pending.page.searchParams);
    pending.close();
    expect(Object.keys(parameters).sort()).toEqual([
      'client_id',
      'code_challenge',
      'code_challenge_method',
      'prompt',
      'redirect_uri',
      'response_type',
      'scope',
      'state',
    ]);
    expect(parameters.code_challenge_method).toBe('S256');
    expect(parameters.redirect_uri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(parameters.state).toMatch(/^[\w-]{43}$/);
  });

  test('uses the configured client and scope without registering', async () => {
    await provider.close();
    provider = await startProvider({
      configuration: {
        clients: [
          {
            client_id: 'mine',
            application_type: 'native',
            redirect_uris: ['http://127.0.0.1/callback'],
            grant_types: ['authorization_code'],
            response_types: ['code'],
            token_endpoint_auth_method: 'none',
          },
        ],
        scopes: ['query'],
      },
    });
    const to = endpoint({ issuer: provider.issuer, clientId: 'mine', scope: 'query' });
    const { token } = await signedIn(logins(), to);
    expect([await provider.knows(token.reveal()), provider.asked.includes('POST /reg')]).toEqual([
      true,
      false,
    ]);
    expect(await logins().version()).not.toContain('refreshToken');
  });

  test('uses the service itself as the issuer if none is configured', async () => {
    const { token } = await signedIn(logins(), { profileName: 'prod', url: provider.issuer });
    expect(await provider.knows(token.reveal())).toBe(true);
  });

  test('applies only to its profile and addresses', async () => {
    const own = logins();
    await signedIn(own);
    for (const other of [
      { ...endpoint(), profileName: 'other' },
      { ...endpoint(), url: 'https://elsewhere.example' },
      { ...endpoint(), edgeUrl: 'https://edge.example' },
    ])
      expect(await own.tokenFor(other)).toBeUndefined();
  });

  test('replaces an older one of its profile and keeps those of others', async () => {
    const own = logins();
    const first = await signedIn(own);
    await signedIn(own, { ...endpoint(), profileName: 'other' });
    const second = await signedIn(own);
    const kept = JSON.parse(await own.version()).map((each: { profile: string }) => each.profile);
    expect([kept, first.token.reveal() === second.token.reveal()]).toEqual([['other', 'prod'], false]);
  });

  test('opens the page in a browser if there is one', async () => {
    const opened: URL[] = [];
    const pending = await logins({ openPage: page => opened.push(page) }).begin(endpoint(), never);
    const stop = new AbortController();
    const waiting = pending.browser(stop.signal);
    stop.abort();
    await waiting.catch(() => undefined);
    pending.close();
    expect(opened).toEqual([pending.page]);
  });

  test("accepts the browser's final address if the redirect cannot reach us", async () => {
    const own = logins();
    const pending = await own.begin(endpoint(), never);
    pending.close();
    await pending.pasted(`  ${(await signIn(pending.page)).href}\n`, never);
    expect(await provider.knows((await own.tokenFor(endpoint()))?.reveal() ?? '')).toBe(true);
  });

  test.each([
    '',
    'abc',
    'http://127.0.0.1:1/callback?code=abc',
    'http://127.0.0.1:1/callback?code=abc&state=x',
  ])('refuses other text: %j', async text => {
    const pending = await logins().begin(endpoint(), never);
    pending.close();
    expect(await failure(pending.pasted(text, never))).toContain(
      'this is not the address that the browser was sent to after this sign-in',
    );
    expect(provider.asked).not.toContain('POST /token');
  });
});

describe('a sign-in fails if', () => {
  test('it is denied', async () => {
    const pending = await logins().begin(endpoint(), never);
    const done = failure(pending.browser(never));
    expect(await comeBack(await signIn(pending.page, 'deny'))).toContain('The sign-in failed.');
    pending.close();
    expect(await done).toBe(
      'the sign-in to prod was denied (access_denied: End-User aborted interaction). `%login prod` starts again.',
    );
  });

  test('a response has another state, unless the right one follows', async () => {
    const own = logins();
    const pending = await own.begin(endpoint(), never);
    const done = pending.browser(never);
    const back = await signIn(pending.page);
    const forged = new URL(back);
    forged.searchParams.set('state', 'forged');
    const denied = new URL(back.origin + back.pathname);
    denied.searchParams.set('error', 'access_denied');
    for (const each of [forged, denied])
      expect(await comeBack(each)).toContain('not a response to a pending sign-in');
    expect(provider.asked).not.toContain('POST /token');
    expect(await comeBack(back)).toContain('Signed in.');
    await done.finally(() => pending.close());
  });

  test('it times out, mentioning responses with another state', async () => {
    const pending = await logins({ waitMs: 300 }).begin(endpoint(), never);
    const done = failure(pending.browser(never));
    const back = new URL(pending.page.searchParams.get('redirect_uri') ?? '');
    back.search = 'code=1&state=2';
    await comeBack(back);
    expect(await done).toMatch(
      /^nobody signed in to prod within 0.3 s; 1 answer to another sign-in ignored\. Run the cell again\. A browser on another machine .* `%login prod --paste`\.$/,
    );
    pending.close();
  });

  test('a response is from another issuer', async () => {
    const pending = await logins().begin(endpoint(), never);
    const done = failure(pending.browser(never));
    const back = await signIn(pending.page);
    back.searchParams.set('iss', 'https://evil.example');
    await comeBack(back);
    pending.close();
    expect(await done).toContain('is not from an OAuth 2.0 server');
    expect(provider.asked).not.toContain('POST /token');
  });

  test('the code was already used', async () => {
    const first = await logins().begin(endpoint(), never);
    first.close();
    const { href } = await signIn(first.page);
    await first.pasted(href, never);
    expect(await failure(first.pasted(href, never))).toMatch(
      /^could not sign in: \{issuer\} refused it \(invalid_grant: .*\)\. Check oauth_issuer/,
    );
  });

  test.each([
    ['the provider is down', () => provider.close(), /^nothing answers at \{issuer\} \(connection refused\)/],
    [
      'the provider fails',
      () => failing('/token', 500),
      /^could not sign in: \{issuer\} responded with status 500\. Run the cell again in a moment\.$/,
    ],
    [
      'the provider responds with a web page',
      () => page('/token'),
      /^could not sign in: the response from \{issuer\} is not from an OAuth 2\.0 server/,
    ],
    [
      'the token has characters that cannot be sent',
      () => tokens({ access_token: 'tok en\n' }),
      /^the token of the sign-in contains characters that cannot be sent/,
    ],
    [
      'the token has an accent',
      () => tokens({ access_token: 'tökén' }),
      /^the token of the sign-in contains characters that cannot be sent/,
    ],
    [
      'the token has another type',
      () => tokens({ token_type: 'mac' }),
      /^could not sign in: the response from \{issuer\} is not/,
    ],
    [
      'the provider returns no token',
      () => tokens({ access_token: undefined }),
      /^could not sign in: the response from \{issuer\} is not/,
    ],
    [
      'the provider repeats the code',
      () => repeating(),
      /^could not sign in: \{issuer\} refused it \(invalid_request: \*\*\* and \*\*\*\)/,
    ],
  ])('%s', async (_, spoil, message) => {
    const pending = await logins().begin(endpoint(), never);
    const back = await signIn(pending.page);
    await spoil();
    const done = failure(pending.browser(never));
    expect(await comeBack(back)).toContain('The sign-in failed.');
    pending.close();
    const text = await done;
    expect(text).toMatch(message);
    expect(text).not.toContain(back.searchParams.get('code'));
    expect(await logins().version()).toBe('[]');
  });

  test.each([
    [
      'there is no metadata',
      () => failing('/.well-known', 404),
      /^\{issuer\} does not say how to sign in: it has no OAuth 2\.0 metadata\. Check oauth_issuer, .* of \[deployments\.prod\]/,
    ],
    ['the metadata is a web page', () => page('/.well-known'), /^\{issuer\} does not say how to sign in/],
    [
      'the metadata is unavailable',
      () => failing('/.well-known', 503),
      /^could not sign in to prod: \{issuer\} responded with status 503/,
    ],
    [
      'there are too many requests',
      () => failing('/.well-known', 429),
      /^could not sign in to prod: \{issuer\} responded with status 429\. Run the cell again in a moment\.$/,
    ],
    [
      'the metadata has another issuer',
      () => metadata({ issuer: 'https://evil.example' }),
      /^could not sign in to prod: the response from \{issuer\} is not/,
    ],
    [
      'PKCE is not supported',
      () => metadata({ code_challenge_methods_supported: undefined }),
      /^\{issuer\} does not support PKCE by S256, without which/,
    ],
    [
      'only plain PKCE is supported',
      () => metadata({ code_challenge_methods_supported: ['plain'] }),
      /^\{issuer\} does not support PKCE by S256/,
    ],
    [
      'the token endpoint uses http',
      () => metadata({ token_endpoint: 'http://issuer.example/token' }),
      /^\{issuer\} has no usable sign-in address/,
    ],
    [
      'the token endpoint is not an address',
      () => metadata({ token_endpoint: 'nowhere' }),
      /^\{issuer\} has no usable sign-in address/,
    ],
    [
      'the sign-in page is a script',
      () => metadata({ authorization_endpoint: 'javascript:alert(1)' }),
      /^\{issuer\} has no usable sign-in address/,
    ],
    [
      'the provider does not register clients',
      () => metadata({ registration_endpoint: undefined }),
      /^\{issuer\} does not register clients, and prod names none\. Add `oauth_client_id = "…"` to \[deployments\.prod\]/,
    ],
    [
      'the provider refuses the client',
      () => failing('/reg', 403),
      /^could not register a client: \{issuer\} refused it \(nope\)/,
    ],
  ])('%s', async (_, spoil, message) => {
    spoil();
    expect(await failure(logins().begin(endpoint(), never))).toMatch(message);
  });

  test('the endpoints use http, but not with https', async () => {
    metadata({
      authorization_endpoint: 'https://issuer.example/auth',
      token_endpoint: 'https://issuer.example/token',
    });
    const pending = await logins().begin(endpoint(), never);
    pending.close();
    expect(pending.page.href).toMatch(/^https:\/\/issuer\.example\/auth\?response_type=code&/);
  });

  test('the provider does not respond', async () => {
    provider.change = () => new Promise<void>(() => undefined);
    expect(await failure(logins({ answerMs: 200 }).begin(endpoint(), never))).toMatch(
      /^could not sign in to prod: \{issuer\} did not respond within 0\.2 s/,
    );
  });

  test('a remote issuer uses http', async () => {
    const to = endpoint({ issuer: 'http://issuer.example' });
    expect(await failure(logins().begin(to, never))).toContain('issuer.example uses http');
  });

  test('the sign-in file cannot be written', async () => {
    await writeFile(join(home, 'data'), 'a file');
    const pending = await logins().begin(endpoint(), never);
    const done = failure(pending.browser(never));
    await comeBack(await signIn(pending.page));
    pending.close();
    expect(await done).toMatch(/^the file of sign-ins .* cannot be written/);
  });

  const failing = (path: string, status: number) => {
    provider.change = answered => {
      if (answered.path.startsWith(path))
        Object.assign(answered, { status, body: status < 500 ? { error: 'nope' } : {} });
    };
  };
  const page = (path: string) => {
    provider.change = answered => {
      if (answered.path.startsWith(path))
        Object.assign(answered, { type: 'text/html', body: { text: '<p>Hi' } });
    };
  };
  const tokens = (change: Record<string, unknown>) => changing('/token', change);
  const metadata = (change: Record<string, unknown>) => changing('/.well-known', change);
  const changing = (path: string, change: Record<string, unknown>) => {
    provider.change = ({ path: asked, body }) => {
      if (asked.startsWith(path)) Object.assign(body, change);
    };
  };
  const repeating = () => {
    provider.change = answered => {
      const sent = new URLSearchParams(provider.bodies.at(-1));
      const description = `${sent.get('code')} and ${sent.get('code_verifier')}`;
      if (answered.path === '/token')
        Object.assign(answered, {
          status: 400,
          body: { error: 'invalid_request', error_description: description },
        });
    };
  };
});

test('an interrupt ends the wait and closes the port', async () => {
  const pending = await logins().begin(endpoint(), never);
  const stop = new AbortController();
  const done = failure(pending.browser(stop.signal));
  stop.abort();
  expect(await done).toBe('the request was interrupted');
  pending.close();
  await expect(fetch(pending.page.searchParams.get('redirect_uri') ?? '')).rejects.toThrow('fetch failed');
});

test.each([
  ['another path', { path: '/' }],
  ['another method', { method: 'POST' }],
  ['another host name', { headers: { host: 'evil.example' } }],
])('the loopback port accepts only the redirect, not %s', async (_, change) => {
  const pending = await logins().begin(endpoint(), never);
  const stop = new AbortController();
  const waiting = pending.browser(stop.signal).catch(() => undefined);
  const { hostname, port, pathname } = new URL(pending.page.searchParams.get('redirect_uri') ?? '');
  const state = pending.page.searchParams.get('state');
  const status = await new Promise(resolve => {
    const asking = { hostname, port, path: `${pathname}?code=1&state=${state}`, ...change };
    request(asking, response => resolve(response.resume().statusCode)).end();
  });
  stop.abort();
  await waiting;
  pending.close();
  expect([status, provider.asked.includes('POST /token')]).toEqual([404, false]);
});

describe('a token', () => {
  test('is renewed before it expires, once for concurrent requests', async () => {
    const own = logins();
    const { token } = await signedIn(own);
    const before = token.reveal();
    clock += 3_541_000;
    await Promise.all([whoAmI(token), whoAmI(token), whoAmI(token)]);
    expect([token.reveal() === before, await provider.knows(token.reveal())]).toEqual([false, true]);
    expect([...new Set(sent())]).toEqual([`Bearer ${token.reveal()}`]);
    expect(provider.bodies.filter(each => each.includes('grant_type=refresh_token')).length).toBe(1);
    expect((await own.tokenFor(endpoint()))?.reveal()).toBe(token.reveal());
  });

  test('is renewed by one of several kernels and adopted by the others', async () => {
    const { token } = await signedIn(logins());
    const others = await Promise.all([1, 2, 3].map(() => logins().tokenFor(endpoint())));
    clock += 3_600_000;
    await Promise.all([token, ...others].map(each => whoAmI(each as AccessToken)));
    expect(new Set(sent()).size).toBe(1);
    expect(provider.bodies.filter(each => each.includes('grant_type=refresh_token')).length).toBe(1);
  });

  test('that the service refuses is renewed and sent again', async () => {
    const { token } = await signedIn();
    const before = token.reveal();
    service.answer(({ headers }) =>
      headers.authorization === `Bearer ${before}`
        ? { status: 401, body: { code: 401, message: 'expired' } }
        : { body: { id: 'u1', name: 'Ada' } },
    );
    expect(await whoAmI(token)).toMatchObject({ name: 'Ada' });
    expect(sent()).toEqual([`Bearer ${before}`, `Bearer ${token.reveal()}`]);
  });

  test('that is refused again is not renewed again', async () => {
    const { token } = await signedIn();
    service.answer(() => ({ status: 401, body: { code: 401, message: 'no' } }));
    expect(await failure(whoAmI(token))).toBe(
      `${hostOf(service.url)} does not accept the token of the profile prod: no. The sign-in may have been revoked, or belong to another service: \`%login prod\` signs in again.`,
    );
    expect(sent().length).toBe(2);
  });

  test('whose sign-in has ended fails without showing a secret', async () => {
    const own = logins();
    const { token } = await signedIn(own);
    const kept = JSON.parse(await own.version())[0];
    provider.change = answered => {
      if (answered.path === '/token')
        Object.assign(answered, {
          status: 400,
          body: { error: 'invalid_grant', error_description: kept.refreshToken },
        });
    };
    clock += 3_600_000;
    const text = await failure(whoAmI(token));
    expect(text).toBe(
      'the sign-in to prod has ended: {issuer} no longer renews it. `%login prod` signs in again.',
    );
    expect(service.seen).toEqual([]);
  });

  test('without a refresh token is used until it expires, then requires a sign-in', async () => {
    provider.change = ({ path, body }) => {
      if (path === '/token') delete body.refresh_token;
    };
    const { token } = await signedIn();
    clock += 3_590_000;
    await whoAmI(token);
    clock += 10_001;
    expect(await failure(whoAmI(token))).toBe(
      'the sign-in to prod has expired. `%login prod` signs in again.',
    );
    expect(sent().length).toBe(1);
  });

  test('is used until it expires if the provider is down', async () => {
    const { token } = await signedIn();
    await provider.close();
    clock += 3_590_000;
    await whoAmI(token);
    clock += 20_000;
    expect(await failure(whoAmI(token))).toContain('nothing answers at {issuer} (connection refused)');
    expect(sent().length).toBe(1);
  });

  test('without an expiry is used until it is refused', async () => {
    provider.change = ({ path, body }) => {
      if (path === '/token') delete body.expires_in;
    };
    const { token } = await signedIn();
    clock += 1e12;
    await whoAmI(token);
    expect(sent()).toEqual([`Bearer ${token.reveal()}`]);
  });

  test('with any characters valid in a header is sent unchanged', async () => {
    const odd = `!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~a0${'z'.repeat(3_000)}`;
    provider.change = ({ path, body }) => {
      if (path === '/token') body.access_token = odd;
    };
    const { token } = await signedIn();
    await whoAmI(token);
    expect(sent()).toEqual([`Bearer ${odd}`]);
    expect([token.removedFrom(`a ${odd} b`), String(token), JSON.stringify({ token })]).toEqual([
      'a *** b',
      '***',
      '{"token":"***"}',
    ]);
  });

  test('stops waiting for its renewal at an interrupt', async () => {
    const { token } = await signedIn();
    let release: (value?: unknown) => void = () => undefined;
    const held = new Promise(resolve => {
      release = resolve;
    });
    const stop = new AbortController();
    provider.change = async ({ path }) => {
      if (path !== '/token') return;
      stop.abort();
      await held;
    };
    clock += 3_600_000;
    expect(await failure(whoAmI(token, stop.signal))).toBe('the request was interrupted');
    release();
    await whoAmI(token);
    expect(sent()).toEqual([`Bearer ${token.reveal()}`]);
  });

  test.each<[string, (text: string) => string]>([
    ['{', text => text.slice(0, 1)],
    ['truncated', text => text.slice(0, text.length >> 1)],
    ['half overwritten with zeros', text => text.slice(0, text.length >> 1).padEnd(text.length, '\0')],
    ['emptied', () => ''],
    ['an object instead of a list', () => '{}'],
    ['other values', () => '[1, null, {"profile": "prod"}]'],
    ['another token', text => text.replace(/"accessToken": "/, '$&_')],
    ['another address', text => text.replaceAll('"url": "http:', '"url": "httq:')],
  ])('is not read from a damaged file, which is set aside: %s', async (_, damage) => {
    const own = logins();
    await signedIn(own);
    const text = damage(await own.version());
    await writeFile(own.file, text);
    expect(await failure(own.tokenFor(endpoint()))).toBe(
      `the file of sign-ins ${own.file} is damaged. \`%login prod\` signs in again, and sets the file aside.`,
    );
    const token = new AccessToken('xaat-configured');
    expect(await own.tokenFor({ ...endpoint(), token })).toBeUndefined();
    expect(await provider.knows((await signedIn(own)).token.reveal())).toBe(true);
    const aside = (await readdir(join(home, 'data'))).filter(name => name.endsWith('.damaged'));
    expect(aside).toHaveLength(1);
    expect(await readFile(join(home, 'data', aside[0] ?? ''), 'utf8')).toBe(text);
  });
});

describe('a sign-out', () => {
  test('revokes and deletes the token, for every kernel', async () => {
    const own = logins();
    const { token } = await signedIn(own);
    const other = (await logins().tokenFor(endpoint())) as AccessToken;
    const { refreshToken } = JSON.parse(await own.version())[0];
    expect(await own.end(endpoint(), never)).toBe('revoked');
    expect([await provider.knows(token.reveal()), await provider.renews(refreshToken)]).toEqual([
      false,
      false,
    ]);
    expect(await readFile(own.file, 'utf8')).toBe('[]\n');
    clock += 3_600_000;
    expect(await failure(whoAmI(other))).toBe(
      'the sign-in to prod was ended by %logout. `%login prod` signs in again.',
    );
    expect(await own.end(endpoint(), never)).toBeUndefined();
  });

  test('deletes the token if the provider is down, and reports that it was not revoked', async () => {
    const own = logins();
    await signedIn(own);
    await provider.close();
    const ended = await own.end(endpoint(), never);
    expect(String(ended)).toContain('nothing answers at');
    expect(await readFile(own.file, 'utf8')).toBe('[]\n');
  });

  test('reports that the provider cannot revoke tokens', async () => {
    provider.change = ({ path, body }) => {
      if (path.startsWith('/.well-known')) delete body.revocation_endpoint;
    };
    const own = logins();
    await signedIn(own);
    expect(await own.end(endpoint(), never)).toBe('no revocation');
  });
});
