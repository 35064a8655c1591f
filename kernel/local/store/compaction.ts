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
  /** How many values a merge may have in datasets in which one has run out of memory. */
  readonly #mostValues = new Map<string, number>();
  readonly #closing = new AbortController();
  #work: Promise<void> = Promise.resolve();

  /** `settled` returns the directory of a dataset once the logs of killed processes are stored: their files may be merged then. */
  constructor(engine: Engine, settled: (dataset: string) => Promise<DatasetDirectory>) {
    this.#engine = engine;
    this.#settled = settled;
  }

  /** Schedules a look at a dataset. */
  later(dataset: string): void {
    if (this.#waiting.has(dataset) || this.#closing.signal.aborted) return;
    this.#waiting.add(dataset);
    // After a failure the files stay as they are; the next change of the dataset tries again.
    this.#work = this.#work.then(() => this.#compact(dataset)).catch(() => undefined);
  }

  /** Resolves after the merge in progress. */
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

  /** Returns whether there may be more to do. */
  async #mergeSome(dataset: string, directory: DatasetDirectory): Promise<boolean> {
    const listing = await directory.list();
    // What replaced what is not known if a list cannot be read.
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

/** Batches that arrive in quick succession are merged together. */
const pauseMs = 1_500;

/**
 * Merges files into one sorted by time. Values keep their types: files in which a field has different types stay apart. Returns whether
 * they are replaced.
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

/** The fewest and the most files in one merge, and the most bytes of them: merging fewer would rewrite each row more often. */
const fewest = 8;
const most = 512;
const mostBytes = 512 * 2 ** 20;

/** The most values in one merge of many fields. */
const mostWide = 12_000_000;

/** Files from this size on are left alone. */
const largeBytes = 32 * 2 ** 20;
const smallBytes = 64 * 2 ** 10;

/** Files of one tier are merged into one of the next. */
function tierOf({ bytes }: FileSummary): number {
  return Math.max(0, Math.floor(Math.log2(bytes / smallBytes) / 3));
}

/** What files have together. */
interface Size {
  readonly bytes: number;
  readonly rows: number;
  /** Of the file that has most. */
  readonly fields: number;
}

interface Group {
  readonly tier: number;
  readonly union: FieldUnion;
  readonly files: FileSummary[];
  size: Size;
}

/** Returns several small files of about the same size, if there are enough of them. */
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

/** Returns the size of files beside others. */
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
 * The newest names of all files whose rows the merged one has: should one come back, from a backup that is copied over the directory,
 * its rows must not count twice.
 */
function mergedNames(files: readonly FileSummary[]): string[] {
  const names = files.flatMap(file => [path.basename(file.path), ...file.replaces]);
  return [...new Set(names)].sort().slice(-mostNames);
}

/** They stay in the footer for as long as the file: some 70 bytes each. */
const mostNames = 2_000;

/** The new file takes the place of the first one that it replaces, as the order of fields follows that of files. */
function timeIn(name: string): number {
  return Number.parseInt(givenName(name), 10);
}
