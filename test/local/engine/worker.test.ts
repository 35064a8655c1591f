import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { devNull } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sqlText } from '../../../kernel/local/duckdb/duckdb-literal.js';
import { Engine } from '../../../kernel/local/engine/duckdb.js';
import type { CellForm } from '../../../kernel/local/engine/engine-columns.js';
import { engineFailure } from '../../../kernel/local/engine/engine-failure.js';
import type { Delivery, ReadResult } from '../../../kernel/local/engine/engine-reader.js';
import { readersOf } from '../../../kernel/local/engine/reading/duckdb-reader.js';
import { temporaryDirectory } from '../service.js';

interface Opened {
  readonly engine: Engine;
  /** Directory of profiles. */
  readonly profiles: string;
  readonly lines: readonly string[];
}

async function open(): Promise<Opened> {
  const lines: string[] = [];
  const log = (text: string) => void lines.push(text);
  const engine = await Engine.open({
    dataDir: await temporaryDirectory(),
    families: [],
    connections: 1,
    memoryBytes: 256 * 2 ** 20,
    log,
  });
  onTestFinished(() => engine.close());
  return { engine, profiles: engine.scratch[1] ?? '', lines };
}

/** Reads the even numbers from 0 on. */
function readEven(
  engine: Engine,
  delivery: Delivery,
  below = 2_000_000,
  form: CellForm = 'json',
): Promise<ReadResult> {
  const sql = `SELECT i FROM range(${below}) r(i) WHERE i % 2 = 0`;
  const fields = [{ name: 'i', type: 'long' }] as const;
  const order = {
    sql,
    fields,
    limit: 2_000_000,
    mostBytes: 2 ** 30,
    time: -1,
    delivery,
    form,
  };
  return readersOf(engine).reading(reader => reader.read(order), undefined);
}

/** Returns the number of rows read, the last row, and the engine's counts. */
function seen({ columns, counts }: ReadResult): readonly unknown[] {
  return [columns.rows, columns.rows === 0 ? '' : columns.run(0, 'last').text, counts];
}

const counted = { generatedRows: 2_000_000, matchedRows: 1_000_000, unscanned: false };
const uncounted = { generatedRows: 0, matchedRows: 0, unscanned: true, uncounted: true };

const deliveries = ['whole', 'streamed'] as const;

