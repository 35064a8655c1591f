import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { present } from '../../present.js';
import { sqlName } from '../duckdb/duckdb-literal.js';
import type { Engine } from '../engine/duckdb.js';
import { EngineError } from '../engine/engine-failure.js';
import { columnNames, copyToParquet, type FileSummary, wideFields } from '../engine/engine-parquet.js';
import { FieldUnion } from './append/append-rows.js';
import { whileFiles } from './bounds/bounded-names.js';
import { givenName } from './dataset/dataset-copies.js';
import type { DatasetDirectory } from './dataset/directory.js';
import { StoredDataset } from './dataset/stored.js';
import { versionOf } from './store-files.js';

/** Merges small files of datasets in the background, one dataset at a time. */
export class Compactor {
  readonly #engine: Engine;
  readonly #settled: (dataset: string) => Promise<DatasetDirectory>;
  readonly #waiting = new Set<string>();
  /** Maximum number of values in a merge, for datasets in which one has run out of memory. */
  readonly #mostValues = new Map<string, number>();
  readonly #closing = new AbortController();
  #work: Promise<void> = Promise.resolve();

  /** `settled` returns the directory of a dataset once the logs of killed processes are stored, and its files may be merged. */
  constructor(engine: Engine, settled: (dataset: string) => Promise<DatasetDirectory>) {
    this.#engine = engine;
    this.#settled = settled;
  }

