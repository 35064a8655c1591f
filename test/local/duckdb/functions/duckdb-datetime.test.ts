import { describe, expect, it } from 'vitest';
import { autoBinWidth } from '../../../../kernel/apl/plan/auto-bin.js';
import {
  binTime,
  binTimeByColumn,
  datetime,
} from '../../../../kernel/local/duckdb/functions/duckdb-datetime.js';
import { sqlArg, TemplateError } from '../../../../kernel/local/sql/sql-template.js';
import { type Case, checkAll, context, d, n, nul, opaque, openEngine, s, t } from './harness.js';

type Name = keyof typeof datetime;

const engine = openEngine();
const first = '1677-09-22T00:00:00Z';
const last = '2262-04-11T23:47:16.854775806Z';
const leap = t('2024-02-29T13:14:15.123456789Z');
const tick = t('1969-12-31T23:59:59.999999999Z');
const max = 9223372036854775807n;

/** Cases of a one-argument function on the same four times: a leap day, the last nanosecond before 1970, the first and the last time. */
function onTimes(
  name: Name,
  expected: readonly [Case<Name>[2], Case<Name>[2], Case<Name>[2], Case<Name>[2]],
) {
  const times = [leap, tick, t(first), t(last)];
  return times.map((time, index): Case<Name> => [name, [time], expected[index] ?? null]);
}

describe('components', () => {
  checkAll(engine, datetime, [
    ...onTimes('dayofmonth', [29n, 31n, 22n, 11n]),
    ...onTimes('dayofweek', [4n, 3n, 3n, 5n]),
    ...onTimes('dayofyear', [60n, 365n, 265n, 101n]),
    ...onTimes('getmonth', [2n, 12n, 9n, 4n]),
    ...onTimes('monthofyear', [2n, 12n, 9n, 4n]),
    ...onTimes('getyear', [2024n, 1969n, 1677n, 2262n]),
    ...onTimes('hourofday', [13n, 23n, 0n, 23n]),
    ...onTimes('week_of_year', [9n, 1n, 38n, 15n]),
    ['week_of_year', [t('2021-01-03T00:00:00Z')], 53n],
    ['dayofweek', [t('2024-03-03T00:00:00Z')], 0n],
    ['dayofyear', [t('2024-12-31T00:00:00Z')], 366n],
    ['dayofmonth', [nul('datetime')], null],
    ['hourofday', [nul('datetime')], null],
  ]);
});

describe('datetime_part', () => {
  const part = (name: string, expected: bigint, time = leap): Case<Name> => [
    'datetime_part',
    [s(name), time],
    expected,
    [0],
  ];
  checkAll(engine, datetime, [
    part('year', 2024n),
    part('quarter', 1n),
    part('month', 2n),
    part('week_of_year', 9n),
    part('weekOfYear', 9n),
    part('day', 29n),
    part('dayOfYear', 60n),
    part('Hour', 13n),
    part('minute', 14n),
    part('second', 15n),
    part('millisecond', 123n),
    part('microsecond', 123456n),
    part('nanosecond', 123456789n),
    part('nanosecond', 999999999n, tick),
    part('second', 59n, tick),
    part('quarter', 4n, tick),
    ['datetime_part', [s('day'), nul('datetime')], null, [0]],
  ]);
  it('refuses an unknown part and names the known ones', () => {
    const known =
      'year, quarter, month, week_of_year, day, dayOfYear, hour, minute, second, millisecond, microsecond, nanosecond';
    expect(() => datetime.datetime_part([s('fortnight'), leap], context)).toThrow(
      new TemplateError('`fortnight` is not a date part', 0, `Use one of ${known}.`),
    );
    expect(() => datetime.datetime_part([nul('string'), leap], context)).toThrow(
      new TemplateError('the date part must be a string constant', 0, `Use one of ${known}.`),
    );
  });
});

