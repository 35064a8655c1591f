import { expect, test } from 'vitest';
import { retryWhileShort } from '../../../kernel/local/engine/workers/worker.js';

const short = new Error('Out of Memory Error: failed to allocate data of size 4.0 MiB');

/** Fails `times` times, then returns the number of calls. */
function failing(times: number, error = short): () => Promise<number> {
  let calls = 0;
  return async () => {
    calls++;
    if (calls <= times) throw error;
    return calls;
  };
}

const beside = (count: number) => ({ signal: new AbortController().signal, others: () => count > 0 });

test('a statement that runs out of memory beside others is retried', async () => {
  expect(await retryWhileShort(failing(3), beside(1))).toBe(4);
});

test('a statement that runs out of memory alone is not retried', async () => {
  const run = failing(1);
  await expect(retryWhileShort(run, beside(0))).rejects.toBe(short);
  expect(await run()).toBe(2);
});

test('another failure is not retried', async () => {
  const error = new Error('Binder Error: no such column');
  const run = failing(1, error);
  await expect(retryWhileShort(run, beside(1))).rejects.toBe(error);
  expect(await run()).toBe(2);
});

test('a canceled query is not retried', async () => {
  const abort = new AbortController();
  const contention = { signal: abort.signal, others: () => true };
  const begun = retryWhileShort(failing(100), contention);
  abort.abort();
  await expect(begun).rejects.toBe(short);
});

test('once retries run out, the error blames the queries running together', async () => {
  await expect(retryWhileShort(failing(100), beside(1))).rejects.toMatchObject({
    code: 'engine-memory',
    message: 'The running queries together exceed the memory limit.',
  });
});
