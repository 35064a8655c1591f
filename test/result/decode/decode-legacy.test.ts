import { describe, expect, test } from 'vitest';
import { decodeTabular } from '../../../kernel/result/decode/decode-arrow.js';
import { readPage } from '../../../kernel/result/decode/decode-pages.js';

/** Returns the contents of the tables: name, groups and bins, and each column with its type and cells. */
function tablesOf(body: string) {
  return decodeTabular(Buffer.from(body)).tables.map(({ info, data }) => ({
    name: info.name,
    groups: info.groups.map(({ name }) => name),
    ...(info.buckets && { buckets: info.buckets }),
    ...(info.range && { range: info.range }),
    columns: Object.fromEntries(
      data.schema.fields.map(({ name, type }, index) => [
        name,
        [String(type), ...Array.from(data.getChildAt(index) ?? [], String)],
      ]),
    ),
  }));
}

const status = '"status":{"elapsedTime":5,"rowsMatched":2}';

describe('a response in the legacy format', () => {
  test('has its events in one table, with null for missing fields and exact numbers', () => {
    const events = [
      '{"_time":"2026-01-01T00:00:00.000000001Z","_sysTime":"2026-01-01T00:00:01Z","_rowId":"a-0","data":{"n":9007199254740993,"s":"a\\"]}","x":1}}',
      '{"data":{"x":0.5,"late":true,"o":{"a":[1]}},"_rowId":"b","_sysTime":"2026-01-01T00:00:01Z","_time":"2026-01-01T00:00:02Z"}',
    ];
    const request = '"request":{"startTime":"2026-01-01T00:00:00Z","endTime":"2026-01-02T00:00:00Z"}';
    expect(
      tablesOf(`{${request},${status},"matches":[${events}],"buckets":{"series":[],"totals":[]}}`),
    ).toEqual([
      {
        name: '0',
        groups: [],
        range: { field: '_time', start: '2026-01-01T00:00:00Z', end: '2026-01-02T00:00:00Z' },
        columns: {
          _time: ['Timestamp<NANOSECOND, UTC>', '1767225600000', '1767225602000'],
          _sysTime: ['Timestamp<NANOSECOND, UTC>', '1767225601000', '1767225601000'],
          n: ['Int64', '9007199254740993', 'null'],
          s: ['Dictionary<Int32, Utf8>', 'a"]}', 'null'],
          x: ['Float64', '1', '0.5'],
          late: ['Bool', 'null', 'true'],
          o: ['Utf8', 'null', '{"a":[1]}'],
        },
      },
    ]);
  });

  test('keeps every aggregation if several share a name', () => {
    const totals =
      '[{"group":{},"aggregations":[{"op":"sum","value":4},{"op":"sum","value":5},{"op":"sum","value":6}]}]';
    expect(tablesOf(`{${status},"buckets":{"series":[],"totals":${totals}}}`)[0]?.columns).toEqual({
      sum: ['Int64', '4'],
      sum_1: ['Int64', '5'],
      sum_2: ['Int64', '6'],
    });
  });

  test('keeps aggregations with the name of a group, or of a numbered one', () => {
    const values = ['n', 'n_1', 'sum', 'sum'].map((op, value) => `{"op":"${op}","value":${value}}`);
    const totals = `[{"aggregations":[${values}],"group":{"n":"a"}}]`;
    expect(tablesOf(`{${status},"buckets":{"series":[],"totals":${totals}}}`)[0]).toMatchObject({
      groups: ['n'],
      columns: {
        n: ['Utf8', 'a'],
        n_1: ['Int64', '0'],
        n_1_1: ['Int64', '1'],
        sum: ['Int64', '2'],
        sum_1: ['Int64', '3'],
      },
    });
  });

  test('has its time bins and groups in one table, and totals in another', () => {
    const group = (id: number, host: string, n: number) =>
      `{"id":${id},"group":{"host":"${host}"},"aggregations":[{"op":"n","value":${n}},{"value":null,"op":"m"}]}`;
    const bin = (hour: number, ...groups: readonly string[]) =>
      `{"groups":[${groups}],"startTime":"2026-01-01T0${hour}:00:00Z","endTime":"2026-01-01T0${hour + 1}:00:00Z"}`;
    const series = [bin(1, group(1, 'a', 1), group(2, 'b', 2)), bin(2, group(1, 'a', 3)), bin(3)];
    const totals = [group(1, 'a', 4), group(2, 'b', 2)];
    const [bins, all] = tablesOf(
      `{${status},"buckets":{"series":[${series}],"totals":[${totals}]},"matches":[]}`,
    );
    expect(bins).toEqual({
      name: '0',
      groups: ['host'],
      buckets: { field: '_time', size: 3_600_000_000_000 },
      columns: {
        _time: ['Timestamp<NANOSECOND, UTC>', '1767229200000', '1767229200000', '1767232800000'],
        host: ['Utf8', 'a', 'b', 'a'],
        n: ['Int64', '1', '2', '3'],
        m: ['Utf8', 'null', 'null', 'null'],
      },
    });
    expect(all).toMatchObject({
      name: '_totals',
      columns: { host: ['Utf8', 'a', 'b'], n: ['Int64', '4', '2'] },
    });
  });

  test('has the totals in the first table if there are no time bins', () => {
    const totals = '[{"id":0,"group":{},"aggregations":[{"op":"count_","value":4}]}]';
    expect(tablesOf(`{${status},"matches":null,"buckets":{"series":null,"totals":${totals}}}`)).toEqual([
      { name: '0', groups: [], columns: { count_: ['Int64', '4'] } },
    ]);
  });

  test('without events is an empty table', () => {
    expect(tablesOf(`{${status},"matches":[]}`)).toEqual([{ name: '0', groups: [], columns: {} }]);
  });

  test.each(['{"matches":[{"data":', '{"matches":[1]}', '{"buckets":{"totals":[7]}}', '{"matches":[{}]} x'])(
    'is refused if malformed: %s',
    body => expect(() => tablesOf(body)).toThrow('not valid JSON'),
  );

  test('can be a page of a fetch', () => {
    const page = readPage(
      Buffer.from(`{${status},"matches":[{"_time":null,"data":{"a":1}},{"data":{"a":2}}]}`),
    );
    expect([page.rows, page.columns.map(({ name }) => name)]).toEqual([2, ['a']]);
  });
});
