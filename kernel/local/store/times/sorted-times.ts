import { sqlText } from '../../duckdb/duckdb-literal.js';
import type { Connection } from '../../engine/duckdb.js';
import { engineFailure } from '../../engine/engine-failure.js';
import { type FileNote, wideFields } from '../../engine/engine-parquet.js';
import type { DraftFacts } from '../dataset/draft-facts.js';
import { rewrite } from './carried-times.js';

/** Maximum number of row groups per timestamp, on average, before rows are sorted. */
const mostOverlap = 3;

/** Maximum number of values to sort if there are many fields. */
const mostWide = 60_000_000;

/**
 * Sorts a draft that is not in time order, which is rare, so that a time window reads few row groups. If memory is insufficient, the rows
 * keep their order.
 */
export async function sortByTime(
  connection: Connection,
  draft: string,
  note: FileNote,
  { timesCovered }: DraftFacts,
  rows: number,
): Promise<void> {
  if (!(timesCovered > mostOverlap)) return;
  const { length } = note.fields;
  if (length >= wideFields && rows * length > mostWide) return;
  const select = `SELECT * FROM read_parquet(${sqlText(draft)}) ORDER BY _time, file_row_number`;
  try {
    await rewrite(connection, draft, note, select);
  } catch (error) {
    // The engine has removed its partial output.
    if (engineFailure(error).code !== 'engine-memory') throw error;
  }
}
