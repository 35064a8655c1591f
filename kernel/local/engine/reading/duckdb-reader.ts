import type { DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';
import { JsonColumns } from '../columns.js';
import type { Connection, Engine, RunStatement } from '../duckdb.js';
import { chunksOf } from '../lanes/lane.js';
import type { Reader, ReaderSource, ReadResult, ResultOrder } from '../reader.js';
import { type Chunks, JsonChunks, packedSql } from './chunks.js';

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
        import('../../results/arrow.js'),
        import('../../results/fill.js'),
      ]);
      await fillTable(connection, table, readSentTable(body));
    },
    execute: async sql => (await run(sql, nothing, 'whole')).counts,
    read: async order => {
      const { sql, fields, delivery } = order;
      const chunks = await chunksFor(order);
      const consume = (result: DuckDBResult) => readColumns(result, order, chunks);
      const statement = packedSql(sql, fields, chunks.columns.form);
      const { value, counts } = await run(statement, consume, delivery);
      return { ...value, counts };
    },
  };
}

async function nothing(): Promise<void> {}

async function chunksFor({ fields, form, mostBytes, onto }: ResultOrder): Promise<Chunks> {
  if (form === 'json')
    return new JsonChunks(fields, onto?.form === 'json' ? onto : new JsonColumns(fields, mostBytes));
  const { ArrowChunks, ArrowColumns } = await import('./arrow-chunks.js');
  return new ArrowChunks(fields, onto instanceof ArrowColumns ? onto : new ArrowColumns(fields, mostBytes));
}

/** Reads to the end, even past the limit: only then does the engine report its counts. The SQL lets few rows through beyond it. */
async function readColumns(
  result: DuckDBResult,
  { limit, time }: ResultOrder,
  filled: Chunks,
): Promise<Omit<ReadResult, 'counts'>> {
  const most = filled.columns.rows + limit;
  let read: Pick<ReadResult, 'cut' | 'cutTime'> = { cut: false };
  for await (const chunk of chunksOf(result)) {
    const rows = Math.min(chunk.rowCount, most - filled.columns.rows);
    if (rows < chunk.rowCount && !read.cut)
      read = { cut: true, ...timeAt(chunk, filled.plainAt(time), rows) };
    if (rows > 0) filled.append(chunk, rows);
  }
  return { ...read, columns: filled.columns };
}

function timeAt(chunk: DuckDBDataChunk, column: number, row: number): { cutTime?: bigint } {
  const value: unknown = column < 0 ? undefined : chunk.getColumnVector(column).getItem(row);
  const ns = typeof value === 'object' && value !== null ? Reflect.get(value, 'nanos') : undefined;
  return typeof ns === 'bigint' ? { cutTime: ns } : {};
}
