import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { removeFile } from '../../../../files.js';
import { freeBytes } from '../../../../machine.js';
import { visible } from '../../../../text.js';
import { inDataDir } from '../../../data-layout.js';
import type { Engine } from '../../../engine/duckdb.js';
import type { FileSummary } from '../../../engine/engine-parquet.js';
import type { Lookup, RowGroup } from '../../../sql/compiled-query.js';
import type { GroupsLeftOut } from '../stored.js';
import { batchesOf, buildFilters, type FileRun } from './bloom-build.js';
import { type BloomFile, type GroupRun, groupsWithout, readBlooms, writeBlooms } from './bloom-file.js';
import { hashOf } from './bloom-hash.js';

/**
 * Bloom filters under `<dataDir>/.cache/blooms`, one directory per dataset, for fields that queries compare with constants: they show which
 * row groups cannot match. Built in the background after the first such query; may be deleted at any time. A filter that does not match its
 * checksum, or the current file, counts as absent.
 */
export class BloomIndex {
  readonly #root: string;
  readonly #engine: Engine;
  readonly #log: (text: string) => void;
  readonly #options: BloomOptions;
  readonly #known = new Map<string, Promise<BloomFile[]>>();
  /** Fields whose filters are being built or cannot be built. */
  readonly #begun = new Set<string>();
  readonly #closing = new AbortController();
  #work: Promise<void> = Promise.resolve();

  constructor(
    dataDir: string,
    engine: Engine,
    log: (text: string) => void,
    options: Partial<BloomOptions> = {},
  ) {
    this.#root = path.join(inDataDir(dataDir, '.cache'), 'blooms');
    this.#engine = engine;
    this.#log = log;
    this.#options = { leastRows: 200_000, pauseMs: 1_500, free: freeBytes, ...options };
  }

  /** Whether filters for this many rows are worth their cost. */
  isWorthwhile(files: readonly FileSummary[]): boolean {
    return rowsOf(files.flatMap(file => file.blocks)) >= this.#options.leastRows;
  }

  /**
   * Returns the row groups of a dataset's files without a row that satisfies all lookups, as far as filters exist, and schedules building
   * those that are missing. `key` is the directory name of the dataset. Rejects with EngineError.
   */
  async groupsLeftOut(
    key: string,
    files: readonly FileSummary[],
    lookups: readonly Lookup[],
  ): Promise<GroupsLeftOut> {
    const leftOut = new Map<FileSummary, Set<number>>();
    const byName = new Map(
      files.flatMap(file => (isNumbered(file) ? [[path.basename(file.path), file]] : [])),
    );
    for (const lookup of lookups) {
      const known = await this.#filesOf(key, lookup);
      const hashes = lookup.values.map(hashOf);
      const covered = new Map<FileSummary, Set<number>>();
      for (const bloom of known) {
        const found = await this.#without(key, bloom, byName, hashes);
        for (const [file, groups, without] of found) {
          addAll(covered, file, groups);
          addAll(leftOut, file, without);
        }
      }
      this.#later(key, lookup, [...byName.values()], covered);
    }
    return leftOut;
  }

  /** Deletes the filters of a dataset. */
  async forget(key: string): Promise<void> {
    this.#known.delete(key);
    await rm(path.join(this.#root, key), { recursive: true, force: true }).catch(() => undefined);
  }

  /** Resolves once pending filters are built. */
  async settled(): Promise<void> {
    await this.#work;
  }

  /** Aborts building filters. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#work;
  }

  /** Returns the filter files of a field. */
  async #filesOf(key: string, lookup: Lookup): Promise<readonly BloomFile[]> {
    const loading = this.#known.get(key) ?? this.#load(key);
    this.#known.set(key, loading);
    return (await loading).filter(each => isOf(each, lookup));
  }

  async #load(key: string): Promise<BloomFile[]> {
    const directory = path.join(this.#root, key);
    const names = await readdir(directory).catch(() => []);
    const files: BloomFile[] = [];
    for (const name of names) {
      const file = await readBlooms(path.join(directory, name)).catch(() => undefined);
      if (file === undefined) await removeFile(path.join(directory, name)).catch(() => undefined);
      else files.push(file);
    }
    return files;
  }

  /** Returns each file that has filters here, with the row groups they cover and those with none of the values. */
  async #without(
    key: string,
    bloom: BloomFile,
    files: ReadonlyMap<string, FileSummary>,
    hashes: readonly number[],
  ): Promise<readonly (readonly [FileSummary, readonly number[], readonly number[]])[]> {
    const fits = (run: GroupRun) => holdsFor(run, files.get(run.name));
    try {
      const without = await groupsWithout(bloom, fits, hashes);
      return [...without].flatMap(([run, groups]) => {
        const file = files.get(run.name);
        return file === undefined ? [] : [[file, run.rows.map((_, index) => run.first + index), groups]];
      });
    } catch (error) {
      // Damaged or gone: the rows are read, and the filters rebuilt.
      this.#log(`filters for ${visible(bloom.field)} are left out: ${visible(String(error))}`);
      await this.#drop(key, bloom);
      return [];
    }
  }

