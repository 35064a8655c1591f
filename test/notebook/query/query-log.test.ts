import { existsSync, statSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type LoggedQuery, QueryLog } from '../../../kernel/notebook/query/query-log.js';
import { everyday, queries, shown, startBench, traceback } from '../session.js';

let directory: string;
let file: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'apl-log-'));
  file = join(directory, 'deep', 'queries.jsonl');
});

afterEach(() => rm(directory, { recursive: true }));

const entry = (number: number): LoggedQuery => ({
  at: '2026-01-01T00:00:00Z',
  profile: 'local',
  apl: `print n = ${number}`,
  startTime: '2026-01-01T00:00:00Z',
  endTime: '2026-01-01T01:00:00Z',
  rows: 1,
  elapsedMs: 5,
});

test('another kernel of the user, and no other user, can read the log', async () => {
  expect(await new QueryLog(file).append(entry(1))).toBe(undefined);
  await new QueryLog(file).append(entry(2));
  expect(await new QueryLog(file).entries()).toEqual([entry(1), entry(2)]);
  expect((await stat(file)).mode & 0o077).toBe(0);
  expect((await stat(dirname(file))).mode & 0o077).toBe(0);
});

test('skips damaged lines', async () => {
  const log = new QueryLog(file);
  await log.append(entry(1));
  await appendFile(file, '{"at": 5}\nnot json\n');
  await log.append(entry(2));
  expect(await log.entries()).toEqual([entry(1), entry(2)]);
});

test.each([
  ['UTF-16', 'utf16le'],
  ['UTF-8 with a BOM', 'utf8'],
] as const)('reads and appends to a file that an editor saved as %s', async (_, encoding) => {
  const log = new QueryLog(file);
  await log.append(entry(1));
  await writeFile(file, `\ufeff${(await readFile(file, 'utf8')).replaceAll('\n', '\r\n')}`, encoding);
  for (const number of [2, 3]) await log.append(entry(number));
  expect(await log.read()).toEqual({ entries: [1, 2, 3].map(entry) });
});

test('%history reports damaged lines and lists the rest', async () => {
  const log = new QueryLog(file);
  for (const number of [1, 2, 3]) await log.append(entry(number));
  await writeFile(file, (await readFile(file, 'utf8')).replace('print n = 2', 'print n = 3'));
  expect(await log.entries()).toEqual([entry(1), entry(3)]);
  const bench = await startBench({ queryLog: log });
  try {
    const [listed = ''] = shown(await bench.run('%history'));
    expect(listed.split('\n').slice(0, 2)).toEqual(['2 queries', `1 damaged line of ${file} left out.`]);
  } finally {
    await bench.close();
  }
});

test('drops only the older half when the log is too large', async () => {
  const log = new QueryLog(file, 1000);
  for (let number = 1; number <= 20; number++) {
    await log.append(entry(number));
    const sizes = [file, `${file}.old`].map(each => (existsSync(each) ? statSync(each).size : 0));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(700);
  }
  const kept = (await log.entries()).map(({ apl }) => Number(apl.slice('print n = '.length)));
  expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => 21 - kept.length + index));
  expect(kept.length).toBeGreaterThanOrEqual(3);
});

test('concurrent kernels lose none of the newer half', async () => {
  const size = Buffer.byteLength(`${JSON.stringify(entry(1000))}\n`);
  const logs = [1, 2, 3, 4].map(() => new QueryLog(file, 40 * size));
  await logs[0]?.append(entry(1000));
  for (let number = 1001; number < 1101; number += 4)
    await Promise.all(logs.map((log, index) => log.append(entry(number + index))));
  const kept = (await new QueryLog(file).entries()).map(({ apl }) => Number(apl.slice('print n = '.length)));
  expect(kept.length).toBeGreaterThanOrEqual(20);
  expect(kept.toSorted()).toEqual(
    Array.from({ length: kept.length }, (_, index) => 1101 - kept.length + index),
  );
});

test('ignores the stale lock of a killed kernel', async () => {
  const log = new QueryLog(file, 1000);
  await log.append(entry(1));
  await mkdir(`${file}.lock`);
  await utimes(`${file}.lock`, 1, 1);
  for (let number = 2; number <= 20; number++) await log.append(entry(number));
  expect(existsSync(file) ? statSync(file).size : 0).toBeLessThanOrEqual(700);
});

