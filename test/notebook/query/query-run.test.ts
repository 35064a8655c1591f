import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { QueryStatus } from '../../../kernel/api/wire.js';
import { QueryText } from '../../../kernel/apl/syntax/parse.js';
import { datasetOf } from '../../../kernel/notebook/query/query-reading.js';
import { tabular } from '../../api/service.js';
import { type Bench, queries, shown, startBench, traceback } from '../session.js';

let bench: Bench;

beforeEach(async () => {
  bench = await startBench();
});

afterEach(() => bench.close());

/** Returns the limit notice above the table of a query that returns `rows` rows. */
async function notice(
  cell: string,
  rows: number,
  status: Partial<QueryStatus> = {},
): Promise<string | undefined> {
  const numbers = Array.from({ length: rows }, (_, index) => index);
  bench.service.answer(() => ({
    body: tabular([{ name: 'n', type: 'integer' }], [numbers], { rowsMatched: rows, ...status }),
  }));
  const text = shown(await bench.run(cell)).join('\n');
  return /^.*Only .* rows were fetched.*$/m.exec(text)?.[0];
}

describe('names the default limit', () => {
  const more = { rowsMatched: 313_001 };
  const named = 'Only 1,000 rows were fetched (the default limit).';

  test.each<readonly [string, string, number, Partial<QueryStatus>, string | undefined]>([
    ['if as many rows came', 'web', 1000, more, named],
    [
      'even if the service counts no matches',
      'web',
      1000,
      { rowsMatched: 0 },
      'Only 1,000 rows were fetched',
    ],
    ['unless every matching row came', 'web', 1000, {}, undefined],
    ['unless fewer came', 'web', 999, more, undefined],
    ['unless one more row came', 'web', 1001, more, undefined],
    ['unless many more rows came', 'web', 3001, more, undefined],
    [
      'as the limit of %limit if set',
      '%%limit 10\nweb',
      10,
      more,
      'Only 10 rows were fetched (the limit set by %limit).',
    ],
    ['unless %limit allows more', '%%limit 2000\nweb', 1000, more, undefined],
    ['unless the query requests as many', 'web | take 1000', 1000, more, undefined],
    ['unless the query aggregates', 'web | summarize count() by n', 1000, more, undefined],
    ['after a filter', 'web | where n > 1', 1000, more, named],
    [
      'unless the service reports it',
      'web',
      1000,
      { ...more, messages: [{ priority: 'warn', count: 1, code: 'default_limit', msg: 'cut' }] },
      undefined,
    ],
  ])('%s', async (_, cell, rows, status, expected) => {
    const text = await notice(cell, rows, status);
    if (expected === undefined) expect(text).toBe(undefined);
    else expect(text).toContain(expected);
  });
});

describe('reports rows that a hosted service silently left out', () => {
  beforeEach(async () => {
    await bench.close();
    bench = await startBench({
      environment: service => ({ url: service.url, token: 'xaat-4711' }),
    });
    await bench.run('%use environment');
  });

  const more = { rowsMatched: 313_001 };
  const named = (rows: string) =>
    `Only ${rows} of 313,001 matching rows were fetched (the limit of the service).`;

  test.each<readonly [string, string, number, Partial<QueryStatus>, string | undefined]>([
    [
      'by the default limit if it stops counting there',
      'web',
      1000,
      {},
      'Only 1,000 rows were fetched (the default limit).',
    ],
    [
      'despite an unrelated message',
      'web',
      1000,
      { messages: [{ priority: 'warn', count: 1, code: 'license_limit_for_query_warning', msg: 'old' }] },
      'Only 1,000 rows were fetched (the default limit).',
    ],
    ['by its own count of matches', 'web', 999, more, named('999')],
    ['unless it counts the same', 'web', 999, { rowsMatched: 999 }, undefined],
    ['by its count, below %limit', '%%limit 2000\nweb', 1001, more, named('1,001')],
    ['by its count after a filter', 'web | where n > 1 | extend m = n', 7, more, named('7')],
    ['unless it may have counted before a filter', 'web | extend m = n | where m > 1', 7, more, undefined],
    ['unless each match gives several rows', 'web | mv-expand n', 7, more, undefined],
    [
      'by the maximum rows of a response',
      'web | limit 60000',
      50_000,
      {},
      'Only 50,000 rows were fetched (the limit of the service).',
    ],
    ['unless the query requests that many', 'web | limit 50000', 50_000, {}, undefined],
  ])('%s', async (_, cell, rows, status, expected) => {
    const text = await notice(cell, rows, status);
    if (expected === undefined) expect(text).toBe(undefined);
    else expect(text).toContain(expected);
  });
});

test('a limit reported by the service marks the result as incomplete', async () => {
  const messages = [{ priority: 'warn' as const, count: 1, code: 'default_limit_warning', msg: 'cut' }];
  bench.service.answer(() => ({
    body: tabular([{ name: 'n', type: 'integer' }], [[1, 2]], { rowsMatched: 2, messages }),
  }));
  await bench.run('z << web');
  const run = await bench.run('%results');
  expect(shown(run).join('\n')).toContain('the first 2 rows, not all of them (the default limit)');
});

describe('a query', () => {
  test('is sent with its range, and with a limit only if one is set', async () => {
    await bench.run('%%time 2026-01-01..2026-01-02\nweb');
    await bench.run('%%limit 5\n%%time 2026-01-01..2026-01-02\nweb');
    const range = { apl: 'web', startTime: '2026-01-01T00:00:00Z', endTime: '2026-01-02T00:00:00Z' };
    expect(queries(bench.service)).toEqual([range, { ...range, defaultLimit: 5 }]);
  });

  test.each(['messages', 7, [null], ['text'], { a: 1 }, [{ msg: null }], [[1]]])(
    'succeeds even if the messages are malformed: %j',
    async messages => {
      const body = { ...tabular([{ name: 'n', type: 'integer' }], [[4711]]), status: { messages } };
      bench.service.answer(() => ({ body }));
      const run = await bench.run('web');
      expect([traceback(run), shown(run).some(text => text.includes('4,711'))]).toEqual([[], true]);
    },
  );
});

test.each<readonly [string, string | undefined]>([
  ['web', 'web'],
  ["['my logs'] | count", 'my logs'],
  ["let a = 1; ['my logs'] | where b == a", 'my logs'],
  ['print 1', undefined],
  ['', undefined],
])('the dataset of %j', (text, name) => expect(datasetOf(new QueryText(text))).toBe(name));
