import { statSync } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Engine } from '../engine/duckdb.js';
import { type FileSummary, readFooters } from '../engine/parquet.js';
import {
  emptyWhenMissing,
  hasCode,
  listSuffix,
  locked,
  logSuffix,
  placeFile,
  replaceFile,
  writeDurably,
} from './files.js';
import { type DatasetNote, type FieldNote, noteIn, StoredDataset } from './stored.js';

/** What the directory of a dataset holds: the dataset, and the names of its live Parquet files. */
export interface Listing {
  readonly dataset: StoredDataset;
  readonly files: readonly FileSummary[];
  readonly names: readonly string[];
  /** Names of logs of batches that are in no Parquet file yet, as far as is known. */
  readonly logs: readonly string[];
  /** The ids of all files that are there, replaced ones too. */
  readonly ids: ReadonlySet<string>;
}

/**
 * The directory of one dataset. Its listing is cached, and made again only when the time of change of the directory, of its note
 * or of a file of another program differs, or is so recent that a second change could have the same one.
 */
export class DatasetDirectory {
  readonly path: string;
  readonly #name: string;
  readonly #engine: Engine;
  readonly #footers = new Map<string, { readonly version: string; readonly summary: FileSummary }>();
  readonly #replacements = new Map<string, readonly string[]>();
  #known: Known | undefined;
  /** The time in the name of the newest file, in milliseconds since 1970: files are in the order in which they came. */
  #lastAdded = 0;

  constructor(directory: string, name: string, engine: Engine) {
    this.path = directory;
    this.#name = name;
    this.#engine = engine;
  }

  /** Returns what the directory holds now; undefined when it does not exist. One that changes while it is read is read again. */
  async list(): Promise<Listing | undefined> {
    for (let reading = 1; ; reading++) {
      const stamp = this.#stamp();
      if (stamp === undefined) return undefined;
      if (this.#known?.stamp === stamp.text && this.#known.until > Date.now()) return this.#known.listing;
      try {
        return await this.#read(stamp);
      } catch (error) {
        if (reading === mostReadings || this.#allThere()) throw error;
      }
    }
  }

  exists(): boolean {
    return versionOf(this.path)?.isDirectory === true;
  }

  /** Moves a finished Parquet file into the directory; rejects with ENOENT when the directory is gone. */
  async add(file: string, id: string = crypto.randomUUID()): Promise<void> {
    this.#lastAdded = Math.max(Date.now(), this.#lastAdded + 1);
    await placeFile(file, path.join(this.path, `${this.#lastAdded}-${id}.parquet`));
  }

  /**
   * Puts a finished Parquet file in place of others, in one step: those that `choose` picks from the live ones. Returns false
   * and moves nothing when `choose` returns undefined.
   */
  async replace(file: string, choose: (live: Listing) => Replaced | undefined): Promise<boolean> {
    return this.#locked(async () => {
      const live = await this.list();
      const replaced = live && choose(live);
      if (replaced === undefined) return false;
      const target = path.join(this.path, `${replaced.since}-${crypto.randomUUID()}`);
      // Without its file the list has no effect: renaming the file is the switch.
      await writeDurably(target + listSuffix, JSON.stringify(replaced.names));
      await placeFile(file, `${target}.parquet`);
      return true;
    });
  }

