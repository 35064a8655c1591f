import { expect, test } from 'vitest';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import type { DatasetCatalog } from '../../../kernel/local/sql/compiled-query.js';
import { now, openQueries } from '../queries.js';

const { rows } = openQueries();

const count = 300_000;
/** Rows in an order unlike that of their numbers, more than one thread of the engine takes at once. */
const ordered = `range n from 1 to ${count} step 1 | extend k = n % 1000 | sort by k asc, n desc`;

test('values from neighboring rows follow the order of the rows', async () => {
  const columns = 'p = prev(n), q = next(n, 2, -9999), c = row_cumsum(1), r = row_number(), j = prev(k)';
  const tests = [
    // Down by 1000 within a key; then on to the next key, which starts at the largest number.
    'wrong = countif(isnotnull(p) and p - n != 1000 and not(p == iff(j == 0, 1000, j) and k == j + 1))',
    'first = countif(isnull(p))',
    'last = countif(q == -9999)',
    'near = countif(n - q == 2000)',
    'counted = countif(c == r)',
  ];
  expect(await rows(`${ordered} | extend ${columns} | summarize ${tests.join(', ')}`)).toEqual([
    ['0', '1', '2', '298000', String(count)],
  ]);
  const listed = `${ordered} | extend p = prev(n) | where k < 2 | project n, p | limit 3`;
  expect(await rows(listed)).toEqual([
    ['300000', 'null'],
    ['299000', '300000'],
    ['298000', '299000'],
  ]);
});

test('rows are sorted once for values from neighboring rows, unless a function needs more', () => {
  const sorts = (apl: string): number => {
    const result = compileRequest({ apl: `${ordered} | ${apl}` }, {} as DatasetCatalog, now);
    const sql = result.ok ? (result.compiled.tables[0]?.sql ?? '') : '';
    return sql.split('ORDER BY').length - 1;
  };
  expect(sorts('extend p = prev(n), c = row_cumsum(n) | summarize max(p), max(c)')).toBe(1);
  expect(
    sorts('where n > 5 | extend p = prev(n, 2, 0) | extend r = row_number() | summarize max(p), max(r)'),
  ).toBe(1);
  expect(sorts('extend p = prev(n, 5000) | summarize max(p)')).toBe(4);
});
