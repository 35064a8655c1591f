import path from 'node:path';
import type { Engine } from '../../engine/duckdb.js';
import { type FileSummary, isReadable, readFooters, type UnreadableFile } from '../../engine/parquet.js';
import { mapAtMost } from '../concurrent.js';
import { hasCode, versionOf } from '../files.js';
import { type Damage, systemReason } from './damage.js';
import { damageIn, hasChecksum } from './part-file.js';
import type { KeptSummaries, SummaryCache } from './summary-cache.js';

/** What is known of a file, and the version of it that this holds for. */
export type KnownFile =
  | { readonly version: string; readonly summary: FileSummary }
  | { readonly version: string; readonly damage: Damage };

/** The Parquet files of a dataset: those that can be read, in the order of their names, and those that cannot. */
export interface FileSummaries {
  readonly files: readonly FileSummary[];
  readonly damages: readonly Damage[];
}

/**
 * The summaries of the Parquet files of one dataset. A file of ours never changes under its name, so that it is read once; what
 * was read is kept on the disk for the next start.
 */
export class SummaryReader {
  readonly #directory: string;
  readonly #engine: Engine;
  readonly #cache: SummaryCache;
  readonly #key: string;
  #known: Map<string, KnownFile> | undefined;
  /** The names of files that were just written here. */
  readonly #written = new Set<string>();

  constructor(directory: string, engine: Engine, cache: SummaryCache) {
    this.#directory = directory;
    this.#engine = engine;
    this.#cache = cache;
    this.#key = path.basename(directory);
  }

  /** Whether the files of other programs, which may be written over in their place, are as they were when they were read. */
  isCurrent(): boolean {
    for (const [name, known] of this.#known ?? [])
      if (mayChange(known) && this.#versionOf(name) !== known.version) return false;
    return true;
  }

  /** The files that were read. */
  get paths(): readonly string[] {
    return [...(this.#known?.keys() ?? [])].map(name => path.join(this.#directory, name));
  }

  /** Takes a file as it is: it was written a moment ago. */
  trust(file: string): void {
    this.#written.add(path.basename(file));
  }

  /** Reads the whole of the files that were read before, and returns those that are damaged. */
  async verify(signal: AbortSignal): Promise<readonly Damage[]> {
    const known = this.#known ?? new Map<string, KnownFile>();
    const damages = await this.#damagesOf([...known.keys()], signal);
    for (const name of known.keys()) {
      const file = path.join(this.#directory, name);
      if (!hasChecksum(name) && !damages.has(name) && !(await isReadable(this.#engine, file, signal)))
        damages.set(name, { file, reason: 'is damaged: its values cannot be read' });
    }
    for (const [name, damage] of damages) known.set(name, { version: '', damage });
    return [...damages.values()];
  }

  /** Returns the summaries of the files with these names. Rejects with ENOENT when one is gone. */
  async of(names: readonly string[]): Promise<FileSummaries> {
    this.#known ??= await this.#kept(names);
    const known = this.#known;
    const versions = new Map<string, string>();
    const unread = names.filter(name => {
      const before = known.get(name);
      if (before !== undefined && !mayChange(before)) return false;
      const version = this.#versionOf(name);
      versions.set(name, version);
      return before === undefined || 'damage' in before || before.version !== version;
    });
    for (const [name, found] of await this.#read(unread))
      known.set(name, { version: versions.get(name) ?? '', ...found });
    this.#forget(new Set(names));
    if (unread.length > 0) this.#cache.later(this.#key, () => keepable(known));
    const found = names.flatMap(name => known.get(name) ?? []);
    return {
      files: found.flatMap(each => ('summary' in each ? each.summary : [])),
      damages: found.flatMap(each => ('damage' in each ? each.damage : [])),
    };
  }

  /** What was kept of files that are still as they were. */
  async #kept(names: readonly string[]): Promise<Map<string, KnownFile>> {
    const kept = await this.#cache.load(this.#key);
    const known = new Map<string, KnownFile>();
    for (const name of names) {
      const found = kept.get(name);
      if (found === undefined || this.#versionOf(name) !== found.version) continue;
      const summary = { ...found.summary, path: path.join(this.#directory, name) };
      known.set(name, { version: found.version, summary });
    }
    return known;
  }

  #versionOf(name: string): string {
    return versionOf(path.join(this.#directory, name))?.content ?? '';
  }

  async #read(
    names: readonly string[],
  ): Promise<readonly (readonly [string, { summary: FileSummary } | { damage: Damage }])[]> {
    const damages = await this.#damagesOf(names.filter(name => !this.#written.delete(name)));
    const readable = names.filter(name => !damages.has(name));
    const read = await readFooters(
      this.#engine,
      readable.map(name => path.join(this.#directory, name)),
    );
    const found = read.map((each, index) => [readable[index] ?? '', foundIn(each)] as const);
    return [...found, ...[...damages].map(([name, damage]) => [name, { damage }] as const)];
  }

  async #damagesOf(names: readonly string[], signal?: AbortSignal): Promise<Map<string, Damage>> {
    const damages = new Map<string, Damage>();
    await mapAtMost(filesAtOnce, names, async name => {
      signal?.throwIfAborted();
      const file = path.join(this.#directory, name);
      const reason = await damageIn(file, name).catch(reasonOfSystem);
      if (reason !== undefined) damages.set(name, { file, reason });
    });
    return damages;
  }

  #forget(present: ReadonlySet<string>): void {
    for (const name of this.#known?.keys() ?? []) if (!present.has(name)) this.#known?.delete(name);
  }
}

/** Files of ours stay as they were written; a damaged one may be mended. */
function mayChange(known: KnownFile): boolean {
  return 'damage' in known || known.summary.foreign;
}

/** Files that are read at the same time. */
const filesAtOnce = 8;

function foundIn(read: FileSummary | UnreadableFile): { summary: FileSummary } | { damage: Damage } {
  if (!('unreadable' in read)) return { summary: read };
  return { damage: { file: read.path, reason: 'is damaged: its footer cannot be read' } };
}

/** A file that is gone is not damaged. */
function reasonOfSystem(error: unknown): string {
  const reason = systemReason(error);
  if (reason === undefined || hasCode(error, 'ENOENT')) throw error;
  return reason;
}

/** Damaged files are read again at the next start. */
function keepable(known: ReadonlyMap<string, KnownFile>): KeptSummaries {
  return new Map([...known].flatMap(([name, each]) => ('summary' in each ? [[name, each] as const] : [])));
}
