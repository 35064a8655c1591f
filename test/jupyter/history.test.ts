import { execFile } from 'node:child_process';
import { appendFile, mkdtemp, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { History } from '../../kernel/jupyter/history.js';
import type { HistoryQuery } from '../../kernel/jupyter/jupyter-requests.js';

async function historyFile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'apl-kernel-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return join(directory, 'data', 'history.ndjson');
}

const fail = (line: string) => {
  throw new Error(line);
};

const rows = (history: History, query: HistoryQuery) =>
  history.list(query).map(({ session, line, source }) => [session, line, source]);

const HISTORY_MODULE = new URL('../../kernel/jupyter/history.ts', import.meta.url).href;

const ALL: HistoryQuery = { access: 'tail', n: 1000 };

test('lists tails, ranges and searches over two earlier sessions and this one', async () => {
  const file = await historyFile();
  for (const sources of [
    ['a1', 'b1'],
    ['a2', 'b2', 'a1'],
  ]) {
    const earlier = new History(file, fail);
    for (const [i, source] of sources.entries()) earlier.append(i + 1, source);
  }
  const history = new History(file, fail);
  history.append(1, 'a\n3');
  history.append(2, 'a1');
  const check = (query: HistoryQuery, expected: readonly (readonly [number, number, string])[]) =>
    expect([query, rows(history, query)]).toEqual([query, expected]);
  const range = { access: 'range', session: 0, start: 1, stop: undefined } as const;
  const search = { access: 'search', pattern: 'a*', n: undefined, unique: false } as const;
  check({ access: 'tail', n: 3 }, [
    [2, 3, 'a1'],
    [3, 1, 'a\n3'],
    [3, 2, 'a1'],
  ]);
  check({ access: 'tail', n: 0 }, []);
  check(range, [
    [3, 1, 'a\n3'],
    [3, 2, 'a1'],
  ]);
  check({ ...range, stop: 2 }, [[3, 1, 'a\n3']]);
  check({ ...range, start: -1 }, [[3, 2, 'a1']]);
  check({ ...range, session: -1, start: 2 }, [
    [2, 2, 'b2'],
    [2, 3, 'a1'],
  ]);
  check({ ...range, session: 1 }, [
    [1, 1, 'a1'],
    [1, 2, 'b1'],
  ]);
  check({ ...range, session: 9 }, []);
  check(search, [
    [1, 1, 'a1'],
    [2, 1, 'a2'],
    [2, 3, 'a1'],
    [3, 1, 'a\n3'],
    [3, 2, 'a1'],
  ]);
  check({ ...search, unique: true }, [
    [2, 1, 'a2'],
    [3, 1, 'a\n3'],
    [3, 2, 'a1'],
  ]);
  check({ ...search, n: 2 }, [
    [3, 1, 'a\n3'],
    [3, 2, 'a1'],
  ]);
  check({ ...search, pattern: '?1', n: 1 }, [[3, 2, 'a1']]);
});

test("two concurrent kernels see each other's lines and number sessions alike", async () => {
  const file = await historyFile();
  const [a, b] = [new History(file, fail), new History(file, fail)];
  a.append(1, 'from a');
  b.append(1, 'from b');
  a.append(2, 'more of a');
  const expected = [
    [1, 1, 'from a'],
    [1, 2, 'more of a'],
    [2, 1, 'from b'],
  ];
  expect([rows(a, ALL), rows(b, ALL)]).toEqual([expected, expected]);
  expect(rows(b, { access: 'range', session: 0, start: 1, stop: undefined })).toEqual([[2, 1, 'from b']]);
});

test('concurrent appends by several processes keep every line whole', async () => {
  const file = await historyFile();
  const script = `
    import { History } from ${JSON.stringify(HISTORY_MODULE)};
    const history = new History(process.argv[1], line => { throw new Error(line); });
    for (let i = 1; i <= 300; i += 1) history.append(i, 'x'.repeat(i * 40));
  `;
  const append = () =>
    promisify(execFile)(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script, file]);
  await Promise.all([append(), append(), append()]);
  const entries = new History(file, fail).list(ALL);
  expect(entries.length).toBe(900);
  expect(new Set(entries.map(({ session }) => session))).toEqual(new Set([1, 2, 3]));
  expect(entries.every(({ line, source }) => source.length === line * 40)).toBe(true);
});

test('incomplete or changed lines are left out and reported, and the next ones are read', async () => {
  const file = await historyFile();
  const first = new History(file, fail);
  first.append(1, 'whole');
  await appendFile(file, '{"session":"x","line":2,"sou');
  first.append(2, 'after');
  await appendFile(file, 'null\n[]\n{"session":7}\n\u0000\n');
  const said: string[] = [];
  const whole = [
    [1, 1, 'whole'],
    [1, 2, 'after'],
  ];
  expect(rows(new History(file, line => said.push(line)), ALL)).toEqual(whole);
  await writeFile(file, (await readFile(file, 'utf8')).replace('"whole"', '"whome"'));
  expect(rows(new History(file, line => said.push(line)), ALL)).toEqual(whole.slice(1));
  expect(said).toEqual([5, 6].map(lines => `${lines} damaged lines of ${file} left out`));
});