test('reports a log that cannot be read', async () => {
  await expect(new QueryLog(directory).entries()).rejects.toMatchObject({ code: 'query-log' });
  const bench = await startBench({ queryLog: new QueryLog(directory) });
  try {
    expect(traceback(await bench.run('%history'))[0]).toBe(
      `query-log: the query log ${directory} cannot be read: it is a directory`,
    );
  } finally {
    await bench.close();
  }
});

test('appending to an unwritable log returns an error instead of throwing', async () => {
  const error = await new QueryLog(join(directory, 'queries.jsonl', 'x')).append(entry(1));
  expect(error).toBe(undefined);
  expect(await new QueryLog(directory).append(entry(1))).toBeInstanceOf(Error);
});

test('%history lists the queries of every kernel, and %rerun repeats one over its original range', async () => {
  const first = await startBench({ queryLog: new QueryLog(file) });
  await first.run('%param n = 5\n%%time 2026-01-01\nweb | where x == n');
  first.service.answer(() => ({ status: 400, body: { message: 'no' } }));
  await first.run('web | nonsense');
  await first.close();
  const bench = await startBench({ queryLog: new QueryLog(file), reply: everyday });
  try {
    const rows = (text = '') =>
      text
        .split('\n')
        .slice(3)
        .map(line => line.split(/ {2,}/).slice(0, 5));
    const list = shown(await bench.run('%history'))[0];
    expect(rows(list)).toEqual([
      ['1', '2026-03-04T05:06:07.123456789Z', 'local', '2026-01-01T00:00:00Z .. 2026-01-02T00:00:00Z', '1'],
      ['2', '2026-03-04T05:06:07.123456789Z', 'local', 'now-1h .. now', 'failed: invalid-query'],
    ]);
    expect(list).toContain('trace-1');
    expect(shown(await bench.run('%history nonsense'))[0]?.split('\n')[0]).toBe('1 query with "nonsense"');
    await bench.run('%rerun 1');
    expect(queries(bench.service)).toEqual([
      {
        apl: 'declare query_parameters(n: long);\nweb | where x == n',
        startTime: '2026-01-01T00:00:00Z',
        endTime: '2026-01-02T00:00:00Z',
        variables: { n: 5 },
      },
    ]);
    expect(traceback(await bench.run('%rerun 9'))[0]).toBe(
      'magic: %rerun: the history has no query 9; it has 3',
    );
    expect(traceback(await bench.run('%history --limit x'))[0]).toBe(
      'magic: %history: x is not a number of queries',
    );
  } finally {
    await bench.close();
  }
});

test('an interrupt while logging discards the result', async () => {
  const abort = new AbortController();
  class InterruptingLog extends QueryLog {
    override append(query: LoggedQuery): Promise<unknown> {
      if (query.apl.includes('late')) abort.abort();
      return super.append(query);
    }
  }
  const bench = await startBench({ queryLog: new InterruptingLog(file) });
  try {
    await bench.run('early << web | count');
    const { outcome } = await bench.run('late << web | where late', { signal: abort.signal });
    expect(outcome).toMatchObject({ status: 'error', ename: 'Interrupted' });
    const after = await bench.run('', { expressions: { early: 'early', late: 'late' } });
    expect(after.outcome).toMatchObject({
      userExpressions: { early: { status: 'ok' }, late: { status: 'error', ename: 'unknown-result' } },
    });
  } finally {
    await bench.close();
  }
});

test('%retain off keeps no data in outputs', async () => {
  const bench = await startBench();
  try {
    const { outputs } = await bench.run('%%retain off\nweb | count');
    const [output] = outputs.filter(each => each.kind === 'result');
    expect(output).toEqual({
      kind: 'result',
      data: {
        'text/plain':
          '1 row \u00d7 1 column \u00b7 last 1h (2026-03-04T04:06:07.123456789Z to 2026-03-04T05:06:07.123456789Z)\nfields: n (integer)\nThe data is not kept in the notebook (%retain off).',
      },
      metadata: {
        apl: {
          startTime: '2026-03-04T04:06:07.123456789Z',
          endTime: '2026-03-04T05:06:07.123456789Z',
          rangeLabel: 'last 1h',
          frozen: false,
          profile: 'local',
          isLocal: true,
          datasets: ['web'],
          kernelVersion: '1.2.3',
          tables: [{ name: '0', rows: 1, columns: 1 }],
        },
      },
    });
    const kept = await bench.run('web | count');
    expect(shown(kept)[0]).toContain('42');
    expect(traceback(await bench.run('%retain maybe'))[0]).toBe('magic: %retain: it is on or off, not maybe');
  } finally {
    await bench.close();
  }
});
