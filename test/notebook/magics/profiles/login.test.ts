import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Logins } from '../../../../kernel/api/login/logins.js';
import { QueryLog } from '../../../../kernel/notebook/query/query-log.js';
import { comeBack, type RunningProvider, signIn, startProvider } from '../../../api/login/provider.js';
import { type Service, startService } from '../../../api/service.js';
import { type Bench, type CellRun, everyday, printed, startBench, traceback } from '../../session.js';

let provider: RunningProvider;
let hosted: Service;
let directory: string;
let bench: Bench;

beforeEach(async () => {
  provider = await startProvider();
  // A service that repeats the token in all of its answers.
  hosted = await startService(seen => {
    if (seen.headers.authorization === undefined)
      return { status: 401, body: { code: 401, message: 'no token' } };
    if (seen.body.includes('refuse')) return { status: 400, body: { message: seen.headers.authorization } };
    return everyday(seen);
  });
  directory = await mkdtemp(join(tmpdir(), 'apl-login-'));
  await mkdir(join(directory, 'work'));
  bench = await startBench({
    workDir: join(directory, 'work'),
    logins: new Logins({ file: join(directory, 'data', 'logins.json'), waitMs: 60_000 }),
    queryLog: new QueryLog(join(directory, 'data', 'queries.jsonl')),
  });
  await writeFile(
    join(bench.homeDir, '.axiom.toml'),
    `[deployments.prod]\nurl = "${hosted.url}"\noauth_issuer = "${provider.issuer}"\n`,
    { mode: 0o600 },
  );
});

afterEach(async () => {
  await bench.close();
  await provider.close();
  await hosted.close();
  await rm(directory, { recursive: true });
});

/** Resolves with the page that the cell shows while it waits. */
async function shownPage(): Promise<URL> {
  for (;;) {
    const [, page] = /: (http\S+)\n/.exec(bench.passed.at(-1) ?? '') ?? [];
    if (page !== undefined) return new URL(page);
    await new Promise(resolve => setTimeout(resolve, 5));
  }
}

async function login(cell = '%login prod'): Promise<CellRun> {
  const running = bench.run(cell, { answer: '' });
  await comeBack(await signIn(await shownPage()));
  return running;
}

async function secrets(): Promise<readonly string[]> {
  const [{ accessToken, refreshToken }] = JSON.parse(
    await readFile(join(directory, 'data', 'logins.json'), 'utf8'),
  );
  const sent = new URLSearchParams(provider.bodies.find(each => each.includes('code_verifier')));
  return [accessToken, refreshToken, sent.get('code') ?? '', sent.get('code_verifier') ?? ''];
}

/** Reads everything below a directory except the sign-in file. */
async function written(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter(entry => entry.isFile() && entry.name !== 'logins.json');
  return (
    await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')))
  ).join();
}

test('queries use the token after %login', async () => {
  const run = await login();
  expect([traceback(run), printed(run)]).toEqual([
    [],
    `Signed in to prod (${hosted.url}). \`%use prod\` sends queries there.\n`,
  ]);
  expect(traceback(await bench.run('%use prod\nweb | count'))).toEqual([]);
  const [accessToken] = await secrets();
  expect(hosted.seen.at(-1)?.headers.authorization).toBe(`Bearer ${accessToken}`);
  const list = JSON.stringify((await bench.run('%use')).outputs);
  expect(list).toContain(`access token of a sign-in, ends in ${accessToken?.slice(-4)}`);
});

test('no token, code or verifier appears outside the sign-in file', async () => {
  const runs = [await login()];
  const [accessToken = ''] = await secrets();
  for (const cell of [
    '%use prod',
    '%whoami',
    'web | count',
    'web | where refuse',
    `web | where token == "${accessToken}" // and refuse`,
    '%history',
    '%cache record rec',
    'web | count',
    `web | where a == "${accessToken}"`,
    '%cache off',
    '%bugreport --queries',
    '%link --absolute',
    '%logout',
  ]) {
    const run = await bench.run(cell);
    // A cell's own outputs contain its source.
    if (!cell.includes(accessToken)) runs.push(run);
  }
  const everything = [
    JSON.stringify(runs),
    bench.logged.join(),
    await written(directory),
    await written(bench.homeDir),
  ].join('\n');
  const all = [
    ...new Set([
      accessToken,
      ...provider.bodies
        .flatMap(body => [...new URLSearchParams(body)])
        .filter(([name]) => ['code', 'code_verifier', 'token', 'refresh_token'].includes(name))
        .map(([, value]) => value),
    ]),
  ];
  expect(all.length).toBe(4);
  expect(all.filter(secret => everything.includes(secret))).toEqual([]);
});