/** Calls `disturb` every millisecond until `work` has ended. */
async function meanwhile<T>(disturb: () => void, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(disturb, 1);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Runs `work` while this process cannot open any file. */
async function withoutHandles<T>(work: () => Promise<T>): Promise<T> {
  const limit = (soft: string) =>
    execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${soft}:`]);
  const usual = execFileSync('prlimit', [
    '--pid',
    String(process.pid),
    '--nofile',
    '-o',
    'SOFT',
    '--noheadings',
  ]);
  limit('512');
  const taken: number[] = [];
  try {
    expect(() => {
      for (;;) taken.push(openSync(devNull, 'r'));
    }).toThrow('EMFILE');
    return await work();
  } finally {
    for (const each of taken) closeSync(each);
    limit(String(usual).trim());
  }
}

describe.each(deliveries)('an unwritable profile fails no statement (%s)', delivery => {
  test('while its directory is removed again and again', async () => {
    const { engine, profiles, lines } = await open();
    const remove = () => rmSync(profiles, { recursive: true, force: true });
    const read = await meanwhile(remove, () => readEven(engine, delivery));
    expect(seen(read)).toEqual([1_000_000, '1999998', uncounted]);
    expect(lines).toEqual([
      expect.stringMatching(
        /^The engine failed without a reason \(.*\); retrying the statement\. Its profile .*; memory: .* MiB free, .* in use; disk: .* free for .*; open files: .*; load: .*\.$/,
      ),
    ]);
    expect(seen(await readEven(engine, delivery))).toEqual([1_000_000, '1999998', counted]);
    expect(lines.length).toBe(1);
  });

  test('while its directory is removed and cells are read as Arrow', async () => {
    const { engine, profiles, lines } = await open();
    const remove = () => rmSync(profiles, { recursive: true, force: true });
    const { columns } = await meanwhile(remove, () => readEven(engine, delivery, 2_000_000, 'arrow'));
    expect([lines.length, columns.form, columns.rows]).toEqual([1, 'arrow', 1_000_000]);
  });

  test('if a file has the name of its directory', async () => {
    const { engine, profiles, lines } = await open();
    rmSync(profiles, { recursive: true });
    writeFileSync(profiles, '');
    expect(seen(await readEven(engine, delivery))).toEqual([1_000_000, '1999998', uncounted]);
    rmSync(profiles);
    expect(seen(await readEven(engine, delivery))).toEqual([1_000_000, '1999998', counted]);
    expect(lines).toEqual([]);
  });

  test('if no file can be opened', async () => {
    const { engine, lines } = await open();
    const [read, failure] = await withoutHandles(
      async () => [await readEven(engine, delivery), engineFailure(new Error('Failed to query'))] as const,
    );
    expect(failure).toMatchObject({
      code: 'engine-short',
      message: 'The local service has too many open files.',
    });
    expect(seen(read)).toEqual([1_000_000, '1999998', uncounted]);
    expect(lines).toEqual([
      expect.stringMatching(/cannot be written \(Error: EMFILE: .*\); Error: EMFILE: /),
    ]);
    expect(seen(await readEven(engine, delivery))).toEqual([1_000_000, '1999998', counted]);
  });
});

test('statements that are not counted write no profile', async () => {
  const { engine, profiles, lines } = await open();
  await readEven(engine, 'whole');
  const made = await meanwhile(
    () => rmSync(profiles, { recursive: true, force: true }),
    () =>
      engine.withConnection(async connection => {
        await connection.run(
          'CREATE TEMP TABLE t AS SELECT i FROM range(3000000) r(i) WHERE i % 2 = 0 AND hash(i) >= 0',
        );
        return connection.run('SELECT count(*) FROM t');
      }),
  );
  expect([made, lines]).toEqual([[[1_500_000n]], []]);
  await engine.run('SELECT count(*) FROM range(1000) r(i) WHERE i % 2 = 0');
  expect(existsSync(profiles)).toBe(false);
});

test('a stream that fails midway fails the query, and the reason is logged', async () => {
  const { engine, lines } = await open();
  const failing =
    "SELECT CASE WHEN i = 1500000 THEN error('at last') ELSE i END AS i FROM range(2000000) r(i)";
  const fields = [{ name: 'i', type: 'long' }] as const;
  const order = { sql: failing, fields, limit: 2_000_000, mostBytes: 2 ** 30, time: -1 };
  const read = readersOf(engine).reading(
    reader => reader.read({ ...order, delivery: 'streamed', form: 'json' }),
    undefined,
  );
  await expect(read).rejects.toMatchObject({
    code: 'engine-failed',
    detail: 'Invalid Input Error: at last',
  });
  expect(lines.length).toBe(1);
  expect(seen(await readEven(engine, 'streamed'))).toEqual([1_000_000, '1999998', counted]);
});

test('abandoning a result early does not fail the next statement', async () => {
  const { engine, profiles } = await open();
  const left = engine.query('SELECT i FROM range(5000000) r(i)', async result => {
    await result.fetchChunk();
    rmSync(profiles, { recursive: true });
    throw new RangeError('enough');
  });
  await expect(left).rejects.toMatchObject({ detail: 'enough' });
  expect(await engine.run('SELECT 1')).toEqual([[1]]);
  expect(seen(await readEven(engine, 'whole'))).toEqual([1_000_000, '1999998', counted]);
});

test('a page of sorted rows is found by its keys before other columns are read', async () => {
  const dataDir = await temporaryDirectory();
  const engine = await Engine.open({ dataDir, families: [], connections: 1 });
  onTestFinished(() => engine.close());
  const file = sqlText(path.join(dataDir, 'rows.parquet'));
  const rows =
    "SELECT hash(i) % 100000 AS k, hash(i)::VARCHAR AS a, i || '' AS b, i % 7 AS c FROM range(300000) r(i)";
  await engine.run(`COPY (${rows}) TO ${file}`);
  const first = (from: string) => `SELECT k, a, b, c FROM ${from} ORDER BY k, a LIMIT 1001`;
  const page = first(`read_parquet(${file})`);
  expect(String(await engine.run(`EXPLAIN ${page}`))).toContain('file_row_number');
  expect(await engine.run(page)).toEqual(await engine.run(first(`(${rows})`)));
});

describe('a long statement', () => {
  const poolThreads = Number(process.env.UV_THREADPOOL_SIZE ?? 4);

  async function openMany(threads: number): Promise<Engine> {
    const counts = { connections: poolThreads + 1, long: poolThreads + 1 };
    const engine = await Engine.open({
      dataDir: await temporaryDirectory(),
      families: [],
      threads,
      ...counts,
    });
    onTestFinished(() => engine.close());
    return engine;
  }

  test('leaves the threads of the process free, and can be canceled', async () => {
    const engine = await openMany(2);
    const endless = 'SELECT count(*) FROM range(1000000000000) r(i) WHERE hash(i) = 0';
    const ends = Array.from({ length: poolThreads }, () => new AbortController());
    const running = ends.map(({ signal }) =>
      engine.withConnection(connection => connection.runApart(endless), { signal }),
    );
    const outcomes = Promise.allSettled(running);
    // Runs on the same threads; a second one comes after all statements have begun.
    for (const _ of running) await stat(engine.workDir);
    await engine.run('SELECT 1');
    for (const _ of running) await stat(engine.workDir);
    for (const end of ends) end.abort();
    const codes = (await outcomes).map(each => (each.status === 'rejected' ? each.reason.code : each.value));
    expect(codes).toEqual(Array.from({ length: poolThreads }, () => 'query-canceled'));
  });

  test.each([1, 3])('has its rows or its error with %i threads', async threads => {
    const engine = await openMany(threads);
    const counted = (value: string) => `SELECT sum(${value})::BIGINT FROM range(3000000) r(i)`;
    const run = (sql: string) => engine.withConnection(connection => connection.runApart(sql));
    expect(await run(counted('i'))).toEqual([[4_499_998_500_000n]]);
    const failing = counted("CASE WHEN i = 2000000 THEN error('at last') ELSE i END");
    await expect(run(failing)).rejects.toMatchObject({ detail: 'Invalid Input Error: at last' });
    expect(await run('SELECT 1')).toEqual([[1]]);
  });
});
