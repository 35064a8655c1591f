import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { QueryLog } from '../../kernel/notebook/query/query-log.js';
import { type Bench, everyday, printed, queries, startBench, traceback } from './session.js';

let bench: Bench;
let directory: string;

const configured = 'opaque-0f5c9d1e7b';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'apl-secrets-'));
  bench = await startBench({
    workDir: directory,
    queryLog: new QueryLog(join(directory, 'queries.jsonl')),
    environment: ({ url }) => ({ url, token: configured }),
    // A service that repeats in its answers and messages what it received.
    reply: seen => {
      if (seen.path.startsWith('/v2/apl-starred-queries')) return { body: [] };
      if (seen.body.includes('refuse'))
        return { status: 400, body: { code: 400, message: `no: ${seen.body}` } };
      return everyday(seen);
    },
  });
});

afterEach(async () => {
  await bench.close();
  await rm(directory, { recursive: true, force: true });
});

const secret = 'ab12cd34ef56-7890';
const tokens = [
  ['of the API', `xaat-${secret}`],
  ['of a person', `xapt-${secret}`],
  ['of OAuth', `Bearer ya29.${secret}`],
  ['in the configuration', configured],
] as const;

/** Returns everything that the kernel has written: files, outputs, and state for the next session. */
async function written(): Promise<string> {
  const files = (
    await Promise.all(
      [directory, bench.homeDir].map(async folder =>
        (
          await readdir(folder, { recursive: true, withFileTypes: true })
        )
          .filter(entry => entry.isFile())
          .map(entry => join(entry.parentPath, entry.name)),
      ),
    )
  ).flat();
  return (await Promise.all(files.map(file => readFile(file, 'latin1')))).join('\n');
}

describe.each(tokens)('a token %s', (_, token) => {
  test.each([
    ['in a comment', (t: string) => `// with ${t}\nweb | count`],
    ['in a string', (t: string) => `web | where auth == "${t}" | count`],
    ['in a let statement', (t: string) => `let key = '${t}';\nweb | where auth == key`],
    ['in a query that is refused', (t: string) => `web | where refuse == "${t}"`],
    ['in a query with a syntax error', (t: string) => `web | where "${t}" === )`],
    ['in a parameter', (t: string) => `%param key = "${t}"\n%params\n%show-query\nweb | where auth == key`],
    ['in a choice', (t: string) => `%param key = "a" --choices "a", "${t}"\n%params`],
    ['in a magic that prints it', (t: string) => `%echo ${t}\n%echo --stderr ${t}`],
    ['in place of a magic name', (t: string) => `% ${t}`],
    ['in the name of a profile', (t: string) => `%use "${t}"`],
    ['in the name of a dataset', (t: string) => `%peek "${t}"`],
    ['in a search of the history', (t: string) => `%history "${t}"`],
    ['in a help topic', (t: string) => `%help "${t}"`],
    ['in a range', (t: string) => `%time ${t}`],
    ['in a setting', (t: string) => `%config time "${t}"`],
    ['in a starred query', (t: string) => `%star --new "my ${t}" --no-run\nweb | where auth == "${t}"`],
    ['in an annotation', (t: string) => `%annotate "${t}" --dataset web --time 2026-01-01T00:00Z`],
    ['in an assertion', (t: string) => `%assert max(n) == "${t}"\nweb | count`],
    ['in the name of a file', (t: string) => `%export "none/${t}.csv"\nweb | count`],
    ['in a recording', (t: string) => `%cache record rec\nweb | where auth == "${t}" and refuse`],
  ])('%s is neither stored nor shown', async (_where, cell) => {
    await bench.run('web | count');
    const run = await bench.run(cell(token));
    const later = [
      await bench.run('%history'),
      await bench.run('%results'),
      await bench.run('%bugreport --queries'),
    ];
    const isConfigured = token === configured;
    const part = isConfigured ? configured : secret;
    // The cell's source, which the kernel does not write.
    const outputs = run.outputs.filter(({ kind }) => kind !== 'this cell');
    const shown = JSON.stringify([run.outcome, outputs, later, bench.logged]);
    // Only stored data is compared with the profiles' tokens.
    expect([(await written()).includes(part), !isConfigured && shown.includes(part)]).toEqual([false, false]);
  });
});

test('a query with a token is sent as typed', async () => {
  await bench.run(`web | where auth == "xaat-${secret}"`);
  expect(queries(bench.service)[0]?.apl).toBe(`web | where auth == "xaat-${secret}"`);
});

test('%rerun refuses a query that contained a token', async () => {
  await bench.run(`web | where auth == "xaat-${secret}"`);
  await bench.run('web | count');
  expect(traceback(await bench.run('%rerun 1'))[0]).toBe(
    'magic: %rerun: query 1 contained an access token, which is not stored',
  );
  expect(traceback(await bench.run('%rerun 2'))).toEqual([]);
  expect(queries(bench.service).length).toBe(3);
});

test('a word after "bearer" is not a token', async () => {
  await bench.run('web | where msg has "bearer of news" // bearer token');
  expect(await written()).toContain('bearer of news\\" // bearer token');
});

test('%history masks tokens in an older query log', async () => {
  const entry = {
    at: 't',
    profile: 'local',
    apl: `web // xaat-${secret}`,
    startTime: 's',
    endTime: 'e',
    elapsedMs: 1,
  };
  await writeFile(join(directory, 'queries.jsonl'), `${JSON.stringify(entry)}\n`);
  const listed = JSON.stringify(await bench.run('%history'));
  expect([listed.includes('web // ***'), listed.includes(secret)]).toEqual([true, false]);
});

test('%echo keeps words that only resemble tokens', async () => {
  expect(printed(await bench.run('%echo maxapt-1 bearer of news'))).toBe('maxapt-1 bearer of news\n');
});
