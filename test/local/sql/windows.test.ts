import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import type { RowGroup } from '../../../kernel/local/sql/compiled-query.js';
import { readingBack } from '../../../kernel/local/sql/rewrite/rewrite-windows.js';
import { formatTime } from '../../../kernel/time.js';
import { sharedService } from '../service.js';

const service = sharedService({ compile: compileRequest });

const day = { startTime: '2026-06-15T00:00:00Z', endTime: '2026-06-25T00:00:00Z' };
const rows = 700_000;

/**
 * Files of each dataset: the time of row `i` of `rows` in seconds since 2026-06-15 (null for none), and the filter for each file's
 * rows. A file has about 30 row groups.
 */
const datasets: Readonly<Record<string, { readonly at: string; readonly files: readonly string[] }>> = {
  sorted: { at: 'i', files: ['true'] },
  ties: { at: 'i // 47000', files: ['true'] },
  overlapping: { at: 'i', files: ['i % 3 = 0', 'i % 3 = 1', 'i % 3 = 2'] },
  apart: { at: 'i // 3', files: ['i >= 400000', 'i < 100000', 'i BETWEEN 100000 AND 399999'] },
  unsorted: { at: `(i * 7919) % ${rows}`, files: ['true'] },
  untimed: { at: 'CASE WHEN i % 5 > 0 THEN i END', files: ['i < 500000', 'i >= 500000'] },
};

let instance: DuckDBInstance;
let connection: DuckDBConnection;

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
  for (const [name, { at, files }] of Object.entries(datasets)) {
    await mkdir(directoryOf(name), { recursive: true });
    for (const [index, which] of files.entries()) {
      const select = `SELECT TIMESTAMP_NS '2026-06-15' + to_seconds(${at}) AS _time, i AS n FROM range(${rows}) r(i) WHERE ${which}`;
      const file = path.join(directoryOf(name), `${index}.parquet`);
      await connection.run(`COPY (${select}) TO '${file}' (FORMAT parquet, ROW_GROUP_SIZE 20480)`);
    }
  }
});

afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

function directoryOf(name: string): string {
  return path.join(service().dataDir, 'datasets', name);
}

/** APL between the dataset and the sort, and the same condition in SQL. */
const filters: readonly (readonly [what: string, apl: string, sql: string])[] = [
  ['no filter', '', 'true'],
  ['a filter that most rows pass', '| where n % 3 > 0', 'n % 3 > 0'],
  ['a filter that few rows pass', '| where n % 4999 == 0 | extend m = n', 'n % 4999 = 0'],
  ['a filter that the oldest rows pass', '| where n < 1000', 'n < 1000'],
  ['a filter that no row passes', '| where n < 0', 'n < 0'],
  [
    'a range of times',
    '| where _time >= datetime(2026-06-15T00:00:10Z) and _time < datetime(2026-06-15T10:00:00Z) | extend m = n',
    "_time >= '2026-06-15 00:00:10' AND _time < '2026-06-15 10:00:00'",
  ],
  [
    'a range of times and a filter',
    '| extend t = _time | where n % 2 == 1 | where _time between (datetime(2026-06-15T00:00:02Z) .. 20h)',
    "n % 2 = 1 AND _time BETWEEN '2026-06-15 00:00:02' AND '2026-06-15 20:00:02'",
  ],
];

/** Rows as `second n`, in order. */
type Rows = readonly string[];

describe.each(Object.keys(datasets))('%s', name => {
  test.each(filters)('the newest and oldest rows with %s', async (_, apl, sql) => {
    for (const [direction, counts] of [
      ['desc', [5, 1500]],
      ['asc', [1500]],
    ] as const) {
      const most = await expected(name, sql, direction, 1500);
      for (const count of counts) {
        const found = await ask(
          `${name} ${apl} | sort by _time ${direction} | limit ${count} | project _time, n`,
        );
        expect(found).toEqual(most.slice(0, count));
      }
    }
  });

  test('a limit below other operators', async () => {
    const found = await ask(`${name} | limit 300 | where n >= 0 | sort by _time desc | project _time, n`);
    expect(found.map(secondOf)).toEqual((await expected(name, 'true', 'desc', 300)).map(secondOf));
  });
});

test('a union reads its datasets back in time together', async () => {
  const found = await ask(
    'union sorted, overlapping | where n % 2 == 0 | sort by _time desc | limit 99 | project _time, n',
  );
  const both = [...(await expected('sorted', 'n % 2 = 0', 'desc', 99))].flatMap(row => [row, row]);
  expect(found).toEqual(both.slice(0, 99));
});

const everything = { startTime: '1677-09-22T00:00:00Z', endTime: '2262-04-11T23:47:16.854775806Z' };

test('rows without a time come last among the newest and first among the oldest', async () => {
  const untimed = async (apl: string): Promise<number> => {
    const { body } = await service().query(`untimed | ${apl} | summarize countif(isnull(_time))`, everything);
    expect(body.message).toBe(undefined);
    return body.tables[0].columns[0][0];
  };
  expect(await untimed('sort by _time desc | limit 560001')).toBe(1);
  expect(await untimed('sort by _time asc | limit 1000')).toBe(1000);
});

