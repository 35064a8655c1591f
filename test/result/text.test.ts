import type { Vector } from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import { cut, formatDuration, formatTime, shownText, visible } from '../../kernel/result/text.js';
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

describe('what cannot be seen is shown', () => {
  test.each([
    ['plain text', 'plain text'],
    ['a\nb\tc', 'a\u21b5b\u21e5c'],
    [
      '\u001b[31mred\u0007\u0000\u007f',
      '\u27e8U+001B\u27e9[31mred\u27e8U+0007\u27e9\u27e8U+0000\u27e9\u27e8U+007F\u27e9',
    ],
    ['\u009b2J', '\u27e8U+009B\u27e92J'],
    ['evil\u202etxt.exe', 'evil\u27e8U+202E\u27e9txt.exe'],
    [
      '\u2066a\u2069\u200f\u061c',
      '\u27e8U+2066\u27e9a\u27e8U+2069\u27e9\u27e8U+200F\u27e9\u27e8U+061C\u27e9',
    ],
    [
      'pay\u200bpal\ufeff\u00ad\u2060',
      'pay\u27e8U+200B\u27e9pal\u27e8U+FEFF\u27e9\u27e8U+00AD\u27e9\u27e8U+2060\u27e9',
    ],
    ['a\u200db', 'a\u27e8U+200D\u27e9b'],
    ['tag \u{e0041}', 'tag \u27e8U+E0041\u27e9'],
    ['a\u2028b', 'a\u27e8U+2028\u27e9b'],
    ['half \ud800', 'half \ufffd'],
    [
      '\ud83d\udc69\u200d\ud83d\udc67 \u2764\ufe0f \u05e9\u05dc\u05d5\u05dd',
      '\ud83d\udc69\u200d\ud83d\udc67 \u2764\ufe0f \u05e9\u05dc\u05d5\u05dd',
    ],
  ])('%j', (text, expected) => expect(visible(text)).toBe(expected));
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

test('a cut keeps whole characters', () => {
  expect(cut('abcdef', 6)).toBe('abcdef');
  expect(cut('abcdefg', 6)).toBe('abcde\u2026');
  expect(cut('abcd\ud83d\ude00fg', 6)).toBe('abcd\u2026');
});