  async #drop(key: string, bloom: BloomFile): Promise<void> {
    const known = (await this.#known.get(key)) ?? [];
    const at = known.indexOf(bloom);
    if (at >= 0) known.splice(at, 1);
    await removeFile(bloom.path).catch(() => undefined);
  }

  #later(
    key: string,
    { field, kind }: Lookup,
    files: readonly FileSummary[],
    covered: ReadonlyMap<FileSummary, ReadonlySet<number>>,
  ): void {
    const name = JSON.stringify([key, field, kind]);
    const runs = files.flatMap(file => runsWithout(file, covered.get(file)));
    const isMuch = rowsOf(runs.flatMap(run => run.rows.map(rows => ({ rows })))) >= this.#options.leastRows;
    if (!isMuch || this.#begun.has(name) || this.#closing.signal.aborted) return;
    this.#begun.add(name);
    this.#work = this.#work.then(async () => {
      try {
        await delay(this.#options.pauseMs, undefined, { ref: false, signal: this.#closing.signal });
        const isDone = await this.#make(key, { field, kind }, runs);
        await this.#tidy(key, { field, kind }, files);
        if (isDone) this.#begun.delete(name);
      } catch (error) {
        // Filters only make the next search faster.
        if (!this.#closing.signal.aborted)
          this.#log(`no filters for ${visible(field)}: ${visible(String(error))}`);
      }
    });
  }

  /** Builds the filters of runs; returns whether that is possible. */
  async #make(key: string, of: Pick<Lookup, 'field' | 'kind'>, runs: readonly FileRun[]): Promise<boolean> {
    const directory = path.join(this.#root, key);
    for (const batch of batchesOf(runs)) {
      const built = await buildFilters(this.#engine, batch, of, this.#closing.signal);
      if (built === undefined) return false;
      // The dataset was deleted in the meantime.
      if (!this.#known.has(key)) return true;
      await mkdir(directory, { recursive: true, mode: 0o700 });
      if (built.pages.length * roomFor > (this.#options.free(directory) ?? 0)) return false;
      const made = batch.map((run, index) => runIn(run, built.counts[index] ?? []));
      const file = path.join(directory, `${crypto.randomUUID()}.bloom`);
      const written = await writeBlooms(file, { ...of, runs: made }, built.pages).catch(async error => {
        await removeFile(file).catch(() => undefined);
        throw error;
      });
      (await this.#known.get(key))?.push(written);
    }
    return true;
  }

  /** Deletes the filters of deleted files. */
  async #tidy(key: string, of: Pick<Lookup, 'field' | 'kind'>, files: readonly FileSummary[]): Promise<void> {
    const names = new Map(files.map(file => [path.basename(file.path), file]));
    const gone = ((await this.#known.get(key)) ?? []).filter(
      each => isOf(each, of) && !each.runs.some(run => holdsFor(run, names.get(run.name))),
    );
    for (const each of gone) await this.#drop(key, each);
  }
}

/** Required free disk space as a multiple of the filters' size, so that filters never take space that events need. */
const roomFor = 100;

interface BloomOptions {
  /** Minimum number of rows; fewer are read as fast as their filters. */
  readonly leastRows: number;
  /** Delay between a query and building its filters, in milliseconds. */
  readonly pauseMs: number;
  /** Returns the free bytes for a directory, if known. */
  readonly free: (directory: string) => number | undefined;
}

function rowsOf(groups: readonly Pick<RowGroup, 'rows'>[]): number {
  return groups.reduce((total, { rows }) => total + rows, 0);
}

function isOf(bloom: BloomFile, { field, kind }: Pick<Lookup, 'field' | 'kind'>): boolean {
  return bloom.field === field && bloom.kind === kind;
}

/** Whether row groups can be numbered: those with unknown times may be missing from the summary. */
function isNumbered({ blocks, version }: FileSummary): boolean {
  return version !== '' && blocks.every(block => block.timed);
}

/** Whether a run belongs to the current version of a file. */
function holdsFor({ version, first, rows }: GroupRun, file: FileSummary | undefined): boolean {
  return (
    file?.version === version && rows.every((count, index) => file.blocks[first + index]?.rows === count)
  );
}

function runIn({ file, first, rows }: FileRun, pages: readonly number[]): GroupRun {
  return { name: path.basename(file.path), version: file.version, first, rows, pages };
}

/** Returns the runs of row groups of a file that are not in `groups`. */
function runsWithout(file: FileSummary, groups: ReadonlySet<number> = new Set()): readonly FileRun[] {
  const runs: { readonly file: FileSummary; readonly first: number; readonly rows: number[] }[] = [];
  for (const [group, { rows }] of file.blocks.entries()) {
    const last = runs.at(-1);
    if (groups.has(group)) continue;
    if (last !== undefined && last.first + last.rows.length === group) last.rows.push(rows);
    else runs.push({ file, first: group, rows: [rows] });
  }
  return runs;
}

function addAll(to: Map<FileSummary, Set<number>>, file: FileSummary, groups: Iterable<number>): void {
  const known = to.get(file) ?? new Set();
  for (const group of groups) known.add(group);
  to.set(file, known);
}
