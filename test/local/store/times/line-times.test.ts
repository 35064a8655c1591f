import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sqlText } from '../../../../kernel/local/duckdb/duckdb-literal.js';
import { eventFamily } from '../../../../kernel/local/duckdb/functions/duckdb-events.js';
import { type Connection, Engine } from '../../../../kernel/local/engine/duckdb.js';
import { findLineClock, findLineTime } from '../../../../kernel/local/store/readers/logs/line-times.js';
import { recognizeFormat } from '../../../../kernel/local/store/readers/logs/recognize-log.js';
import { formatTime } from '../../../../kernel/time.js';

let engine: Engine;
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'apl-kernel-test-'));
  engine = await Engine.open({ dataDir, families: [eventFamily] });
});
afterAll(async () => {
  await engine.close();
  await rm(dataDir, { recursive: true });
});

/** 2026-06-15T12:00:00Z. */
const nowNs = 1_781_524_800_000_000_000n;

const places = ['@ message', 'INFO @ message', '[@] message', '[WARN ] [@] message', '(@) message'];

const noon = '2022-11-28T12:34:56Z';

/** Notations of times in programs, the resulting time, and the order of day, month and year in a numeric date. */
const written: readonly (readonly [time: string, is: string, order?: string])[] = [
  ['2022-11-30 12:34:56:', '2022-11-30T12:34:56Z'],
  ['2022-11-28 12:34:56,789+0000', '2022-11-28T12:34:56.789Z'],
  ['2022-11-28T12:34:56.123+0100', '2022-11-28T11:34:56.123Z'],
  ['2022-11-28 12:34:56.123 CEST', '2022-11-28T10:34:56.123Z'],
  ['2022-11-28 01:34:56 PM', '2022-11-28T13:34:56Z'],
  ['2022-11-28 12:34:56.5 AM', '2022-11-28T00:34:56.500Z'],
  ['2022-11-28 12:34', '2022-11-28T12:34:00Z'],
  ['2022-11-28T12:34Z', '2022-11-28T12:34:00Z'],
  ['2022.11.28 12:34:56', noon],
  ['2022/11/28 12:34:56.123456', '2022-11-28T12:34:56.123456Z'],
  ['2022-11-28-12:34:56', noon],
  ['2022-11-28-12.34.56.123456', '2022-11-28T12:34:56.123456Z'],
  ['2022-11-28 12.34.56', noon],
  ['2022_11_28 12:34:56', noon],
  ['2022-11-28T123456', noon],
  ['20221128T123456Z', noon],
  ['20221128T123456+0100', '2022-11-28T11:34:56Z'],
  ['20221128 12:34:56', noon],
  ['1669638896', noon],
  ['1669638896.123', '2022-11-28T12:34:56.123Z'],
  ['1669638896123', '2022-11-28T12:34:56.123Z'],
  ['Nov 28 2022 12:34:56', noon],
  ['Nov 28, 2022 12:34:56 PM', noon],
  ['November 28, 2022 1:34:56 PM', '2022-11-28T13:34:56Z'],
  ['Monday, November 28, 2022 12:34:56 PM', noon],
  ['28 November 2022 12:34:56,123', '2022-11-28T12:34:56.123Z'],
  ['Mon Nov 28 12:34:56 CET 2022', '2022-11-28T11:34:56Z'],
  ['Mon 2022-11-28 12:34:56 UTC', noon],
  ['28/Nov/2022 12:34:56.123', '2022-11-28T12:34:56.123Z'],
  ['28-Nov-22 12:34:56', noon],
  ['28-NOV-22 01.34.56.123456 PM', '2022-11-28T13:34:56.123456Z'],
  ['Nov 28 12:34:56', '2025-11-28T12:34:56Z'],
  ['Nov 28 01:34:56 PM', '2025-11-28T13:34:56Z'],
  ['28 Nov 12:34:56', '2025-11-28T12:34:56Z'],
  ['28/11/2022 12:34:56', noon, 'dmy'],
  ['28.11.2022 12:34', '2022-11-28T12:34:00Z', 'dmy'],
  ['11/28/22 12:34:56 PM', noon, 'mdy'],
  ['11/28/2022, 1:34:56 PM', '2022-11-28T13:34:56Z', 'mdy'],
  ['11/28/2022\t12:34:56', noon, 'mdy'],
  ['22-11-28 12:34:56', noon, 'ymd'],
];

