import path from 'node:path';
import { present } from '../../../present.js';
import type { FileSummary, Footer, UnreadableFile } from '../../engine/engine-parquet.js';
import { mapAtMost } from '../concurrent.js';
import { systemFault, versionOf } from '../store-files.js';
import type { Damage } from './dataset-damage.js';
import type { FooterReader } from './footers.js';
import { type ExaminedPart, examinePart, footerIn, hasChecksum } from './part-file.js';
import { type ExternalFooter, partFooter } from './part-footer.js';
import type { CachedSummaries, SummaryCache } from './summary-cache.js';

/** Summary or damage of a file, and the file version that it describes. */
export type KnownFile =
  | { readonly version: string; readonly summary: FileSummary }
  | { readonly version: string; readonly damage: Damage };

/** Parquet files of a dataset: the readable ones, in order of their names, and the damaged ones. */
export interface FileSummaries {
  readonly files: readonly FileSummary[];
  readonly damages: readonly Damage[];
}

/**
 * Summaries of the Parquet files of one dataset. Our files never change under their name, so each is read once unless it is replaced;
 * summaries are cached on disk for the next start.
 */
export class SummaryReader {
  readonly #directory: string;
  readonly #footers: FooterReader;
  readonly #cache: SummaryCache;
  readonly #key: string;
  #loading: Promise<Map<string, KnownFile>> | undefined;
  #known: Map<string, KnownFile> | undefined;
  /** Names of files just written by this process. */
  readonly #written = new Set<string>();

  constructor(directory: string, footers: FooterReader, cache: SummaryCache) {
    this.#directory = directory;
    this.#footers = footers;
    this.#cache = cache;
    this.#key = path.basename(directory);
  }

