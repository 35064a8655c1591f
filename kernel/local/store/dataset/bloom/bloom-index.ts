import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { removeFile } from '../../../../files.js';
import { visible } from '../../../../text.js';
import { inDataDir } from '../../../data-layout.js';
import { literal } from '../../../duckdb/duckdb-expressions.js';
import type { Engine } from '../../../engine/duckdb.js';
import type { FileSummary } from '../../../engine/engine-parquet.js';
import type { Equality, RowGroup } from '../../../sql/compiled-query.js';
import type { GroupsLeftOut } from '../stored.js';
import { batchesOf, bloomPages, type FileRun } from './bloom-build.js';
import { type BloomFile, type GroupRun, groupsWithout, readBlooms, writeBlooms } from './bloom-file.js';
import type { ValueHash } from './bloom-pages.js';

/**
 * Bloom filters under `<dataDir>/.cache/blooms`, a directory a dataset, of the fields that queries have compared with a constant: which row
 * groups cannot have the value. They are made after the first such query, in the background, and may be deleted at any time. What does not
 * match its checksum, or the file as it is now, counts as absent.
 */
export class BloomIndex {
  readonly #root: string;
  readonly #engine: Engine;
  readonly #log: (text: string) => void;
  readonly #options: BloomOptions;
  readonly #known = new Map<string, Promise<BloomFile[]>>();
  /** Fields whose filters are made, or cannot be. */
  readonly #begun = new Set<string>();
  readonly #closing = new AbortController();
  #version: Promise<string> | undefined;
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
    this.#options = { leastRows: 200_000, pauseMs: 1_500, ...options };
  }

  /** Whether filters for so many rows are worth what they cost. */
  isWorthwhile(files: readonly FileSummary[]): boolean {
    return rowsOf(files.flatMap(file => file.blocks)) >= this.#options.leastRows;
  }

  /**
   * Returns the row groups of the files of a dataset that have no row for which all equalities hold, as far as is known, and has what is not
   * known made. `key` is the name of the directory of the dataset. Rejects with EngineError.
   */
  async groupsLeftOut(
    key: string,
    files: readonly FileSummary[],
    equalities: readonly Equality[],
  ): Promise<GroupsLeftOut> {
    const leftOut = new Map<FileSummary, Set<number>>();
    const byName = new Map(
      files.flatMap(file => (isNumbered(file) ? [[path.basename(file.path), file]] : [])),
    );
    for (const equality of equalities) {
      const known = await this.#filesOf(key, equality);
      const hashes = known.length === 0 ? [] : await this.#hashes(equality);
      const covered = new Map<FileSummary, Set<number>>();
      for (const bloom of known) {
        const found = await this.#without(key, bloom, byName, hashes);
        for (const [file, groups, without] of found) {
          addAll(covered, file, groups);
          addAll(leftOut, file, without);
        }
      }
      this.#later(key, equality, [...byName.values()], covered);
    }
    return leftOut;
  }

  /** Deletes the filters of a dataset. */
  async forget(key: string): Promise<void> {
    this.#known.delete(key);
    await rm(path.join(this.#root, key), { recursive: true, force: true }).catch(() => undefined);
  }

  /** Resolves once the filters that are due are made. */
  async settled(): Promise<void> {
    await this.#work;
  }

  /** Ends what is being made. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#work;
  }

  /** The files of filters of a field. */
  async #filesOf(key: string, equality: Equality): Promise<readonly BloomFile[]> {
    const loading = this.#known.get(key) ?? this.#load(key);
    this.#known.set(key, loading);
    const version = await this.#engineVersion();
    return (await loading).filter(each => isOf(each, equality) && each.engine === version);
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

  /** The engine's hash of a value may be another in its next version. */
  #engineVersion(): Promise<string> {
    this.#version ??= this.#engine.run('SELECT version()').then(rows => String(rows[0]?.[0]));
    return this.#version;
  }

  async #hashes({ type, values }: Equality): Promise<readonly ValueHash[]> {
    if (values.length === 0) return [];
    const list = values.map(value => literal(type, value));
    const rows = await this.#engine.run(
      `SELECT (h & 4294967295)::UINTEGER, (h >> 32)::UINTEGER
       FROM (SELECT hash(v) AS h FROM (SELECT unnest([${list.join(', ')}]) AS v))`,
    );
    return rows.map(([low, high]) => ({ low: Number(low), high: Number(high) }));
  }

  /** For the files that filters are known of: which row groups these are of, and which of them have none of the values. */
  async #without(
    key: string,
    bloom: BloomFile,
    files: ReadonlyMap<string, FileSummary>,
    hashes: readonly ValueHash[],
  ): Promise<readonly (readonly [FileSummary, readonly number[], readonly number[]])[]> {
    const fits = (run: GroupRun) => holdsFor(run, files.get(run.name));
    try {
      const without = await groupsWithout(bloom, fits, hashes);
      return [...without].flatMap(([run, groups]) => {
        const file = files.get(run.name);
        return file === undefined ? [] : [[file, run.rows.map((_, index) => run.first + index), groups]];
      });
    } catch (error) {
      // Damaged or gone: the rows are read, and the filters made again.
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
    { field, type }: Equality,
    files: readonly FileSummary[],
    covered: ReadonlyMap<FileSummary, ReadonlySet<number>>,
  ): void {
    const name = JSON.stringify([key, field, type]);
    const runs = files.flatMap(file => runsWithout(file, covered.get(file)));
    const isMuch = rowsOf(runs.flatMap(run => run.rows.map(rows => ({ rows })))) >= this.#options.leastRows;
    if (!isMuch || this.#begun.has(name) || this.#closing.signal.aborted) return;
    this.#begun.add(name);
    this.#work = this.#work.then(async () => {
      try {
        await delay(this.#options.pauseMs, undefined, { ref: false, signal: this.#closing.signal });
        const isDone = await this.#make(key, { field, type }, runs);
        await this.#tidy(key, { field, type }, files);
        if (isDone) this.#begun.delete(name);
      } catch (error) {
        // They only make the next search faster.
        if (!this.#closing.signal.aborted)
          this.#log(`no filters for ${visible(field)}: ${visible(String(error))}`);
      }
    });
  }

  /** Makes the filters of runs; returns whether they can be. */
  async #make(key: string, of: Pick<Equality, 'field' | 'type'>, runs: readonly FileRun[]): Promise<boolean> {
    const directory = path.join(this.#root, key);
    const engine = await this.#engineVersion();
    for (const batch of batchesOf(runs)) {
      const pages = await bloomPages(this.#engine, batch, of, this.#closing.signal);
      if (pages === undefined) return false;
      // The dataset was deleted meanwhile.
      if (!this.#known.has(key)) return true;
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const header = { ...of, engine, runs: batch.map(runIn) };
      const file = path.join(directory, `${crypto.randomUUID()}.bloom`);
      const made = await writeBlooms(file, header, pages).catch(async error => {
        await removeFile(file).catch(() => undefined);
        throw error;
      });
      (await this.#known.get(key))?.push(made);
    }
    return true;
  }

  /** Deletes the filters of files that are gone. */
  async #tidy(
    key: string,
    of: Pick<Equality, 'field' | 'type'>,
    files: readonly FileSummary[],
  ): Promise<void> {
    const names = new Map(files.map(file => [path.basename(file.path), file]));
    const gone = ((await this.#known.get(key)) ?? []).filter(
      each => isOf(each, of) && !each.runs.some(run => holdsFor(run, names.get(run.name))),
    );
    for (const each of gone) await this.#drop(key, each);
  }
}

interface BloomOptions {
  /** Fewer are read as fast as their filters. */
  readonly leastRows: number;
  /** How long after a query its filters are made, in milliseconds. */
  readonly pauseMs: number;
}

function rowsOf(groups: readonly Pick<RowGroup, 'rows'>[]): number {
  return groups.reduce((total, { rows }) => total + rows, 0);
}

function isOf(bloom: BloomFile, { field, type }: Pick<Equality, 'field' | 'type'>): boolean {
  return bloom.field === field && bloom.type === type;
}

/** Whether the numbers of the row groups of a file are known: those whose times are not known may be left out. */
function isNumbered({ blocks, version }: FileSummary): boolean {
  return version !== '' && blocks.every(block => block.timed);
}

/** Whether a run is one of a file with its name as it is now. */
function holdsFor({ version, first, rows }: GroupRun, file: FileSummary | undefined): boolean {
  return (
    file?.version === version && rows.every((count, index) => file.blocks[first + index]?.rows === count)
  );
}

function runIn({ file, first, rows }: FileRun): GroupRun {
  return { name: path.basename(file.path), version: file.version, first, rows };
}

/** The runs of row groups of a file that are not among some. */
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
