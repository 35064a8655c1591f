import { describe, expect, test } from 'vitest';
import {
  freezeRange,
  isFrozen,
  parseRange,
  resolveRange,
  storedRange,
  TimeRangeError,
} from '../../kernel/notebook/time-range.js';

/** 2026-03-04T05:06:07.123456789Z */
const now = 1_772_600_767_123_456_789n;

function check(input: string, start: string, end: string, label: string) {
  const range = parseRange(input);
  expect({ ...resolveRange(range, now), label: range.label }).toEqual({
    startTime: start,
    endTime: end,
    label,
  });
}

const at = '2026-03-04T05:06:07.123456789Z';
const hourAgo = '2026-03-04T04:06:07.123456789Z';
const dayAgo = '2026-03-03T05:06:07.123456789Z';

/** Returns the message and hint of the thrown error. */
function refusal(work: () => unknown): readonly [string, string] {
  try {
    work();
  } catch (error) {
    if (error instanceof TimeRangeError) return [error.message, error.hint ?? ''];
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('parses a range:', () => {
  test.each([
    ['last 1h', hourAgo, at, 'last 1h'],
    ['1h', hourAgo, at, 'last 1h'],
    ['-1h', hourAgo, at, 'last 1h'],
    ['now-1h', hourAgo, at, 'last 1h'],
    ['now - 1h', hourAgo, at, 'last 1h'],
    ['"last 1h"', hourAgo, at, 'last 1h'],
    ['60m', hourAgo, at, 'last 60m'],
    ['last hour', hourAgo, at, 'last hour'],
    ['Last 1 Hour', hourAgo, at, 'last 1 hour'],
    ['1 day ago', dayAgo, at, 'last 1 day'],
    ['-1d12h', '2026-03-02T17:06:07.123456789Z', at, 'last 1d12h'],
    ['-2w', '2026-02-18T05:06:07.123456789Z', at, 'last 2w'],
    ['1.5h', '2026-03-04T03:36:07.123456789Z', at, 'last 1.5h'],
    ['250ms', '2026-03-04T05:06:06.873456789Z', at, 'last 250ms'],
    ['1ns', '2026-03-04T05:06:07.123456788Z', at, 'last 1ns'],
    ['now-1d now-1h', dayAgo, hourAgo, 'now-1d .. now-1h'],
    ['now-1d..now-1h', dayAgo, hourAgo, 'now-1d .. now-1h'],
    ['-1d -1h', dayAgo, hourAgo, '-1d .. -1h'],
    ['-1d to now', dayAgo, at, 'last 1d'],
    ['-1h..', hourAgo, at, 'last 1h'],
    ['since -1h', hourAgo, at, 'last 1h'],
    ['now now+1h', at, '2026-03-04T06:06:07.123456789Z', 'now .. now+1h'],
    ['today', '2026-03-04T00:00:00Z', at, 'today (UTC)'],
    ['yesterday', '2026-03-03T00:00:00Z', '2026-03-04T00:00:00Z', 'yesterday (UTC)'],
    ['yesterday..today', '2026-03-03T00:00:00Z', '2026-03-04T00:00:00Z', 'yesterday .. today'],
    ['today today+4h', '2026-03-04T00:00:00Z', '2026-03-04T04:00:00Z', 'today .. today+4h'],
    ['last day', '2026-03-03T00:00:00Z', '2026-03-04T00:00:00Z', 'last day (UTC)'],
    ['last week', '2026-02-23T00:00:00Z', '2026-03-02T00:00:00Z', 'last week (UTC)'],
    ['Last  Month', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z', 'last month (UTC)'],
    ['last year', '2025-01-01T00:00:00Z', '2026-01-01T00:00:00Z', 'last year (UTC)'],
    ['past month', '2026-02-04T05:06:07.123456789Z', at, 'past month'],
    ['last 1 month', '2026-02-04T05:06:07.123456789Z', at, 'last 1 month'],
    ['last minute', '2026-03-04T05:05:07.123456789Z', at, 'last minute'],
    ['last 1y', '2025-03-04T05:06:07.123456789Z', at, 'last 1y'],
    ['-3 months', '2025-12-04T05:06:07.123456789Z', at, 'last 3 months'],
    [
      'now-1y now-6mo',
      '2025-03-04T05:06:07.123456789Z',
      '2025-09-04T05:06:07.123456789Z',
      'now-1y .. now-6mo',
    ],
    ['this week', '2026-03-02T00:00:00Z', at, 'this week (UTC)'],
    ['this month', '2026-03-01T00:00:00Z', at, 'this month (UTC)'],
    ['this year', '2026-01-01T00:00:00Z', at, 'this year (UTC)'],
    ['all', '1677-09-22T00:00:00Z', '2262-04-11T23:47:16.854775806Z', 'all'],
    ['yesterday 10:00..11:00', '2026-03-03T10:00:00Z', '2026-03-03T11:00:00Z', 'yesterday 10:00 .. 11:00'],
    ['today 00:30 01:30', '2026-03-04T00:30:00Z', '2026-03-04T01:30:00Z', 'today 00:30 .. 01:30'],
    ['2026-01-01 10:00..11:30', '2026-01-01T10:00:00Z', '2026-01-01T11:30:00Z', '2026-01-01T10:00 .. 11:30'],
    ['2015', '2015-01-01T00:00:00Z', '2016-01-01T00:00:00Z', '2015 (UTC)'],
    ['2015-07', '2015-07-01T00:00:00Z', '2015-08-01T00:00:00Z', '2015-07 (UTC)'],
    ['2015-12', '2015-12-01T00:00:00Z', '2016-01-01T00:00:00Z', '2015-12 (UTC)'],
    ['2015-07..2015-09', '2015-07-01T00:00:00Z', '2015-09-01T00:00:00Z', '2015-07 .. 2015-09'],
    ['2026-01..', '2026-01-01T00:00:00Z', at, '2026-01 .. now'],
    ['2026-01-01', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-01 (UTC)'],
    ['2026-01-01..2026-01-02', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-01 .. 2026-01-02'],
    ['2026-01-01 2026-01-03', '2026-01-01T00:00:00Z', '2026-01-03T00:00:00Z', '2026-01-01 .. 2026-01-03'],
    ['2026-01-01..', '2026-01-01T00:00:00Z', at, '2026-01-01 .. now'],
    [
      '2026-01-01T10:00:00Z 2026-01-01T11:30:00.5+01:00',
      '2026-01-01T10:00:00Z',
      '2026-01-01T10:30:00.500Z',
      '2026-01-01T10:00:00Z .. 2026-01-01T11:30:00.5+01:00',
    ],
    [
      '2026-01-01 10:00 2026-01-01 11:00:00.000000001',
      '2026-01-01T10:00:00Z',
      '2026-01-01T11:00:00.000000001Z',
      '2026-01-01T10:00 .. 2026-01-01T11:00:00.000000001',
    ],
    [
      '1960-01-01T00:00:00.000000001Z..1970-01-01',
      '1960-01-01T00:00:00.000000001Z',
      '1970-01-01T00:00:00Z',
      '1960-01-01T00:00:00.000000001Z .. 1970-01-01',
    ],
  ])('%s', check);
});

describe('refuses a range', () => {
  test.each([
    ['', 'give a time range'],
    ['yestreday', '`yestreday` is not a time or a duration'],
    ['last 0h', '`0h` is not a time or a duration'],
    ['last 1x', '`1x` is not a time or a duration'],
    ['0099-01-01..', '`0099-01-01` is outside 1677-09-22 to 2262-04-11, the range of 64-bit nanoseconds'],
    ['2262-13-01', '`2262-13-01` is not a valid time'],
    ['1676', '`1676` is outside 1677-09-22 to 2262-04-11, the range of 64-bit nanoseconds'],
    ['0 months', '`0` is not a time or a duration'],
    ['last 3 fortnights', '`3 fortnights` is not a time or a duration'],
    ['yesterday 10:61..11:00', '`yesterday 10:61` is not a time or a duration'],
    ['2026-13', '`2026-13` is not a valid time'],
    ['2026-02-30', '`2026-02-30` is not a valid time'],
    ['2026-01-01T25:00Z..', '`2026-01-01T25:00Z` is not a valid time'],
    ['2026-01-01T24:00:00Z..', '`2026-01-01T24:00:00Z` is not a valid time'],
    ['10:30..', '`10:30` is not a time or a duration'],
    ['2026-01-01T10:61Z..', '`2026-01-01T10:61Z` is not a valid time'],
    [
      '2026-01-02..2026-01-01',
      'the range ends (2026-01-01T00:00:00Z) before it starts (2026-01-02T00:00:00Z)',
    ],
    [
      '2026-01-01..2026-01-01',
      'the range is empty: it starts and ends at 2026-01-01T00:00:00Z (the end is exclusive)',
    ],
    ['..2026-01-01', 'the range `..2026-01-01` has no start'],
    ['-3h -2h -1h', 'a range has two ends; `-3h -2h -1h` has 3 parts'],
    [
      '1000-01-01..2026-01-01',
      '`1000-01-01` is outside 1677-09-22 to 2262-04-11, the range of 64-bit nanoseconds',
    ],
  ])('%s', (input, message) => {
    expect(refusal(() => parseRange(input))[0]).toBe(message);
  });

  test.each(['last 600y', 'last 99999 years', '2262', '2262-04'])(
    'on resolving, if it goes beyond the limits of a time: %s',
    input => {
      const range = parseRange(input);
      expect(refusal(() => resolveRange(range, now))[0]).toBe(
        `the range \`${range.label}\` goes beyond 1677-09-22 to 2262-04-11, the range of 64-bit nanoseconds`,
      );
    },
  );

  test('on resolving, if it is reversed by then', () => {
    const range = parseRange('2026-03-05 now');
    expect(refusal(() => resolveRange(range, now))[0]).toBe(
      'the range ends (2026-03-04T05:06:07.123456789Z) before it starts (2026-03-05T00:00:00Z)',
    );
  });

  test.each([
    ['9-10', '`today 09:00..10:00`'],
    ['9..10', '`today 09:00..10:00`'],
    ['9:30 to 10:15', '`today 09:30..10:15`'],
    ['9am-5pm', '`today 09:00..17:00`'],
    ['1-2pm', '`today 13:00..14:00`'],
    ['between 9 and 10', '`today 09:00..10:00`'],
    ['yesterday 9-10', '`yesterday 09:00..10:00`'],
    ['2026-03-01 9-10', '`2026-03-01 09:00..10:00`'],
    ['today 9:00-10:00', '`today 09:00..10:00`'],
    ['today 9am', '`today 09:00..`'],
    ['12am', '`today 00:00..`'],
    ['since 09:00', '`today 09:00..`'],
    ['2026/11/23', '`2026-11-23`'],
    ['11/23/2026', '`2026-11-23`'],
    ['23.11.2026', '`2026-11-23`'],
    ['5/11/2026', '`2026-05-11` or `2026-11-05`'],
  ])('and suggests the intended form: %s', (input, meant) => {
    expect(refusal(() => parseRange(input))).toEqual([
      `\`${input}\` is not a time range`,
      `Write ${meant}. Times are in UTC.`,
    ]);
    for (const [, each = ''] of meant.matchAll(/`(.*?)`/g)) expect(parseRange(each).label).not.toBe('');
  });

  test.each(['25-26', '9-10-11', '13am', '31/31/2026'])(
    'without a suggestion if there is none: %s',
    input => {
      expect(refusal(() => parseRange(input))[1]).toContain('`yesterday 10:00..11:00`');
    },
  );

  test.each([
    ['yestreday', 'Did you mean `yesterday`? Write'],
    ['tody', 'Did you mean `today`? Write'],
    ['nox', 'Did you mean `now`? Write'],
    ['lasst', 'Did you mean `last`? Write'],
    ['this weak', 'Did you mean `this week`? Write'],
    ['alll', 'Did you mean `all`? Write'],
    ['tomxyz', 'Write'],
  ])('and suggests the nearest word if there is one: %s', (input, help) => {
    const [, hint] = refusal(() => parseRange(input));
    expect(hint.slice(0, hint.indexOf('Write') + 5)).toBe(help);
  });
});

test.each([
  ['now - 2h to now', 'now-2h..now'],
  ['yesterday - 1h .. today + 2h', 'yesterday-1h..today+2h'],
  ['"2026-01-01 10:00..2026-01-01 11:00"', '2026-01-01T10:00..2026-01-01T11:00'],
])('%s means %s', (spaced, tight) => {
  expect(parseRange(spaced)).toEqual(parseRange(tight));
});

test.each([
  ['2024-03-31T12:00:00Z', 'last 1mo', '2024-02-29T12:00:00Z'],
  ['2024-02-29T12:00:00Z', 'last 1y', '2023-02-28T12:00:00Z'],
  ['2026-03-01T00:00:00Z', 'this week', '2026-02-23T00:00:00Z'],
])('at %s, %s begins at %s', (clock, input, start) => {
  const time = BigInt(Date.parse(clock)) * 1_000_000n;
  expect(resolveRange(parseRange(input), time).startTime).toBe(start);
});

test('freezing keeps the interval', () => {
  const range = parseRange('now-1d now-1h');
  const frozen = freezeRange(range, now);
  expect([isFrozen(range), isFrozen(frozen), frozen.label]).toEqual([false, true, `${dayAgo} .. ${hourAgo}`]);
  expect(resolveRange(frozen, now + 1_000_000_000n)).toEqual({ startTime: dayAgo, endTime: hourAgo });
});

test.each([
  ['last 1h', 'now-1h', 'now'],
  ['-1d12h', 'now-36h', 'now'],
  ['-2w', 'now-14d', 'now'],
  ['now-1d now+90s', 'now-1d', 'now+90s'],
  ['last 1y', 'now-365d', 'now'],
  ['today', '2026-03-04T00:00:00Z', 'now'],
  ['2026-01-01..2026-01-02', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'],
])('%s is stored as a relative range if possible', (input, startTime, endTime) => {
  expect(storedRange(parseRange(input), now)).toEqual({ startTime, endTime });
});