describe('starts of periods', () => {
  checkAll(engine, datetime, [
    ...onTimes('startofday', ['2024-02-29T00:00:00Z', '1969-12-31T00:00:00Z', first, '2262-04-11T00:00:00Z']),
    ...onTimes('startofweek', ['2024-02-25T00:00:00Z', '1969-12-28T00:00:00Z', null, '2262-04-06T00:00:00Z']),
    ...onTimes('startofmonth', [
      '2024-02-01T00:00:00Z',
      '1969-12-01T00:00:00Z',
      null,
      '2262-04-01T00:00:00Z',
    ]),
    ...onTimes('startofyear', ['2024-01-01T00:00:00Z', '1969-01-01T00:00:00Z', null, '2262-01-01T00:00:00Z']),
    ['startofweek', [t('1970-01-01T00:00:00Z')], '1969-12-28T00:00:00Z'],
    ['startofweek', [t('1970-01-04T00:00:00Z')], '1970-01-04T00:00:00Z'],
    ['startofweek', [t('2025-01-11T23:59:59.999999999Z')], '2025-01-05T00:00:00Z'],
    ['startofday', [leap, n(1n)], '2024-03-01T00:00:00Z'],
    ['startofday', [tick, n(1n)], '1970-01-01T00:00:00Z'],
    ['startofday', [leap, n(max)], null],
    ['startofday', [leap, n(-max)], null],
    ['startofday', [leap, n(-100_000n)], '1750-05-16T00:00:00Z'],
    ['startofday', [leap, nul('long')], null],
    ['startofweek', [leap, n(-1n)], '2024-02-18T00:00:00Z'],
    ['startofmonth', [leap, n(11n)], '2025-01-01T00:00:00Z'],
    ['startofmonth', [leap, n(-2n)], '2023-12-01T00:00:00Z'],
    ['startofmonth', [leap, n(max)], null],
    ['startofyear', [leap, n(-1n)], '2023-01-01T00:00:00Z'],
    ['startofyear', [leap, n(max)], null],
    ['startofyear', [nul('datetime'), n(1n)], null],
  ]);
});

describe('ends of periods', () => {
  checkAll(engine, datetime, [
    ...onTimes('endofday', [
      '2024-02-29T23:59:59.9999999Z',
      '1969-12-31T23:59:59.9999999Z',
      '1677-09-22T23:59:59.9999999Z',
      null,
    ]),
    ...onTimes('endofweek', [
      '2024-03-02T23:59:59.9999999Z',
      '1970-01-03T23:59:59.9999999Z',
      '1677-09-25T23:59:59.9999999Z',
      null,
    ]),
    ...onTimes('endofmonth', [
      '2024-02-29T23:59:59.9999999Z',
      '1969-12-31T23:59:59.9999999Z',
      '1677-09-30T23:59:59.9999999Z',
      null,
    ]),
    ...onTimes('endofyear', [
      '2024-12-31T23:59:59.9999999Z',
      '1969-12-31T23:59:59.9999999Z',
      '1677-12-31T23:59:59.9999999Z',
      null,
    ]),
    ['endofday', [leap, n(-1n)], '2024-02-28T23:59:59.9999999Z'],
    ['endofweek', [leap, n(1n)], '2024-03-09T23:59:59.9999999Z'],
    ['endofmonth', [leap, n(-12n)], '2023-02-28T23:59:59.9999999Z'],
    ['endofyear', [leap, n(1n)], '2025-12-31T23:59:59.9999999Z'],
    ['endofmonth', [leap, n(max)], null],
  ]);
});

describe('datetime_add', () => {
  const add = (part: string, count: bigint, time: string, expected: string | null): Case<Name> => [
    'datetime_add',
    [s(part), n(count), t(time)],
    expected,
    [0],
  ];
  checkAll(engine, datetime, [
    add('year', 1n, '2024-02-29T01:02:03.000000001Z', '2025-02-28T01:02:03.000000001Z'),
    add('quarter', -1n, '2024-05-31T00:00:00Z', '2024-02-29T00:00:00Z'),
    add('month', 1n, '2024-01-31T10:00:00Z', '2024-02-29T10:00:00Z'),
    add('month', 1n, '1969-12-31T23:59:59.999999999Z', '1970-01-31T23:59:59.999999999Z'),
    add('week', 2n, '2024-02-29T00:00:00Z', '2024-03-14T00:00:00Z'),
    add('Day', -1n, '2025-01-15T00:00:00Z', '2025-01-14T00:00:00Z'),
    add('hour', 36n, '2024-02-28T13:00:00.123456789Z', '2024-03-01T01:00:00.123456789Z'),
    add('minute', -1n, '1970-01-01T00:00:00Z', '1969-12-31T23:59:00Z'),
    add('second', 0n, '2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'),
    add('millisecond', 1n, '2024-02-29T00:00:00.999999999Z', '2024-02-29T00:00:01.000999999Z'),
    add('microsecond', 1n, '2024-02-29T00:00:00.999999999Z', '2024-02-29T00:00:01.000000999Z'),
    add('nanosecond', 1n, '2024-02-29T23:59:59.999999999Z', '2024-03-01T00:00:00Z'),
    add('nanosecond', 1n, last, null),
    add('nanosecond', -1n, first, null),
    add('day', max, last, null),
    add('week', -max, last, null),
    add('year', max, '2024-02-29T00:00:00Z', null),
    add('year', -300n, '1970-01-01T00:00:00Z', null),
    ['datetime_add', [s('day'), nul('long'), leap], null, [0]],
    ['datetime_add', [s('month'), n(1n), nul('datetime')], null, [0]],
  ]);
});

