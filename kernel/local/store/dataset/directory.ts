import { lstatSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { removeFile, textOf } from '../../../files.js';
import { present } from '../../../present.js';
import type { FileSummary } from '../../engine/engine-parquet.js';
import { locked } from '../../lease/lock.js';
import { changedReason, sealedText, unsealed } from '../../sealed.js';
import {
  damagedSuffix,
  isLeftover,
  listed,
  logSuffix,
  type Placing,
  placeFile,
  removeStale,
  replaceFile,
  systemFault,
  type Version,
  versionOf,
} from '../store-files.js';
import { copiesAmong, copyReason, givenName } from './dataset-copies.js';
import { type Damage, damagedDataset } from './dataset-damage.js';
import type { FooterReader } from './footers.js';
import { idOf, partPath } from './part-file.js';
import { limitsOf } from './read-limits.js';
import { fileOf, listOf, listSuffix, readReplacements, writeReplacements } from './replacement-list.js';
import { type DatasetNote, type FieldNote, noteIn, StoredDataset } from './stored.js';
import { SummaryReader } from './summaries.js';
import type { SummaryCache } from './summary-cache.js';

/** Contents of a dataset's directory: the dataset, and the names of its live Parquet files. */
export interface Listing {
  readonly dataset: StoredDataset;
  readonly files: readonly FileSummary[];
  readonly names: readonly string[];
  /** Names of logs with batches that are in no Parquet file yet, as far as known. */
  readonly logs: readonly string[];
  /** Ids of all existing files and of those that they replace. */
  readonly ids: ReadonlySet<string>;
  /** Unreadable files with rows: without them, every result would be wrong. */
  readonly damages: readonly Damage[];
  /** Other unreadable files: all rows are present. */
  readonly defects: readonly Damage[];
}

/**
 * The directory of one dataset. Its listing is cached, and rebuilt only if the mtime of the directory, of its note or of a file that may be
 * overwritten differs, or is so recent that another change could get the same one.
 */
export class DatasetDirectory {
  readonly path: string;
  readonly #name: string;
  readonly #summaries: SummaryReader;
  readonly #placing: Placing;
  readonly #replacements = new Map<string, readonly string[]>();
  #known: Known | undefined;
  /** Time in the name of the newest file, in milliseconds since 1970: files are ordered by insertion. */
  #lastAdded = 0;

  constructor(directory: string, name: string, footers: FooterReader, cache: SummaryCache, placing: Placing) {
    this.path = directory;
    this.#name = name;
    this.#summaries = new SummaryReader(directory, footers, cache);
    this.#placing = placing;
  }

  /** Returns the current listing if it is cached; undefined if the directory must be read or is gone. */
  current(): Listing | undefined {
    const known = this.#known;
    if (known === undefined || known.until <= Date.now() || this.#stamp()?.text !== known.stamp)
      return undefined;
    return this.#summaries.isCurrent() ? known.listing : undefined;
  }

  /** Returns the current listing, undefined if the directory does not exist. Rereads a directory that changes meanwhile. */
  async list(): Promise<Listing | undefined> {
    for (let reading = 1; ; reading++) {
      const current = this.current();
      if (current !== undefined) return current;
      const stamp = this.#stamp();
      if (stamp === undefined) return this.#misplaced();
      try {
        const listing = await this.#read(stamp);
        // A directory deleted in the meantime looks empty.
        if (this.#stamp() !== undefined) return listing;
      } catch (error) {
        if (reading === mostReadings || this.#allThere()) throw error;
      }
    }
  }

  /** Whether anything has its name, even if it is not a directory. */
  exists(): boolean {
    try {
      return lstatSync(this.path, { throwIfNoEntry: false }) !== undefined;
    } catch {
      return false;
    }
  }

  /** Moves a finished Parquet file into the directory; rejects with ENOENT if the directory is gone. */
  async add(file: string, id: string = crypto.randomUUID()): Promise<void> {
    this.#lastAdded = Math.max(Date.now(), this.#lastAdded + 1);
    await this.#place(file, await partPath(file, path.join(this.path, `${this.#lastAdded}-${id}`)));
  }

  /**
   * Atomically replaces live files with a finished Parquet file: those that `choose` picks. Returns false and moves nothing if `choose`
   * returns undefined, or if a file whose rows were copied was moved away in the meantime. Throws LocalError if the directory has damaged
   * files, as it is unknown which files they replace.
   */
  async replace(file: string, choose: (live: Listing) => Replaced | undefined): Promise<boolean> {
    return this.#locked(async () => {
      const live = await this.list();
      if (live !== undefined && live.damages.length > 0) throw damagedDataset(this.#name, live.damages);
      const replaced = live && choose(live);
      if (replaced === undefined) return false;
      const target = await partPath(file, path.join(this.path, `${replaced.since}-${crypto.randomUUID()}`));
      // Without its file the list has no effect: renaming the file is the commit.
      await writeReplacements(target, [...replaced.names, ...this.#earlier(replaced.names)]);
      await this.#place(file, target);
      if (!replaced.copied || replaced.names.every(name => this.#isThere(name))) return true;
      // Rows that a user moved away in the meantime must not reappear with the new file.
      for (const each of [target, listOf(target)]) await removeFile(each);
      return false;
    });
  }

  /** Returns the missing files that replaced files had replaced themselves: a file that was moved away may come back. */
  #earlier(names: readonly string[]): readonly string[] {
    const all = names.flatMap(name => this.#replacements.get(listOf(name)) ?? []);
    return all.filter(name => !this.#isThere(name));
  }

  #isThere(name: string): boolean {
    return versionOf(path.join(this.path, name)) !== undefined;
  }

  /** Reads all listed files completely and returns the damaged ones. */
  verify(signal: AbortSignal): Promise<readonly Damage[]> {
    return this.#summaries.verify(signal);
  }

  /**
   * Changes the note on one field and returns it; properties absent from `note` stay unchanged. Throws LocalError if the dataset's note is
   * damaged, as it would be lost.
   */
  async annotate(field: string, note: FieldNote): Promise<FieldNote> {
    const changed = await this.change(before => ({
      ...before,
      fields: { ...before.fields, [field]: { ...before.fields?.[field], ...note } },
    }));
    return changed.fields?.[field] ?? note;
  }

  /** Changes the dataset's note and returns it; throws like {@link annotate}. */
  async change(change: (before: DatasetNote) => DatasetNote): Promise<DatasetNote> {
    return this.#locked(async () => {
      const { note: before, defect } = await this.#readNote();
      if (before === undefined) throw damagedDataset(this.#name, defect === undefined ? [] : [defect]);
      const changed = change(before);
      await writeNote(this.path, changed);
      return changed;
    });
  }

  /** Returns the dataset's note, empty if it cannot be read. */
  async note(): Promise<DatasetNote> {
    return (await this.#readNote()).note ?? {};
  }

  /** Reads the note. An unreadable note does not make the rows unreadable. */
  async #readNote(): Promise<{ readonly note?: DatasetNote; readonly defect?: Damage }> {
    const file = path.join(this.path, noteFile);
    try {
      const { content, intact } = unsealed(JSON.parse(await textOf(file)));
      const defect = intact === false ? { file, reason: changedReason } : undefined;
      return { note: noteIn(content), ...present({ defect }) };
    } catch (error) {
      const reason = error instanceof SyntaxError ? 'is not JSON' : systemFault(file, error);
      return reason === undefined ? { note: {} } : { defect: { file, reason } };
    }
  }

  async #place(draft: string, file: string): Promise<void> {
    this.#summaries.trust(file);
    await placeFile(draft, file, this.#placing);
  }

  /** Returns a stamp that changes whenever the directory does, within the resolution of the file system's clock. */
  #stamp(): Stamp | undefined {
    const takenMs = Date.now();
    const own = versionOr(this.path, () => undefined);
    if (own === undefined || !own.isDirectory) return undefined;
    const note = versionOr(path.join(this.path, noteFile), error => ({ text: String(error) }));
    return { text: `${own.text} ${note?.text}`, settled: takenMs - own.changedMs > settleMs };
  }

  /** Returns the listing if something other than a directory is at its path; undefined if nothing is. */
  async #misplaced(): Promise<Listing | undefined> {
    const { fault } = await listed(this.path);
    if (fault === undefined) return undefined;
    return {
      dataset: new StoredDataset(this.#name, [], {}),
      ...{ files: [], names: [], logs: [], ids: new Set(), defects: [] },
      damages: [{ file: this.path, reason: fault }],
    };
  }

  async #read({ text, settled }: Stamp): Promise<Listing> {
    const { entries, damage } = await this.#entries();
    const all = entries.filter(entry => entry.endsWith('.parquet') && !entry.startsWith('.'));
    const names = all.filter(notAmong(copiesAmong(all)));
    const lists = entries.filter(entry => entry.endsWith(listSuffix));
    const used = lists.filter(list => names.includes(fileOf(list)));
    const listed = await Promise.all(used.map(list => this.#replacement(list)));
    const replacedBy = new Map<string, readonly string[]>();
    for (const [index, list] of used.entries()) replacedBy.set(fileOf(list), listed[index]?.names ?? []);
    const hidden = new Set([...replacedBy.values()].flat());
    const { files, damages } = await this.#summaries.of(names.filter(notReplaced(hidden)));
    for (const { path: file, replaces } of files)
      if (replaces.length > 0) replacedBy.set(path.basename(file), replaces);
    const replaced = new Set([...replacedBy.values()].flat());
    const isLive = notReplaced(replaced);
    const live = files.filter(file => isLive(path.basename(file.path)));
    const { note, defect } = await this.#readNote();
    const faults = [damage ?? [], listed.flatMap(list => list.damage ?? []), damages].flat();
    // Damage may be fixed at any time, even by changing permissions, so it is checked on each read.
    const due = faults.length > 0 ? 0 : await this.#removeReplaced(names, hidden, replacedBy);
    const unused = lists.filter(list => !all.includes(fileOf(list)));
    await removeStale([...entries.filter(isLeftover), ...unused].map(name => path.join(this.path, name)));
    const ids = new Set([...all, ...replaced].map(idOf));
    const logs = entries.filter(entry => entry.endsWith(logSuffix));
    const open = logs.filter(notAmong(copiesAmong(logs, ids)));
    const counted = new Set([...names.filter(isLive), ...replaced, ...open]);
    const copies = [...all, ...logs].filter(notAmong(counted));
    const listing = {
      dataset: new StoredDataset(this.#name, live, note ?? {}),
      files: live,
      names: names.filter(isLive),
      logs: open,
      ids,
      damages: faults,
      defects: [
        defect ?? [],
        setAside(this.path, entries),
        copiesIn(this.path, copies),
        limitsOf(live),
      ].flat(),
    };
    this.#known = { stamp: text, until: settled ? due : 0, listing };
    return listing;
  }

  async #entries(): Promise<{ readonly entries: readonly string[]; readonly damage?: Damage }> {
    const { names, fault } = await listed(this.path);
    return {
      entries: [...names].sort(),
      ...present({ damage: fault === undefined ? undefined : { file: this.path, reason: fault } }),
    };
  }

  async #replacement(
    entry: string,
  ): Promise<{ readonly names?: readonly string[]; readonly damage?: Damage }> {
    const known = this.#replacements.get(entry);
    if (known !== undefined) return { names: known };
    const file = path.join(this.path, entry);
    try {
      const names = await readReplacements(file);
      if (names === undefined)
        return { damage: { file, reason: 'is damaged: it lists the files that were replaced' } };
      this.#replacements.set(entry, names);
      return { names };
    } catch (error) {
      const reason = systemFault(file, error);
      if (reason === undefined) throw error;
      return { damage: { file, reason } };
    }
  }

  /**
   * Deletes files replaced so long ago that no query still reads them; returns when the next ones are due, in milliseconds since 1970. A
   * file that reappeared later and is named only by a merged file is left in place.
   */
  async #removeReplaced(
    names: readonly string[],
    replaced: ReadonlySet<string>,
    replacedBy: ReplacedBy,
  ): Promise<number> {
    const dead = names.filter(name => replaced.has(name));
    if (dead.length === 0) return Number.POSITIVE_INFINITY;
    const replacers = [...replacedBy.keys()];
    const times = await Promise.all(replacers.map(name => stat(path.join(this.path, name))));
    const due = Math.max(...times.map(({ mtimeMs }) => mtimeMs)) + retentionMs;
    if (Date.now() < due) return due;
    try {
      for (const name of inOrder(dead, replacedBy)) await removeFile(path.join(this.path, name));
      for (const [replacer, its] of replacedBy)
        await this.#shorten(
          replacer,
          its.filter(name => !names.includes(name)),
        );
      return 0;
    } catch {
      // Left in place, for example on a read-only file system, they do no harm.
      return Date.now() + retentionMs;
    }
  }

  /** Keeps in a list only files that a user moved away before they could be deleted, so that they do not count again if they come back. */
  async #shorten(replacer: string, away: readonly string[]): Promise<void> {
    const list = listOf(replacer);
    this.#replacements.delete(list);
    if (away.length === 0) await removeFile(path.join(this.path, list));
    else await writeReplacements(path.join(this.path, replacer), away);
  }

  /** Runs `work` under the lock for replacing files and changing the note; rejects with ENOENT if the directory is gone. */
  #locked<T>(work: () => Promise<T>): Promise<T> {
    return locked(path.join(this.path, '.commit.lock'), work);
  }

  #allThere(): boolean {
    return [this.path, ...this.#summaries.paths].every(each => versionOf(each) !== undefined);
  }
}

/** Names of the files that another one replaces, and the time for its name in milliseconds since 1970, which determines its position. */
export interface Replaced {
  readonly since: number;
  readonly names: readonly string[];
  /** Whether their rows are in the new file. */
  readonly copied?: boolean;
}

function versionOr<T>(file: string, otherwise: (error: unknown) => T): Version | T | undefined {
  try {
    return versionOf(file);
  } catch (error) {
    return otherwise(error);
  }
}

/** Writes the note of a dataset into its directory. */
export async function writeNote(directory: string, note: DatasetNote): Promise<void> {
  await replaceFile(path.join(directory, noteFile), sealedText(note));
}

interface Known {
  readonly stamp: string;
  /** When it must be reread even if unchanged, in milliseconds since 1970. */
  readonly until: number;
  readonly listing: Listing;
}

interface Stamp {
  readonly text: string;
  /** Whether any further change produces another stamp. */
  readonly settled: boolean;
}

const noteFile = 'dataset.json';

/** Returns the logs of acknowledged events that could not be read completely. */
function setAside(directory: string, entries: readonly string[]): readonly Damage[] {
  const names = entries.filter(entry => entry.endsWith(logSuffix + damagedSuffix));
  const reason = 'was set aside: part of it could not be read';
  return names.map(name => ({ file: path.join(directory, name), reason }));
}

function notAmong(names: ReadonlySet<string>): (name: string) => boolean {
  return name => !names.has(name);
}

/** Returns a predicate for files that are neither replaced nor a copy of a replaced one. */
function notReplaced(names: ReadonlySet<string>): (name: string) => boolean {
  const given = new Set([...names].map(givenName));
  return name => !given.has(givenName(name));
}

function copiesIn(directory: string, names: readonly string[]): readonly Damage[] {
  return names.map(name => ({ file: path.join(directory, name), reason: copyReason(name) }));
}

/** Names of replaced files by the name of their replacement. */
type ReplacedBy = ReadonlyMap<string, readonly string[]>;

/** Orders each file after those that it replaces: if it were deleted first, they would count again. */
function inOrder(names: readonly string[], replacedBy: ReplacedBy): readonly string[] {
  const ordered = new Set<string>();
  const visit = (name: string) => {
    for (const earlier of replacedBy.get(name) ?? []) if (!ordered.has(earlier)) visit(earlier);
    ordered.add(name);
  };
  for (const name of names) visit(name);
  return [...ordered];
}

/** Maximum number of attempts to read a directory that keeps changing. */
const mostReadings = 3;

/** Coarsest timestamp resolution of a common file system, that of FAT. */
const settleMs = 2_000;

/** Longer than any query runs. */
const retentionMs = 15 * 60_000;