test.each([
  ['UTF-16', 'utf16le'],
  ['UTF-8 with a mark', 'utf8'],
] as const)('reads a file that an editor saved in %s, and what is appended to it', async (_, encoding) => {
  const file = await historyFile();
  const first = new History(file, fail);
  first.append(1, 'one 😀');
  await writeFile(file, `\ufeff${(await readFile(file, 'utf8')).replaceAll('\n', '\r\n')}`, encoding);
  const reader = new History(file, fail);
  expect(rows(reader, ALL)).toEqual([[1, 1, 'one 😀']]);
  first.append(2, 'two');
  const both = [
    [1, 1, 'one 😀'],
    [1, 2, 'two'],
  ];
  expect([rows(reader, ALL), rows(new History(file, fail), ALL)]).toEqual([both, both]);
});

test('reads a line once it is complete', async () => {
  const file = await historyFile();
  const writer = new History(file, fail);
  const reader = new History(file, fail);
  writer.append(1, 'one 😀');
  expect(rows(reader, ALL).length).toBe(1);
  const [, written = ''] = (await readFile(file, 'utf8')).split('\n');
  const { checksum: _, ...record } = JSON.parse(written);
  const line = JSON.stringify({ ...record, line: 2 });
  await appendFile(file, line.slice(0, 20));
  expect(rows(reader, ALL).length).toBe(1);
  await appendFile(file, `${line.slice(20)}\n`);
  expect(rows(reader, ALL)).toEqual([
    [1, 1, 'one 😀'],
    [1, 2, 'one 😀'],
  ]);
});

test.each<readonly [string, (file: string) => Promise<unknown>]>([
  ['emptied', file => truncate(file)],
  ['cut', async file => truncate(file, (await readFile(file)).lastIndexOf('\n', -2) + 1)],
  ['deleted', file => rm(file)],
  [
    'replaced by a longer one',
    async file => {
      const earlier = new History(`${file}.new`, fail);
      for (const [i, source] of ['a', 'b', 'c', 'd', 'e'].entries()) earlier.append(i + 1, source);
      await rename(`${file}.new`, file);
    },
  ],
])('lists earlier and later lines once after the file was %s', async (how, change) => {
  const file = await historyFile();
  const history = new History(file, fail);
  history.append(1, 'first');
  history.append(2, 'second');
  expect(rows(history, ALL)).toHaveLength(2);
  await change(file);
  history.append(3, 'third');
  const own = [
    [1, 1, 'first'],
    [1, 2, 'second'],
    [1, 3, 'third'],
  ];
  const others = how.startsWith('replaced') ? ['a', 'b', 'c', 'd', 'e'] : [];
  const all = [...own, ...others.map((source, i) => [2, i + 1, source])];
  expect([rows(history, ALL), rows(history, ALL)]).toEqual([all, all]);
});

test('reads the newest lines of a file with a hole of a gigabyte', async () => {
  const file = await historyFile();
  new History(file, fail).append(1, 'before');
  await truncate(file, 2 ** 30);
  await appendFile(file, '\n');
  new History(file, fail).append(1, 'behind');
  expect(rows(new History(file, fail), ALL)).toEqual([[1, 1, 'behind']]);
});

test('only the user may read the file', async () => {
  const file = await historyFile();
  new History(file, fail).append(1, 'a');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('keeps the session in memory without a file, or if the file is unusable', async () => {
  const directory = await historyFile();
  new History(directory, fail).append(1, 'makes the directory');
  await writeFile(`${directory}.d`, '');
  const lines: string[] = [];
  for (const file of [undefined, join(`${directory}.d`, 'history')]) {
    const history = new History(file, line => lines.push(line.replace(/:.*/, '')));
    history.append(1, 'a');
    history.append(2, 'b');
    expect(rows(history, ALL)).toEqual([
      [1, 1, 'a'],
      [1, 2, 'b'],
    ]);
  }
  expect(lines).toEqual([
    `the history is kept in memory only, as ${join(`${directory}.d`, 'history')} cannot be used`,
  ]);
});

test('keeps results for this session only, not in the file', async () => {
  const file = await historyFile();
  const history = new History(file, fail);
  for (const line of [1, 2]) history.append(line, `cell ${line}`);
  history.recordOutput(1, 'private');
  history.recordOutput(2, 'x'.repeat(100_000));
  expect(history.list(ALL).map(entry => history.outputOf(entry))).toEqual(['private', undefined]);
  expect(await readFile(file, 'utf8')).not.toContain('private');
  const later = new History(file, fail);
  expect(later.list(ALL).map(entry => later.outputOf(entry))).toEqual([undefined, undefined]);
});

test('masks tokens in the file, and in the list from an older file', async () => {
  const file = await historyFile();
  new History(file, fail).append(1, '// xaat-1234-5678\nprint 1');
  expect(await readFile(file, 'utf8')).toContain('"// ***\\nprint 1"');
  await appendFile(file, `${JSON.stringify({ session: 'old', line: 1, source: '// xapt-1234' })}\n`);
  expect(rows(new History(file, fail), ALL)).toEqual([
    [1, 1, '// ***\nprint 1'],
    [2, 1, '// ***'],
  ]);
});
