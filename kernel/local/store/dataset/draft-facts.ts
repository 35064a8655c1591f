import { sqlText } from '../../duckdb/duckdb-literal.js';
import type { Connection } from '../../engine/duckdb.js';

/** Column metadata of a Parquet file, used to read fewer columns. */
export interface DraftFacts {
  /** Returns the uncompressed size of a column's largest chunk, in bytes; 0 if there is no such column. */
  largest(column: string): number;
  /** Returns the number of non-null values of a column, undefined if the file does not record it. */
  present(column: string): number | undefined;
  /** Whether a column may have a null. */
  mayHaveNull(column: string): boolean;
  /** Whether a row may have this `_time`. */
  mayHaveTime(ns: bigint): boolean;
  /** Combined time span of the row groups relative to that of the file; NaN if unknown. */
  readonly timesCovered: number;
}

/** Reads the metadata of a Parquet file with times in `_time`. */
export async function factsOf(connection: Connection, file: string): Promise<DraftFacts> {
  const ns = (stats: string) =>
    `epoch_ns(CASE WHEN path_in_schema = '_time' THEN TRY_CAST(${stats} AS TIMESTAMP_NS) END)`;
  const rows = await connection.run(
    `SELECT path_in_schema, max(total_uncompressed_size), sum(num_values), sum(num_values - stats_null_count), count(*) = count(stats_null_count),
       sum(high::DOUBLE - low::DOUBLE), max(high::DOUBLE) - min(low::DOUBLE), min(low), max(high), count(*) = count(low) AND count(*) = count(high)
     FROM (SELECT *, ${ns('stats_min_value')} AS low, ${ns('stats_max_value')} AS high FROM parquet_metadata(${sqlText(file)})) GROUP BY path_in_schema`,
  );
  const columns = new Map(
    rows.map(([name, largest, values, present, isKnown]) => [
      String(name),
      {
        largest: Number(largest),
        values: Number(values),
        present: isKnown === true ? Number(present) : undefined,
      },
    ]),
  );
  const [, , , , , covered, span, low, high, isTimed] = rows.find(([name]) => name === '_time') ?? [];
  const presentIn = (column: string) => columns.get(column)?.present;
  return {
    largest: column => columns.get(column)?.largest ?? 0,
    present: presentIn,
    mayHaveNull: column => {
      const present = presentIn(column);
      return present === undefined || present !== columns.get(column)?.values;
    },
    mayHaveTime: time => isTimed !== true || isWithin(time, low, high),
    timesCovered: Number(covered) / Number(span),
  };
}

/** Whether a time is within bounds, which statistics may truncate to microseconds. */
function isWithin(time: bigint, low: unknown, high: unknown): boolean {
  if (typeof low !== 'bigint' || typeof high !== 'bigint') return true;
  return time >= low - 1000n && time <= high + 1000n;
}
