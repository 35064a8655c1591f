import { type Dirent, readdirSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { DatasetInfo } from '../../api/wire.js';
import type { Places } from '../../apl/plan/placed.js';
import type { DatasetSchema, FieldSchema } from '../../apl/plan/plan.js';
import { present } from '../../present.js';
import type { Engine } from '../engine/duckdb.js';
import type { ExaminedBlocks, MeasuredCatalog } from '../engine/scans.js';
import { ServiceError } from '../http/service-error.js';
import type { BuiltinDataset, RowGroup, ScanFilter } from '../sql/compiled.js';
import type { Batch } from './append/batch.js';
import { Journal, type Unstored } from './append/journal.js';
import { Compactor } from './compaction.js';
import { DatasetDirectory, type Listing, writeNote } from './directory.js';
import {
  deletedName,
  draftName,
  emptyWhenMissing,
  hasCode,
  removeLeftovers,
  syncDirectory,
} from './files.js';
import { decodeName, encodeName, isDatasetName, nameRule } from './names.js';
import type { DatasetNote, Extent, FieldNote, StoredDataset } from './stored.js';

/** The datasets as they were at one moment, so that all queries of a request read the same data. */
export interface Snapshot extends MeasuredCatalog {
  info(name: string): DatasetInfo | undefined;
  /** Whether every file that it reads still exists, which is not so once a dataset was deleted. */
  intact(): Promise<boolean>;
}

/**
 * The datasets under `<dataDir>/datasets`: one directory each, with Parquet files that never change, and `dataset.json`. Readers
 * take no lock: a file is renamed into place, and from that moment on the files that it replaces no longer count. They are
 * deleted later, as queries may still be reading them.
 */
export class DatasetStore {
  readonly #dataDir: string;
  readonly #root: string;
  readonly #engine: Engine;
  readonly #builtins: ReadonlyMap<string, BuiltinDataset>;
  #tidied: Promise<void> | undefined;
  readonly #directories = new Map<string, DatasetDirectory>();
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #journal: Journal;
  readonly #compactor: Compactor;

  constructor(
    dataDir: string,
    engine: Engine,
    builtins: readonly BuiltinDataset[] = [],
    log: (text: string) => void = () => undefined,
  ) {
    this.#dataDir = dataDir;
    this.#root = path.join(dataDir, 'datasets');
    this.#engine = engine;
    this.#builtins = new Map(builtins.map(each => [each.schema.name, each]));
    this.#compactor = new Compactor(engine, name => this.#directory(name));
    this.#journal = new Journal({
      engine,
      directoryOf: name => this.#directory(name).path,
      add: (name, file, id) => this.#directory(name).add(file, id),
      has: async (name, id) => (await this.#directory(name).list())?.ids.has(id) === true,
      log,
    });
  }

  /** Returns the datasets as they are now, with every acknowledged event. A directory that has not changed is not listed again. */
  async snapshot(): Promise<Snapshot> {
    const names = await this.#names();
    const unstored = new Map(await this.#journal.flush());
    const listings = await Promise.all(names.map(name => this.#list(name, unstored)));
    const stored = names.flatMap((name, index) => {
      const dataset = listings[index]?.dataset;
      return dataset === undefined ? [] : [[name, dataset] as const];
    });
    return new FrozenCatalog(new Map(stored), this.#builtins, unstored);
  }

  /** Throws ServiceError (404) when there is no dataset of this name. */
  checkExists(name: string): void {
    // A name that no dataset can have may be longer than the file system takes.
    const isKnown = this.#builtins.has(name) || (isDatasetName(name) && this.#directory(name).exists());
    if (!isKnown) throw unknownDataset(name);
  }

  /** Adds events to a dataset; once this resolves, they are durable and in every later snapshot. */
  async append(name: string, batch: Batch): Promise<void> {
    this.checkName(name);
    await this.#journal.append(name, batch).catch(unknownWhenMissing(name));
    this.#compactor.later(name);
  }

  /** Stores what is only in memory, and stops the work in the background. */
  async close(): Promise<void> {
    await this.#compactor.close();
    await this.#journal.flush();
  }

  /** Creates an empty dataset; throws ServiceError (409) when one of that name exists. */
  async create(name: string, description: string): Promise<DatasetInfo> {
    this.checkName(name);
    if ((await this.snapshot()).schema(name)) {
      throw existing(name);
    }
    await this.#make(name, { description });
    return infoOf(name, { description });
  }

  /** Deletes a dataset and its files; throws ServiceError (404 when there is none, 403 for one that comes with the service). */
  async remove(name: string): Promise<void> {
    if (this.#builtins.has(name)) {
      throw new ServiceError(403, 'forbidden', `\`${name}\` comes with the service and cannot be deleted.`);
    }
    if (!(await this.#names()).includes(name)) throw unknownDataset(name);
    await this.#journal.flush();
    const deleted = path.join(this.#root, deletedName());
    await rename(this.#directory(name).path, deleted).catch(unknownWhenMissing(name));
    this.#directories.delete(name);
    await rm(deleted, { recursive: true, force: true });
  }

  /** Moves a finished Parquet file into a dataset, which is created if need be; with `replace`, its rows replace all others. */
  async publish(name: string, file: string, replace = false): Promise<void> {
    this.checkName(name);
    const unstored: Unstored = replace ? await this.#journal.flush() : new Map();
    if (unstored.has(name)) throw unstored.get(name);
    const directory = this.#directory(name);
    const place = () =>
      replace
        ? directory.replace(file, ({ names }) => ({ since: Date.now(), names }))
        : directory.add(file).then(() => true);
    const placed = await place().catch(error => {
      if (hasCode(error, 'ENOENT')) return false;
      throw error;
    });
    if (placed) return;
    await this.#make(name, {}).catch(error => {
      if (!(error instanceof ServiceError)) throw error;
    });
    await place();
  }

  /** Runs `work` after all earlier work on the dataset that was passed here: of several replacements, the last one requested wins. */
  async inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
    const earlier = this.#turns.get(name) ?? Promise.resolve();
    const mine = earlier.then(work, work);
    this.#turns.set(name, mine);
    try {
      return await mine;
    } finally {
      if (this.#turns.get(name) === mine) this.#turns.delete(name);
    }
  }

  /** Returns how much a dataset holds; zero rows when there is none. */
  async extent(name: string): Promise<Extent> {
    return (await this.#directory(name).list())?.dataset.extent ?? { rows: 0 };
  }

  /**
   * Replaces the note on one field, keeping the properties that `note` leaves out; throws ServiceError (404) when there is no
   * such field.
   */
  async annotateField(name: string, field: string, note: FieldNote): Promise<FieldSchema> {
    const known = (await this.snapshot()).schema(name)?.fields.find(each => each.name === field);
    if (!known || this.#builtins.has(name)) {
      throw new ServiceError(
        404,
        'field-not-found',
        `There is no field \`${field}\` to describe in \`${name}\`.`,
      );
    }
    const directory = this.#directory(name);
    return { ...known, ...(await directory.annotate(field, note).catch(unknownWhenMissing(name))) };
  }

  /** Throws ServiceError for a name that no new dataset can have. */
  checkName(name: string): void {
    if (this.#builtins.has(name)) {
      throw new ServiceError(409, 'exists', `\`${name}\` comes with the service.`, {
        hint: 'Choose another name.',
      });
    }
    if (!isDatasetName(name)) throw new ServiceError(400, 'invalid-name', nameRule);
  }

  async #names(): Promise<string[]> {
    this.#tidied ??= this.#tidy();
    await this.#tidied;
    const entries = directoryEntries(this.#root);
    return entries.flatMap(entry => (entry.isDirectory() ? (decodeName(entry.name) ?? []) : []));
  }

  /**
   * Creates a directory that appears whole or not at all, so that a full disk leaves no half of a dataset; throws 409 when one
   * of that name exists by now.
   */
  async #make(name: string, note: DatasetNote): Promise<void> {
    const draft = path.join(this.#root, draftName());
    try {
      await mkdir(draft, { recursive: true, mode: 0o700 });
      await writeNote(draft, { ...note, created: new Date().toISOString() });
      await rename(draft, this.#directory(name).path);
      await syncDirectory(this.#root);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      throw hasCode(error, 'ENOTEMPTY', 'EEXIST') ? existing(name) : error;
    }
  }

  /** Lists a dataset, after storing the logs of processes that were killed; adds to `unstored` what cannot be stored. */
  async #list(name: string, unstored: Map<string, unknown>): Promise<Listing | undefined> {
    const listing = await this.#directory(name).list();
    if (listing === undefined || listing.logs.length === 0) return listing;
    const adopting = this.#journal.adopt(name, listing.logs);
    if (!(await adopting.catch(error => unstored.set(name, error)))) return listing;
    for (const [dataset, reason] of await this.#journal.flush()) unstored.set(dataset, reason);
    return this.#directory(name).list();
  }

  #directory(name: string): DatasetDirectory {
    const known = this.#directories.get(name);
    if (known) return known;
    const directory = new DatasetDirectory(path.join(this.#root, encodeName(name)), name, this.#engine);
    this.#directories.set(name, directory);
    return directory;
  }

  /** Removes the leftovers of processes that were killed. */
  async #tidy(): Promise<void> {
    const datasets = await readdir(this.#root).catch(emptyWhenMissing);
    const directories = [this.#dataDir, this.#root, ...datasets.map(name => path.join(this.#root, name))];
    for (const directory of directories) await removeLeftovers(directory);
  }
}

/** Returns the error for a dataset that does not exist. */
export function unknownDataset(name: string): ServiceError {
  return new ServiceError(404, 'dataset-not-found', `There is no dataset \`${name}\`.`, {
    hint: '`%datasets` lists those that exist.',
  });
}

function existing(name: string): ServiceError {
  return new ServiceError(409, 'exists', `There is already a dataset \`${name}\`.`);
}

function unknownWhenMissing(name: string): (error: unknown) => never {
  return error => {
    throw hasCode(error, 'ENOENT') ? unknownDataset(name) : error;
  };
}

/** For every query: handing this to another thread takes longer than the answer. */
function directoryEntries(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    return emptyWhenMissing(error);
  }
}

class FrozenCatalog implements Snapshot {
  readonly #stored: ReadonlyMap<string, StoredDataset>;
  readonly #builtins: ReadonlyMap<string, BuiltinDataset>;
  readonly #unstored: Unstored;

  constructor(
    stored: ReadonlyMap<string, StoredDataset>,
    builtins: ReadonlyMap<string, BuiltinDataset>,
    unstored: Unstored,
  ) {
    this.#stored = stored;
    this.#builtins = builtins;
    this.#unstored = unstored;
  }

  names(): string[] {
    return [...new Set([...this.#stored.keys(), ...this.#builtins.keys()])].sort();
  }

  schema(name: string): DatasetSchema | undefined {
    return this.#builtins.get(name)?.schema ?? this.#stored.get(name)?.schema;
  }

  scan(name: string, fields: readonly string[], startNs: bigint, endNs: bigint, filter?: ScanFilter): string {
    // An answer without the events that were acknowledged would be wrong.
    if (this.#unstored.has(name)) throw this.#unstored.get(name);
    const source = this.#builtins.get(name) ?? this.#stored.get(name);
    if (!source) throw unknownDataset(name);
    return source.scan(fields, startNs, endNs, filter);
  }

  examined(name: string, startNs: bigint, endNs: bigint): ExaminedBlocks {
    const builtin = this.#builtins.get(name);
    if (builtin !== undefined) {
      const computed = builtin.rowGroups?.(startNs, endNs) ?? [];
      return { blocks: 0, rows: 0, computed: computed.reduce((total, group) => total + group.rows, 0) };
    }
    return this.#stored.get(name)?.examined(startNs, endNs) ?? { blocks: 0, rows: 0 };
  }

  rowGroups(name: string, startNs: bigint, endNs: bigint): readonly RowGroup[] {
    const source = this.#builtins.get(name) ?? this.#stored.get(name);
    return source?.rowGroups?.(startNs, endNs) ?? [];
  }

  places(name: string): Places | undefined {
    return this.#builtins.has(name) ? undefined : this.#stored.get(name)?.places;
  }

  info(name: string): DatasetInfo | undefined {
    const builtin = this.#builtins.get(name);
    if (builtin) return infoOf(name, { description: builtin.description });
    const stored = this.#stored.get(name);
    return stored && { ...infoOf(name, stored.note), ...stored.extent };
  }

  intact(): Promise<boolean> {
    return allThere([...this.#stored.values()].flatMap(dataset => dataset.paths));
  }
}

function infoOf(name: string, note: DatasetNote): DatasetInfo {
  return {
    id: name,
    name,
    description: note.description ?? '',
    ...present({ created: note.created }),
    who: 'local',
    kind: 'axiom:events:v1',
  };
}

async function allThere(files: Iterable<string>): Promise<boolean> {
  const found = await Promise.all([...files].map(file => stat(file).catch(() => undefined)));
  return !found.includes(undefined);
}
