import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Rest } from '../../../kernel/local/engine/lanes/rest.js';

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
    collect: () => void done.push('collected'),
    purge: async () => void done.push('purged'),
  });
  return { rest, done };
}

const rests = () => vi.advanceTimersByTimeAsync(60_000);

test('memory is given back when no statement runs, until the process is as small as before', async () => {
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
  expect(done).toEqual(['collected', 'collected']);
});

test('what a process goes on to use is not tried to be given back for ever', async () => {
  let memory = 0;
  const { rest, done } = restOf(() => memory);
  memory = 300 * 2 ** 20;
  for (const _ of [1, 2]) {
    rest.begin();
    rest.end();
    await rests();
  }
  expect(done.length).toBe(20);
});

test('closed engines end one by one once no statement runs, and the allocator goes on each time', async () => {
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

test('of many closed engines, the oldest end beside a statement', async () => {
  const { rest, done } = restOf();
  rest.begin();
  for (let index = 0; index < 18; index++) rest.close(() => void done.push(String(index)));
  expect(done).toEqual(['0', 'purged', '1', 'purged']);
});
