import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { meansOfProcess, Rest } from '../../../kernel/local/engine/workers/rest.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
});

function restOf(memory = () => 0) {
  const done: string[] = [];
  const rest = new Rest({
    measure: memory,
    collect: hasTo => void done.push(hasTo ? 'all collected' : 'collected'),
    purge: async () => void done.push('purged'),
  });
  return { rest, done };
}

const rests = () => vi.advanceTimersByTimeAsync(60_000);

test('idle memory is released until the process is as small as before', async () => {
  let memory = 0;
  const { rest, done } = restOf(() => memory);
  rest.begin();
  rest.begin();
  memory = 300 * 2 ** 20;
  rest.end();
  await rests();
  expect(done).toEqual([]);
  rest.end();
  await vi.advanceTimersByTimeAsync(2_000);
  memory = 100 * 2 ** 20;
  await rests();
  expect(done).toEqual(['collected', 'purged', 'collected', 'purged']);
});

test('memory that stays in use is not released over and over', async () => {
  let memory = 0;
  const { rest, done } = restOf(() => memory);
  memory = 300 * 2 ** 20;
  for (const _ of [1, 2]) {
    rest.begin();
    rest.end();
    await rests();
  }
  expect(done.filter(each => each !== 'purged').indexOf('all collected')).toBe(9);
  expect(done.filter(each => each === 'collected').length).toBe(19);
});

test('memory that was long in use and is now free no longer counts', async () => {
  let memory = 0;
  const { rest, done } = restOf(() => memory);
  const sizes = [300, 0, 200].map(size => size * 2 ** 20);
  for (const size of sizes) {
    memory = size;
    rest.begin();
    rest.end();
    await rests();
  }
  expect(done.filter(each => each === 'collected').length).toBe(38);
});

test('closed engines are freed one by one once no statement runs, with a purge after each', async () => {
  const { rest, done } = restOf();
  rest.begin();
  rest.close(() => void done.push('first'));
  rest.close(() => void done.push('second'));
  await rests();
  expect(done).toEqual([]);
  rest.end();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(done).toEqual(['first', 'purged']);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(done).toEqual(['first', 'purged', 'second', 'purged']);
});

test('with many closed engines, the oldest are freed while a statement runs', async () => {
  const { rest, done } = restOf();
  rest.begin();
  for (let index = 0; index < 18; index++) rest.close(() => void done.push(String(index)));
  expect(done).toEqual(['0', 'purged', '1', 'purged']);
});

test('memory is collected even if too many open files prevent measuring it', () => {
  const made = Array.from({ length: 12 }, () => Buffer.alloc(8 * 2 ** 20));
  const failing = vi.spyOn(process, 'memoryUsage').mockImplementation(() => {
    throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
  });
  onTestFinished(() => failing.mockRestore());
  expect(meansOfProcess.collect(false)).toBeUndefined();
  expect(made.length).toBe(12);
});
