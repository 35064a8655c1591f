import { Table, TimestampMillisecond, Utf8, vectorFromArray } from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import { showsEvents } from '../../../kernel/apl/editor/editor-events.js';
import { QueryText } from '../../../kernel/apl/syntax/parse.js';
import { parseTime } from '../../../kernel/time.js';
import { Rows } from '../../../labextension/src/grid/data/grid-rows.js';
import { notebookRows } from '../../../labextension/src/grid/data/grid-source.js';
import { columnsOf } from '../../../labextension/src/grid/grid-cells.js';
import { namedTime, rowAt, rowOfTime } from '../../../labextension/src/grid/stream/jump.js';
import { repeatsTime, rolesOf } from '../../../labextension/src/grid/stream/stream-roles.js';

describe('parsing a time to go to', () => {
  const near = '2026-11-20T09:59:58.1Z';
  test.each([
    ['10:30', '2026-11-20T10:30:00Z'],
    [' 9:05:01.25 ', '2026-11-20T09:05:01.25Z'],
    ['2026-01-26 10:30', '2026-01-26T10:30:00Z'],
    ['2026-01-26T10:30:15.123456789', '2026-01-26T10:30:15.123456789Z'],
    ['2026-01-26', '2026-01-26T00:00:00Z'],
    ['2026-01-26T10:30:00+02:00', '2026-01-26T08:30:00Z'],
  ])('%s', (text, time) => {
    expect(namedTime(text, 'utc', near)).toBe(parseTime(time));
  });

  test('rejects other text', () => {
    for (const text of ['', '  ', 'noon', '25:99', '10', '2026-13-40'])
      expect([text, namedTime(text, 'utc', near)]).toEqual([text, undefined]);
  });

  test("uses the browser's zone if local time is shown", () => {
    const local = new Date(2026, 0, 26, 10, 30).toISOString();
    expect(namedTime('2026-01-26 10:30:00.000000001', 'local', near)).toBe((parseTime(local) ?? 0n) + 1n);
  });
});

describe('the row at a time', () => {
  const rows = (times: readonly (number | null)[]) => ({
    count: times.length,
    time: async (row: number) => {
      const at = times[row];
      return at === undefined || at === null ? null : BigInt(at);
    },
  });
  const at = (times: readonly (number | null)[], time: number) => rowAt(rows(times), BigInt(time));

  test('is the first at or after it, or at or before it if times descend', async () => {
    expect(await at([10, 20, 20, 30], 20)).toBe(1);
    expect(await at([10, 20, 20, 30], 21)).toBe(3);
    expect(await at([30, 20, 20, 10], 20)).toBe(1);
    expect(await at([30, 20, 20, 10], 25)).toBe(1);
    expect(await at([5], 7)).toBe(0);
  });

  test('is the first or last row if the time is outside', async () => {
    expect([await at([10, 20, 30], 1), await at([10, 20, 30], 99)]).toEqual([0, 2]);
  });

  test('is not found in unordered rows, or rows without times', async () => {
    expect(await at([], 1)).toBeUndefined();
    expect(await at([10, 20, 90, 30, 40], 35)).toBeUndefined();
    expect(await at([null, 10, null], 10)).toBeUndefined();
    expect(await at([10, null, 20, 30], 15)).toBeUndefined();
  });

  test('is among those with a time if rows without one are before or after them', async () => {
    expect([await at([10, 20, null], 15), await at([10, 20, null], 99)]).toEqual([1, 1]);
    expect([await at([null, null, 10, 20, 30], 20), await at([null, null, 10, 20], 1)]).toEqual([3, 2]);
    expect([await at([30, 20, 10, null, null], 15), await at([null, 30, 20], 25)]).toEqual([2, 2]);
  });

  test.each([
    ['10:00', [null, null, '2026-11-20T09:00:00Z', '2026-11-20T10:00:00Z'], 0, 3],
    ['10:00', ['2026-11-20T10:00:00Z', '2026-11-20T09:00:00Z', null], 2, 0],
    [
      '10:00',
      [null, '2026-11-20T10:00:00Z', null],
      0,
      'The first and the last row have no time. Sort by _time first.',
    ],
    ['ten', [null, '2026-11-20T10:00:00Z'], 0, 'Enter a time such as 10:30, 10:30:15.5 or 2026-01-26 10:30.'],
  ] as const)('of %s among %j, in view from %i, is %s', async (text, times, firstVisible, found) => {
    const table = new Table({
      _time: vectorFromArray(
        times.map(time => time && new Date(time)),
        new TimestampMillisecond(),
      ),
    });
    const shown = await Rows.open(notebookRows(table, true), {});
    expect(await rowOfTime(shown, text, 'utc', firstVisible)).toBe(found);
  });

  test('is found among a million rows in a few steps', async () => {
    let looked = 0;
    const count = 1_000_000;
    const time = async (row: number) => {
      looked += 1;
      return BigInt(row * 3);
    };
    expect(await rowAt({ count, time }, 2_000_000n)).toBe(666_667);
    expect(looked).toBeLessThan(25);
  });
});

