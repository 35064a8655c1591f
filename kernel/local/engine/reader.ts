import type { DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';
import { type DeclaredColumn, JsonColumns, packedSql } from './columns.js';
import type { Connection, Engine, RunStatement } from './duckdb.js';
import { chunksOf, type Delivery } from './lanes/lane.js';
import type { OperatorCounts } from './profile.js';
import type { Visit } from './visit.js';

/** One result to be read: these columns, of the first `limit` rows. */
export interface ResultOrder {
  readonly sql: string;
  readonly fields: readonly DeclaredColumn[];
  readonly limit: number;
  /** The most bytes of its cells as JSON. */
  readonly mostBytes: number;
  /** The column that holds the time; -1 without one. */
  readonly time: number;
  readonly delivery: Delivery;
}

/** A result up to its row limit. */
export interface ReadResult {
  readonly columns: JsonColumns;
  readonly counts: OperatorCounts;
  /** The row limit was reached and rows were left out. */
  readonly cut: boolean;
  /** The time of the first row that was cut, in nanoseconds. */
  readonly cutTime?: bigint;
}

/** Runs the statements of one query, in this process or another. */
export interface Reader {
  /** Runs a statement for its effect. */
  execute(sql: string): Promise<OperatorCounts>;
  read(order: ResultOrder): Promise<ReadResult>;
  /** Loads a kernel's result, an Arrow stream, into a table. */
  load(table: string, body: Uint8Array): Promise<void>;
}

/** Lends a reader to `work`; the temporary table of this name is dropped at the end. */
export interface ReaderSource {
  reading<T>(work: (reader: Reader) => Promise<T>, temporary: string | undefined, visit?: Visit): Promise<T>;
}

/** Returns the readers of an engine of this process. */
export function readersOf(engine: Engine): ReaderSource {
  return {
    reading: (work, temporary, visit) =>
      engine.statements((run, connection) => work(readerOn(run, connection)), temporary, visit),
  };
}

function readerOn(run: RunStatement, connection: Connection): Reader {
  return {
    load: async (table, body) => {
      const [{ readSentTable }, { fillTable }] = await Promise.all([
        import('../results/arrow.js'),
        import('../results/fill.js'),
      ]);
      await fillTable(connection, table, readSentTable(body));
    },
    execute: async sql => (await run(sql, nothing, 'whole')).counts,
    read: async order => {
      const { sql, fields, delivery } = order;
      const consume = (result: DuckDBResult) => readColumns(result, order);
      const { value, counts } = await run(packedSql(sql, fields), consume, delivery);
      return { ...value, counts };
    },
  };
}

async function nothing(): Promise<void> {}

/** Reads to the end, even past the limit: only then does the engine report its counts. The SQL lets few rows through beyond it. */
async function readColumns(
  result: DuckDBResult,
  { fields, limit, mostBytes, time }: ResultOrder,
): Promise<Omit<ReadResult, 'counts'>> {
  const columns = new JsonColumns(fields, mostBytes);
  let read: Pick<ReadResult, 'cut' | 'cutTime'> = { cut: false };
  for await (const chunk of chunksOf(result)) {
    const rows = Math.min(chunk.rowCount, limit - columns.rows);
    if (rows < chunk.rowCount && !read.cut)
      read = { cut: true, ...timeAt(chunk, columns.plainAt(time), rows) };
    if (rows > 0) columns.append(chunk, rows);
  }
  return { ...read, columns };
}

function timeAt(chunk: DuckDBDataChunk, column: number, row: number): { cutTime?: bigint } {
  const value: unknown = column < 0 ? undefined : chunk.getColumnVector(column).getItem(row);
  const ns = typeof value === 'object' && value !== null ? Reflect.get(value, 'nanos') : undefined;
  return typeof ns === 'bigint' ? { cutTime: ns } : {};
}
