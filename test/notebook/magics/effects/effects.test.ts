import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Logins } from '../../../../kernel/api/login/logins.js';
import { ImportLog } from '../../../../kernel/notebook/magics/effects/effect-imports.js';
import {
  type AskedEffect,
  askedEffects,
  readEffects,
} from '../../../../kernel/notebook/magics/effects/effects.js';
import { magics } from '../../../../kernel/notebook/magics/magic-table.js';
import { certify } from '../../../api/certificates.js';
import { type Seen, type Service, startService } from '../../../api/service.js';
import { eventsFile, sharedBucket } from '../../../local/store/dataset/bucket/server.js';
import { realService } from '../../real-bench.js';
import { type Bench, everyday, printed, startBench, traceback } from '../../session.js';
import { openPage } from '../agents/page.js';

/** The same in each test, because a notebook's leftovers refer to their files by path. */
let directory: string;
let workDir: string;
let kept: string;
let hosted: Service;
/** The service of a test or of a block, started with its first kernel. */
let running: ReturnType<typeof realService> | undefined;
const benches: Bench[] = [];

const bucket = sharedBucket();

beforeAll(() => bucket.put('app/a.parquet', eventsFile([0])));

/** A web file server, which the test trusts without a certificate authority. */
const files = createServer((_, response) => response.end('n\n1\n'));

beforeAll(async () => {
  const made = await mkdtemp(join(tmpdir(), 'apl-effects-'));
  files.setSecureContext(certify(made, 'IP:127.0.0.1'));
  directory = join(made, 'used');
  kept = join(made, 'kept');
  workDir = join(directory, 'work');
  await new Promise<void>(resolve => files.listen(0, '127.0.0.1', resolve));
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  await mkdir(join(workDir, '.settings'), { recursive: true });
  hosted = await startService(answer);
  await makeBelongings();
  await end();
  await rename(directory, kept);
  return () => rm(made, { recursive: true });
});

afterAll(async () => {
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  await hosted.close();
  files.closeAllConnections();
  files.close();
});

let prefixes = 0;

/** Replaces `FILES` in a cell with the address of the web files. */
function addressed(cell: string): string {
  const at = cell.replace('FILES', `https://127.0.0.1:${(files.address() as AddressInfo).port}`);
  // A new prefix each time, so that nothing has been published there.
  return at.replace('PREFIX', `p${prefixes++}`);
}

const begin = () => cp(kept, directory, { recursive: true, preserveTimestamps: true });

/** Gives each test of a block fresh belongings on its own service. */
function withOwnService(): void {
  beforeEach(begin);
  afterEach(remove);
}

/** Shares the belongings and a service among the tests of a block, which change nothing. */
function withOneService(): void {
  beforeAll(begin);
  afterEach(closeBenches);
  afterAll(remove);
}

async function closeBenches(): Promise<void> {
  for (const bench of benches.splice(0)) await bench.close();
}

/** Ends everything that tests have started. */
async function end(): Promise<void> {
  await closeBenches();
  await (await running)?.close();
  running = undefined;
}

async function remove(): Promise<void> {
  await end();
  await rm(directory, { recursive: true });
}

function loginsFile(): string {
  return join(directory, 'data', 'logins.json');
}

/** Returns a sign-in to the profile `prod`. */
function login() {
  return {
    profile: 'prod',
    url: hosted.url,
    server: { issuer: hosted.url, token_endpoint: `${hosted.url}/token` },
    clientId: 'c1',
    accessToken: 'access-1',
  };
}

/** Answers as a hosted service with one starred query and one annotation. */
function answer(seen: Seen): ReturnType<typeof everyday> {
  const star = { id: 's1', kind: 'apl', name: 'Theirs', who: 'u9', metadata: {}, query: { apl: 'web' } };
  const note = { id: 'n1', datasets: ['web'], time: '2026-01-01T00:00:00Z', type: 'note', title: 'x' };
  if (seen.method === 'DELETE') return { status: 204, body: '' };
  if (seen.path.startsWith('/v2/apl-starred-queries'))
    return { body: seen.path.endsWith('queries') && seen.method === 'GET' ? [star] : star };
  if (seen.path.startsWith('/v2/annotations'))
    return { body: seen.path.endsWith('annotations') && seen.method === 'GET' ? [note] : note };
  return everyday(seen);
}

const agentsDir = () => join(directory, 'data', 'agents');