test.each([
  ["['app']", true],
  ["['app'] | where level == 'error' | sort by _time desc | take 5 | project _time, message", true],
  ["['app'] | summarize count() by message, _time", false],
  ["['app'] | distinct message", false],
  ['range n from 1 to 5 step 1', false],
  ['print message = "x"', false],
  ['', false],
])('shows events: %s', (query, isOfEvents) => {
  expect(showsEvents(new QueryText(query))).toBe(isOfEvents);
});

test('a line begins with time, level and message, whatever the column order', () => {
  const names = ['host', '_sysTime', 'text', 'severity', 'message', 'took'];
  const columns = columnsOf(
    new Table(Object.fromEntries(names.map(name => [name, vectorFromArray(['x'], new Utf8())]))),
  ).map(column => ({ ...column, type: 'string' }));
  const { time, level, message, others } = rolesOf(columns);
  expect([time?.name, level?.name, message?.name, others.map(({ name }) => name)]).toEqual([
    undefined,
    'severity',
    'message',
    ['took', 'host', 'text'],
  ]);
});

test('chips of whole events put the most telling fields first, and ids and maps last', () => {
  const names = [
    'attributes',
    'geo.city',
    'id',
    'method',
    'req_duration_ms',
    'status',
    'trace_id',
    'uri',
    'user_agent',
  ];
  const orderOf = (fields: readonly string[]) =>
    rolesOf(
      columnsOf(
        new Table(Object.fromEntries(fields.map(name => [name, vectorFromArray(['x'], new Utf8())]))),
      ).map(column => ({ ...column, type: column.name === 'attributes' ? 'dynamic' : 'string' })),
    ).others.map(({ name }) => name);
  expect(orderOf(['_sysTime', ...names]).join(' ')).toBe(
    'method req_duration_ms status uri geo.city attributes id trace_id user_agent',
  );
  expect(orderOf(names)).toEqual(names);
});

test.each([
  ['17/May/2015:10:05:03 +0000', true],
  ['May 17 10:05:03', true],
  ['Sun May 17 10:05:03 2015', true],
  ['Sun May 17 10:05:03.123456 2015', true],
  ['2015/05/17 10:05:03', true],
  ['2015-05-17 10:05:03,123', true],
  ['May 17 10:06:03', false],
  ['Sun May 17 10:05:03 2016', false],
  ['May 17 10:05:03 host', false],
  ['17/May/2015:12:05:03 +0200', true],
  ['2015-05-17T10:05:03.9Z', true],
  ['17/May/2015:10:05:05 +0000', false],
  ['2015-05-17', false],
  ['GET /17/May/2015:10:05:03 +0000', false],
  ['99/Foo/2015:10:05:03 +0000', false],
])('the value %s repeats the time of its line: %s', (value, repeats) => {
  expect(repeatsTime(value, '2015-05-17T10:05:03Z')).toBe(repeats);
});