test("%login --paste prompts for the browser's final address without showing it", async () => {
  const run = await bench.run('%login prod --paste', {
    answer: async () => (await signIn(await shownPage())).href,
  });
  expect(traceback(run)).toEqual([]);
  expect(run.outputs.map(({ kind }) => kind)).toEqual(['asked for a secret', 'stdout']);
  expect(traceback(await bench.run('%use prod\nweb | count'))).toEqual([]);
});

test('an interrupt stops %login and closes its port', async () => {
  const stop = new AbortController();
  const running = bench.run('%login prod', { answer: '', signal: stop.signal });
  const back = (await shownPage()).searchParams.get('redirect_uri') ?? '';
  expect((await fetch(back)).status).toBe(400);
  stop.abort();
  expect((await running).outcome).toMatchObject({ status: 'error', ename: 'Interrupted' });
  await expect(fetch(back)).rejects.toThrow('fetch failed');
  expect(traceback(await bench.run('print 1'))).toEqual([]);
});

test('%login fails immediately if nobody can see the link', async () => {
  expect(traceback(await bench.run('%login prod')).join('\n')).toMatch(
    /%login: this session cannot prompt to sign in to prod[\s\S]*Sign in once in a notebook or a console: `%login prod`/,
  );
  expect(provider.asked).toEqual([]);
});

test.each([
  ['%login', '%login: the local service needs no sign-in'],
  ['%logout local', '%logout: the local service needs no sign-in'],
  ['%login nope', 'there is no profile nope'],
  ['%logout prod', '%logout: there is no sign-in to prod'],
  ['%login prod extra', '%login:'],
])('refuses %s', async (cell, message) => {
  expect(traceback(await bench.run(cell, { answer: '' }))[0]).toContain(message);
});

test('an error about a missing token suggests %login', async () => {
  expect(traceback(await bench.run('%use prod\nweb | count')).join('\n')).toContain(
    '`%login prod` signs in for one',
  );
});

test('a sign-in replaces a typed token, and a typed token replaces a sign-in', async () => {
  await bench.run('%use prod --token', { answer: 'xaat-typed' });
  await login('%login');
  await bench.run('web | count');
  await bench.run('%use prod --token\nweb | count', { answer: 'xaat-typed-again' });
  const [accessToken] = await secrets();
  const tokens = hosted.seen.map(({ headers }) => headers.authorization);
  expect(tokens).toEqual([`Bearer ${accessToken}`, 'Bearer xaat-typed-again']);
});

test('%logout revokes the token and leaves the profile without one', async () => {
  await login();
  expect(printed(await bench.run('%logout prod'))).toBe(
    'Signed out of prod: the token is revoked and deleted.\n',
  );
  expect(traceback(await bench.run('%use prod\nweb | count')).join()).toContain('needs a token');
});

test('another kernel uses the sign-in after its next %use', async () => {
  await bench.run('%use prod');
  const other = await startBench({ logins: new Logins({ file: join(directory, 'data', 'logins.json') }) });
  await writeFile(
    join(other.homeDir, '.axiom.toml'),
    `[deployments.prod]\nurl = "${hosted.url}"\noauth_issuer = "${provider.issuer}"\n`,
  );
  await other.run('%use prod');
  await login();
  expect(traceback(await other.run('%use prod\nweb | count'))).toEqual([]);
  await other.close();
});

test('the sign-in link is escaped and names its host', async () => {
  provider.change = ({ path, body }) => {
    if (path.startsWith('/.well-known')) body.authorization_endpoint = `${provider.issuer}/auth?a="><b>&c=1`;
  };
  const shown: string[] = [];
  const stop = new AbortController();
  const running = bench.run('%login prod', {
    answer: '',
    signal: stop.signal,
    onPassing: each => shown.push(String(each.data['text/html'])),
  });
  await shownPage();
  stop.abort();
  await running;
  expect(shown[0]).toMatch(
    /^<p><a href="http:\/\/127\.0\.0\.1:\d+\/auth\?a=%22%3E%3Cb%3E&#38;c=1&#38;response_type=code/,
  );
  expect(shown[0]).toContain(`at ${new URL(provider.issuer).host}. This cell waits for it.</p>`);
});