/** Starts a kernel on this test's services, in a page unless a deployment is given; `allowed` lists its notebook's unconfirmed effects. */
async function kernel(allowed: readonly AskedEffect[], deployment?: string): Promise<Bench> {
  running ??= realService(join(directory, 'data'));
  const { url, token } = await running;
  const connect = async () => ({ url, token, restarted: false });
  const bench = await startBench({
    allowed,
    workDir,
    agents: { agentsDir: agentsDir() },
    importLog: new ImportLog(join(directory, 'data', 'imports.json')),
    logins: new Logins({ file: loginsFile() }),
    local: () => ({ connect, close: () => undefined }),
    environment: () => (deployment === undefined ? {} : { deployment }),
  });
  benches.push(bench);
  await writeFile(
    join(bench.homeDir, '.axiom.toml'),
    ['prod', 'other']
      .map(name => `[deployments.${name}]\nurl = "${hosted.url}"\ntoken = "xaat-1"\n`)
      .join(''),
    { mode: 0o600 },
  );
  // Requests that editors make on their own are not made by cells.
  if (deployment !== undefined) return bench;
  const { client } = await openPage(bench, 'a.ipynb');
  const origin = { client, cell: 'own' };
  return { ...bench, run: (code, options) => bench.run(code, { origin, ...options }) };
}

/** Creates the state before a stranger's notebook runs: datasets, a starred query, an annotation, a file, a recording, settings. */
async function makeBelongings(): Promise<void> {
  const owner = await kernel(askedEffects);
  await writeFile(join(workDir, 'rows.csv'), 'n\n1\n2\n');
  await writeFile(join(workDir, 'other.csv'), 'n\n3\n');
  await writeFile(join(workDir, 'dated.csv'), '_time,n\n2026-01-01T00:00:00Z,1\n');
  await writeFile(join(workDir, '.apl-kernel.toml'), 'limit = 7\n');
  await writeFile(loginsFile(), JSON.stringify([login()]), { mode: 0o600 });
  for (const cell of [
    '%import rows.csv --dataset kept',
    '%star --new Mine\nprint a = 1',
    '%annotate Release --time 2026-01-01T00:00Z --dataset kept',
    'print a = 1',
    '%export old.csv',
    '%cache record rec\nprint a = 2',
    '%cache off',
    '%import dated.csv --dataset dated',
  ])
    expect(traceback(await owner.run(cell))).toEqual([]);
}

/** Returns everything a notebook could change or leak: files, the local service's state, and requests to the hosted one. */
async function state({ homeDir }: Bench): Promise<unknown> {
  const service = await running;
  const read = async (path: string) =>
    (
      await fetch(`${service?.url}${path}`, { headers: { authorization: `Bearer ${service?.token}` } })
    ).json();
  const datasets = (await read('/v1/local/datasets')) as readonly { name: string; rows?: number }[];
  return {
    files: { ...(await filesOf(workDir)), ...(await filesOf(homeDir)) },
    logins: await readFile(loginsFile(), 'utf8'),
    datasets: datasets.map(({ name, rows }) => [name, rows]),
    stars: await read('/v2/apl-starred-queries'),
    annotations: await read('/v2/annotations'),
    bucket: bucket.written.length,
    agents: await readdir(agentsDir()).catch(() => []),
    hosted: hosted.seen.filter(isSent).map(({ method, path }) => `${method} ${path}`),
  };
}

/** Whether a request is a query or a change. */
function isSent({ method }: Seen): boolean {
  return method !== 'GET';
}

async function filesOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(files.map(async file => [file, await readFile(file, 'latin1')] as const)),
  );
}

/** Cells that need confirmation: the magic, the effect, the cell, and the part of the question that names the action. */
const asking: readonly (readonly [magic: string, effect: AskedEffect, cell: string, what: string])[] = [
  ['import', 'drop', '%import other.csv --dataset kept --replace', 'replace 2 events of the dataset kept'],
  ['import', 'download', '%import FILES/new.csv?sig=secret', 'download https://127.0.0.1:'],
  ['import', 'bucket', '%import s3://logs/app', 'read s3://logs/app/ with your credentials, at your cost'],
  ['publish', 'publish', '%publish dated s3://logs/PREFIX', 'write dated to s3://logs/'],
  ['drop', 'drop', '%drop kept --yes', 'delete the dataset kept, 2 events'],
  ['export', 'overwrite', 'print a = 3\n', 'replace '],
  ['cache', 'overwrite', '%cache record rec', 'delete the recording in '],
  ['use', 'profile', '%use prod\nweb | count', 'send queries to prod (http://'],
  ['use', 'profile', '%connect prod\nweb | count', 'send queries to prod (http://'],
  ['use', 'profile', '%%on prod\nweb | count', 'send queries to prod (http://'],
  [
    'cache',
    'profile',
    '%cache replay rec\n%use prod\n%cache off\nweb | count',
    'send queries to prod (http://',
  ],
  ['logout', 'logout', '%logout prod', 'end the sign-in to prod, for all your kernels'],
  ['annotate', 'send', '%use prod\n%annotate Hi --dataset web', 'store an annotation in prod'],
  ['annotate', 'send', '%%on prod\n%annotate Hi --dataset web', 'store an annotation in prod'],
  ['annotate', 'drop', '%use prod\n%annotate --delete n1', 'delete the annotation n1'],
  ['star', 'send', '%use prod\n%star --new Hi --no-run\nweb', 'store a query in prod'],
  ['star', 'send', '%star --new Hi --no-run\n%%on prod\nweb', 'store a query in prod'],
  ['star', 'overwrite', '%star Mine --no-run\nprint a = 4', 'replace the starred query "Mine"'],
  ['unstar', 'drop', '%unstar Mine', 'delete the starred query Mine'],
  ['agents', 'agents', '%agents on', 'let agents on this machine add read-only cells to this notebook'],
  ['config', 'config', '%config limit 9', 'change the setting limit for all of your notebooks'],
];