describe('datetime_diff', () => {
  const diff = (part: string, later: string, earlier: string, expected: bigint | null): Case<Name> => [
    'datetime_diff',
    [s(part), t(later), t(earlier)],
    expected,
    [0],
  ];
  const newYear = '2024-01-01T00:00:00Z';
  const before = '2023-12-31T23:59:59.999999999Z';
  checkAll(engine, datetime, [
    ...[
      'year',
      'quarter',
      'month',
      'day',
      'hour',
      'minute',
      'second',
      'millisecond',
      'microsecond',
      'nanosecond',
    ].map(part => diff(part, newYear, before, 1n)),
    ...['year', 'month', 'week', 'day', 'hour'].map(part => diff(part, newYear, newYear, 0n)),
    diff('year', before, newYear, -1n),
    diff('year', '2017-01-01T00:00:00Z', '2000-12-31T00:00:00Z', 17n),
    diff('quarter', '2017-07-01T00:00:00Z', '2017-03-30T00:00:00Z', 2n),
    diff('month', '2017-01-01T00:00:00Z', '2015-12-30T00:00:00Z', 13n),
    diff('week', '2024-03-03T00:00:00Z', '2024-03-02T23:59:59Z', 1n),
    diff('week', '2024-03-09T00:00:00Z', '2024-03-03T00:00:00Z', 0n),
    diff('week', '1970-01-04T00:00:00Z', '1969-12-27T00:00:00Z', 2n),
    diff('hour', '2017-10-31T01:00:00Z', '2017-10-30T23:59:00Z', 2n),
    diff('second', '1970-01-01T00:00:00Z', '1969-12-31T23:59:59.999999999Z', 1n),
    diff('Millisecond', '2025-05-15T10:09:22.123456789Z', '1970-01-01T00:00:00Z', 1747303762123n),
    diff('Nanosecond', '2025-05-15T10:09:22.123456789Z', '1970-01-01T00:00:00Z', 1747303762123456789n),
    diff('nanosecond', last, first, null),
    diff('nanosecond', '1970-01-01T00:00:00Z', last, -9223372036854775806n),
    diff('day', last, first, 213502n),
    diff('microsecond', last, first, 18446658436854775n),
    ['datetime_diff', [s('day'), leap, nul('datetime')], null, [0]],
  ]);
});

describe('now and ago', () => {
  checkAll(engine, datetime, [
    ['now', [], '2026-01-02T04:04:05Z'],
    ['now', [d(-900_000_000_000n)], '2026-01-02T03:49:05Z'],
    ['now', [nul('timespan')], null],
    ['now', [d(max)], null],
    ['ago', [d(1n)], '2026-01-02T04:04:04.999999999Z'],
    ['ago', [d(86_400_000_000_000n)], '2026-01-01T04:04:05Z'],
    ['ago', [d(-max)], null],
  ]);
});

describe('unixtime', () => {
  checkAll(engine, datetime, [
    ['unixtime_seconds_todatetime', [n(1547697600n)], '2019-01-17T04:00:00Z'],
    ['unixtime_seconds_todatetime', [n(-1n)], '1969-12-31T23:59:59Z'],
    ['unixtime_seconds_todatetime', [n(9223372036n)], '2262-04-11T23:47:16Z'],
    ['unixtime_seconds_todatetime', [n(9223372037n)], null],
    ['unixtime_seconds_todatetime', [n(-9223286400n)], first],
    ['unixtime_seconds_todatetime', [n(-9223286401n)], null],
    ['unixtime_seconds_todatetime', [n(max)], null],
    ['unixtime_seconds_todatetime', [nul('long')], null],
    ['unixtime_milliseconds_todatetime', [n(1547697600123n)], '2019-01-17T04:00:00.123Z'],
    ['unixtime_milliseconds_todatetime', [n(max)], null],
    ['unixtime_microseconds_todatetime', [n(1547697600123456n)], '2019-01-17T04:00:00.123456Z'],
    ['unixtime_microseconds_todatetime', [n(-max)], null],
    ['unixtime_nanoseconds_todatetime', [n(1547697600123456789n)], '2019-01-17T04:00:00.123456789Z'],
    ['unixtime_nanoseconds_todatetime', [n(max)], null],
    ['unixtime_nanoseconds_todatetime', [n(max - 1n)], last],
    ['unixtime_nanoseconds_todatetime', [n(-max - 1n)], null],
  ]);
});

