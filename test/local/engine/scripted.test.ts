import { type ChildProcess, spawn as spawnProcess } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { asJson } from '../../../kernel/local/engine/engine-columns.js';
import type { Reader } from '../../../kernel/local/engine/engine-reader.js';
import { ScriptedEngine } from '../../../kernel/local/engine/scripted.js';
import { temporaryDirectory } from '../service.js';
import { spawnEngine } from './spawned.js';

interface Bench {
  readonly engine: ScriptedEngine;
  readonly dataDir: string;
  readonly spawned: ChildProcess[];
}

async function bench(processes = 1): Promise<Bench> {
  const dataDir = await temporaryDirectory();
  const spawned: ChildProcess[] = [];
  const spawn = () => {
    const child = spawnEngine();
    spawned.push(child);
    return child;
  };
  const engine = new ScriptedEngine({
    dataDir,
    spawn,
    processes,
    long: processes,
    queue: 10,
    memoryBytes: 2 ** 30,
  });
  onTestFinished(() => engine.close());
  return { engine, dataDir, spawned };
}

const order = (sql: string) => ({
  sql,
  fields: [{ name: 'x', type: 'string' as const }],
  limit: 10,
  mostBytes: 2 ** 20,
  time: -1,
  delivery: 'streamed' as const,
  form: 'json' as const,
});

async function cellsOf({ engine }: Bench, sql: string, signal?: AbortSignal): Promise<string[]> {
  const read = (reader: Reader) => reader.read(order(sql));
  return asJson((await engine.reading(read, undefined, signal && { signal })).columns).cells(0);
}

/** Every row takes about half a second, and the engine checks for interrupts only every 2,048 rows. */
const stuck = `SELECT apl_fir(s, s) FROM range(5000) r(i), (SELECT '[' || array_to_string(range(9000), ',') || ']' AS s)`;

test('a process serves one query after another', async () => {
  const own = await bench();
  const first = await cellsOf(own, "SELECT apl_quote('a' || i) FROM range(3) r(i) ORDER BY i");
  expect([first, await cellsOf(own, "SELECT apl_quote('ü')")]).toEqual([
    ['"\\"a0\\""', '"\\"a1\\""', '"\\"a2\\""'],
    ['"\\"ü\\""'],
  ]);
  expect(own.spawned.length).toBe(1);
});

test('statements of one query share a temporary table that the next query cannot see', async () => {
  const own = await bench();
  const cells = await own.engine.reading(async reader => {
    await reader.execute("CREATE TEMP TABLE kept AS SELECT apl_quote('x') AS a");
    return asJson((await reader.read(order('SELECT a FROM kept'))).columns).cells(0);
  }, 'kept');
  expect(cells).toEqual(['"\\"x\\""']);
  await expect(cellsOf(own, 'SELECT a FROM kept')).rejects.toMatchObject({ code: 'engine-failed' });
});

test('a refusal keeps its code and message', async () => {
  const own = await bench();
  await expect(cellsOf(own, "SELECT apl_quote(repeat('x', 9000000))")).rejects.toMatchObject({
    code: 'function-cost',
    message: '`quote` would take too long for values of this size.',
  });
  expect(await cellsOf(own, "SELECT apl_quote('x')")).toEqual(['"\\"x\\""']);
});

test('a function that never returns is killed with its process and leaves nothing behind', async () => {
  const own = await bench();
  await cellsOf(own, "SELECT apl_quote('x')");
  const abort = new AbortController();
  const query = cellsOf(own, stuck, abort.signal);
  const behind = cellsOf(own, "SELECT apl_quote('y')");
  setTimeout(() => abort.abort(), 300);
  await expect(query).rejects.toMatchObject({ code: 'query-canceled' });
  expect(await behind).toEqual(['"\\"y\\""']);
  expect(own.spawned.map(child => child.signalCode)).toEqual(['SIGKILL', null]);
  await expect.poll(() => readdir(path.join(own.dataDir, '.tmp'))).toHaveLength(1);
});

test('a query that reacts to an interrupt keeps its process', async () => {
  const own = await bench();
  await cellsOf(own, "SELECT apl_quote('x')");
  const abort = new AbortController();
  const query = cellsOf(own, 'SELECT apl_quote(i::VARCHAR) FROM range(100000000) r(i)', abort.signal);
  setTimeout(() => abort.abort(), 1500);
  await expect(query).rejects.toMatchObject({ code: 'query-canceled' });
  expect(await cellsOf(own, "SELECT apl_quote('y')")).toEqual(['"\\"y\\""']);
  expect(own.spawned.length).toBe(1);
});

test('a process that does not start is killed when its query is interrupted', async () => {
  const dataDir = await temporaryDirectory();
  const mute = spawnProcess(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  });
  const children = [mute];
  const spawn = () => children.pop() ?? spawnEngine();
  const engine = new ScriptedEngine({
    dataDir,
    spawn,
    processes: 1,
    long: 1,
    queue: 1,
    memoryBytes: 2 ** 30,
  });
  onTestFinished(() => engine.close());
  const own = { engine, dataDir, spawned: [] };
  await expect(cellsOf(own, "SELECT apl_quote('x')", AbortSignal.timeout(200))).rejects.toMatchObject({
    code: 'query-canceled',
  });
  expect(mute.signalCode).toBe('SIGKILL');
  expect(await cellsOf(own, "SELECT apl_quote('x')")).toEqual(['"\\"x\\""']);
});

const noMemory = expect.stringMatching(/^The machine may be out of memory/);

test.each([
  ['SIGKILL', noMemory],
  // V8 aborts when the system refuses it memory.
  ['SIGABRT', noMemory],
  [
    'SIGSEGV',
    'Run the query again; if it fails again, the machine may be low on memory: narrow the time range.',
  ],
] as const)('a process killed by %s fails only its own query, with a hint', async (signal, hint) => {
  const own = await bench(2);
  const query = cellsOf(own, stuck);
  const failed = expect(query).rejects.toMatchObject({ code: 'engine-ended', hint });
  await expect.poll(() => own.spawned.length).toBe(1);
  own.spawned[0]?.kill(signal);
  await failed;
  expect(await cellsOf(own, "SELECT apl_quote('y')")).toEqual(['"\\"y\\""']);
});

test('no process outlives the engine', async () => {
  const own = await bench();
  const query = cellsOf(own, stuck);
  const failed = expect(query).rejects.toThrow();
  await expect.poll(() => own.spawned.length).toBe(1);
  await own.engine.close();
  await failed;
  const [child] = own.spawned;
  await expect.poll(() => child?.signalCode ?? child?.exitCode).not.toBe(null);
});
