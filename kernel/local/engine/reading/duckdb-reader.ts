import type { DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';
import type { Connection, Engine, RunStatement } from '../duckdb.js';
import { JsonColumns } from '../engine-columns.js';
import type { Reader, ReaderSource, ReadResult, ResultOrder } from '../engine-reader.js';
import { chunksOf } from '../workers/worker.js';
import { type Chunks, JsonChunks, readableSql } from './read-chunks.js';

/** Returns the readers of an engine in this process. */
export function readersOf(engine: Engine): ReaderSource {
  return {
    reading: (work, temporary, context) =>
      engine.statements((run, connection) => work(readerOn(run, connection)), temporary, context),
  };
}

function readerOn(run: RunStatement, connection: Connection): Reader {
  return {
    load: async (table, body) => {
      const [{ readSentTable }, { fillTable }] = await Promise.all([
        import('../../results/sent-arrow.js'),
        import('../../results/fill.js'),
      ]);
      await fillTable(connection, table, readSentTable(body));
    },
    execute: async sql => (await run(sql, nothing, 'whole')).counts,
    read: async order => {
      const { sql, fields, delivery } = order;
      const chunks = await chunksFor(order);
      // The engine may retry the statement from its first row.
      const consume = (result: DuckDBResult) => readColumns(result, order, chunks());
      const { value, counts } = await run(readableSql(sql, fields, order.form), consume, delivery);
      return { ...value, counts };
    },
  };
}

async function nothing(): Promise<void> {}

/** Returns a function that creates the empty columns of a result. */
async function chunksFor({ fields, form, limit, mostBytes }: ResultOrder): Promise<() => Chunks> {
  if (form === 'json') return () => new JsonChunks(fields, new JsonColumns(fields, mostBytes));
  const { ArrowChunks, ArrowColumns } = await import('./arrow-chunks.js');
  return () => new ArrowChunks(fields, new ArrowColumns(fields, limit, mostBytes));
}

/** Reads to the end, even past the limit: only then does the engine report its counts. The SQL lets few rows through beyond it. */
async function readColumns(
  result: DuckDBResult,
  { limit, time }: ResultOrder,
  filled: Chunks,
): Promise<Omit<ReadResult, 'counts'>> {
  let read: Pick<ReadResult, 'cut' | 'cutTime'> = { cut: false };
  for await (const chunk of chunksOf(result)) {
    const rows = Math.min(chunk.rowCount, limit - filled.columns.rows);
    if (rows < chunk.rowCount && !read.cut) read = { cut: true, ...timeAt(chunk, time, rows) };
    if (rows > 0) filled.append(chunk, rows);
  }
  return { ...read, columns: filled.columns };
}

function timeAt(chunk: DuckDBDataChunk, column: number, row: number): { cutTime?: bigint } {
  const value: unknown = column < 0 ? undefined : chunk.getColumnVector(column).getItem(row);
  const ns = typeof value === 'object' && value !== null ? Reflect.get(value, 'nanos') : undefined;
  return typeof ns === 'bigint' ? { cutTime: ns } : {};
}
