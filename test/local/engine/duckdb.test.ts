import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { sqlText } from '../../../kernel/local/duckdb/duckdb-literal.js';
import { Engine, type EngineOptions } from '../../../kernel/local/engine/duckdb.js';
import type { Delivery } from '../../../kernel/local/engine/engine-reader.js';
import { watchUnseen } from '../../../kernel/local/engine/engine-request.js';
import { chunksOf } from '../../../kernel/local/engine/workers/worker.js';
import { processStart } from '../../../kernel/local/lease/processes.js';
import { temporaryDirectory } from '../service.js';

async function openEngine(options: Partial<EngineOptions> = {}): Promise<Engine> {
  const engine = await Engine.open({ dataDir: await temporaryDirectory(), families: [], ...options });
  onTestFinished(() => engine.close());
  return engine;
}

test('a directory of a killed process is removed even if another process has its id', async () => {
  const dataDir = await temporaryDirectory();
  const [own, killed] = [await openEngine({ dataDir }), `${process.pid}-0123456789ab-${crypto.randomUUID()}`];
  await mkdir(path.join(dataDir, '.tmp', killed));
  const other = await openEngine({ dataDir });
  const there = await readdir(path.join(dataDir, '.tmp'));
  expect(there.sort()).toEqual([own, other].map(engine => path.basename(engine.workDir)).sort());
});

/** Digest in the name of a process whose start time could not be read. */
const unknownStart = 'e3b0c44298fc';

test('a directory stays while its process may be running', async () => {
  const [dataDir, child] = [await temporaryDirectory(), spawn('sleep', ['60'])];
  const name = `${child.pid}-${unknownStart}-${crypto.randomUUID()}`;
  await mkdir(path.join(dataDir, '.tmp', name), { recursive: true });
  const there = async () => (await readdir(path.join(dataDir, '.tmp'))).includes(name);
  await openEngine({ dataDir });
  expect(await there()).toBe(true);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await openEngine({ dataDir });
  expect(await there()).toBe(false);
});

test('a directory of a zombie process is removed', async () => {
  const dataDir = await temporaryDirectory();
  // The first `sleep` ends as a child of the second, which never reaps it.
  const parent = spawn('sh', ['-c', 'sleep 1 & echo $!; exec sleep 60']);
  onTestFinished(() => void parent.kill());
  const [line] = await once(parent.stdout, 'data');
  const pid = Number(String(line));
  await expect.poll(() => processStart(pid)).toBe('ended');
  const name = `${pid}-0123456789ab-${crypto.randomUUID()}`;
  await mkdir(path.join(dataDir, '.tmp', name), { recursive: true });
  await openEngine({ dataDir });
  expect(await readdir(path.join(dataDir, '.tmp'))).not.toContain(name);
});

const endless = 'SELECT count(*) FROM range(10000000000) a(i), range(1000) b(j) WHERE hash(i + j) = 1';

test('SQL can read only the data directory and the allowed paths', async () => {
  const [dataDir, elsewhere] = [await temporaryDirectory(), await temporaryDirectory()];
  const files = [
    path.join(dataDir, 'in.csv'),
    path.join(elsewhere, 'allowed.csv'),
    path.join(elsewhere, 'out.csv'),
  ];
  for (const file of files) await writeFile(file, 'a\n1\n');
  const engine = await openEngine({ dataDir, allow: [files[1] ?? ''] });
  const read = (file: string) => engine.run(`SELECT a FROM read_csv(${sqlText(file)})`);
  expect(await read(files[0] ?? '')).toEqual([[1n]]);
  expect(await read(files[1] ?? '')).toEqual([[1n]]);
  await expect(read(files[2] ?? '')).rejects.toMatchObject({
    detail: expect.stringContaining('file system operations are disabled'),
  });
  await expect(read(path.join(dataDir, '..', path.basename(elsewhere), 'out.csv'))).rejects.toMatchObject({
    detail: expect.stringContaining('disabled by configuration'),
  });
});

test('rows of a stream are produced as they are read, and earlier chunks are freed', async () => {
  const engine = await openEngine();
  await engine.run('CREATE SEQUENCE made');
  const sql = "SELECT nextval('made') AS n, repeat('x', 100) AS text FROM range(200000)";
  await engine.query(sql, async result => {
    const chunks = chunksOf(result);
    const [first, second] = [(await chunks.next()).value, (await chunks.next()).value];
    expect([first?.rowCount, second?.rowCount]).toEqual([0, 2048]);
    const [[made] = []] = await engine.run('SELECT last_value FROM duckdb_sequences()');
    expect(Number(made)).toBeLessThan(10 * 2048);
    for await (const _ of chunks);
  });
});