  /** Whether files of other programs, which may be overwritten, are unchanged since they were read. */
  isCurrent(): boolean {
    for (const [name, known] of this.#known ?? [])
      if (mayChange(known) && this.#versionOf(name) !== known.version) return false;
    return true;
  }

  /** Paths of the files read. */
  get paths(): readonly string[] {
    return [...(this.#known?.keys() ?? [])].map(name => this.#path(name));
  }

  /** Marks a file as just written, so that it is not verified. */
  trust(file: string): void {
    this.#written.add(path.basename(file));
  }

  /** Rereads known files completely and returns the damaged ones. */
  async verify(signal: AbortSignal): Promise<readonly Damage[]> {
    const known = this.#known ?? new Map<string, KnownFile>();
    const damages = await this.#damagesOf([...known.keys()], signal);
    for (const name of known.keys()) {
      const file = this.#path(name);
      if (!hasChecksum(name) && !damages.has(name) && !(await this.#footers.isReadable(file, signal)))
        damages.set(name, { file, reason: 'is damaged: its values are unreadable' });
    }
    for (const [name, damage] of damages) known.set(name, { version: '', damage });
    return [...damages.values()];
  }

  /** Returns the summaries of the named files. Rejects with ENOENT if one is gone. */
  async of(names: readonly string[]): Promise<FileSummaries> {
    this.#loading ??= this.#cached(names);
    this.#known = await this.#loading;
    const known = this.#known;
    const unread = names.filter(name => {
      const before = known.get(name);
      return before === undefined || 'damage' in before || before.version !== this.#versionOf(name);
    });
    for (const [name, found] of await this.#read(unread)) known.set(name, found);
    this.#forget(new Set(names));
    if (unread.length > 0) this.#cache.later(this.#key, () => keepable(known));
    const found = names.flatMap(name => known.get(name) ?? []);
    return {
      files: found.flatMap(each => ('summary' in each ? each.summary : [])),
      damages: found.flatMap(each => ('damage' in each ? each.damage : [])),
    };
  }

  /** Returns the cached summaries of unchanged files. */
  async #cached(names: readonly string[]): Promise<Map<string, KnownFile>> {
    const cached = await this.#cache.load(this.#key);
    const known = new Map<string, KnownFile>();
    for (const name of names) {
      const found = cached.get(name);
      if (found === undefined || this.#versionOf(name) !== found.version) continue;
      known.set(name, { ...found, summary: { ...found.summary, path: this.#path(name) } });
    }
    return known;
  }

  /** Reads files. Versions are taken before reading, so a file overwritten meanwhile is read again. */
  async #read(names: readonly string[]): Promise<readonly (readonly [string, KnownFile])[]> {
    const versions = new Map(names.map(name => [name, versionOf(this.#path(name))]));
    const looks = await mapAtMost(filesAtOnce, names, name => this.#look(name));
    const looked = new Map<string, Looked>(names.map((name, index) => [name, looks[index] ?? askEngine]));
    const byEngine = await this.#readByEngine(looked);
    return names.map(name => {
      const { content: version = '', bytes = 0 } = versions.get(name) ?? {};
      const own = looked.get(name);
      if (typeof own === 'string')
        return [name, { version, damage: { file: this.#path(name), reason: own } }];
      const footer = byEngine.get(name) ?? (typeof own === 'object' && !('shape' in own) ? own : undefined);
      if (footer !== undefined && !('unreadable' in footer))
        return [name, { version, summary: { ...footer, bytes, version } }];
      if (versionOf(this.#path(name)) === undefined) throw missing(this.#path(name));
      return [name, { version, damage: { file: this.#path(name), reason: unreadableFooter } }];
    });
  }

  /** Returns the footers that need the engine: of other programs' files with the same columns, it reads one. */
  async #readByEngine(
    looked: ReadonlyMap<string, Looked>,
  ): Promise<ReadonlyMap<string, Footer | UnreadableFile>> {
    const found = new Map<string, Footer | UnreadableFile>();
    const read = async (names: readonly string[]) => {
      const footers = await this.#footers.read(names.map(name => this.#path(name)));
      for (const [index, footer] of footers.entries()) found.set(names[index] ?? '', footer);
    };
    const foreign = [...looked].flatMap(([name, own]) =>
      typeof own === 'object' && 'shape' in own ? [{ name, ...own }] : [],
    );
    const firsts = new Map(foreign.toReversed().map(({ shape, name }) => [shape, name]));
    const unread = [...looked].flatMap(([name, own]) => (own === askEngine ? [name] : []));
    await read([...unread, ...firsts.values()]);
    for (const { name, shape, of } of foreign) {
      const first = found.get(firsts.get(shape) ?? '');
      if (first !== undefined && !('unreadable' in first)) found.set(name, of(first.fields));
    }
    await read(foreign.flatMap(({ name }) => (found.has(name) ? [] : [name])));
    return found;
  }

  /** Reads a file, completely unless it was just written. */
  async #look(name: string): Promise<Looked> {
    const file = this.#path(name);
    const isTrusted = this.#written.delete(name);
    try {
      const { damage, footer }: ExaminedPart = isTrusted
        ? present({ footer: await footerIn(file) })
        : await examinePart(file, name);
      if (damage !== undefined) return damage;
      return (footer && partFooter(file, footer)) ?? askEngine;
    } catch (error) {
      return faultIn(file, error);
    }
  }

  #path(name: string): string {
    return path.join(this.#directory, name);
  }

  #versionOf(name: string): string {
    return versionOf(this.#path(name))?.content ?? '';
  }

  async #damagesOf(names: readonly string[], signal?: AbortSignal): Promise<Map<string, Damage>> {
    const damages = new Map<string, Damage>();
    await mapAtMost(filesAtOnce, names, async name => {
      signal?.throwIfAborted();
      const file = this.#path(name);
      const reason = await examinePart(file, name).then(
        ({ damage }) => damage,
        error => faultIn(file, error),
      );
      if (reason !== undefined) damages.set(name, { file, reason });
    });
    return damages;
  }

  #forget(present: ReadonlySet<string>): void {
    for (const name of this.#known?.keys() ?? []) if (!present.has(name)) this.#known?.delete(name);
  }
}

/** Whether a file may change: our files never do, but a damaged one may be repaired. */
function mayChange(known: KnownFile): boolean {
  return 'damage' in known || known.summary.foreign;
}

/** Result of reading a file: its footer, that of another program, the reason for its damage, or that the engine is needed. */
type Looked = Footer | ExternalFooter | string | typeof askEngine;

const askEngine = Symbol('the engine reads its footer');

/** Maximum number of files read concurrently. */
const filesAtOnce = 16;

const unreadableFooter = 'is damaged: its footer is unreadable';

function missing(file: string): Error {
  return Object.assign(new Error(`${file} is gone`), { code: 'ENOENT' });
}

/** Returns what is wrong with a file; rethrows if it is gone, which is not damage. */
function faultIn(file: string, error: unknown): string {
  const fault = systemFault(file, error);
  if (fault === undefined) throw error;
  return fault;
}

/** Omits damaged files, which are read again at the next start. */
function keepable(known: ReadonlyMap<string, KnownFile>): CachedSummaries {
  return new Map([...known].flatMap(([name, each]) => ('summary' in each ? [[name, each] as const] : [])));
}
