import { describe, expect, test } from 'vitest';
import { parseDatetime, parseTimespan, typeNamed } from '../../../kernel/apl/syntax/literals.js';

const hour = 3_600_000_000_000n;

const timespans: readonly (readonly [text: string, nanoseconds: bigint | undefined])[] = [
  ['1h', hour],
  ['-1h', -hour],
  ['+1h', hour],
  ['0s', 0n],
  ['1.5h', (hour * 3n) / 2n],
  ['1h30m', (hour * 3n) / 2n],
  ['1d2h3m4s5ms6us7ns', 93_784_005_006_007n],
  ['1µs', 1_000n],
  ['1tick', 100n],
  ['1w', hour * 168n],
  ['0.1ns', 0n],
  ['00:00:01', 1_000_000_000n],
  ['01:02', hour + 120_000_000_000n],
  ['1.02:03:04.5', 93_784_500_000_000n],
  ['-1.00:00:00', -24n * hour],
  ['106751d', 106_751n * 24n * hour],
  ['106752d', undefined],
  ['106752.00:00:00', undefined],
  ['1', undefined],
  ['1x', undefined],
  ['h', undefined],
  ['', undefined],
  ['1 h', undefined],
];

test.each(timespans)('timespan %j', (text, expected) => {
  expect(parseTimespan(text)).toBe(expected);
});

const times: readonly (readonly [text: string, iso: string | undefined])[] = [
  ['2026-01-02', '2026-01-02T00:00:00Z'],
  ['2026-01', '2026-01-01T00:00:00Z'],
  ['2026-1-2', '2026-01-02T00:00:00Z'],
  ['2026-01-02 03:04', '2026-01-02T03:04:00Z'],
  ['2026-01-02T03:04:05', '2026-01-02T03:04:05Z'],
  ['2026-01-02T03:04:05+02:00', '2026-01-02T01:04:05Z'],
  ['2026-01-02T03:04:05-0530', '2026-01-02T08:34:05Z'],
  ['2026-01-02T03:04:05z', '2026-01-02T03:04:05Z'],
  [' 2026-01-02 ', '2026-01-02T00:00:00Z'],
  ['2024-02-29', '2024-02-29T00:00:00Z'],
  ['2026-02-29', undefined],
  ['2026-13-01', undefined],
  ['2026-01-02T24:00:00', undefined],
  ['2026-01-02T03:60:00', undefined],
  ['1600-01-01', undefined],
  ['2263-01-01', undefined],
  ['yesterday', undefined],
  ['', undefined],
];

test.each(times)('time %j', (text, iso) => {
  expect(parseDatetime(text)).toBe(iso === undefined ? undefined : BigInt(Date.parse(iso)) * 1_000_000n);
});

test('times keep nanoseconds', () => {
  expect(parseDatetime('2026-01-02T03:04:05.123456789Z')).toBe(1_767_323_045_123_456_789n);
});

describe('types by any of their names', () => {
  const names = {
    int: 'long',
    LONG: 'long',
    double: 'real',
    bool: 'bool',
    date: 'datetime',
    time: 'timespan',
    array: 'dynamic',
  };
  test.each(Object.entries(names))('%s is %s', (name, type) => expect(typeNamed(name)).toBe(type));
  test.each(['strng', '', 'constructor', '__proto__'])('%j is none', name =>
    expect(typeNamed(name)).toBe(undefined),
  );
});
