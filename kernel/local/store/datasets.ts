import { readdirSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { FieldSchema } from '../../apl/plan/plan.js';
import { makeDirectory } from '../../machine.js';
import { visible } from '../../text.js';
import { inDataDir } from '../data-layout.js';
import type { Engine } from '../engine/duckdb.js';
import { LocalError } from '../local-errors.js';
import type { BuiltinDataset } from '../sql/compiled-query.js';
import type { Batch } from './append/append-batch.js';
import { ImportEngines } from './append/import-engines.js';
import { Journal } from './append/journal.js';
import { Compactor } from './compaction.js';
import { mapAtMost } from './concurrent.js';
import { BloomIndex } from './dataset/bloom/bloom-index.js';
import { damagedDataset, damagedDatasets } from './dataset/dataset-damage.js';
import { DatasetDirectory, writeNote } from './dataset/directory.js';
import { FooterReader } from './dataset/footers.js';
import type { BucketNote, DatasetNote, DatasetSettings, Extent, FieldNote } from './dataset/stored.js';
import { SummaryCache } from './dataset/summary-cache.js';
import { trimFiles } from './dataset/trim.js';
import { decodeName, encodeName, isDatasetName, nameRule } from './names.js';
import {
  type FarDataset,
  infoOf,
  measuredInfo,
  type Reading,
  type ServedDataset,
  Snapshot,
  unknownDataset,
} from './snapshot.js';
import {
  type Confirm,
  deletedName,
  draftName,
  hasCode,
  removeLeftovers,
  syncDirectory,
  systemFault,
  versionOf,
} from './store-files.js';

/** Opens datasets whose rows are remote. */
export interface FarDatasets {
  /** Opens a dataset for a request; `learn` stores what is learned about it. */
  open(
    name: string,
    note: DatasetNote,
    bucket: BucketNote,
    learn: (bucket: BucketNote) => Promise<void>,
  ): FarDataset;
}

/**
 * Datasets under `<dataDir>/datasets`: one directory each, with immutable Parquet files and `dataset.json`. Readers take no lock: a new
 * file is renamed into place, and from then on the files that it replaces are ignored. Those are deleted later, as queries may still be
 * reading them.
 */
export class DatasetStore {
  /** Engines that read imported files. */
  readonly engines: ImportEngines;
  readonly #dataDir: string;
  readonly #engine: Engine;
  readonly #root: string;
  readonly #footers: FooterReader;
  readonly #builtins: ReadonlyMap<string, BuiltinDataset>;
  readonly #cache: SummaryCache;
  readonly #blooms: BloomIndex;
  #tidied: Promise<unknown> | undefined;
  #listed: { readonly version: string; readonly names: readonly string[] } | undefined;
  readonly #directories = new Map<string, DatasetDirectory>();
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #journal: Journal;
  readonly #compactor: Compactor;
  readonly #confirm: Confirm;
  readonly #log: (text: string) => void;
  readonly #far: FarDatasets | undefined;
  /** Datasets known to have local rows. */
  readonly #here = new Set<string>();

  /** `confirm` throws unless this process may change the directory; adding a file needs no confirmation. */
  constructor(
    dataDir: string,
    engine: Engine,
    builtins: readonly BuiltinDataset[] = [],
    log: (text: string) => void = () => undefined,
    confirm: Confirm = () => undefined,
    far?: FarDatasets,
  ) {
    this.#far = far;
    this.engines = new ImportEngines(dataDir);
    this.#dataDir = dataDir;
    this.#engine = engine;
    this.#confirm = confirm;
    this.#log = log;
    this.#root = inDataDir(dataDir, 'datasets');
    this.#footers = new FooterReader(engine);
    this.#builtins = new Map(builtins.map(each => [each.schema.name, each]));
    this.#cache = new SummaryCache(dataDir);
    this.#blooms = new BloomIndex(dataDir, engine, log);
    this.#compactor = new Compactor(engine, async name => {
      this.#confirm();
      await this.#read(name);
      return this.#directory(name);
    });
    this.#journal = new Journal({
      engine,
      confirm,
      directoryOf: name => this.#directory(name).path,
      add: (name, file, id) => this.#directory(name).add(file, id),
      has: async (name, id) => (await this.#directory(name).list())?.ids.has(id) === true,
      log,
    });
  }

  /** Returns a snapshot of the datasets with all acknowledged events; the named ones are read now, the remaining ones on demand. */
  async snapshot(...names: readonly string[]): Promise<Snapshot> {
    await this.#tidy();
    const snapshot = new Snapshot({
      builtins: this.#builtins,
      names: () => this.#names(),
      exists: name => this.#exists(name),
      current: name => this.#current(name),
      read: async name => {
        const reading = await this.#read(name);
        this.mergeLater(name);
        return reading;
      },
      verify: (name, signal) => this.#directory(name).verify(signal),
      far: (name, note) => this.#farDataset(name, note),
      leavesOut: files => this.#blooms.isWorthwhile(files),
      groupsLeftOut: (name, files, lookups) => this.#blooms.groupsLeftOut(encodeName(name), files, lookups),
    });
    for (const name of names) snapshot.schema(name);
    await snapshot.load();
    return snapshot;
  }

  /** Creates a dataset with remote rows. Throws LocalError (`conflict`) if the name is taken by one at another address. */
  async refer(name: string, bucket: BucketNote): Promise<void> {
    this.checkName(name);
    this.#here.delete(name);
    const before = this.#exists(name) ? await this.note(name) : undefined;
    if (before === undefined) {
      await this.#make(name, { bucket });
      return;
    }
    if (before.bucket?.address !== bucket.address) throw existing(name);
    await this.changeNote(name, note => ({ ...note, bucket }));
  }

  /** Throws LocalError if the rows of a dataset are remote, so that none can be added here. */
  async #checkHere(name: string): Promise<void> {
    if (this.#here.has(name) || !this.#exists(name)) return;
    const { bucket } = await this.#directory(name).note();
    if (bucket === undefined) {
      this.#here.add(name);
      return;
    }
    throw new LocalError('conflict', 'exists', `\`${name}\` is read in place from ${bucket.address}.`, {
      hint: `Choose another name, or remove the reference with \`%drop ${name}\`.`,
    });
  }

  #farDataset(name: string, note: DatasetNote): FarDataset | undefined {
    if (note.bucket === undefined) return undefined;
    if (this.#far === undefined) throw unknownDataset(name);
    const learn = async (bucket: BucketNote) => {
      await this.#directory(name).change(before => ({ ...before, bucket }));
    };
    return this.#far.open(name, note, note.bucket, learn);
  }

  /** Returns the API's info on all datasets, sorted by name. */
  async infos(): Promise<readonly ServedDataset[]> {
    return this.#ofAll(name => this.#noted(name));
  }

  /** Returns the infos with the extent of each dataset, or the damage to its files. */
  async measuredInfos(): Promise<readonly ServedDataset[]> {
    return this.#ofAll(name => this.#measured(name));
  }

  /** Returns the API's info on a dataset; throws LocalError (`not-found`) if it does not exist. */
  async info(name: string): Promise<ServedDataset> {
    this.checkExists(name);
    return this.#computed(name) ?? this.#noted(name);
  }

  /** Returns the info with the dataset's extent, or the damage to its files; throws LocalError (`not-found`) if it does not exist. */
  async measuredInfo(name: string): Promise<ServedDataset> {
    this.checkExists(name);
    const info = this.#computed(name) ?? (await this.#measured(name));
    if (info === undefined) throw unknownDataset(name);
    return info;
  }

  /** Returns the fields of a dataset; throws LocalError if it does not exist (`not-found`) or has damaged files. */
  async fields(name: string): Promise<readonly FieldSchema[]> {
    const schema = (await this.snapshot(name)).schema(name);
    if (schema === undefined) throw unknownDataset(name);
    return schema.fields;
  }

  /** Throws LocalError (`not-found`) if the dataset does not exist. */
  checkExists(name: string): void {
    // An invalid name may be too long for the file system.
    const isKnown = this.#builtins.has(name) || this.#exists(name);
    if (!isKnown) throw unknownDataset(name);
  }

  /** Adds events to a dataset; once this resolves, they are durable and in every later snapshot. */
  async append(name: string, batch: Batch): Promise<void> {
    this.checkName(name);
    await this.#checkHere(name);
    await this.#journal.append(name, batch).catch(unknownWhenMissing(name));
    this.mergeLater(name);
  }

  /** Schedules merging the small files of a dataset. */
  mergeLater(name: string): void {
    this.#compactor.later(name);
  }

  /** Stores what is only in memory and stops background work. */
  async close(): Promise<void> {
    await this.#compactor.close();
    await this.#blooms.close();
    await this.engines.close();
    await this.#journal.flush();
    await this.#cache.save();
  }

  /** Creates an empty dataset; throws LocalError (`conflict`) if the name is taken. */
  async create(name: string, settings: DatasetSettings = {}): Promise<ServedDataset> {
    this.checkName(name);
    if (this.#exists(name)) throw existing(name);
    return infoOf(name, await this.#make(name, settings));
  }

  /** Changes the settings of a dataset, keeping those absent from `settings`; throws LocalError like {@link remove}. */
  async update(name: string, settings: DatasetSettings): Promise<ServedDataset> {
    const directory = this.#changeable(name, 'changed');
    const updated = new Date().toISOString();
    const change = directory.change(before => ({ ...before, ...settings, updated }));
    return infoOf(name, await change.catch(unknownWhenMissing(name)));
  }

  /** Returns the note of a dataset; throws LocalError (`not-found`) if it does not exist. */
  async note(name: string): Promise<DatasetNote> {
    this.checkExists(name);
    return this.#builtins.has(name) ? {} : this.#directory(name).note();
  }

  /** Changes the note of a dataset and returns it; throws LocalError like {@link remove}, and any error of `change`. */
  async changeNote(name: string, change: (before: DatasetNote) => DatasetNote): Promise<DatasetNote> {
    return this.#changeable(name, 'changed').change(change).catch(unknownWhenMissing(name));
  }

  /** Deletes the events of a dataset before a time and returns their number; throws LocalError like {@link remove}. */
  async trim(name: string, beforeNs: bigint): Promise<number> {
    const directory = this.#changeable(name, 'trimmed');
    await this.#checkHere(name);
    const unstored = (await this.#journal.flush(name)).get(name);
    if (unstored !== undefined) throw unstored;
    return trimFiles(this.#engine, directory, beforeNs);
  }

  /** Deletes a dataset and its files; throws LocalError (`not-found`, or `forbidden` for a built-in dataset). */
  async remove(name: string): Promise<void> {
    const directory = this.#changeable(name, 'deleted');
    // Events only in memory would recreate the dataset if stored later.
    await this.#journal.flush(name);
    const deleted = path.join(this.#root, deletedName());
    await rename(directory.path, deleted).catch(unknownWhenMissing(name));
    this.#directories.delete(name);
    this.#here.delete(name);
    await this.#cache.forget(path.basename(directory.path));
    await this.#blooms.forget(path.basename(directory.path));
    // It is already gone for all readers, even if files of another user cannot be deleted.
    await rm(deleted, { recursive: true, force: true }).catch(error =>
      this.#log(`${visible(deleted)}, a deleted dataset, cannot be removed: ${visible(String(error))}`),
    );
  }

  /** Moves a finished Parquet file into a dataset, creating it if necessary; with `replace`, its rows replace all existing ones. */
  async publish(name: string, file: string, replace = false): Promise<void> {
    this.checkName(name);
    await this.#checkHere(name);
    const unstored = replace ? (await this.#journal.flush(name)).get(name) : undefined;
    if (unstored !== undefined) throw unstored;
    const directory = this.#directory(name);
    const place = () =>
      replace
        ? directory.replace(file, ({ names }) => ({ since: Date.now(), names }))
        : directory.add(file).then(() => true);
    // Checked first, as a missing directory would otherwise show only after the file is read and copied.
    const placed =
      directory.exists() &&
      (await place().catch(error => {
        if (hasCode(error, 'ENOENT')) return false;
        throw error;
      }));
    if (placed) return;
    await this.#make(name, {}).catch(error => {
      if (!(error instanceof LocalError)) throw error;
    });
    await place();
  }

  /** Runs `work` after all earlier calls for the same dataset: of several replacements, the last one requested wins. */
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

  /** Returns the extent of a dataset, zero rows if it does not exist. Throws LocalError if it has damaged files. */
  async extent(name: string): Promise<Extent> {
    const listing = await this.#directory(name).list();
    if (listing !== undefined && listing.damages.length > 0) throw damagedDataset(name, listing.damages);
    return listing?.dataset.extent ?? { rows: 0 };
  }

  /**
   * Changes the note of one field, keeping the properties absent from `note`; throws LocalError (`not-found`) if the field does not exist.
   */
  async annotateField(name: string, field: string, note: FieldNote): Promise<FieldSchema> {
    const known = (await this.snapshot(name)).schema(name)?.fields.find(each => each.name === field);
    if (!known || this.#builtins.has(name)) {
      throw new LocalError('not-found', 'field-not-found', `\`${name}\` has no field \`${field}\`.`);
    }
    const directory = this.#directory(name);
    return { ...known, ...(await directory.annotate(field, note).catch(unknownWhenMissing(name))) };
  }

  /** Throws LocalError if a new dataset cannot have this name. */
  checkName(name: string): void {
    if (this.#builtins.has(name)) {
      throw new LocalError('conflict', 'exists', `\`${name}\` is built in.`, {
        hint: 'Choose another name.',
      });
    }
    if (!isDatasetName(name)) throw new LocalError('invalid', 'invalid-name', nameRule);
  }

  #changeable(name: string, done: string): DatasetDirectory {
    if (this.#builtins.has(name))
      throw new LocalError('forbidden', 'forbidden', `\`${name}\` is built in and cannot be ${done}.`);
    if (!this.#exists(name)) throw unknownDataset(name);
    return this.#directory(name);
  }

  async #ofAll(
    info: (name: string) => Promise<ServedDataset | undefined>,
  ): Promise<readonly ServedDataset[]> {
    await this.#tidy();
    const stored = this.#names().filter(name => !this.#builtins.has(name));
    const found = await mapAtMost(datasetsAtOnce, stored, info);
    const computed = [...this.#builtins.keys()].map(name => this.#computed(name));
    return [...computed, ...found].flatMap(each => each ?? []).sort(byName);
  }

  #computed(name: string): ServedDataset | undefined {
    const builtin = this.#builtins.get(name);
    return builtin && infoOf(name, { description: builtin.description }, false);
  }

  async #noted(name: string): Promise<ServedDataset> {
    return infoOf(name, await this.#directory(name).note());
  }

  async #measured(name: string): Promise<ServedDataset | undefined> {
    const reading = this.#current(name) ?? (await this.#read(name));
    return reading && measuredInfo(name, reading);
  }

  /** Whether a dataset exists. Throws LocalError if the directory of all datasets cannot be listed. */
  #exists(name: string): boolean {
    if (isDatasetName(name) && this.#directory(name).exists()) return true;
    this.#names();
    return false;
  }

  /** Returns the names of the stored datasets; throws LocalError if they cannot be listed. */
  #names(): readonly string[] {
    try {
      return this.#list();
    } catch (error) {
      const fault = systemFault(this.#root, error);
      if (fault === undefined) return [];
      throw damagedDatasets(this.#root, fault);
    }
  }

  /** Lists the directory only if it has changed. */
  #list(): readonly string[] {
    const version = versionOf(this.#root);
    if (version !== undefined && this.#listed?.version === version.text) return this.#listed.names;
    const entries = readdirSync(this.#root, { withFileTypes: true });
    // A broken link may lead to an unmounted disk.
    const names = entries.flatMap(entry =>
      entry.isDirectory() || entry.isSymbolicLink() ? (decodeName(entry.name) ?? []) : [],
    );
    // A second change within the resolution of the clock would go unnoticed.
    const settled = version !== undefined && Date.now() - version.changedMs > settleMs;
    this.#listed = settled ? { version: version.text, names } : undefined;
    return names;
  }

  /**
   * Creates a directory atomically, so that a full disk leaves no partial dataset; throws LocalError (`conflict`) if the name has been
   * taken.
   */
  async #make(name: string, settings: DatasetNote): Promise<DatasetNote> {
    const draft = path.join(this.#root, draftName());
    try {
      makeDirectory(draft);
      const note = { ...settings, created: new Date().toISOString() };
      await writeNote(draft, note);
      await rename(draft, this.#directory(name).path);
      await syncDirectory(this.#root);
      return note;
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      throw hasCode(error, 'ENOTEMPTY', 'EEXIST') ? existing(name) : error;
    }
  }

  /** Returns a dataset that has not changed since it was read and has no pending events. */
  #current(name: string): Reading | undefined {
    if (!isDatasetName(name) || !this.#journal.isSettled(name)) return undefined;
    const listing = this.#directory(name).current();
    return listing === undefined || listing.logs.length > 0 ? undefined : { listing };
  }

  /** Reads a dataset after storing its logs, including those of killed processes. */
  async #read(name: string): Promise<Reading | undefined> {
    const flushed = await this.#journal.flush(name);
    const listing = await this.#directory(name).list();
    if (listing === undefined || listing.logs.length === 0)
      return listing && { listing, unstored: flushed.get(name) };
    // An unreadable log does not keep the remaining ones from being stored.
    const unreadable = await this.#journal.adopt(name, listing.logs).then(
      () => undefined,
      (error: unknown) => error,
    );
    const adopted = await this.#journal.flush(name);
    const now = await this.#directory(name).list();
    return now && { listing: now, unstored: unreadable ?? adopted.get(name) };
  }

  #directory(name: string): DatasetDirectory {
    const known = this.#directories.get(name);
    if (known) return known;
    const directory = new DatasetDirectory(
      path.join(this.#root, encodeName(name)),
      name,
      this.#footers,
      this.#cache,
      { confirm: this.#confirm, draftDir: this.#engine.draftDir },
    );
    this.#directories.set(name, directory);
    return directory;
  }

  /** Removes leftovers of killed processes, once; those within a dataset are removed when it is read. */
  #tidy(): Promise<unknown> {
    this.#tidied ??= Promise.all([this.#dataDir, this.#root].map(removeLeftovers));
    return this.#tidied;
  }
}

/** Number of datasets read concurrently for a listing; the footers of their files are read together. */
const datasetsAtOnce = 100;

/** Coarsest timestamp resolution of a common file system, that of FAT. */
const settleMs = 2_000;

function byName(a: ServedDataset, b: ServedDataset): number {
  return a.name < b.name ? -1 : 1;
}

function existing(name: string): LocalError {
  return new LocalError('conflict', 'exists', `A dataset \`${name}\` already exists.`);
}

function unknownWhenMissing(name: string): (error: unknown) => never {
  return error => {
    throw hasCode(error, 'ENOENT') ? unknownDataset(name) : error;
  };
}
