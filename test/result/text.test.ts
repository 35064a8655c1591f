import type { Vector } from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import { formatDuration, formatTime, shownText } from '../../kernel/result/text.js';
import { sampleResult } from './sample.js';

describe('durations read as Go writes them', () => {
  test.each([
    [0n, '0s'],
    [1n, '1ns'],
    [-1n, '-1ns'],
    [999n, '999ns'],
    [1_000n, '1\u00b5s'],
    [1_500n, '1.5\u00b5s'],
    [250_000_000n, '250ms'],
    [1_500_000_000n, '1.5s'],
    [60_000_000_000n, '1m0s'],
    [300_004_487_127n, '5m0.004487127s'],
    [3_600_000_000_000n, '1h0m0s'],
    [-3_723_500_000_000n, '-1h2m3.5s'],
    [2n ** 63n - 1n, '2562047h47m16.854775807s'],
    [-(2n ** 63n), '-2562047h47m16.854775808s'],
  ])('%s ns', (nanos, expected) => expect(formatDuration(nanos)).toBe(expected));
});

describe('times have the digits they need', () => {
  test.each([
    [0n, '1970-01-01T00:00:00Z'],
    [-1n, '1969-12-31T23:59:59.999999999Z'],
    [1_000_000n, '1970-01-01T00:00:00.001Z'],
    [1_000n, '1970-01-01T00:00:00.000001Z'],
    [100_000_000n, '1970-01-01T00:00:00.100Z'],
    [1_795_170_496_123_456_789n, '2026-11-20T10:28:16.123456789Z'],
  ])('%s ns', (nanos, expected) => expect(formatTime(nanos)).toBe(expected));
});

test('a null differs from every text', () => {
  const { tables } = sampleResult([
    { columns: [['s', 'string', String.raw`[null,"null",""," ","\"null\"","Null"]`]] },
  ]);
  const field = tables[0]?.data.schema.fields[0];
  const vector = tables[0]?.data.getChildAt(0) as Vector;
  if (field === undefined) throw new Error('no field');
  expect([0, 1, 2, 3, 4, 5].map(row => shownText(vector, row, field))).toEqual([
    { text: 'null', isNull: true },
    { text: '"null"', isNull: false },
    { text: '""', isNull: false },
    { text: ' ', isNull: false },
    { text: String.raw`"\"null\""`, isNull: false },
    { text: 'Null', isNull: false },
  ]);
});
