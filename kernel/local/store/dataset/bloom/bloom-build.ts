import type { DuckDBDataChunk } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import type { Engine } from '../../../engine/duckdb.js';
import type { FileSummary } from '../../../engine/engine-parquet.js';
import { Copies } from '../../../engine/reading/read-copies.js';
import { chunksOf } from '../../../engine/workers/worker.js';
import type { Equality } from '../../../sql/compiled-query.js';
import { placeField } from '../../../sql/rewrite/placed.js';
import { whileFiles } from '../../bounds/bounded-names.js';
import { fileOfPlaceSql, rowOfPlaceSql, StoredDataset } from '../stored.js';
import { addTo, pageBytes, pageOf, pagesOf, seal } from './bloom-pages.js';

/** Consecutive row groups of a Parquet file. */
export interface FileRun {
  readonly file: FileSummary;
  /** The number of the first. */
  readonly first: number;
  readonly rows: readonly number[];
}

/** Returns runs in batches, so that the filters of one have some 8 MiB. */
export function batchesOf(runs: readonly FileRun[]): readonly (readonly FileRun[])[] {
  const batches: FileRun[][] = [[]];
  let rowsIn = 0;
  for (const { file, first, rows } of runs) {
    let from = 0;
    for (const [index, count] of rows.entries()) {
      const batch = batches.at(-1) ?? [];
      const isFull = rowsIn + count > mostRows || (index === from && batch.length === mostRuns);
      if (rowsIn > 0 && isFull) {
        if (index > from) batch.push({ file, first: first + from, rows: rows.slice(from, index) });
        batches.push([]);
        [from, rowsIn] = [index, 0];
      }
      rowsIn += count;
    }
    batches.at(-1)?.push({ file, first: first + from, rows: rows.slice(from) });
  }
  return batches;
}

const mostRows = 4 * 2 ** 20;
const mostRuns = 250;

/**
 * Returns the pages of the filters of a field in runs, in their order; undefined if the field is of another type there, or its rows have no
 * numbers. Rejects with EngineError.
 */
export async function bloomPages(
  engine: Engine,
  batch: readonly FileRun[],
  { field, type }: Pick<Equality, 'field' | 'type'>,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const dataset = new StoredDataset(
    '',
    batch.map(run => run.file),
    {},
  );
  const isOfType = dataset.schema.fields.some(each => each.name === field && each.type === type);
  if (!isOfType || dataset.places === undefined) return undefined;
  const others = new Map(batch.map(run => [run.file, groupsOutside(run)]));
  const scan = dataset.scan([placeField, field], -(2n ** 63n), 2n ** 63n - 1n, undefined, others);
  const sql = `SELECT (${fileOfPlaceSql('f0')})::UINTEGER, (${rowOfPlaceSql('f0')})::UINTEGER,
    (h & 4294967295)::UINTEGER, (h >> 32)::UINTEGER
    FROM (SELECT f0, hash(f1) AS h FROM (${scan}) WHERE f1 IS NOT NULL)`;
  const runs = batch.map(placedRun);
  const pages = Buffer.alloc(pageBytes * runs.reduce((total, run) => total + run.pages, 0));
  const starts = startsOf(runs.map(run => run.pages));
  const rows = batch.reduce((total, run) => total + sum(run.rows), 0);
  await whileFiles(
    () => dataset.paths,
    signal,
    within =>
      engine.statements(
        run =>
          run(
            sql,
            async result => {
              for await (const chunk of chunksOf(result)) addRows(pages, chunk, runs, starts);
            },
            'streamed',
          ),
        undefined,
        { rows, signal: within },
      ),
  );
  seal(pages);
  return pages;
}

/** A run while its filters are made: where its row groups begin, by rows and by pages. */
interface PlacedRun {
  readonly firstRows: readonly number[];
  readonly firstPages: readonly number[];
  readonly counts: readonly number[];
  readonly pages: number;
}

function placedRun({ file, first, rows }: FileRun): PlacedRun {
  const before = sum(file.blocks.slice(0, first).map(block => block.rows));
  const counts = rows.map(pagesOf);
  return {
    firstRows: startsOf(rows).map(start => before + start),
    firstPages: startsOf(counts),
    counts,
    pages: sum(counts),
  };
}

/** Adds the rows of a chunk: the number of their run, of the row in its file, and the halves of the hash. */
function addRows(
  pages: Buffer,
  chunk: DuckDBDataChunk,
  runs: readonly PlacedRun[],
  starts: readonly number[],
): void {
  const copies = new Copies();
  const [files, numbers, lows, highs] = [0, 1, 2, 3].map(at => {
    const vector = duckdb.data_chunk_get_vector(chunk.chunk, at);
    return new Uint32Array(copies.data(vector, chunk.rowCount * 4).buffer);
  }) as [Uint32Array, Uint32Array, Uint32Array, Uint32Array];
  for (let row = 0; row < chunk.rowCount; row++) {
    const run = runs[files[row] ?? 0];
    if (run === undefined) continue;
    const group = groupOf(run.firstRows, numbers[row] ?? 0);
    const page = (run.firstPages[group] ?? 0) + pageOf(lows[row] ?? 0, run.counts[group] ?? 1);
    addTo(pages, ((starts[files[row] ?? 0] ?? 0) + page) * pageBytes, highs[row] ?? 0);
  }
  copies.release();
}

/** Which of some ascending starts is the last one up to a row. */
function groupOf(firstRows: readonly number[], row: number): number {
  let [low, high] = [0, firstRows.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((firstRows[middle] ?? 0) <= row) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The numbers of the row groups of a file that are not in a run of it. */
function groupsOutside({ file, first, rows }: FileRun): ReadonlySet<number> {
  const isInside = (group: number) => group >= first && group < first + rows.length;
  return new Set([...file.blocks.keys()].filter(group => !isInside(group)));
}

function startsOf(lengths: readonly number[]): readonly number[] {
  let start = 0;
  return lengths.map(length => {
    start += length;
    return start - length;
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