  /** Changes the note on one field and returns it, with the properties that `note` leaves out as they were. */
  async annotate(field: string, note: FieldNote): Promise<FieldNote> {
    return this.#locked(async () => {
      const before = await this.note();
      const changed = { ...before.fields?.[field], ...note };
      await writeNote(this.path, { ...before, fields: { ...before.fields, [field]: changed } });
      return changed;
    });
  }

  async note(): Promise<DatasetNote> {
    try {
      return noteIn(JSON.parse(await readFile(path.join(this.path, noteFile), 'utf8')));
    } catch {
      // An unreadable note on a dataset is no reason to refuse its rows.
      return {};
    }
  }

  /** What changes whenever the directory does, within the resolution of the file system's clock. */
  #stamp(): Stamp | undefined {
    const takenMs = Date.now();
    const foreign = [...this.#footers].flatMap(([file, { summary }]) => (summary.foreign ? [file] : []));
    const [own, ...others] = [this.path, path.join(this.path, noteFile), ...foreign].map(versionOf);
    if (own === undefined || !own.isDirectory) return undefined;
    const text = [own, ...others].map(each => each?.text ?? '').join(' ');
    return { text, settled: takenMs - own.changedMs > settleMs };
  }

  async #read({ text, settled }: Stamp): Promise<Listing> {
    const entries = (await readdir(this.path).catch(emptyWhenMissing)).sort();
    const names = entries.filter(entry => entry.endsWith('.parquet') && !entry.startsWith('.'));
    const lists = entries.filter(each => each.endsWith(listSuffix) && names.includes(fileOf(each)));
    const listed = await Promise.all(lists.map(list => this.#replacement(list)));
    const replacedBy = new Map(lists.map((list, index) => [fileOf(list), listed[index] ?? []]));
    const hidden = new Set(listed.flat());
    const files = await this.#summaries(
      names.filter(name => !hidden.has(name)).map(name => path.join(this.path, name)),
    );
    for (const { path: file, replaces } of files)
      if (replaces.length > 0) replacedBy.set(path.basename(file), replaces);
    const replaced = new Set([...replacedBy.values()].flat());
    const live = files.filter(file => !replaced.has(path.basename(file.path)));
    const note = await this.note();
    const due = await this.#removeReplaced(
      names.filter(name => replaced.has(name)),
      replacedBy,
    );
    const listing = {
      dataset: new StoredDataset(this.#name, live, note),
      files: live,
      names: names.filter(name => !replaced.has(name)),
      logs: entries.filter(entry => entry.endsWith(logSuffix)),
      ids: new Set(names.map(idOf)),
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
      const version = versionOf(file)?.text ?? '';
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

  /**
   * Deletes files that were replaced so long ago that no query still reads them; returns when the next ones are due, in
   * milliseconds since 1970.
   */
  async #removeReplaced(dead: readonly string[], replacedBy: ReplacedBy): Promise<number> {
    if (dead.length === 0) return Number.POSITIVE_INFINITY;
    const replacers = [...replacedBy.keys()];
    const times = await Promise.all(replacers.map(name => stat(path.join(this.path, name))));
    const due = Math.max(...times.map(({ mtimeMs }) => mtimeMs)) + retentionMs;
    if (Date.now() < due) return due;
    const lists = replacers.map(name => name.replace(/\.parquet$/, listSuffix));
    for (const name of [...inOrder(dead, replacedBy), ...lists])
      await rm(path.join(this.path, name), { force: true });
    return 0;
  }

  /** Runs `work` while nothing else replaces files or changes the note; rejects with ENOENT when the directory is gone. */
  #locked<T>(work: () => Promise<T>): Promise<T> {
    return locked(path.join(this.path, '.commit.lock'), work);
  }

  #allThere(): boolean {
    return [this.path, ...this.#footers.keys()].every(each => versionOf(each) !== undefined);
  }
}

/**
 * The names of the files that another one replaces, and the time in that one's name, in milliseconds since 1970, which decides
 * its place.
 */
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
  /** When it must be read again even if nothing has changed, in milliseconds since 1970. */
  readonly until: number;
  readonly listing: Listing;
}

interface Stamp {
  readonly text: string;
  /** Any change from now on gives another stamp. */
  readonly settled: boolean;
}

const noteFile = 'dataset.json';

/** The name of a file -> the names of those that it replaces. */
type ReplacedBy = ReadonlyMap<string, readonly string[]>;

/** Puts each file after those that it replaces: if it were deleted first, they would count again. */
function inOrder(names: readonly string[], replacedBy: ReplacedBy): readonly string[] {
  const ordered = new Set<string>();
  const visit = (name: string) => {
    for (const earlier of replacedBy.get(name) ?? []) if (!ordered.has(earlier)) visit(earlier);
    ordered.add(name);
  };
  for (const name of names) visit(name);
  return [...ordered];
}

/** The file that a list belongs to. */
function fileOf(list: string): string {
  return list.replace(listSuffix, '.parquet');
}

/** A file of ours is called `TIME-ID.parquet`. */
function idOf(name: string): string {
  return name.slice(name.indexOf('-') + 1).replace(/\.parquet$/, '');
}

/** How many times a directory is read that keeps changing meanwhile. */
const mostReadings = 3;

/** The coarsest clock of a file system in use, that of FAT. */
const settleMs = 2_000;

/** Longer than any query runs. */
const retentionMs = 15 * 60_000;

interface Version {
  readonly text: string;
  readonly changedMs: number;
  readonly isDirectory: boolean;
}

/** Every query asks for some: synchronously, as handing the question to another thread takes longer than its answer. */
function versionOf(file: string): Version | undefined {
  try {
    const found = statSync(file, { bigint: true, throwIfNoEntry: false });
    if (found === undefined) return undefined;
    const text = `${found.ino}-${found.size}-${found.mtimeNs}`;
    return { text, changedMs: Number(found.mtimeMs), isDirectory: found.isDirectory() };
  } catch (error) {
    if (hasCode(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}