describe('nested calls', () => {
  const inner = (arg: ReturnType<typeof t>, times: number): string =>
    times === 0
      ? arg.sql
      : datetime.endofweek([sqlArg(inner(arg, times - 1), 'datetime'), opaque(n(1n))], context);
  it('do not grow exponentially', async () => {
    const sql = inner(t('2024-02-29T00:00:00Z'), 12);
    expect(sql.length).toBeLessThan(3_000);
    expect(await engine.query(`SELECT (${sql})::VARCHAR`)).toStrictEqual([['2024-05-25 23:59:59.9999999']]);
  });
});

describe('bins of time', () => {
  const hour = 3_600_000_000_000n;
  const bins: readonly [string, bigint, string | null][] = [
    ['2024-02-29T13:14:15.123456789Z', hour, '2024-02-29 13:00:00'],
    ['2024-02-29T13:00:00Z', hour, '2024-02-29 13:00:00'],
    ['1969-12-31T23:59:59.999999999Z', hour, '1969-12-31 23:00:00'],
    ['2024-02-29T13:14:15.123456789Z', 1n, '2024-02-29 13:14:15.123456789'],
    ['2024-02-29T13:14:15.123456789Z', 100n, '2024-02-29 13:14:15.1234567'],
    ['2024-02-29T00:00:00Z', 168n * hour, '2024-02-26 00:00:00'],
    ['2024-02-26T00:00:00Z', 168n * hour, '2024-02-26 00:00:00'],
    ['1970-01-04T23:00:00Z', 168n * hour, '1969-12-29 00:00:00'],
    ['1969-12-28T23:00:00Z', 168n * hour, '1969-12-22 00:00:00'],
    ['2024-02-29T00:00:00Z', 720n * hour, '2024-02-15 00:00:00'],
    ['2024-02-29T00:00:00Z', 7n * hour, '2024-02-28 22:00:00'],
    ['1677-09-22T01:00:00Z', 24n * hour, '1677-09-22 00:00:00'],
    ['1677-09-22T01:00:00Z', 168n * hour, null],
    ['2262-04-11T23:47:16.854775806Z', hour, '2262-04-11 23:00:00'],
    ['2262-04-11T23:47:16.854775806Z', 9223372036854775807n, '2262-04-11 23:47:16.854775806'],
  ];
  it.each(bins.slice(0, -1))('bin(%s, %s) is %s', async (time, width, expected) => {
    const sql = binTime(t(time), width);
    const rows = `SELECT ${binTime(sqlArg('c', 'datetime'), width)}::VARCHAR FROM
      (SELECT NULL::TIMESTAMP_NS AS c UNION ALL SELECT ${t(time).sql}) ORDER BY c NULLS FIRST`;
    const byColumn = binTimeByColumn(t(time), sqlArg(String(width), 'timespan'));
    expect(await engine.query(`SELECT (${sql})::VARCHAR, (${byColumn})::VARCHAR`)).toStrictEqual([
      [expected, expected],
    ]);
    expect(await engine.query(rows)).toStrictEqual([[null], [expected]]);
  });
  it('is null for a width that is not positive', async () => {
    const width = sqlArg('w', 'timespan');
    const sql = `SELECT ${binTimeByColumn(leap, width)} FROM (VALUES (0::BIGINT), (-5), (NULL)) AS t(w)`;
    expect(await engine.query(sql)).toStrictEqual([[null], [null], [null]]);
  });
});

describe('autoBinWidth', () => {
  const second = 1_000_000_000n;
  const hour = 3_600n * second;
  const day = 24n * hour;
  it.each([
    [0n, second],
    [second, second],
    [120n * second, second],
    [120n * second + 1n, 5n * second],
    [hour, 30n * second],
    [6n * hour, 300n * second],
    [day, 900n * second],
    [7n * day, 3n * hour],
    [30n * day, 6n * hour],
    [365n * day, 7n * day],
    [3600n * day, 30n * day],
    [3600n * day + 1n, 60n * day],
    [36500n * day, 330n * day],
  ])('of a range of %s ns is %s ns', (range, width) => {
    expect(autoBinWidth(1_000n, 1_000n + range)).toBe(width);
  });
});