/** The cases above, with a query's magic at the top of its cell. */
const cells = asking.map(
  ([magic, effect, cell, what]) =>
    [magic, effect, magic === 'export' ? `%export old.csv --force\n${cell}` : cell, what] as const,
);

/** Returns the other effects that the cell of an effect needs. */
function besides(effect: AskedEffect): readonly AskedEffect[] {
  return effect === 'profile' ? [] : ['profile'];
}

test('every declared effect that needs confirmation has a cell in this table', () => {
  const declared = magics.flatMap(({ name, effects }) =>
    askedEffects.filter(each => effects.includes(each)).map(effect => `${name} ${effect}`),
  );
  const asked = new Set(cells.map(([magic, effect]) => `${magic} ${effect}`));
  expect([...asked].sort()).toEqual(declared.sort());
});

describe('without a yes', () => {
  withOneService();

  test.each(cells)(
    '%s: %s changes nothing if nobody can be asked, or the answer is not yes',
    async (magic, effect, written, what) => {
      const cell = addressed(written);
      const stranger = await kernel(besides(effect));
      const before = await state(stranger);
      const [message = '', ...rest] = traceback(await stranger.run(cell));
      expect(message).toContain(`magic: %${magic} would ${what}`);
      expect(message).toContain(', but this session cannot ask for consent');
      expect(rest.join()).toContain(`\`apl-kernel run --allow ${effect}\`, or APL_KERNEL_ALLOW=${effect}`);
      expect(await state(stranger)).toEqual(before);
      await stranger.run('%use local');
      const run = await stranger.run(cell, { answer: 'y' });
      expect(run.outputs.flatMap(each => (each.kind === 'asked' ? [each.text] : []))).toEqual([
        expect.stringMatching(/^%\S+ would .+\. Type yes to allow this for the rest of the session: $/),
      ]);
      expect(traceback(run)[0]).toContain('not done because the answer was not yes');
      expect(await state(stranger)).toEqual(before);
    },
  );
});

describe.each(cells)('%s: %s', (magic, effect, written) => {
  withOwnService();
  let cell = '';
  beforeEach(() => {
    cell = addressed(written);
  });

  test('runs after a yes, and its effect needs no confirmation from then on', async () => {
    const stranger = await kernel(besides(effect));
    const before = await state(stranger);
    const run = await stranger.run(cell, { answer: ' Yes ' });
    expect([traceback(run), run.outputs.filter(({ kind }) => kind === 'asked').length]).toEqual([[], 1]);
    expect(await state(stranger)).not.toEqual(before);
    for (const [, , again] of cells.filter(([name, kind]) => kind === effect && name !== magic)) {
      await stranger.run('%use local');
      expect(traceback(await stranger.run(again))).toEqual([]);
    }
  });

  test.each([
    ['if it was allowed', [effect, ...besides(effect)], true],
    ['in a line that the front end runs on its own', [], false],
  ] as const)('runs without confirmation %s', async (_, allowed, storeHistory) => {
    const bench = await kernel(allowed);
    const before = await state(bench);
    expect(traceback(await bench.run(cell, { storeHistory }))).toEqual([]);
    expect(await state(bench)).not.toEqual(before);
  });
});