test('a statement whose strings the engine does not count is stopped before memory runs out', async () => {
  const engine = await openEngine({ memoryBytes: 2 ** 30 });
  vi.spyOn(process, 'constrainedMemory').mockReturnValue(1);
  onTestFinished(() => void vi.restoreAllMocks());
  expect(await engine.run('SELECT 7')).toEqual([[7]]);
  await expect(
    engine.run("SELECT max(repeat('x' || i, 40000)) FROM range(1000000) r(i)"),
  ).rejects.toMatchObject({
    code: 'engine-memory',
    message: expect.stringContaining('stopped before the machine ran out of memory'),
  });
  expect(await engine.run('SELECT 7')).toEqual([[7]]);
});

test('a result has the same rows and counts, streamed or whole', async () => {
  const engine = await openEngine();
  const read = (delivery: Delivery) =>
    engine.statements(
      run =>
        run(
          'SELECT i FROM range(5000) r(i) WHERE i % 2 = 0',
          async result => [result.isStreaming, (await result.getRows()).length],
          delivery,
        ),
      undefined,
    );
  const counts = { generatedRows: 5000, matchedRows: 2500, unscanned: false };
  expect(await read('streamed')).toEqual({ value: [true, 2500], counts });
  expect(await read('whole')).toEqual({ value: [false, 2500], counts });
});

const forbidden = [
  "SET memory_limit = '1GB'",
  'SET enable_external_access = true',
  "SET TimeZone = 'Asia/Tokyo'",
  "SET enable_profiling = 'no_output'",
  'INSTALL httpfs',
  'LOAD httpfs',
  "ATTACH 'other.db'",
  "COPY (SELECT 1) TO 'out.csv'",
  "SELECT * FROM read_text('/etc/hostname')",
];

test.each(forbidden)('the configuration is locked: %s', async sql => {
  const engine = await openEngine();
  await expect(engine.run(sql)).rejects.toMatchObject({ code: 'engine-failed' });
});

test('a result interrupted while it is read fails, though its stream ends without an error', async () => {
  const engine = await openEngine();
  const abort = new AbortController();
  const read = engine.query(
    'SELECT i FROM range(100000000) r(i)',
    async result => {
      let rows = 0;
      for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; ) {
        rows += chunk.rowCount;
        abort.abort();
        chunk = await result.fetchChunk();
      }
      return rows;
    },
    abort.signal,
  );
  await expect(read).rejects.toMatchObject({ code: 'query-canceled' });
});

test('an abort interrupts a running query and removes a waiting one, and the connection stays usable', async () => {
  const engine = await openEngine({ connections: 1 });
  const running = new AbortController();
  const waiting = new AbortController();
  const first = engine.run(endless, running.signal);
  const second = engine.run('SELECT 2', waiting.signal);
  waiting.abort();
  await expect(second).rejects.toMatchObject({ code: 'query-canceled' });
  running.abort();
  await expect(first).rejects.toMatchObject({ code: 'query-canceled' });
  expect(await engine.run('SELECT 3')).toEqual([[3]]);
  await expect(engine.run('SELECT 4', running.signal)).rejects.toMatchObject({ code: 'query-canceled' });
});

test('queries beyond the queue limit are refused', async () => {
  const engine = await openEngine({ connections: 1, queue: 1 });
  const abort = new AbortController();
  const running = engine.run(endless, abort.signal);
  const waiting = engine.run('SELECT 1');
  await expect(engine.run('SELECT 2')).rejects.toMatchObject({ code: 'engine-busy' });
  abort.abort();
  await expect(running).rejects.toMatchObject({ code: 'query-canceled' });
  expect(await waiting).toEqual([[1]]);
});

test('closing ends running and waiting queries', async () => {
  const engine = await openEngine({ connections: 1 });
  const queries = [engine.run(endless), engine.run('SELECT 1')];
  const results = Promise.allSettled(queries);
  await engine.close();
  expect((await results).map(each => each.status === 'rejected' && each.reason.code)).toEqual([
    'query-canceled',
    'query-canceled',
  ]);
  await expect(engine.run('SELECT 1')).rejects.toMatchObject({ code: 'query-canceled' });
});

