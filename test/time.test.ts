import { describe, expect, test } from 'vitest';
import {
  englishMonth,
  formatDuration,
  formatTime,
  HOUR,
  LATEST_TIME,
  parseGoDuration,
  parseOffset,
  parseTime,
  parseTimespan,
  zoneOffsets,
} from '../kernel/time.js';

describe('durations are written as in Go', () => {
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

describe('times have only the digits they need', () => {
  test.each([
    [0n, '1970-01-01T00:00:00Z'],
    [-1n, '1969-12-31T23:59:59.999999999Z'],
    [1_000_000n, '1970-01-01T00:00:00.001Z'],
    [1_000n, '1970-01-01T00:00:00.000001Z'],
    [100_000_000n, '1970-01-01T00:00:00.100Z'],
    [1_795_170_496_123_456_789n, '2026-11-20T10:28:16.123456789Z'],
  ])('%s ns', (nanos, expected) => expect(formatTime(nanos)).toBe(expected));

  test.each([
    [0n, '1970-01-01T00:00:00Z'],
    [-1n, '1969-12-31T23:59:59.999999999Z'],
    [1_700_000_000_120_000_000n, '2023-11-14T22:13:20.12Z'],
    [1_700_000_000_000_100_000n, '2023-11-14T22:13:20.0001Z'],
    [-1_700_000_000_000_000_001n, '1916-02-18T01:46:39.999999999Z'],
  ])('%s ns on the wire', (nanos, expected) => expect(formatTime(nanos, 'fewest')).toBe(expected));
});

const timespans: readonly (readonly [text: string, nanoseconds: bigint | undefined])[] = [
  ['1h', HOUR],
  ['-1h', -HOUR],
  ['+1h', HOUR],
  ['0s', 0n],
  ['1.5h', (HOUR * 3n) / 2n],
  ['1h30m', (HOUR * 3n) / 2n],
  ['1d2h3m4s5ms6us7ns', 93_784_005_006_007n],
  ['1µs', 1_000n],
  ['1tick', 100n],
  ['1w', HOUR * 168n],
  ['0.1ns', 0n],
  ['00:00:01', 1_000_000_000n],
  ['01:02', HOUR + 120_000_000_000n],
  ['1.02:03:04.5', 93_784_500_000_000n],
  ['-1.00:00:00', -24n * HOUR],
  ['106751d', 106_751n * 24n * HOUR],
  ['106752d', undefined],
  ['106752.00:00:00', undefined],
  ['1', undefined],
  ['1x', undefined],
  ['h', undefined],
  ['', undefined],
  ['1 h', undefined],
  ['.5h', HOUR / 2n],
  ['1.h', HOUR],
  ['1.5.h', undefined],
  ['1h,', undefined],
  ['1constructor', undefined],
  ['9223372036854775807ns', 2n ** 63n - 1n],
  ['9223372036854775808ns', undefined],
  ['-9223372036854775808ns', -(2n ** 63n)],
];

test.each(timespans)('parses timespan %j', (text, expected) => {
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
  ['2026-01-02T23:59:60', undefined],
  ['0099-01-01', undefined],
  ['1600-01-01', undefined],
  ['1677-09-21T23:59:59', undefined],
  ['1677-09-22', '1677-09-22T00:00:00Z'],
  ['2262-04-11T23:47:16', '2262-04-11T23:47:16Z'],
  ['2262-04-11T23:47:17', undefined],
  ['2263-01-01', undefined],
  ['2026-01-02T03:04:05+24:00', undefined],
  ['2026-01-02T03:04:05+02:60', undefined],
  ['yesterday', undefined],
  ['', undefined],
];

test.each(times)('parses time %j', (text, iso) => {
  expect(parseTime(text)).toBe(iso === undefined ? undefined : BigInt(Date.parse(iso)) * 1_000_000n);
});

test('parses times to the nanosecond, up to the latest one', () => {
  expect(parseTime('2026-01-02T03:04:05.123456789Z')).toBe(1_767_323_045_123_456_789n);
  expect(parseTime('2026-01-02T03:04:05,1234567899+00:00')).toBe(1_767_323_045_123_456_789n);
  expect(parseTime('2262-04-11T23:47:16.854775806Z')).toBe(LATEST_TIME);
  expect(parseTime('2262-04-11T23:47:16.854775807Z')).toBe(undefined);
});

test.each([
  ['0', 0n, 0n],
  ['-0', 0n, 0n],
  ['1h2m3.5s', 3_723_500_000_000n, 3_723_500_000_000n],
  ['-1.5\u03bcs', -1_500n, -1_500n],
  ['+.5ms', 500_000n, 500_000n],
  ['1.5ns', 1n, undefined],
  ['1.0000000000000000000ns', 1n, 1n],
  ['1.0000000000000000001s', 1_000_000_000n, undefined],
  ['1d', undefined, undefined],
  ['1 h', undefined, undefined],
  ['1', undefined, undefined],
  ['', undefined, undefined],
])('parses Go duration %j', (text, truncated, exact) => {
  expect([parseGoDuration(text), parseGoDuration(text, 'refuse')]).toEqual([truncated, exact]);
});

test.each([
  ['+02:00', 120],
  ['-0530', -330],
  ['+02', 120],
  ['+24:00', undefined],
  ['02:00', undefined],
])('parses offset %j', (text, minutes) => expect(parseOffset(text)).toBe(minutes));

/** Zone abbreviations, each with a place that uses it in January or July. */
const zones: Readonly<Record<string, readonly [place: string, month: 1 | 7]>> = {
  z: ['UTC', 1],
  ut: ['UTC', 1],
  utc: ['UTC', 1],
  gmt: ['Europe/London', 1],
  est: ['America/New_York', 1],
  edt: ['America/New_York', 7],
  cst: ['America/Chicago', 1],
  cdt: ['America/Chicago', 7],
  mst: ['America/Denver', 1],
  mdt: ['America/Denver', 7],
  pst: ['America/Los_Angeles', 1],
  pdt: ['America/Los_Angeles', 7],
  akst: ['America/Anchorage', 1],
  akdt: ['America/Anchorage', 7],
  hst: ['Pacific/Honolulu', 1],
  wet: ['Europe/Lisbon', 1],
  west: ['Europe/Lisbon', 7],
  cet: ['Europe/Paris', 1],
  cest: ['Europe/Paris', 7],
  eet: ['Europe/Athens', 1],
  eest: ['Europe/Athens', 7],
  sast: ['Africa/Johannesburg', 1],
  hkt: ['Asia/Hong_Kong', 1],
  jst: ['Asia/Tokyo', 1],
  kst: ['Asia/Seoul', 1],
  awst: ['Australia/Perth', 1],
  acst: ['Australia/Adelaide', 7],
  acdt: ['Australia/Adelaide', 1],
  aest: ['Australia/Sydney', 7],
  aedt: ['Australia/Sydney', 1],
  nzst: ['Pacific/Auckland', 7],
  nzdt: ['Pacific/Auckland', 1],
};

test('zone abbreviations have the offsets of places that use them', () => {
  const offsetOf = ([timeZone, month]: readonly [string, number]) => {
    const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
    const parts = format.formatToParts(new Date(Date.UTC(2026, month - 1, 15)));
    const text = parts.find(({ type }) => type === 'timeZoneName')?.value.slice(3) ?? '';
    return text === '' ? 0 : parseOffset(text);
  };
  const offsets = Object.entries(zones).map(([word, place]) => [word, offsetOf(place)]);
  expect(zoneOffsets).toEqual(Object.fromEntries(offsets));
});

test.each(['cs', 'da', 'de', 'es', 'fr', 'it', 'nb', 'nl', 'pl', 'pt', 'sv'])(
  'knows the names of months in %s',
  language => {
    const inLanguage = (locale: string, month: number) =>
      new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long', timeZone: 'UTC' })
        .formatToParts(new Date(Date.UTC(2026, month, 15)))
        .find(({ type }) => type === 'month')?.value ?? '';
    const months = Array.from({ length: 12 }, (_, month) => {
      const [name, english] = [inLanguage(language, month).toLowerCase(), inLanguage('en', month)];
      // Names that equal the English ones need no translation.
      return [name, name === english.toLowerCase() ? english.slice(0, 3) : englishMonth(name)];
    });
    const english = Array.from({ length: 12 }, (_, month) => inLanguage('en', month).slice(0, 3));
    expect(months).toEqual(months.map(([name], month) => [name, english[month]]));
  },
);
