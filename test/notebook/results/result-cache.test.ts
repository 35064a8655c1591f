import { Int64, makeTable, Table, vectorFromArray } from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import { mostUnnamed, ResultCache } from '../../../kernel/notebook/results/result-cache.js';
import { present } from '../../../kernel/present.js';
import type { QueryResult } from '../../../kernel/result/result.js';

/** Returns a result of one column, 8 bytes per row. */
function result(rows: number): QueryResult {
  const table = rows === 0 ? new Table() : makeTable({ n: new Float64Array(rows) });
  return {
    tables: [{ info: { name: '0', sources: [], fields: [], order: [], groups: [] }, data: table }],
    status: {} as QueryResult['status'],
    datasetNames: [],
    fieldsMetaMap: {},
    provenance: {} as QueryResult['provenance'],
    notices: [],
  };
}

const budget = 8_000;

/** Caches results of these row counts, 8 bytes per row; returns the remaining names and the notices. */
function keeping(...cached: readonly (readonly [id: string, rows: number, name?: string])[]) {
  const results = new ResultCache(budget);
  for (const [id, rows, name] of cached) results.keep(id, result(rows), present({ name }));
  const left = results.all().map(({ cached: { id }, names }) => [id, ...names]);
  return { results, left, said: results.takeNotices() };
}

const because = 'the kernel keeps up to 8 kB of results; `%results --budget` changes that.';

describe('results beyond the memory budget', () => {
  test('unnamed ones are dropped first, with one notice', () => {
    const { left, said, results } = keeping(['1', 300, 'a'], ['2', 300], ['3', 300], ['4', 300]);
    expect(left).toEqual([['1', 'a'], ['3'], ['4', '_']]);
    expect(said).toEqual([`1 earlier result without a name was dropped: ${because}`]);
    expect(results.takeNotices()).toEqual([]);
  });

  test('named ones are dropped next, the least recently used first', () => {
    const { results } = keeping(['1', 400, 'a'], ['2', 400, 'b']);
    results.named('a');
    results.keep('3', result(400), { name: 'c' });
    expect(results.names()).toEqual(['a', '_', 'c'].toSorted());
    expect(results.takeNotices()).toEqual([`\`b\` (400 rows, 3.2 kB) was dropped: ${because}`]);
    expect([results.wasEvicted('b'), results.wasEvicted('a')]).toEqual([true, false]);
    results.keep('4', result(1), { name: 'b' });
    expect(results.wasEvicted('b')).toBe(false);
  });

  test('the last one stays, however large', () => {
    const { left, said } = keeping(['1', 300, 'a'], ['2', 2_000, 'b']);
    expect(left).toEqual([['2', '_', 'b']]);
    expect(said).toEqual([
      `\`a\` (300 rows, 2.4 kB) was dropped: ${because}`,
      `This result alone takes 16 kB; ${because}`,
    ]);
  });

  test('a smaller budget takes effect immediately', () => {
    const { results } = keeping(['1', 300, 'a'], ['2', 300, 'b']);
    results.budgetBytes = 1_000;
    expect(results.names()).toEqual(['_', 'b']);
  });
});

test('identical results are cached once, under all names', () => {
  const { left, results } = keeping(['1', 10, 'a'], ['1', 10, 'b']);
  expect(left).toEqual([['1', '_', 'a', 'b']]);
  expect(results.bytes).toBe(80);
});

test('memory shared by columns counts once', () => {
  const column = vectorFromArray([1n, 2n], new Int64());
  const shared = {
    ...result(0),
    tables: [{ ...result(0).tables[0], data: new Table({ a: column, b: column }) }],
  };
  const single = { ...result(0), tables: [{ ...result(0).tables[0], data: new Table({ a: column }) }] };
  const results = new ResultCache(budget);
  expect(results.keep('1', shared as QueryResult).bytes).toBe(results.keep('2', single as QueryResult).bytes);
});

test('dropping a result drops all of its names', () => {
  const dropped: string[] = [];
  const results = new ResultCache(budget, id => dropped.push(id));
  results.keep('1', result(1), { name: 'a' });
  expect([results.drop('a'), results.drop('a'), results.names(), dropped]).toEqual([true, false, [], ['1']]);
  results.keep('2', result(1), { name: 'b' });
  expect([results.clear(), results.names()]).toEqual([1, []]);
});

test('the number of unnamed results is limited, with one notice', () => {
  const dropped: string[] = [];
  const results = new ResultCache(budget, id => dropped.push(id));
  results.keep('named', result(1), { name: 'a' });
  for (let index = 0; index <= mostUnnamed; index += 1) results.keep(String(index), result(1));
  expect([dropped, results.takeNotices()]).toEqual([[], []]);
  results.withId('0');
  for (const id of ['x', 'y']) results.keep(id, result(1));
  expect([dropped, results.names().toSorted()]).toEqual([
    ['1', '2'],
    ['_', 'a'],
  ]);
  expect(results.takeNotices()).toEqual([
    'The kernel keeps the last 500 results without a name; earlier ones are dropped from now on. `name << query` keeps one.',
  ]);
});
