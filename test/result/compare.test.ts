import { expect, test } from 'vitest';
import {
  type CompareOptions,
  compareTables,
  differenceText,
  isUnchanged,
  type TableChanges,
} from '../../kernel/result/compare.js';
import { type SampleColumn, sampleResult } from './sample.js';

const tableOf = (columns: readonly SampleColumn[]) => {
  const [table] = sampleResult([{ columns }]).tables;
  if (table === undefined) throw new Error('no table');
  return table.data;
};

const host: SampleColumn = ['host', 'string', '["a","b","c"]'];
const base: readonly SampleColumn[] = [host, ['n', 'integer', '[1,2,3]'], ['avg', 'float', '[0.1,0.2,null]']];

function check(after: readonly SampleColumn[], options: CompareOptions, expected: object): void {
  expect(compareTables(tableOf(base), tableOf(after), options)).toEqual({
    schema: [],
    key: ['host', 'n'],
    same: 3,
    added: 0,
    removed: 0,
    changed: 0,
    reordered: false,
    examples: [],
    ...expected,
  });
}

test('finds no difference in the same rows', () => check(base, {}, {}));
test('finds no equal row without a common column', () => {
  const other: readonly SampleColumn[] = [['x', 'integer', '[7,8]']];
  const changes = compareTables(tableOf(base.slice(1, 2)), tableOf(other));
  expect(changes).toMatchObject({ same: 0, added: 2, removed: 3, changed: 0 });
  expect(changes.examples[0]).toEqual({ kind: 'removed', cells: { n: '1' } });
  expect(changes.examples[3]).toEqual({ kind: 'added', cells: { x: '7' } });
  expect(isUnchanged(changes)).toBe(false);
});
test('matches a changed real number by the other columns', () =>
  check(
    base.with(2, ['avg', 'float', '[0.1,0.25,1]']),
    {},
    {
      same: 1,
      changed: 2,
      examples: [
        {
          kind: 'changed',
          key: { host: 'b', n: '2' },
          cells: [{ column: 'avg', before: '0.2', after: '0.25' }],
        },
        { kind: 'changed', key: { host: 'c', n: '3' }, cells: [{ column: 'avg', before: null, after: '1' }] },
      ],
    },
  ));
test('matches a changed number of a group by its key', () =>
  check(
    base.with(1, ['n', 'integer', '[1,5,3]']),
    { key: ['host'] },
    {
      key: ['host'],
      same: 2,
      changed: 1,
      examples: [{ kind: 'changed', key: { host: 'b' }, cells: [{ column: 'n', before: '2', after: '5' }] }],
    },
  ));
test('treats a changed integer as another row without a key', () =>
  check(
    base.with(1, ['n', 'integer', '[1,5,3]']),
    {},
    {
      same: 2,
      added: 1,
      removed: 1,
      examples: [
        { kind: 'removed', cells: { host: 'b', n: '2', avg: '0.2' } },
        { kind: 'added', cells: { host: 'b', n: '5', avg: '0.2' } },
      ],
    },
  ));
test('treats real numbers within the tolerance as equal', () => {
  check(base.with(2, ['avg', 'float', '[0.1,0.2000000001,null]']), { tolerance: 1e-9 }, {});
  check(
    base.with(2, ['avg', 'float', '[0.1,0.200001,null]']),
    { tolerance: 1e-9, examples: 0 },
    { same: 2, changed: 1 },
  );
});
test.each<[string, CompareOptions, object]>([
  ['as part of the key', {}, { same: 2, added: 1, removed: 1 }],
  ['as cells', { key: ['host'] }, { key: ['host'], same: 2, changed: 1 }],
])('applies no tolerance to integers: %s', (_, options, expected) =>
  check(base.with(1, ['n', 'integer', '[1,2,4]']), { ...options, tolerance: 0.5, examples: 0 }, expected),
);
test('shows added and removed rows by the common column', () => {
  const changes = compareTables(tableOf(base), tableOf([['host', 'string', '["a","b","d"]']]));
  expect(changes.examples).toEqual([
    { kind: 'removed', cells: { host: 'c' } },
    { kind: 'added', cells: { host: 'd' } },
  ]);
});
test('lists the first twenty differences', () => {
  const rows = (first: number): readonly SampleColumn[] => [
    ['n', 'integer', JSON.stringify(Array.from({ length: 21 }, (_, n) => first + n))],
  ];
  const changes = compareTables(tableOf(rows(0)), tableOf(rows(100)));
  expect([changes.added, changes.removed, changes.examples.length]).toEqual([21, 21, 20]);
});
test('reports a different order', () =>
  check(
    [
      ['host', 'string', '["b","a","c"]'],
      ['n', 'integer', '[2,1,3]'],
      ['avg', 'float', '[0.2,0.1,null]'],
    ],
    {},
    { reordered: true },
  ));