/** Cells of every magic that may run without confirmation, in a session that allows nothing. */
const quiet: Readonly<Record<string, readonly string[]>> = {
  time: ['%time last 2h', '%time last 1d --freeze', '%time --clear'],
  limit: ['%limit 5', '%limit --clear'],
  rows: ['%rows 5', '%rows --clear'],
  retain: ['%retain off', '%retain on'],
  request: ['%request --nocache', '%request --clear'],
  fetch: ['%fetch --all\nkept'],
  param: ['%param a = 1', '%param __proto__ = 1'],
  params: ['%params'],
  'show-query': ['%show-query'],
  assert: ['%assert rows > 0'],
  diff: ['%diff _ _'],
  compare: ['%compare -1d\nkept | count'],
  explain: ['%explain kept where n > 1', '%explain n > 1\nkept | take 1'],
  around: ['%around now'],
  patterns: ['%patterns kept', '%patterns other'],
  investigate: ["%investigate now ['kept']"],
  trace: ['%trace abc kept', '%trace slowest'],
  tail: ['%tail kept --for 1ms'],
  cache: ['%cache', '%cache replay rec', '%cache off'],
  agents: ['%agents', '%agents off', '%agents on'],
  history: ['%history'],
  rerun: ['%rerun 1'],
  use: ['%use', '%use local', '%use prod', '%use prod --token'],
  whoami: ['%whoami'],
  link: ['%link', '%link --absolute'],
  login: ['%login prod', '%login local'],
  logout: ['%logout prod', '%logout other'],
  datasets: ['%datasets'],
  schema: ['%schema', '%schema kept'],
  peek: ['%peek kept'],
  drop: ['%drop none --yes', '%drop sample-http-logs --yes', '%drop kept'],
  import: [
    '%import ~/.axiom.toml',
    '%import nothing.csv --replace',
    '%import https://127.0.0.1:9/x.csv',
    '%import s3://logs/app',
    '%import gs://logs/app',
  ],
  publish: ['%publish none s3://logs/none', '%publish kept gs://logs/kept', '%publish kept s3://logs/kept'],
  export: ['%export old.csv'],
  results: ['%results', '%results --budget 1GB', '%results --drop'],
  viz: ['%viz bar'],
  annotate: ['%annotate --list'],
  star: ['%star none --no-run\nprint a = 1', '%star --new Mine'],
  stars: ['%stars'],
  run: ['%run star:Mine'],
  load: ['%load star:Mine'],
  unstar: ['%unstar none'],
  config: ['%config', '%config none 1'],
  bugreport: ['%bugreport --queries'],
  help: ['%help', '%help drop'],
  lsmagic: ['%lsmagic'],
  version: ['%version'],
  echo: ['%echo hi > old.csv'],
  apl: ['%apl print a = 1'],
};

/** A cell's own query: everything below the first line, or `%apl` with its argument. */
const ownQuery = /\n.*|^%apl .*/s;

describe('without confirmation', () => {
  withOwnService();

  test('no magic changes anything the session did not create', async () => {
    expect(Object.keys(quiet)).toEqual(magics.map(({ name }) => name));
    const stranger = await kernel([]);
    await stranger.run('print a = 1');
    const before = await state(stranger);
    for (const cell of Object.values(quiet).flat()) {
      await stranger.run(cell);
      expect([cell, await state(stranger)]).toEqual([cell, before]);
    }
  });

  test('magics without a service effect send no request, and others send only queries', async () => {
    for (const { name, effects } of magics) {
      const bench = await kernel([], 'prod');
      const before = hosted.seen.length;
      for (const cell of quiet[name] ?? []) await bench.run(cell.replace(ownQuery, ''));
      const sent = hosted.seen.slice(before);
      const changes = sent.filter(each => isSent(each) && !each.path.includes('/_apl'));
      const mayReach = effects.some(each => ['query', 'drop', 'send'].includes(each));
      expect([name, mayReach || sent.length === 0, changes]).toEqual([name, true, []]);
    }
  });
});

describe('queries of a notebook from someone else', () => {
  withOwnService();

  let already = 0;
  const sent = () => hosted.seen.filter(isSent).length - already;
  beforeEach(() => {
    already += sent();
  });

  test('may use only the profile that the session started on', async () => {
    const bench = await kernel([], 'prod');
    expect(traceback(await bench.run('%use local\n%use prod\nweb | count'))).toEqual([]);
    expect(sent()).toBe(1);
    expect(traceback(await bench.run('%use other'))[0]).toContain(
      '%use would send queries to other (http://',
    );
  });

  test('may use another profile once the user chooses it in the front end', async () => {
    const bench = await kernel([]);
    expect(traceback(await bench.run('%use prod', { storeHistory: false }))).toEqual([]);
    expect(traceback(await bench.run('%use local\n%use prod\nweb | count'))).toEqual([]);
    expect(sent()).toBe(1);
  });

  test('are replayed under any profile', async () => {
    const owner = await kernel(askedEffects);
    await owner.run('%use prod\n%cache record rec\nweb | count');
    const bench = await kernel([]);
    const [{ outcome }, before] = [await bench.run('%cache replay rec\n%use prod\nweb | count'), sent()];
    expect([outcome.status, before]).toEqual(['ok', 1]);
    for (const mode of ['off', 'auto rec', 'record rec'])
      expect(traceback(await bench.run(`%cache ${mode}\nweb | count`))[0]).toContain('%cache would send');
    expect(sent()).toBe(1);
  });
});

