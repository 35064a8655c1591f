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
  // That of the process depends on the tests before this one.
  let memory = 0;
  const restOf = (name: string) => {
    const connection = { run: async () => void ran.push(name), closeSync: () => undefined };
    return new Rest(connection as unknown as DuckDBConnection, () => memory);
  };
  const [one, other] = [restOf('one'), restOf('other')];
  other.begin();
  one.begin();
  memory = 300 * 2 ** 20;
  one.end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(ran).toEqual([]);
  other.end();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(new Set(ran)).toEqual(new Set(['one', 'other']));
  await one.close();
  await other.close();
});