test.each(written.map(([time, is, order = '']) => ({ time, is, order })))(
  'a line has the time $time wherever it is at the start',
  async ({ time, is, order }) => {
    const found = await Promise.all(places.map(place => timeIn(place.replace('@', time), order)));
    expect(found).toEqual(places.map(() => is));
  },
);

test.each([
  ['web-1 28/11/2022 12:34:56 message', noon, 'dmy'],
  ['[main] 11/28/22 12:34:56 PM message', noon, 'mdy'],
  ['[main] Nov 28 12:34:56 message', '2025-11-28T12:34:56Z'],
  ['I1128 12:34:56.123456 message', '2025-11-28T12:34:56.123456Z'],
])('the time within %s is the time of the line', async (line = '', is, order = '') => {
  expect(await timeIn(line, order)).toBe(is);
});

test.each([
  '01:23:45:67:89:ab is up',
  '2022-11-28 12:34.5 message',
  '28/11/2022 message',
  '10.11.12.13 12:34:56 message',
  'I1328 12:34:56.123456 message',
  '99-Nov-22 12:34:56 message',
])('%s has no time', async line => {
  expect(await timeIn(line, '')).toBe(undefined);
});

test.each([
  ['a 2024-04-25T05:32:35Z', 'b', 'c'],
  ['build-2024-04-25 05:32:35', 'b/2024-04-25 05:32:35'],
  ['1428634687 a', 'b', 'c'],
  ['17/13/09 20:10:40 INFO a'],
  ['081109 203615 148 INFO a', '081309 203615 148 INFO a'],
  ['03-17 16:13:38.811  1702  2395 D a', '17-03 16:13:38.811  1702  2395 D a'],
  // The day and the month are interchangeable.
  ['03-12 16:13:38.811 a'],
  ['13/02 16:13:38 a'],
  ['02/31 16:13:38 a'],
  ['20251301 16:13:38 a'],
  ['20251012 1613 a'],
  // Day first or month first.
  ['01/25/2025:16:13:38 CET a'],
  ['[07.12 16:49:06] a'],
  ['[07.26 16:49:06] a', '[26.07 16:49:06] a'],
  ['17/06/09 20:10:40 INFO a', 'b', 'c'],
])('no times are found in the lines: %s', async (...rows) => {
  const found = await withLines(rows, async connection => [
    await findLineTime(connection),
    await findLineClock(connection),
  ]);
  expect([...found, recognizeFormat(rows).format.name]).toEqual([undefined, undefined, 'text']);
});

/** Returns the time read from a log line followed by a stack trace longer than the events. */
async function timeIn(line: string, order: string): Promise<string | undefined> {
  const lines = [line, ...Array.from({ length: 5 }, () => '\tat a.b(c)'), line];
  return withLines(lines, async connection => {
    const found = await findLineTime(connection);
    if (found === undefined) return undefined;
    const text = `nullif(${found.sql}, '')`;
    const [[ns] = []] = await connection.run(
      `SELECT coalesce(epoch_ns(TRY_CAST(${text} AS TIMESTAMP_NS)), apl_event_time(${text}, ${nowNs}::BIGINT, ${sqlText(order)})) FROM raw LIMIT 1`,
    );
    return ns === null ? undefined : formatTime(BigInt(String(ns)));
  });
}

/** Calls back with the lines in a table, as in an import. */
function withLines<T>(lines: readonly string[], read: (connection: Connection) => Promise<T>): Promise<T> {
  return engine.withConnection(async connection => {
    await connection.run(
      `CREATE OR REPLACE TEMP TABLE raw AS SELECT unnest([${lines.map(each => sqlText(each)).join(', ')}]) AS l`,
    );
    return read(connection);
  });
}
