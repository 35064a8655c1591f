import { rename } from 'node:fs/promises';
import { DAY, HOUR, MINUTE } from '../../../time.js';
import { sqlName, sqlText } from '../../duckdb/duckdb-literal.js';
import type { Connection } from '../../engine/duckdb.js';
import { columnNames, copyToParquet, type FileNote } from '../../engine/engine-parquet.js';
import { inZone } from './time-zone.js';
import type { TimeOptions } from './timestamps.js';

/** Replaces the rows of a draft with those of `select`. */
export async function rewrite(
  connection: Connection,
  draft: string,
  note: FileNote,
  select: string,
): Promise<void> {
  const next = `${draft}.next`;
  await connection.run(copyToParquet(select, next, note));
  await rename(next, draft);
}

/** Returns column names, for SQL, that a draft does not use. */
function namesBeside({ fields }: FileNote, ...wanted: readonly string[]): readonly string[] {
  const names = columnNames([...fields.map(({ column }) => column), ...wanted]);
  return names.slice(-wanted.length).map(sqlName);
}

/**
 * Gives log lines without a readable time that of the line before plus a nanosecond each, so that a stack trace keeps its order; lines at
 * the beginning get the first time of the file.
 */
export async function carryTimes(
  connection: Connection,
  draft: string,
  note: FileNote,
  { nowNs }: TimeOptions,
): Promise<void> {
  const [row = '', timed = ''] = namesBeside(note, 'row', 'timed');
  const lines = `read_parquet(${sqlText(draft)})`;
  const own = `nullif(_time, make_timestamp_ns(${nowNs}))`;
  const last = (sql: string) =>
    `last_value(${sql} IGNORE NULLS) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`;
  const numbered = `SELECT *, row_number() OVER () AS ${row} FROM ${lines}`;
  const carried = `SELECT * REPLACE (${last(own)} AS _time), ${last(`CASE WHEN ${own} IS NOT NULL THEN ${row} END`)} AS ${timed} FROM (${numbered})`;
  const before = `make_timestamp_ns(epoch_ns(_time) + ${row} - ${timed})`;
  const first = `(SELECT ${own} FROM ${lines} WHERE ${own} IS NOT NULL LIMIT 1)`;
  const all = `SELECT * EXCLUDE (${row}, ${timed}) REPLACE (coalesce(${before}, ${first}) AS _time) FROM (${carried})`;
  await rewrite(connection, draft, note, all);
}

/**
 * Moves times of day, initially all on the first day, to their dates. A time more than an hour before the previous one is on the next day:
 * smaller steps back come from thread order or the end of daylight saving. A time nearly a day later is a late line of the day before.
 */
export async function rollDays(
  connection: Connection,
  draft: string,
  note: FileNote,
  { nowNs, zone }: TimeOptions,
): Promise<void> {
  const [own = '', days = ''] = namesBeside(note, 'own', 'days');
  const now = `make_timestamp_ns(${nowNs})`;
  const lines = `SELECT *, epoch_ns(nullif(_time, ${now})) AS ${own} FROM read_parquet(${sqlText(draft)})`;
  const before = `last_value(${own} IGNORE NULLS) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`;
  const later = `${own} - ${before}`;
  const step = `CASE WHEN ${later} < -${HOUR} THEN 1 WHEN ${later} > ${DAY - MINUTE} THEN -1 ELSE 0 END`;
  const stepped = `SELECT *, ${step} AS ${days} FROM (${lines})`;
  const summed = `SELECT * REPLACE (sum(${days}) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS ${days}) FROM (${stepped})`;
  const moved = `make_timestamp_ns(${own} + ${days}::BIGINT * ${DAY})`;
  const time = zone === undefined ? moved : inZone(moved, "''", zone);
  const all = `SELECT * EXCLUDE (${own}, ${days}) REPLACE (coalesce(${time}, ${now}) AS _time) FROM (${summed})`;
  await rewrite(connection, draft, note, all);
}
