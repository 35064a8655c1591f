import { readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Engine } from '../engine/duckdb.js';
import { type FileSummary, readFooters } from '../engine/parquet.js';
import {
  emptyWhenMissing,
  hasCode,
  listSuffix,
  locked,
  placeFile,
  replaceFile,
  writeDurably,
} from './files.js';
import { type DatasetNote, StoredDataset } from './stored.js';

/** A dataset as its directory had it, with the names of its live Parquet files. */
export interface Listing {
  readonly dataset: StoredDataset;
  readonly files: readonly FileSummary[];
  readonly names: readonly string[];
}

/**
 * The directory of one dataset. What it holds is remembered: it is listed again only when its time of change, that of its note
 * or a file of another program differs, or when it changed so lately that a second change could have the same time.
 */
export class DatasetDirectory {
  readonly path: string;
  readonly #name: string;
  readonly #engine: Engine;
  readonly #footers = new Map<string, { readonly version: string; readonly summary: FileSummary }>();
  readonly #replacements = new Map<string, readonly string[]>();
  #known: Known | undefined;

  constructor(directory: string, name: string, engine: Engine) {
    this.path = directory;
    this.#name = name;
    this.#engine = engine;
  }

  /** Returns what the directory holds now; undefined when it is not there. One that changes while it is read is read again. */
  async list(): Promise<Listing | undefined> {
    for (let reading = 1; ; reading++) {
      const stamp = await this.#stamp();
      if (stamp === undefined) return undefined;
      if (this.#known?.stamp === stamp.text && this.#known.until > Date.now()) return this.#known.listing;
      try {
        return await this.#read(stamp);
      } catch (error) {
        if (reading === mostReadings || (await this.#allThere())) throw error;
      }
    }
  }

  /** Moves a finished Parquet file into the directory; ENOENT when that is not there. */
  async add(file: string): Promise<void> {
    await placeFile(file, path.join(this.path, `${Date.now()}-${crypto.randomUUID()}.parquet`));
  }

  /**
   * Moves a finished Parquet file into the place of others, at once: of those that `choose` picks from the live ones. Returns false
   * and moves nothing when it picks none at all, by returning undefined.
   */
  async replace(file: string, choose: (live: Listing) => Replaced | undefined): Promise<boolean> {
    return locked(path.join(this.path, '.commit.lock'), async () => {
      const live = await this.list();
      const replaced = live && choose(live);
      if (replaced === undefined) return false;
      const target = path.join(this.path, `${replaced.since}-${crypto.randomUUID()}`);
      // Without its file the list has no effect, so the file's renaming is the switch.
      await writeDurably(target + listSuffix, JSON.stringify(replaced.names));
      await placeFile(file, `${target}.parquet`);
      return true;
    });
  }

  async note(): Promise<DatasetNote> {
    try {
      const note: unknown = JSON.parse(await readFile(path.join(this.path, noteFile), 'utf8'));
      return typeof note === 'object' && note !== null ? (note as DatasetNote) : {};
    } catch {
      // An unreadable note on a dataset is no reason to refuse its rows.
      return {};
    }
  }

  /** What changes whenever the directory does, within the grain of the file system's clock. */
  async #stamp(): Promise<Stamp | undefined> {
    const takenMs = Date.now();
    const foreign = [...this.#footers].flatMap(([file, { summary }]) => (summary.foreign ? [file] : []));
    const [own, ...others] = await Promise.all(
      [this.path, path.join(this.path, noteFile), ...foreign].map(versionOf),
    );
    if (own === undefined || !own.isDirectory) return undefined;
    const text = [own, ...others].map(each => each?.text ?? '').join(' ');
    return { text, settled: takenMs - own.changedMs > settleMs };
  }

  async #read({ text, settled }: Stamp): Promise<Listing> {
    const entries = (await readdir(this.path).catch(emptyWhenMissing)).sort();
    const names = entries.filter(entry => entry.endsWith('.parquet') && !entry.startsWith('.'));
    const files = await this.#summaries(names.map(name => path.join(this.path, name)));
    const replacedIn = new Map(files.map(file => [file.path, [...file.replaces]]));
    for (const entry of entries.filter(each => each.endsWith(listSuffix))) {
      const lists = replacedIn.get(path.join(this.path, entry.replace(listSuffix, '.parquet')));
      lists?.push(...(await this.#replacement(entry)));
    }
    const replaced = new Set([...replacedIn.values()].flat());
    const live = files.filter(file => !replaced.has(path.basename(file.path)));
    const note = await this.note();
    const due = await this.#removeReplaced(files, replacedIn, replaced);
    const listing = {
      dataset: new StoredDataset(this.#name, live, note),
      files: live,
      names: names.filter(name => !replaced.has(name)),
    };
    this.#known = { stamp: text, until: settled ? due : 0, listing };
    return listing;
  }

  async #summaries(files: readonly string[]): Promise<FileSummary[]> {
    const unread: string[] = [];
    const versions = new Map<string, string>();
    for (const file of files) {
      const known = this.#footers.get(file);
      if (known !== undefined && !known.summary.foreign) continue;
      const version = (await versionOf(file))?.text ?? '';
      versions.set(file, version);
      if (known?.version !== version) unread.push(file);
    }
    for (const summary of await readFooters(this.#engine, unread)) {
      this.#footers.set(summary.path, { version: versions.get(summary.path) ?? '', summary });
    }
    if (this.#footers.size > files.length) this.#forget(new Set(files));
    return files.flatMap(file => this.#footers.get(file)?.summary ?? []);
  }

  #forget(present: ReadonlySet<string>): void {
    for (const file of this.#footers.keys()) if (!present.has(file)) this.#footers.delete(file);
  }

  async #replacement(entry: string): Promise<readonly string[]> {
    const known = this.#replacements.get(entry);
    if (known !== undefined) return known;
    const names = JSON.parse(await readFile(path.join(this.path, entry), 'utf8')) as string[];
    this.#replacements.set(entry, names);
    return names;
  }

  /** Deletes files that were replaced so long ago that no query reads them any more; returns when some are due next. */
  async #removeReplaced(
    files: readonly FileSummary[],
    replacedIn: ReadonlyMap<string, readonly string[]>,
    replaced: ReadonlySet<string>,
  ): Promise<number> {
    const dead = files.filter(file => replaced.has(path.basename(file.path)));
    if (dead.length === 0) return Number.POSITIVE_INFINITY;
    const replacers = [...replacedIn].flatMap(([file, names]) => (names.length > 0 ? [file] : []));
    const times = await Promise.all(replacers.map(file => stat(file)));
    const due = Math.max(...times.map(({ mtimeMs }) => mtimeMs)) + keptMs;
    if (Date.now() < due) return due;
    for (const file of dead) await rm(file.path, { force: true });
    for (const file of replacers) await rm(file.replace(/\.parquet$/, listSuffix), { force: true });
    return 0;
  }

  async #allThere(): Promise<boolean> {
    const found = await Promise.all([...this.#footers.keys()].map(versionOf));
    return !found.includes(undefined) && (await versionOf(this.path)) !== undefined;
  }
}

/** Names of files that another one replaces, and the time, in milliseconds since 1970, that stands in its name and decides its place among the others. */
export interface Replaced {
  readonly since: number;
  readonly names: readonly string[];
}

/** Writes the note on a dataset into its directory. */
export async function writeNote(directory: string, note: DatasetNote): Promise<void> {
  await replaceFile(path.join(directory, noteFile), `${JSON.stringify(note, null, 2)}\n`);
}

interface Known {
  readonly stamp: string;
  /** When it must be read again though nothing has changed, in milliseconds since 1970. */
  readonly until: number;
  readonly listing: Listing;
}

interface Stamp {
  readonly text: string;
  /** A change from now on gives another stamp. */
  readonly settled: boolean;
}

const noteFile = 'dataset.json';

/** A dataset that is deleted and made again over and over is given up on. */
const mostReadings = 3;

/** The coarsest clock of a file system that is in use. */
const settleMs = 2_000;

/** Longer than any query runs. */
const keptMs = 15 * 60_000;

interface Version {
  readonly text: string;
  readonly changedMs: number;
  readonly isDirectory: boolean;
}

async function versionOf(file: string): Promise<Version | undefined> {
  try {
    const found = await stat(file, { bigint: true });
    const text = `${found.ino}-${found.size}-${found.mtimeNs}`;
    return { text, changedMs: Number(found.mtimeMs), isDirectory: found.isDirectory() };
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