test.each(Object.keys(datasets))('a time window has exactly its rows of %s', async name => {
  const files = `read_parquet('${directoryOf(name)}/*.parquet')`;
  const [[first, last] = []] = await rowsOf(
    `SELECT epoch_ns(min(_time)), epoch_ns(max(_time)) FROM ${files}`,
  );
  const [from, to] = [BigInt(String(first)), BigInt(String(last))];
  const windows = [
    [from, to + 1n],
    [from + 1n, to + 1n],
    [from, to],
  ] as const;
  for (const [start, end] of windows) {
    const [startTime, endTime] = [formatTime(start, 'fewest'), formatTime(end, 'fewest')];
    const apl = `${name} | summarize count(), sum(n), min(_time), max(_time)`;
    const { body } = await service().query(apl, { startTime, endTime });
    const [[count, sum, min, max] = []] = await rowsOf(
      `SELECT count(*), sum(n)::BIGINT, epoch_ns(min(_time)), epoch_ns(max(_time)) FROM ${files}
       WHERE epoch_ns(_time) >= ${start} AND epoch_ns(_time) < ${end}`,
    );
    const times = [min, max].map(time => formatTime(BigInt(String(time)), 'fewest'));
    expect(body.tables[0].columns.flat()).toEqual([Number(count), Number(sum), ...times]);
  }
});

test('the statistics count the rows read', async () => {
  const examined = async (apl: string): Promise<number> =>
    (await service().query(apl, day)).body.status.rowsExamined;
  expect(await examined('sorted | limit 10')).toBeLessThanOrEqual(2 * 20480);
  expect(await examined('sorted | sort by _time asc | limit 10 | summarize count()')).toBe(20480);
  expect(await examined('sorted | where n % 2 == 0 | limit 10')).toBeLessThan(300_000);
  expect(await examined('sorted | where n < 0 | limit 10')).toBe(rows);
  expect(await examined('unsorted | where n < 0 | limit 10')).toBe(rows);
  expect(await examined('sorted | where _time < datetime(2026-06-15T00:00:01Z) | count')).toBe(20480);
});

test('windows grow, are contiguous, and become one if row groups overlap', () => {
  const group = (first: number, last: number): RowGroup => ({
    rows: 100_000,
    minNs: BigInt(first),
    maxNs: BigInt(last),
    timed: true,
  });
  const one = Array.from({ length: 60 }, (_, at) => group(at * 10, at * 10 + 9));
  expect(windows(one, true)).toEqual(['570 to 600', '470 to 570', '0 to 470']);
  expect(windows(one, false)).toEqual(['0 to 30', '30 to 130', '130 to 600']);
  expect(windows(Array(60).fill(group(0, 599)), true)).toEqual(['0 to 600']);
  expect(windows([], true)).toEqual(['0 to 600']);
  expect(windows([...one, { ...group(5, 6), timed: false }], true)).toEqual(['0 to 600']);
  const computed = one.map(each => ({ ...each, computed: true }));
  expect(windows(computed, true)).toEqual([
    '590 to 600',
    '580 to 590',
    '560 to 580',
    '490 to 560',
    '230 to 490',
    '0 to 230',
  ]);
});

/** Returns the windows in which 10 rows of a dataset with these row groups are searched. */
function windows(rowGroups: readonly RowGroup[], descending: boolean): string[] {
  const columns = [{ id: 0, name: '_time', type: 'datetime' as const }];
  const [start, end] = [0n, 600n];
  const scan = { kind: 'scan' as const, dataset: 'd', fields: ['_time'], start, end, columns };
  const value = { kind: 'column' as const, id: 0, type: 'datetime' as const };
  const sort = {
    kind: 'sort' as const,
    input: scan,
    keys: [{ value, descending, nullsFirst: !descending }],
    columns,
  };
  return readingBack(sort, 10, () => rowGroups, 0n).map(({ input }) =>
    input.kind === 'scan' ? `${input.start} to ${input.end}` : input.kind,
  );
}

/** Returns the rows of a result with the columns `_time` and `n`. */
async function ask(apl: string): Promise<Rows> {
  const { status, body } = await service().query(apl, day);
  expect([status, body.message]).toEqual([200, undefined]);
  const [times, numbers] = body.tables[0].columns;
  const seconds = times.map((time: string) => (Date.parse(time) - Date.parse(day.startTime)) / 1000);
  return seconds.map((second: number, row: number) => `${second} ${numbers[row]}`);
}

function secondOf(row: string): string | undefined {
  return row.split(' ')[0];
}

/** Returns the expected rows; rows with equal times are in the order of their files and lines, or in reverse. */
async function expected(name: string, where: string, direction: string, count: number): Promise<Rows> {
  const found = await rowsOf(
    `SELECT date_diff('second', TIMESTAMP '2026-06-15', _time::TIMESTAMP)::INTEGER, n::INTEGER
     FROM read_parquet('${directoryOf(name)}/*.parquet', filename = true) WHERE _time IS NOT NULL AND ${where}
     ORDER BY _time ${direction}, filename ${direction}, n ${direction} LIMIT ${count}`,
  );
  return found.map(([second, n]) => `${second} ${n}`);
}

async function rowsOf(sql: string) {
  return (await connection.runAndReadAll(sql)).getRows();
}
