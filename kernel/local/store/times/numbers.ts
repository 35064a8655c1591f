import type { Connection } from '../../engine/duckdb.js';

/** Dates in a column of numbers. */
interface NumberedDates {
  /** SQL of a TIMESTAMP_NS, null for a number that is not a date of this kind. */
  readonly sql: string;
  readonly as: string;
}

/** Limits of spreadsheet serial numbers, days since 1899-12-30: 1954-10-03 and 2119-01-11. */
const [leastSerial, mostSerial] = [20_000, 80_000];

/** Serial number of 1970-01-01. */
const epochDay = 25_569;

/** Returns the kind of date that all numbers in a column of `sampled` are, undefined if there is none. */
export async function datesIn(
  connection: Connection,
  value: string,
  nowNs: bigint,
): Promise<NumberedDates | undefined> {
  for (const { sql, as } of [serials(value), digits(value, nowNs)]) {
    const [row = []] = await connection.run(
      `SELECT min(${value}) FROM sampled HAVING count(${value}) = count(${sql}) AND count(${value}) > 0`,
    );
    if (row[0] !== undefined) return { sql, as: `${as}, such as ${Number(row[0])}` };
  }
  return undefined;
}

/** Reads serial numbers to the millisecond, like spreadsheets. */
function serials(value: string): NumberedDates {
  const milliseconds = `(round(${value} * 86400000)::BIGINT - ${epochDay}::BIGINT * 86400000)`;
  const isSerial = `${value} BETWEEN ${leastSerial} AND ${mostSerial}`;
  return {
    sql: `CASE WHEN ${isSerial} THEN make_timestamp_ns(${milliseconds} * 1000000) END`,
    as: 'spreadsheet dates',
  };
}

/**
 * Reads year, month and day, optionally followed by hour, minute, second and milliseconds. As seconds since 1970, numbers with as many
 * digits as a date would be in 1970.
 */
function digits(value: string, nowNs: bigint): NumberedDates {
  const text = `${value}::VARCHAR`;
  const isDate = `regexp_full_match(${text}, '(?:19|20)\\d{6}(?:\\d{4}(?:\\d{2}(?:\\d{3})?)?)?')`;
  return {
    sql: `CASE WHEN ${isDate} THEN make_timestamp_ns(apl_event_time(${text}, ${nowNs}::BIGINT, '')) END`,
    as: 'digits of a date',
  };
}