  /** Schedules a check of a dataset. */
  later(dataset: string): void {
    if (this.#waiting.has(dataset) || this.#closing.signal.aborted) return;
    this.#waiting.add(dataset);
    // After a failure, the files stay unchanged; the next change of the dataset retries.
    this.#work = this.#work.then(() => this.#compact(dataset)).catch(() => undefined);
  }

  /** Resolves after the current merge. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#work;
  }

  async #compact(dataset: string): Promise<void> {
    await delay(pauseMs, undefined, { ref: false, signal: this.#closing.signal });
    this.#waiting.delete(dataset);
    const directory = await this.#settled(dataset);
    let more = true;
    while (more && !this.#closing.signal.aborted) more = await this.#mergeSome(dataset, directory);
  }

  /** Returns whether there may be more to merge. */
  async #mergeSome(dataset: string, directory: DatasetDirectory): Promise<boolean> {
    const listing = await directory.list();
    // If a list cannot be read, it is unknown which files were replaced.
    if (listing === undefined || listing.damages.length > 0) return false;
    const files = mergeable(listing.files, this.#mostValues.get(dataset));
    if (files.length === 0) return false;
    try {
      return await merge(this.#engine, directory, files);
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== 'engine-memory') throw error;
      const { rows, fields } = sizeOf(files);
      this.#mostValues.set(dataset, (rows * fields) / 2);
      return true;
    }
  }
}

/** Delay that lets batches in quick succession merge together. */
const pauseMs = 1_500;

/**
 * Merges files into one sorted by time. Values keep their types: files with different types for a field stay separate. Returns whether the
 * files were replaced.
 */
async function merge(
  engine: Engine,
  directory: DatasetDirectory,
  files: readonly FileSummary[],
): Promise<boolean> {
  const names = files.map(file => path.basename(file.path));
  const versions = () => files.map(file => versionOf(file.path)?.content).join('\n');
  const before = versions();
  const draft = path.join(engine.workDir, `${crypto.randomUUID()}.parquet`);
  try {
    await whileFiles(
      () => files.map(file => file.path),
      undefined,
      signal => engine.run(mergeSql(files, draft), signal),
    );
    return await directory.replace(draft, live =>
      names.every(name => live.names.includes(name)) && versions() === before
        ? { since: timeIn(names[0] ?? ''), names, copied: true }
        : undefined,
    );
  } finally {
    await rm(draft, { force: true });
  }
}

/** Minimum and maximum number of files in a merge, and its maximum size in bytes: smaller merges would rewrite each row more often. */
const fewest = 8;
const most = 512;
const mostBytes = 512 * 2 ** 20;

/** Maximum number of values in a merge of many fields. */
const mostWide = 12_000_000;

/** Size from which files are not merged. */
const largeBytes = 32 * 2 ** 20;
const smallBytes = 64 * 2 ** 10;

/** Returns the tier of a file: files of one tier merge into one of the next. */
function tierOf({ bytes }: FileSummary): number {
  return Math.max(0, Math.floor(Math.log2(bytes / smallBytes) / 3));
}

/** Combined size of files. */
interface Size {
  readonly bytes: number;
  readonly rows: number;
  /** Number of fields of the file with the most. */
  readonly fields: number;
}

interface Group {
  readonly tier: number;
  readonly union: FieldUnion;
  readonly files: FileSummary[];
  size: Size;
}

/** Returns several small files of similar size, if there are enough. */
function mergeable(files: readonly FileSummary[], mostValues = Number.POSITIVE_INFINITY): FileSummary[] {
  const groups: Group[] = [];
  for (const file of files) {
    if (file.foreign || file.bytes >= largeBytes || file.blocks.length === 0) continue;
    const tier = tierOf(file);
    const isRoom = ({ bytes, rows, fields }: Size) =>
      bytes <= mostBytes &&
      rows * fields <= (fields >= wideFields ? Math.min(mostValues, mostWide) : mostValues);
    const known = groups.find(
      group =>
        group.tier === tier &&
        group.files.length < most &&
        isRoom(sizeOf([file], group.size)) &&
        group.union.add(file),
    );
    if (known) {
      known.files.push(file);
      known.size = sizeOf([file], known.size);
    } else {
      const union = new FieldUnion();
      union.add(file);
      groups.push({ tier, union, files: [file], size: sizeOf([file]) });
    }
  }
  return groups.find(group => group.files.length >= fewest)?.files ?? [];
}

/** Returns the combined size of files, added to `others`. */
function sizeOf(files: readonly FileSummary[], others: Size = { bytes: 0, rows: 0, fields: 0 }): Size {
  return files.reduce(
    (sum, { bytes, blocks, fields }) => ({
      bytes: sum.bytes + bytes,
      rows: blocks.reduce((rows, block) => rows + block.rows, sum.rows),
      fields: Math.max(sum.fields, fields.length),
    }),
    others,
  );
}

function mergeSql(files: readonly FileSummary[], draft: string): string {
  const merged = new StoredDataset('', files, {});
  const declared = new Set(
    files.flatMap(file => file.fields.flatMap(each => (each.declared ? [each.name] : []))),
  );
  const names = merged.schema.fields.map(field => field.name);
  const columns = columnNames(names);
  const fields = merged.schema.fields.map(({ name, type }, index) => ({
    name,
    type,
    column: columns[index] ?? name,
    ...present({ declared: declared.has(name) || undefined }),
  }));
  const values = fields.map(({ type, column }, index) => {
    return `f${index}${type === 'dynamic' ? '::VARCHAR' : ''} AS ${sqlName(column)}`;
  });
  const scan = merged.scan(names, -(2n ** 63n), 2n ** 63n - 1n);
  const numbered = `SELECT *, row_number() OVER () AS n FROM (${scan})`;
  const select = `SELECT ${values.join(', ')} FROM (${numbered}) ORDER BY f0, n`;
  const timeless = files[0]?.timeless === true;
  return copyToParquet(select, draft, { fields, timeless, replaces: mergedNames(files) });
}

/**
 * Returns the newest names of all files whose rows the merged file contains: if one reappears, from a backup copied over the directory, its
 * rows must not count twice.
 */
function mergedNames(files: readonly FileSummary[]): string[] {
  const names = files.flatMap(file => [path.basename(file.path), ...file.replaces]);
  return [...new Set(names)].sort().slice(-mostNames);
}

/** Maximum number of names in the footer, which keeps them as long as the file exists: about 70 bytes each. */
const mostNames = 2_000;

/** Returns the time of the first replaced file, whose position the new one takes: field order follows file order. */
function timeIn(name: string): number {
  return Number.parseInt(givenName(name), 10);
}
