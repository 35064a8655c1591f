import type { DuckDBConnection } from '@duckdb/node-api';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Rest } from '../../../kernel/local/engine/lanes/rest.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
});

test('memory is given back when every engine of the process rests, not while another works', async () => {
  const ran: string[] = [];
  const restOf = (name: string) =>
    new Rest({
      run: async () => void ran.push(name),
      closeSync: () => undefined,
    } as unknown as DuckDBConnection);
  const [one, other] = [restOf('one'), restOf('other')];
  other.begin();
  one.begin();
  const grown = Buffer.alloc(300 * 2 ** 20, 1);
  one.end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(ran).toEqual([]);
  other.end();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(new Set(ran)).toEqual(new Set(['one', 'other']));
  expect(grown.length).toBe(300 * 2 ** 20);
  await one.close();
  await other.close();
});
