import { Bool, Float64, Int64, Table, Utf8, vectorFromArray } from 'apache-arrow';
import { expect, test } from 'vitest';
import type { View } from '../../../../kernel/notebook/results/result-protocol.js';
import { notebookRows } from '../../../../labextension/src/grid/data/grid-source.js';

const table = new Table({
  n: vectorFromArray([9007199254740993n, 9007199254740992n, null, 7n], new Int64()),
  x: vectorFromArray([Number.NaN, -1, 2, null], new Float64()),
  text: vectorFromArray(['b', 'B', 'a', 'error'], new Utf8()),
  isOn: vectorFromArray([true, false, null, true], new Bool()),
});

async function rowsOf(view: View, offset = 0, limit = 10): Promise<readonly string[]> {
  const { table: page } = await notebookRows(table, true).page(view, offset, limit);
  return page.toArray().map(row => String(row?.text));
}
const by = (column: string, descending = false) => ({ column, descending });

test.each([
  [[by('n')], ['a', 'error', 'B', 'b']],
  [[by('n', true)], ['b', 'B', 'error', 'a']],
  [[by('x')], ['error', 'B', 'a', 'b']],
  [[by('text')], ['B', 'a', 'b', 'error']],
  [
    [by('isOn', true), by('n')],
    ['error', 'b', 'B', 'a'],
  ],
  [[by('gone')], ['b', 'B', 'a', 'error']],
])('sorts rows by %j if the notebook has all of them', async (sort, expected) => {
  expect(await rowsOf({ sort })).toEqual(expected);
});

test('searches such rows ignoring case, and pages them', async () => {
  expect(await rowsOf({ search: 'B' })).toEqual(['b', 'B']);
  expect(await rowsOf({ search: '40992' })).toEqual(['B']);
  expect(await rowsOf({ sort: [by('n')] }, 1, 2)).toEqual(['error', 'B']);
  expect(await rowsOf({ sort: [by('n')] }, 9, 2)).toEqual([]);
});

test('does not sort if the notebook has only some of the rows', async () => {
  const source = notebookRows(table, false);
  expect([source.canArrange, source.canCompute]).toEqual([false, false]);
  expect((await source.page({ sort: [by('n')] }, 1, 2)).table.toArray().map(row => row?.text)).toEqual([
    'B',
    'a',
  ]);
});
