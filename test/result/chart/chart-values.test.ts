import {
  Dictionary,
  Field,
  Float64,
  Int32,
  Int64,
  TimestampNanosecond,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { expect, test } from 'vitest';
import {
  allRows,
  type ChartColumn,
  groupNumbers,
  numbersOf,
} from '../../../kernel/result/chart/chart-values.js';

function column(type: Field['type'], ...batches: readonly (readonly unknown[])[]): ChartColumn {
  const [first, ...others] = batches.map(values => vectorFromArray(values, type));
  if (first === undefined) throw new Error('no values');
  return { field: new Field('c', type, true), vector: others.reduce((all, each) => all.concat(each), first) };
}

const dictionary = () => new Dictionary(new Utf8(), new Int32());

test('64-bit integers are rounded once, as Number() does', () => {
  const values = [
    0n,
    -1n,
    1n,
    2n ** 53n + 1n,
    -(2n ** 53n) - 3n,
    2n ** 63n - 1n,
    -(2n ** 63n),
    2n ** 32n - 1n,
  ];
  expect([...numbersOf(column(new Int64(), values))]).toEqual(values.map(Number));
});

test('nulls and infinities become NaN, in every batch', () => {
  const numbers = column(new Float64(), [1.5, null, Number.POSITIVE_INFINITY], [null, -2], [3]);
  expect([...numbersOf(numbers)]).toEqual([1.5, Number.NaN, Number.NaN, Number.NaN, -2, 3]);
});

test('times become milliseconds since 1970, and null times NaN', () => {
  const at = column(new TimestampNanosecond('UTC'), [1_700_000_000_123, null]);
  expect([...numbersOf(at)]).toEqual([1_700_000_000_123, Number.NaN]);
});

test('groups differ by their values, not by their joined names', () => {
  const keys = [column(new Utf8(), ['a,b', 'a', 'a,b', 'a']), column(new Utf8(), ['c', 'b,c', 'c', 'x'])];
  expect(groupNumbers(keys, allRows(4))).toEqual({ numbers: Uint32Array.of(0, 1, 0, 2), count: 3 });
});

test.each([
  ['a plain string', column(new Utf8(), ['x', 'null', null, 'x', null])],
  ['a dictionary', column(dictionary(), ['x', 'null', null, 'x', null])],
  ['dictionaries of several batches', column(dictionary(), ['x', 'null'], [null, 'x', null])],
])('null is a separate group: %s', (_, key) => {
  expect(groupNumbers([key], allRows(5))).toEqual({ numbers: Uint32Array.of(0, 1, 2, 0, 2), count: 3 });
});

test('groups are numbered in the order of the given rows', () => {
  const key = column(dictionary(), ['a', 'b', 'c']);
  expect(groupNumbers([key], Uint32Array.of(2, 0, 2))).toEqual({
    numbers: Uint32Array.of(0, 1, 0),
    count: 2,
  });
  expect(groupNumbers([], Uint32Array.of(2, 0))).toEqual({ numbers: Uint32Array.of(0, 0), count: 1 });
});