test('a running query reports its progress', async () => {
  const engine = await openEngine();
  const file = sqlText(path.join(engine.workDir, 'many.parquet'));
  await engine.run(`COPY (SELECT hash(i) AS h FROM range(3000000) r(i)) TO ${file}`);
  const abort = new AbortController();
  let share = (): number | undefined => undefined;
  const runs = (asked: () => number | undefined) => {
    share = asked;
  };
  const sql = `SELECT count(DISTINCT sha256(md5(h::VARCHAR))) FROM read_parquet(${file})`;
  const watch = { ...watchUnseen, runs };
  const query = engine.statements(run => run(sql, result => result.fetchChunk(), 'streamed'), undefined, {
    signal: abort.signal,
    watch,
  });
  const left = expect(query).rejects.toMatchObject({ code: 'query-canceled' });
  await expect.poll(() => (share() ?? 0) > 0 && (share() ?? 2) < 1, { interval: 5 }).toBe(true);
  abort.abort();
  await left;
});

test('a query beyond the memory limit fails alone', async () => {
  const engine = await openEngine({ memoryBytes: 64 * 2 ** 20 });
  const large = 'SELECT list(i) FROM range(100000000) t(i)';
  await expect(engine.run(large)).rejects.toMatchObject({ code: 'engine-memory' });
  expect(await engine.run('SELECT 1')).toEqual([[1]]);
});

test('temporary tables are dropped when their connection is released', async () => {
  const engine = await openEngine({ connections: 1 });
  const inside = await engine.withConnection(async connection => {
    await connection.run('CREATE TEMP TABLE t AS SELECT 1 AS a');
    return connection.run('SELECT a FROM t');
  });
  expect(inside).toEqual([[1]]);
  await expect(engine.run('SELECT a FROM t')).rejects.toMatchObject({
    detail: expect.stringContaining('does not exist'),
  });
});

// ---- what this version of the engine does, and what the code relies on ----

const relied: readonly (readonly [what: string, sql: string, expected: unknown])[] = [
  ['times are UTC', "SELECT '2024-01-01T00:00:00Z'::TIMESTAMPTZ::VARCHAR", '2024-01-01 00:00:00+00'],
  [
    'nanoseconds survive make_timestamp_ns and epoch_ns',
    'SELECT epoch_ns(make_timestamp_ns(1700000000123456789))',
    1_700_000_000_123_456_789n,
  ],
  [
    'nanoseconds print in full',
    'SELECT make_timestamp_ns(1700000000000000001)::VARCHAR',
    '2023-11-14 22:13:20.000000001',
  ],
  [
    'a subquery keeps its order through a projection',
    "SELECT string_agg(x, '') FROM (SELECT j AS x FROM (SELECT * FROM (SELECT i::VARCHAR FROM range(5) t(i) ORDER BY i DESC) q(j)))",
    '43210',
  ],
  [
    'JSON keeps integers of any length',
    `SELECT json_extract('{"a":123456789012345678901234567890}', '/a')::VARCHAR`,
    '123456789012345678901234567890',
  ],
  ['a JSON pointer can name any key', `SELECT json_extract('{"a/b":{"c~d":1}}', '/a~1b/c~0d')::VARCHAR`, '1'],
  ['json_valid accepts NaN', "SELECT json_valid('[NaN]')", true],
  ['to_json prints NaN bare', "SELECT to_json('NaN'::DOUBLE)::VARCHAR", 'NaN'],
  [
    'to_json escapes control characters',
    'SELECT to_json(chr(0) || chr(10))::VARCHAR',
    String.raw`"\u0000\n"`,
  ],
];

test.each(relied)('the engine: %s', async (_, sql, expected) => {
  const engine = await openEngine();
  expect(await engine.run(sql)).toEqual([[expected]]);
});

test('the engine folds the case of column names', async () => {
  const engine = await openEngine();
  expect(await engine.run('SELECT "A" FROM (SELECT 1 AS a)')).toEqual([[1]]);
});

/** The engine runs on libuv's thread pool: with the default four threads, the light query would wait for the heavy ones. */
const pool = `
import { DuckDBInstance } from '@duckdb/node-api';
const instance = await DuckDBInstance.create();
for (let n = 0; n < 4; n++) (await instance.connect()).run(${JSON.stringify(endless)});
const light = await instance.connect();
console.log(JSON.stringify((await light.runAndReadAll('SELECT 7')).getRows()));
`;

test('with a larger thread pool, a light query passes heavy ones', async () => {
  const env = { ...process.env, UV_THREADPOOL_SIZE: '16' };
  const child = spawn(process.execPath, ['--input-type=module', '-e', pool], { env });
  const [answer] = await once(child.stdout, 'data');
  // A process does not exit while a query is running, as it waits for the pool.
  child.kill('SIGKILL');
  expect(String(answer)).toBe('[[7]]\n');
});
