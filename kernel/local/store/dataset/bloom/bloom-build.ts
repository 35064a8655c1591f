import type { DuckDBDataChunk } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import type { Engine } from '../../../engine/duckdb.js';
import type { FileSummary } from '../../../engine/engine-parquet.js';
import { Copies, type Vector } from '../../../engine/reading/read-copies.js';
import { Texts } from '../../../engine/reading/read-texts.js';
import { chunksOf } from '../../../engine/workers/worker.js';
import type { Lookup } from '../../../sql/compiled-query.js';
import { placeField } from '../../../sql/rewrite/placed.js';
import { whileFiles } from '../../bounds/bounded-names.js';
import { fileOfPlaceSql, rowOfPlaceSql, StoredDataset } from '../stored.js';
import { hashOfBytes, hashOfLong, hashWords } from './bloom-hash.js';
import { addTo, foldedFilter, pageBytes, pagesFor, seal } from './bloom-pages.js';

/** Consecutive row groups of a Parquet file. */
export interface FileRun {
  readonly file: FileSummary;
  /** Index of the first row group. */
  readonly first: number;
  readonly rows: readonly number[];
}

/** Splits runs into batches whose filters take about 32 MiB at most. */
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

const mostRows = 2 * 2 ** 20;
const mostRuns = 250;

/** The filters of a batch: all pages, and for each run the number of pages per row group. */
export interface BuiltFilters {
  readonly pages: Buffer;
  readonly counts: readonly (readonly number[])[];
}

/**
 * Builds the filters of a field for a batch of runs; returns undefined if the field has another type there, or the rows are not numbered.
 * Rejects with EngineError.
 */
export async function buildFilters(
  engine: Engine,
  batch: readonly FileRun[],
  { field, kind }: Pick<Lookup, 'field' | 'kind'>,
  signal: AbortSignal,
): Promise<BuiltFilters | undefined> {
  const files = batch.map(run => run.file);
  const dataset = new StoredDataset('', files, {});
  const { type, room } = kinds[kind];
  const isOfType = dataset.schema.fields.some(each => each.name === field && each.type === type);
  if (!isOfType || dataset.places === undefined) return undefined;
  const others = new Map(batch.map(run => [run.file, groupsOutside(run)]));
  const scan = dataset.scan([placeField, field], -(2n ** 63n), 2n ** 63n - 1n, undefined, others);
  const sql = `SELECT (${fileOfPlaceSql('f0')})::UINTEGER, (${rowOfPlaceSql('f0')})::UINTEGER, f1 FROM (${scan}) WHERE f1 IS NOT NULL`;
  const runs = batch.map(run => new FilteredRun(run, room));
  const rows = batch.reduce((total, run) => total + sum(run.rows), 0);
  const consume = async (chunks: Parameters<typeof chunksOf>[0]) => {
    for await (const chunk of chunksOf(chunks)) addRows(runs, chunk, kinds[kind].hashes);
  };
  await whileFiles(
    () => dataset.paths,
    signal,
    within => engine.statements(run => run(sql, consume, 'streamed'), undefined, { rows, signal: within }),
  );
  const filters = runs.map(run => run.filters.map(foldedFilter));
  const pages = Buffer.concat(filters.flat());
  seal(pages);
  return { pages, counts: filters.map(each => each.map(filter => filter.length / pageBytes)) };
}

/** A run whose filters are being built. */
class FilteredRun {
  readonly filters: readonly Buffer[];
  readonly #firstRows: readonly number[];
  #group = 0;

  constructor({ file, first, rows }: FileRun, room: number) {
    let row = sum(file.blocks.slice(0, first).map(block => block.rows));
    this.#firstRows = rows.map(count => {
      row += count;
      return row - count;
    });
    this.filters = rows.map(count => Buffer.alloc(pagesFor(count * room) * pageBytes));
  }

  /** Returns the filter of the row group with a row of the file, usually the same as for the previous row. */
  filterOf(row: number): Buffer {
    const isIn = (group: number) =>
      row >= (this.#firstRows[group] ?? 0) && row < (this.#firstRows[group + 1] ?? Number.POSITIVE_INFINITY);
    if (!isIn(this.#group)) this.#group = this.#firstRows.findLastIndex(first => first <= row);
    return this.filters[this.#group] as Buffer;
  }
}

/** Calls `add` with the row and hash of each value in the first `rows` rows of a vector. */
type Hashes = (
  vector: Vector,
  rows: number,
  copies: Copies,
  add: (row: number, hash: number) => void,
) => void;

/** Per kind of lookup: the field type, the number of values per row to allow for, and the hash function. */
const kinds: Readonly<
  Record<Lookup['kind'], { readonly type: 'string' | 'long'; readonly room: number; readonly hashes: Hashes }>
> = {
  string: {
    type: 'string',
    room: 1,
    hashes: (vector, rows, copies, add) =>
      eachText(vector, rows, copies, (row, bytes, start, end) => add(row, hashOfBytes(bytes, start, end))),
  },
  term: {
    type: 'string',
    room: 4,
    hashes: (vector, rows, copies, add) =>
      eachText(vector, rows, copies, (row, bytes, start, end) =>
        hashWords(bytes, start, end, hash => add(row, hash)),
      ),
  },
  long: {
    type: 'long',
    room: 1,
    hashes: (vector, rows, copies, add) => {
      const halves = new Int32Array(copies.data(vector, rows * 8).buffer);
      for (let row = 0; row < rows; row++)
        add(row, hashOfLong(halves[2 * row] as number, halves[2 * row + 1] as number));
    },
  },
};

function eachText(
  vector: Vector,
  rows: number,
  copies: Copies,
  work: (row: number, bytes: Uint8Array, start: number, end: number) => void,
): void {
  const texts = new Texts(copies).read(vector, rows);
  for (let row = 0; row < rows; row++) {
    const start = texts.starts[row] as number;
    work(
      row,
      texts.pieces[texts.pieceOf[row] as number] as Uint8Array,
      start,
      start + (texts.lengths[row] as number),
    );
  }
}

/** Adds the rows of a chunk, which has three columns: index of the run, row number in the file, and value. */
function addRows(runs: readonly FilteredRun[], chunk: DuckDBDataChunk, hashes: Hashes): void {
  const copies = new Copies();
  const rows = chunk.rowCount;
  const vectorAt = (column: number) => duckdb.data_chunk_get_vector(chunk.chunk, column);
  const numbersAt = (column: number) => new Uint32Array(copies.data(vectorAt(column), rows * 4).buffer);
  const [files, numbers] = [numbersAt(0), numbersAt(1)];
  hashes(vectorAt(2), rows, copies, (row, hash) => {
    const filter = (runs[files[row] as number] as FilteredRun).filterOf(numbers[row] as number);
    addTo(filter, filter.length / pageBytes, hash);
  });
  copies.release();
}

/** Returns the row groups of a file outside a run. */
function groupsOutside({ file, first, rows }: FileRun): ReadonlySet<number> {
  const isInside = (group: number) => group >= first && group < first + rows.length;
  return new Set([...file.blocks.keys()].filter(group => !isInside(group)));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
