import { DurationNanosecond, Field, Float64, Int64, Utf8, vectorFromArray } from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import {
  formatNumber,
  type NumberFormat,
  numberFormat,
} from '../../../kernel/result/display/display-format.js';
import { FIELD_KEY } from '../../../kernel/result/field.js';

const MAX = '9223372036854775807';

const integers = (name: string, unit?: string): NumberFormat =>
  numberFormat(
    new Field(name, new Int64(), true, new Map(unit === undefined ? [] : [[FIELD_KEY.unit, unit]])),
    vectorFromArray([1n], new Int64()),
  );

const reals = (values: readonly (number | null)[]): readonly string[] => {
  const format = numberFormat(
    new Field('value', new Float64(), true),
    vectorFromArray([...values], new Float64()),
  );
  return values.map(value =>
    formatNumber(Object.is(value, -0) ? '-0' : String(value === null ? 'null' : value), format),
  );
};

describe('whole numbers', () => {
  test.each<[string, string]>([
    ['0', '0'],
    ['-0', '-0'],
    ['999', '999'],
    ['1000', '1,000'],
    ['-1234567', '-1,234,567'],
    [MAX, '9,223,372,036,854,775,807'],
    ['-9223372036854775808', '-9,223,372,036,854,775,808'],
    ['null', 'null'],
  ])('%s', (exact, shown) => expect(formatNumber(exact, integers('count_'))).toBe(shown));

  test.each([
    'id',
    'user_id',
    'userId',
    'http.status_code',
    'status',
    'dst_port',
    'srcPort',
    'year',
    'pid',
    'ID',
  ])('%s is a label without thousands separators', name =>
    expect(formatNumber('1234567', integers(name))).toBe('1234567'),
  );
  test.each([
    'count_',
    'paid',
    'grid',
    'valid',
    'sum_bytes',
    'dcount_id',
    'decode',
    'years_total',
    'exports',
  ])('%s is a number', name => expect(formatNumber('1234567', integers(name))).toBe('1,234,567'));

  test.each([
    ['count', '1,234,567'],
    ['dcount', '1,234,567'],
    ['max', '1234567'],
  ])('the %s of ids is shown as %s', (name, shown) => {
    const metadata = new Map([[FIELD_KEY.agg, JSON.stringify({ name })]]);
    const format = numberFormat(
      new Field('ids', new Int64(), true, metadata),
      vectorFromArray([1n], new Int64()),
    );
    expect(formatNumber('1234567', format)).toBe(shown);
  });
});

describe('real numbers of a column have the same number of decimals', () => {
  test.each<[string, readonly (number | null)[], readonly string[]]>([
    ['none if all are whole', [1, 2000, 30], ['1', '2,000', '30']],
    ['as many as the row that needs the most', [1.5, 2.25, 1000], ['1.50', '2.25', '1,000.00']],
    ['seven digits for the largest', [0.123456789, 1234.5678], ['0.123', '1,234.568']],
    ['all of them if every number is small', [0.00012345, 0.00067], ['0.00012345', '0.00067000']],
    ['in exponent form instead of 0.000', [0.00001234, 1234.5], ['1.234e-5', '1,234.500']],
    [
      'except NaN, infinity and null',
      [Number.NaN, Number.POSITIVE_INFINITY, null, 0.5],
      ['NaN', 'Infinity', 'null', '0.5'],
    ],
    ['with the sign of zero', [0, -0, 0.25], ['0.00', '-0.00', '0.25']],
    ['in exponent form if huge or tiny', [1e300, 5e-324, 1e15], ['1e300', '5e-324', '1e15']],
    ['without rounding noise', [0.1 + 0.2, 0.3], ['0.3', '0.3']],
  ])('%s', (_, values, shown) => expect(reals(values)).toEqual(shown));

  test.each<[first: number, later: readonly number[], shown: readonly string[]]>([
    [3, [1.5, -0.25, 1234.5678, 0.123456789], ['1.5', '-0.25', '1,234.568', '0.123457']],
    [0, [1.5, 0.00001234, 0.5], ['1.5', '0.0000123', '0.5']],
    [1234567, [1.5], ['2']],
  ])(
    'and more behind the first thousand, which are %d, up to seven digits for the largest',
    (first, later, shown) => {
      expect(reals([...Array.from({ length: 1_000 }, () => first), ...later]).slice(1_000)).toEqual(shown);
    },
  );
});

describe('measures', () => {
  test.each<[string, string, string]>([
    ['ms', '150', '150 ms'],
    ['ms', '90000', '90 s'],
    ['ms', '0', '0 ms'],
    ['ms', '0.0421', '42.1 \u00b5s'],
    ['bytes', '1536', '1.5 KiB'],
    ['decbytes', '1234567', '1.235 MB'],
    ['decbytes', '-1234567', '-1.235 MB'],
    ['decbytes', MAX, '9,223 PB'],
    ['percent', '12.345678', '12.35 %'],
    ['percentunit', '0.5', '50 %'],
    ['s', 'NaN', 'NaN'],
  ])('%s %s', (unit, exact, shown) => expect(formatNumber(exact, integers('took', unit))).toBe(shown));

  test('show a plain number for a unit without multiples', () =>
    expect(formatNumber('1234567', integers('requests', 'reqps'))).toBe('1,234,567'));
});

test.each([
  ['29.334034ms', '29.33403 ms'],
  ['541.201\u00b5s', '541.201 \u00b5s'],
  ['7.502114457s', '7.502114 s'],
  ['5m0s', '5 min'],
  ['72h0m0s', '3 d'],
  ['-1.5s', '-1.5 s'],
  ['0s', '0 s'],
  ['null', 'null'],
])('the timespan %s is shown with seven digits and one unit', (exact, shown) => {
  const field = new Field('took', new DurationNanosecond(), true);
  expect(formatNumber(exact, numberFormat(field, vectorFromArray([1n], new DurationNanosecond())))).toBe(
    shown,
  );
});

test('an integer measure is exact if units are off', () => {
  const field = new Field('size', new Int64(), true, new Map([[FIELD_KEY.unit, 'bytes']]));
  const vector = vectorFromArray([1n], new Int64());
  expect(formatNumber(MAX, numberFormat(field, vector, { units: false }))).toBe('9,223,372,036,854,775,807');
});

test('strings are shown exactly', () =>
  expect(numberFormat(new Field('a', new Utf8()), vectorFromArray(['1']))).toEqual({ kind: 'exact' }));
