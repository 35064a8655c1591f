import { setImmediate } from 'node:timers/promises';
import type { DuckDBResult } from '@duckdb/node-api';
import { expect, onTestFinished, test } from 'vitest';
import { Engine } from '../../../kernel/local/engine/duckdb.js';
import { meansOfProcess, Rest } from '../../../kernel/local/engine/workers/rest.js';
import { chunksOf } from '../../../kernel/local/engine/workers/worker.js';
import { processMemory } from '../../../kernel/machine.js';
import { collectGarbage } from '../../setup/garbage.js';
import { temporaryDirectory } from '../bench.js';

/** Returns the memory of this process, which runs only the tests of this file, in MiB. */
const memory = () => Math.round((processMemory() ?? 0) / 2 ** 20);

test('memory freed between live objects leaves the process', async () => {
  const rest = new Rest(meansOfProcess);
  rest.begin();
  const [before, buffers] = [memory(), fill()];
  expect(memory() - before).toBeGreaterThan(300);
  leaveFew(buffers);
  rest.end();
  await expect.poll(() => memory() - before, { interval: 100 }).toBeLessThan(150);
  expect(buffers.length).toBe(60);
});

test('memory of dead objects leaves the process even if they were alive at the last collection', async () => {
  const used = Array.from({ length: 50 }, () => Buffer.alloc(8 * 2 ** 20, 1));
  meansOfProcess.collect(true);
  used.length = 0;
  collectGarbage();
  const buffers = fill();
  const [before, left] = [memory(), new WeakRef(buffers[1] ?? [])];
  leaveFew(buffers);
  // Until the next turn, what a WeakRef refers to is alive.
  await setImmediate();
  meansOfProcess.collect(true);
  expect(left.deref()).toBeUndefined();
  // A thread of V8 frees the memory of the collected buffers.
  const given = () => meansOfProcess.purge().then(() => before - memory());
  await expect.poll(given, { interval: 100 }).toBeGreaterThan(250);
  expect([buffers.length, used.length]).toEqual([60, 0]);
});

/** Allocates 400 MiB. */
function fill(): ArrayBuffer[] {
  return Array.from({ length: 6000 }, () => {
    const buffer = new ArrayBuffer(70_000);
    new Uint8Array(buffer).fill(1);
    return buffer;
  });
}

/** Keeps one buffer in a hundred, so that the free memory has no end for the allocator to trim. */
function leaveFew(buffers: ArrayBuffer[]): void {
  const few = buffers.filter((_, index) => index % 100 === 0);
  buffers.splice(0, buffers.length, ...few);
}

test('chunks of a long result do not pile up until the next garbage collection', async () => {
  const dataDir = await temporaryDirectory();
  const engine = await Engine.open({ dataDir, families: [], connections: 1, memoryBytes: 256 * 2 ** 20 });
  onTestFinished(() => engine.close());
  const columns = Array.from({ length: 24 }, (_, index) => `i + ${index}`);
  const sql = `SELECT ${columns.join(', ')} FROM range(2000000) r(i)`;
  let most = 0;
  const consume = async (result: DuckDBResult) => {
    for await (const _ of chunksOf(result)) most = Math.max(most, memory());
  };
  const run = () => engine.statements(each => each(sql, consume, 'streamed'), undefined);
  // The engine keeps memory that it has once used.
  await run();
  const before = most;
  await run();
  // All chunks together have 400 MB.
  expect(most - before).toBeLessThan(150);
});
