import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { compileRequest } from '../../kernel/local/sql/compile.js';
import { sharedService } from '../local/service.js';
import { expectRow } from './rows.js';

/** The Axiom CLI, whose module is in no proxy: AXIOM_CLI is the path of a build from source. */

const program = process.env.AXIOM_CLI;
const service = sharedService({ compile: compileRequest, now: Date.now });
const directory = mkdtempSync(join(tmpdir(), 'apl-cli-'));
const dataset = 'from-cli';

afterAll(() => rmSync(directory, { recursive: true, force: true }));

function environment(): NodeJS.ProcessEnv {
  const { url, token } = service().service;
  const AXIOM_TOKEN = token.replace('xaat-', 'xapt-');
  return { PATH: process.env.PATH, HOME: directory, AXIOM_URL: url, AXIOM_TOKEN, AXIOM_ORG_ID: 'local' };
}

/** Returns the output of a command; throws if it fails. */
function axiom(args: readonly string[], input?: string, env = environment()): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(program ?? '', args, { env, cwd: directory }, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(`${args.join(' ')}: ${stderr}`)),
    );
    child.stdin?.end(input);
  });
}

/** Ingests with a command; returns whether the dataset has this many more events. */
async function ingests(events: number, args: readonly string[], input?: string): Promise<boolean> {
  const before = await count();
  await axiom(['ingest', dataset, ...args], input);
  return (await count()) === before + events;
}

async function count(where = 'true'): Promise<number> {
  const { body } = await service().query(`['${dataset}'] | where ${where} | count`, {
    startTime: '2020-01-01T00:00:00Z',
    endTime: '2100-01-01T00:00:00Z',
  });
  return body.tables[0].columns[0][0];
}

/** Returns the only annotation, as the command lists it; undefined if there is none. */
async function annotation() {
  return JSON.parse(await axiom(['annotation', 'list', '-f', 'json']))[0];
}

const written = (name: string, text: string) => {
  const file = join(directory, name);
  writeFileSync(file, text);
  return file;
};