describe('a session may change what it created:', () => {
  withOwnService();

  test.each([
    [
      'a dataset',
      ['%import other.csv --dataset own', '%import rows.csv --dataset own --replace', '%drop own --yes'],
    ],
    ['a file', ['print a = 1', '%export new.csv', '%export new.csv --force']],
    ['a file, by another path', ['print a = 1', '%export new.csv', '%export ../work/new.csv --force']],
    ['a recording', ['%cache record fresh', '%cache record fresh', '%cache off']],
    ['a starred query', ['%star --new Own --no-run\nprint 1', '%star Own --no-run\nprint 2', '%unstar Own']],
  ])('%s', async (_, session) => {
    const stranger = await kernel([]);
    for (const cell of session) expect([cell, traceback(await stranger.run(cell))]).toEqual([cell, []]);
  });

  test('an annotation', async () => {
    const stranger = await kernel([]);
    const said = printed(await stranger.run('%annotate Own --time 2026-02-01T00:00Z --dataset kept'));
    const [, id] = /the annotation (\w+),/.exec(said) ?? [];
    expect(traceback(await stranger.run(`%annotate --delete ${id}`))).toEqual([]);
  });
});

describe('running a notebook again', () => {
  withOwnService();

  test('replaces the rows it imported without confirmation, but not other rows', async () => {
    const [first, second] = [await kernel([]), await kernel([])];
    const cell = '%import rows.csv --dataset kept --replace';
    expect(traceback(await first.run(cell))).toEqual([]);
    await writeFile(join(workDir, 'rows.csv'), 'n\n1\n2\n3\n');
    expect(traceback(await second.run(cell))).toEqual([]);
    await second.run('%import other.csv --dataset kept');
    expect(traceback(await (await kernel([])).run(cell))[0]).toContain(
      'would replace 4 events of the dataset kept, which this session did not import',
    );
  });

  test('saves its unchanged query without confirmation', async () => {
    const stranger = await kernel([]);
    expect(traceback(await stranger.run('%star --new Mine\nprint a = 1'))).toEqual([]);
  });

  test('leaves no temporary file if the import log cannot be written', async () => {
    const place = await mkdtemp(join(tmpdir(), 'apl-notes-'));
    const file = join(place, 'imports.json');
    await mkdir(file);
    await new ImportLog(file).note('kept', join(workDir, 'rows.csv'), { rows: 1 });
    expect(await readdir(place)).toEqual(['imports.json']);
    await rm(place, { recursive: true });
  });

  test('requires confirmation if the import log is damaged', async () => {
    for (const content of ['', '{', '{"kept":1}', '[["kept"]]', '[["kept",7]]']) {
      await writeFile(join(directory, 'data', 'imports.json'), content);
      const cell = '%import rows.csv --dataset kept --replace';
      expect(traceback(await (await kernel([])).run(cell))[0]).toContain('would replace 2 events');
    }
  });
});

describe('a file in a hidden directory', () => {
  withOneService();
  beforeAll(() => symlink(join(workDir, '.settings'), join(workDir, 'link')));

  test.each(['.settings/new.json', '.new.json', 'link/new.json'])(
    'needs confirmation to be written: %s',
    async name => {
      const stranger = await kernel([]);
      const before = await state(stranger);
      const run = await stranger.run(`%export ${name}\nprint a = 1`);
      expect(traceback(run)[0]).toMatch(
        /%export would write .*, a hidden file or a file in a hidden directory,/,
      );
      expect(await state(stranger)).toEqual(before);
    },
  );
});

describe('the effects allowed on a command line', () => {
  test.each([
    ['', { named: [] }],
    ['overwrite', { named: ['overwrite'] }],
    ['drop, overwrite,drop', { named: ['overwrite', 'drop'] }],
    ['drop,everything', { named: ['drop'], unknown: 'everything' }],
    ['query', { named: [], unknown: 'query' }],
    ['toString', { named: [], unknown: 'toString' }],
  ])('%j', (text, read) => expect(readEffects(text)).toEqual(read));
});
