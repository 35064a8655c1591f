import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { drawnKinds } from '../../../kernel/apl/operators/chart-kinds.js';
import { chartModel } from '../../../kernel/result/chart/chart.js';
import { type Facts, shapeOf, shapes } from '../../../kernel/result/chart/chart-shapes.js';
import { kindNames, kindRows, refusalOf } from '../../../kernel/result/chart/kinds/kind-table.js';

import { sampleResult } from '../sample.js';

const nothing: Facts = {
  rows: 1,
  timestamps: 0,
  measures: 0,
  keys: 0,
  lists: 'none',
  isBinned: false,
  isAggregate: true,
};

/** Facts about a result, apart from the defaults, and its shape. */
const cases: readonly (readonly [what: string, facts: Partial<Facts>, shape: string | undefined])[] = [
  ['a count', { measures: 1 }, 'one number'],
  ['counts and averages', { measures: 2 }, 'one row of numbers'],
  ['a number that is not an aggregate', { measures: 1, isAggregate: false }, 'one number'],
  ['names without numbers', { rows: 5, keys: 1 }, undefined],
  ['a single name', { keys: 1, measures: 1 }, 'one number'],
  ['names', { rows: 5, keys: 1, measures: 2 }, 'numbers by name'],
  ['names of events', { rows: 5, keys: 1, measures: 1, isAggregate: false }, undefined],
  ['two numbers of events', { rows: 5, measures: 2, isAggregate: false }, 'two numbers in each row'],
  ['bins of a number', { rows: 5, keys: 1, measures: 1, isBinned: true }, 'bins of a number'],
  ['bins of a number by name', { rows: 5, keys: 2, measures: 1, isBinned: true }, 'numbers by name'],
  ['counts over time', { rows: 5, timestamps: 5, measures: 1 }, 'measures over time'],
  ['groups over time', { rows: 9, timestamps: 5, measures: 1, keys: 2 }, 'measures over time'],
  ['one timestamp', { rows: 1, timestamps: 1, measures: 1 }, undefined],
  ['events with times', { rows: 5, timestamps: 5, measures: 1, isAggregate: false }, undefined],
  [
    'percentiles over time',
    { rows: 5, timestamps: 5, measures: 3, lists: 'percentiles' },
    'percentiles over time',
  ],
  ['percentiles of everything', { measures: 3, lists: 'percentiles' }, 'one row of numbers'],
  ['series', { rows: 9, timestamps: 5, measures: 1, keys: 1, lists: 'series' }, 'series'],
  ['a histogram', { lists: 'histograms' }, 'a histogram'],
  ['a spotlight', { lists: 'spotlight' }, 'a spotlight'],
  ['histograms over time', { rows: 5, timestamps: 5, lists: 'histograms' }, 'histograms over time'],
];

describe('the shape of a result', () => {
  test.each(cases)('%s', (_, facts, expected) =>
    expect(shapeOf({ ...nothing, ...facts })?.shape).toBe(expected),
  );

  test('every row of the table is covered by a case', () => {
    expect(new Set(shapes.map(row => row.shape))).toEqual(
      new Set(cases.flatMap(([, , shape]) => shape ?? [])),
    );
  });
});

describe('the kinds of charts', () => {
  test('the language knows every kind by its name in the menu', () => {
    const file = new URL('../../../kernel/apl/operators/chart-kinds.ts', import.meta.url);
    expect(readFileSync(file, 'utf8')).toBe(kindNames());
    expect([...drawnKinds]).toEqual(Object.keys(kindRows));
  });

  test('every shape has a kind that draws it, and every kind draws a shape', () => {
    for (const { shape, kind } of shapes)
      if (kind !== 'none') expect(Object.keys(kindRows[kind].draws)).toContain(shape);
    for (const { draws } of Object.values(kindRows)) expect(Object.keys(draws)).not.toEqual([]);
  });
});

test('a refusal names the kinds that can be drawn', () => {
  expect(
    refusalOf(
      'pie',
      shapes.find(row => row.shape === 'a histogram'),
    ),
  ).toBe('No pie chart: it needs numbers by name. The result is a histogram, which can be drawn as `bar`.');
  expect(refusalOf('bar', undefined)).toBe(
    'No bar chart: it needs numbers by name or over time, and the result has none.',
  );
});

test('rows without groups are drawn only if the cell requests a chart', () => {
  const rows = sampleResult([
    {
      columns: [
        ['name', 'string', '["a","b","c"]'],
        ['n', 'integer', '[1,2,3]'],
      ],
    },
  ]);
  expect(chartModel(rows, 0)).toBeUndefined();
  expect(chartModel(rows, 0, { kind: 'bar' })).toMatchObject({ kind: 'bars', keys: 'name' });
});