test('does not compare the order if rows differ', () =>
  check(
    [
      ['host', 'string', '["d","b","a","c"]'],
      ['n', 'integer', '[4,2,1,3]'],
      ['avg', 'float', '[0.4,0.25,0.1,null]'],
    ],
    { examples: 0 },
    { same: 2, added: 1, changed: 1 },
  ));
test('reports columns that are added, removed or change their type', () =>
  check(
    [host, ['n', 'string', '["1","2","3"]'], ['new', 'boolean', '[true,true,true]']],
    {},
    {
      key: ['host'],
      schema: [
        { column: 'n', before: 'Int64', after: 'Utf8' },
        { column: 'avg', before: 'Float64' },
        { column: 'new', after: 'Bool' },
      ],
    },
  ));
test('counts repeated rows', () => {
  const rows = (values: string): readonly SampleColumn[] => [['s', 'string', values]];
  const changes = compareTables(tableOf(rows('["x","x","y"]')), tableOf(rows('["x","y","y","y"]')));
  expect([changes.same, changes.added, changes.removed, isUnchanged(changes)]).toEqual([2, 2, 1, false]);
});
test('distinguishes null from "null" and integers beyond 2^53', () => {
  const rows = (cells: string, n: string): readonly SampleColumn[] => [
    ['s', 'string', cells],
    ['n', 'integer', n],
  ];
  const [a, b] = [
    tableOf(rows('[null]', '[9007199254740993]')),
    tableOf(rows('["null"]', '[9007199254740993]')),
  ];
  expect(isUnchanged(compareTables(a, b))).toBe(false);
  expect(isUnchanged(compareTables(a, tableOf(rows('[null]', '[9007199254740992]'))))).toBe(false);
  expect(isUnchanged(compareTables(a, a))).toBe(true);
});

const unchanged: TableChanges = {
  ...{ schema: [], key: [], same: 3, added: 0, removed: 0, changed: 0, reordered: false, examples: [] },
};

test.each<[string, Partial<TableChanges>, Parameters<typeof differenceText>[1]]>([
  ['rows: 1 changed, 3 the same', { changed: 1 }, undefined],
  ['rows: 1 added, 3 the same', { added: 1 }, undefined],
  ['rows: 1 removed, 3 the same', { removed: 1 }, undefined],
  ['rows: 2 changed, 4 added, 5 removed, 3 the same', { changed: 2, added: 4, removed: 5 }, undefined],
  ['column n was added', { schema: [{ column: 'n', after: 'long' }] }, undefined],
  ['column n was removed', { schema: [{ column: 'n', before: 'long' }] }, undefined],
  [
    'column n changed from long to real; same rows in a different order',
    { schema: [{ column: 'n', before: 'long', after: 'real' }], reordered: true },
    undefined,
  ],
  ['of the first 30 rows: none; a row that does not fit in the notebook differs', {}, { rows: 30 }],
  [
    'of the first 30 rows and 8 columns: none; a row or a column that does not fit in the notebook differs',
    {},
    { rows: 30, columns: 8 },
  ],
  [
    'of the first 30 rows and 8 columns: rows: 1 changed, 3 the same',
    { changed: 1 },
    { rows: 30, columns: 8 },
  ],
])('summarizes the differences in one line: %s', (text, changes, compared) => {
  expect(differenceText({ ...unchanged, ...changes }, compared)).toBe(text);
});