const checks: Readonly<Record<string, () => Promise<boolean>>> = {
  'dataset create': async () =>
    (await axiom(['dataset', 'create', '--name', dataset, '-d', 'd'])) !== undefined,
  'dataset list': async () => (await axiom(['dataset', 'list'])).includes(dataset),
  'dataset list as JSON': async () =>
    JSON.parse(await axiom(['dataset', 'list', '-f', 'json'])).some(
      ({ id }: { id: string }) => id === dataset,
    ),
  'ingest of a file of NDJSON': () => ingests(2, ['-f', written('e.ndjson', '{"a":1}\n{"a":2}\n')]),
  'ingest of a file of JSON': () => ingests(2, ['-f', written('e.json', '[{"a":3},{"a":4}]')]),
  'ingest of a file of CSV': () => ingests(2, ['-f', written('e.csv', 'a,b\n5,x\n6,y\n')]),
  'ingest of a pipe': () => ingests(1, [], '{"a":7}\n'),
  'ingest of a pipe of CSV without names': () =>
    ingests(1, ['--content-type', 'csv', '--csv-fields', 'a,b'], '8,z\n'),
  'ingest with labels': async () =>
    (await ingests(1, ['--label', 'env:prod'], '{"a":9}\n')) && (await count('env == "prod"')) === 1,
  'query as a table': async () =>
    (await axiom(['query', `['${dataset}'] | where env == "prod" | project a, env`])).trim() === '9\tprod',
  'query as JSON': async () =>
    (
      await axiom([
        'query',
        `['${dataset}'] | summarize n = count() by env | where env == "prod"`,
        '-f',
        'json',
      ])
    ).includes('"n":1'),
  'query that is wrong': () =>
    axiom(['query', `['${dataset}'] | wher a`]).then(
      () => false,
      (error: Error) => error.message.includes('unknown operator `wher`'),
    ),
  'query of a relative range': async () =>
    JSON.parse(await axiom(['query', `['${dataset}'] | count`, '--start-time=-1h', '-f', 'json'])).count > 0,
  'query that finds nothing, told to fail': () =>
    axiom(['query', `['${dataset}'] | where a == -1`, '--fail-on-empty']).then(
      () => false,
      (error: Error) => error.message.includes('no results'),
    ),
  'ingest and query at the edge': async () => {
    const { url, token } = service().service;
    const env = { ...environment(), AXIOM_TOKEN: token };
    const before = await count();
    await axiom(['ingest', dataset, '--edge-url', url], '{"a":10}\n', env);
    const query = ['query', `['${dataset}'] | count`, '-f', 'json', '--edge-url', url];
    return JSON.parse(await axiom(query, undefined, env)).count === before + 1;
  },
  'annotation create': async () =>
    (await axiom(['annotation', 'create', '-d', dataset, '-t', 'deploy', '--title', 'first'])) !== undefined,
  'annotation list': async () => (await axiom(['annotation', 'list', '-d', dataset])).includes('first'),
  'annotation update': async () => {
    const { id } = await annotation();
    await axiom(['annotation', 'update', id, '-d', dataset, '-t', 'deploy', '--title', 'second']);
    return (await annotation()).title === 'second';
  },
  'annotation delete': async () => {
    await axiom(['annotation', 'delete', (await annotation()).id, '-f']);
    return (await annotation()) === undefined;
  },
  'dataset update': async () =>
    (await axiom(['dataset', 'update', dataset, '-d', 'other'])) !== undefined &&
    (await service().json('GET', `/v2/datasets/${dataset}`)).body.description === 'other',
  'dataset trim': async () =>
    (await axiom(['dataset', 'trim', dataset, '--duration', '24h', '-f'])) !== undefined,
  'a configuration file': async () => {
    const { AXIOM_URL, AXIOM_TOKEN, ...env } = environment();
    const file = written(
      'axiom.toml',
      `active_deployment = "x"\n[deployments.x]\nurl = "${AXIOM_URL}"\ntoken = "${AXIOM_TOKEN}"\norg_id = "local"\n`,
    );
    const run = (...args: readonly string[]) => axiom(['--config', file, ...args], undefined, env);
    return (
      (await run('dataset', 'list')).includes(dataset) &&
      (await run('auth', 'status')).includes('Logged in to local')
    );
  },
  stream,
  'dataset delete': async () =>
    (await axiom(['dataset', 'delete', dataset, '-f'])) !== undefined &&
    (await service().json('GET', `/v2/datasets/${dataset}`)).status === 404,
};

/** Tests that each new event is printed exactly once. */
async function stream(): Promise<boolean> {
  const child = spawn(program ?? '', ['stream', dataset, '-f', 'json'], {
    env: environment(),
    cwd: directory,
  });
  let printed = '';
  child.stdout.on('data', chunk => {
    printed += String(chunk);
  });
  try {
    const send = (mark: number) => service().json('POST', `/v1/datasets/${dataset}/ingest`, [{ mark }]);
    const marks = () => [...printed.matchAll(/"mark":\s*(\d+)/g)].map(([, mark]) => Number(mark));
    const isRunning = () => child.exitCode === null;
    // Only events sent after the stream has started are printed.
    while (!marks().includes(0) && isRunning()) {
      await send(0);
      await delay(500);
    }
    for (const mark of [1, 2]) {
      await send(mark);
      while (!marks().includes(mark) && isRunning()) await delay(100);
      await delay(1500);
      expect(marks().filter(each => each > 0)).toEqual([1, 2].slice(0, mark));
    }
    return child.exitCode === null;
  } finally {
    child.kill();
  }
}

test.skipIf(program === undefined)('Axiom CLI', async () => {
  const outcomes: Record<string, boolean> = {};
  for (const [name, check] of Object.entries(checks))
    outcomes[name] = await check().catch(error => {
      console.log(`${name}: ${error}`);
      return false;
    });
  expectRow('Axiom CLI', outcomes);
});
