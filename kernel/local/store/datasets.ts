import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { DatasetInfo } from '../../api/wire.js';
import type { DatasetSchema, FieldSchema } from '../../apl/plan/plan.js';
import type { Engine } from '../engine/duckdb.js';
import { type FileSummary, readFooters } from '../engine/parquet.js';
import type { ExaminedBlocks, MeasuredCatalog } from '../engine/scans.js';
import { ServiceError } from '../http/service-error.js';
import type { BuiltinDataset, ScanFilter, StoredFile } from '../sql/compiled.js';
import { deletedName, draftName, emptyWhenMissing, hasCode, removeLeftovers, replaceFile } from './files.js';
import { decodeName, encodeName, isDatasetName, nameRule } from './names.js';
import { type DatasetNote, type Extent, type FieldNote, StoredDataset } from './stored.js';

/** The datasets as they were at one moment; queries of one request all see the same. */
export interface Snapshot extends MeasuredCatalog {
  info(name: string): DatasetInfo | undefined;
  /** Whether every file that it reads is still there: not so once a dataset was deleted. */
  intact(): Promise<boolean>;
}

/**
 * The datasets under `<dataDir>/datasets`: a directory each, holding Parquet files that are never changed once they are
 * there, and `dataset.json`. Nothing is locked: a file appears by being renamed into place, and the files that it
 * replaces no longer count from that moment on. They are deleted later, as queries may still be reading them.
 */
export class DatasetStore {
  readonly #dataDir: string;
  readonly #root: string;
  readonly #engine: Engine;
  readonly #builtins: ReadonlyMap<string, BuiltinDataset>;
  #tidied: Promise<void> | undefined;
  readonly #footers = new Map<string, { readonly version: string; readonly summary: FileSummary }>();
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(dataDir: string, engine: Engine, builtins: readonly BuiltinDataset[] = []) {
    this.#dataDir = dataDir;
    this.#root = path.join(dataDir, 'datasets');
    this.#engine = engine;
    this.#builtins = new Map(builtins.map(each => [each.schema.name, each]));
  }

  /** Lists the files there are now; a footer that was read before is not read again. */
  async snapshot(): Promise<Snapshot> {
    const stored = new Map<string, StoredDataset>();
    for (const name of await this.#names()) {
      const loaded = await this.#load(name);
      if (loaded) stored.set(name, loaded);
    }
    return new FrozenCatalog(stored, this.#builtins);
  }

  /** Makes an empty dataset; 409 when there is one of that name. */
  async create(name: string, description: string): Promise<DatasetInfo> {
    this.checkName(name);
    if ((await this.snapshot()).schema(name)) {
      throw existing(name);
    }
    await this.#make(name, { description });
    return infoOf(name, { description });
  }

  /** Deletes a dataset and its files; 404 when there is none, 403 for one that comes with the service. */
  async remove(name: string): Promise<void> {
    if (this.#builtins.has(name)) {
      throw new ServiceError(403, 'forbidden', `\`${name}\` comes with the service and cannot be deleted.`);
    }
    if (!(await this.#names()).includes(name)) throw unknownDataset(name);
    const deleted = path.join(this.#root, deletedName());
    await rename(this.#directory(name), deleted).catch(unknownWhenMissing(name));
    await rm(deleted, { recursive: true, force: true });
  }

  /** Moves a finished Parquet file into a dataset, which is made when there is none. */
  async publish(name: string, file: string): Promise<void> {
    this.checkName(name);
    const target = path.join(this.#directory(name), `${Date.now()}-${crypto.randomUUID()}.parquet`);
    try {
      await rename(file, target);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
      await this.#make(name, {}).catch(error => {
        if (!(error instanceof ServiceError)) throw error;
      });
      await rename(file, target);
    }
  }

  /**
   * Runs `work` once all earlier work of this kind on the dataset is over. Two replacements at the same time would not know of
   * each other's file, and both would stay.
   */
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

  /** The names of the Parquet files of a dataset, for a file that replaces all of them. */
  async fileNames(name: string): Promise<string[]> {
    return parquetNames(this.#directory(name));
  }

  /** How much a dataset holds; nothing when there is none. */
  async extent(name: string): Promise<Extent> {
    return (await this.#load(name))?.extent ?? { rows: 0 };
  }

  /** Replaces the note on one field, keeping the properties that `note` leaves out; 404 when there is no such field. */
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
    const before = await readNote(directory);
    const changed = { ...before.fields?.[field], ...note };
    const fields = { ...before.fields, [field]: changed };
    await writeNote(directory, { ...before, fields }).catch(unknownWhenMissing(name));
    return { ...known, ...changed };
  }

  /** Refuses names that no dataset can have. */
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
    const entries = await readdir(this.#root, { withFileTypes: true }).catch(emptyWhenMissing);
    return entries.flatMap(entry => (entry.isDirectory() ? (decodeName(entry.name) ?? []) : []));
  }

  /** A directory that appears whole or not at all: what a full disk stops leaves no dataset. 409 when there is one by now. */
  async #make(name: string, note: DatasetNote): Promise<void> {
    const draft = path.join(this.#root, draftName());
    try {
      await mkdir(draft, { recursive: true, mode: 0o700 });
      await writeNote(draft, { ...note, created: new Date().toISOString() });
      await rename(draft, this.#directory(name));
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      throw hasCode(error, 'ENOTEMPTY', 'EEXIST') ? existing(name) : error;
    }
  }

  #directory(name: string): string {
    return path.join(this.#root, encodeName(name));
  }

  /** Removes the leftovers of processes that were killed. */
  async #tidy(): Promise<void> {
    const datasets = await readdir(this.#root).catch(emptyWhenMissing);
    const directories = [this.#dataDir, this.#root, ...datasets.map(name => path.join(this.#root, name))];
    for (const directory of directories) await removeLeftovers(directory);
  }

  /** Undefined for a dataset that is not there, or not any more. One that changes while it is read is read again. */
  async #load(name: string): Promise<StoredDataset | undefined> {
    const directory = this.#directory(name);
    for (let reading = 1; ; reading++) {
      const versions = await fileVersions(directory);
      try {
        return await this.#read(name, directory, versions);
      } catch (error) {
        if (!(await isDirectory(directory))) return undefined;
        if (reading === mostReadings || (await allThere(versions.keys()))) throw error;
      }
    }
  }

  async #read(name: string, directory: string, versions: FileVersions): Promise<StoredDataset> {
    const files = await this.#summaries(versions);
    const replaced = new Set(files.flatMap(file => file.replaces));
    await this.#removeReplaced(files, replaced);
    const live = files.filter(file => !replaced.has(path.basename(file.path)));
    return new StoredDataset(name, live, await readNote(directory));
  }

  async #summaries(versions: FileVersions): Promise<FileSummary[]> {
    const unread = [...versions].filter(([file, version]) => this.#footers.get(file)?.version !== version);
    const summaries = await readFooters(
      this.#engine,
      unread.map(([file]) => file),
    );
    for (const summary of summaries) {
      this.#footers.set(summary.path, { version: versions.get(summary.path) ?? '', summary });
    }
    return [...versions.keys()].flatMap(file => this.#footers.get(file)?.summary ?? []);
  }

  /** Deletes files that were replaced so long ago that no query reads them any more. */
  async #removeReplaced(files: readonly FileSummary[], replaced: ReadonlySet<string>): Promise<void> {
    const replacedFiles = files.filter(file => replaced.has(path.basename(file.path)));
    if (replacedFiles.length === 0) return;
    const replacers = files.filter(file => file.replaces.length > 0);
    const times = await Promise.all(replacers.map(file => stat(file.path)));
    if (times.some(({ mtimeMs }) => Date.now() - mtimeMs < keptMs)) return;
    for (const file of replacedFiles) {
      this.#footers.delete(file.path);
      await rm(file.path, { force: true });
    }
  }
}

/** The error about an unknown dataset, with a hint. */
export function unknownDataset(name: string): ServiceError {
  return new ServiceError(404, 'dataset-not-found', `There is no dataset \`${name}\`.`, {
    hint: '`%datasets` lists those there are.',
  });
}

function existing(name: string): ServiceError {
  return new ServiceError(409, 'exists', `There already is a dataset \`${name}\`.`);
}

function unknownWhenMissing(name: string): (error: unknown) => never {
  return error => {
    throw hasCode(error, 'ENOENT') ? unknownDataset(name) : error;
  };
}

const noteFile = 'dataset.json';

/** A dataset that is deleted and made again over and over is given up on. */
const mostReadings = 3;

/** Path of a file -> what changes with its content. */
type FileVersions = ReadonlyMap<string, string>;

/** Longer than any query runs. */
const keptMs = 15 * 60_000;

class FrozenCatalog implements Snapshot {
  readonly #stored: ReadonlyMap<string, StoredDataset>;
  readonly #builtins: ReadonlyMap<string, BuiltinDataset>;

  constructor(stored: ReadonlyMap<string, StoredDataset>, builtins: ReadonlyMap<string, BuiltinDataset>) {
    this.#stored = stored;
    this.#builtins = builtins;
  }

  names(): string[] {
    return [...new Set([...this.#stored.keys(), ...this.#builtins.keys()])].sort();
  }

  schema(name: string): DatasetSchema | undefined {
    return this.#builtins.get(name)?.schema ?? this.#stored.get(name)?.schema;
  }

  scan(name: string, fields: readonly string[], startNs: bigint, endNs: bigint, filter?: ScanFilter): string {
    const source = this.#builtins.get(name) ?? this.#stored.get(name);
    if (!source) throw unknownDataset(name);
    return source.scan(fields, startNs, endNs, filter);
  }

  examined(name: string, startNs: bigint, endNs: bigint): ExaminedBlocks {
    const dataset = this.#builtins.has(name) ? undefined : this.#stored.get(name);
    return dataset?.examined(startNs, endNs) ?? { blocks: 0, rows: 0 };
  }

  files(name: string, startNs: bigint, endNs: bigint): readonly StoredFile[] {
    const dataset = this.#builtins.has(name) ? undefined : this.#stored.get(name);
    return dataset?.files(startNs, endNs) ?? [];
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
    ...(note.created !== undefined && { created: note.created }),
    who: 'local',
    kind: 'axiom:events:v1',
  };
}

async function parquetNames(directory: string): Promise<string[]> {
  const entries = await readdir(directory).catch(emptyWhenMissing);
  return entries.filter(entry => entry.endsWith('.parquet') && !entry.startsWith('.')).sort();
}

async function fileVersions(directory: string): Promise<FileVersions> {
  const versions = new Map<string, string>();
  for (const name of await parquetNames(directory)) {
    const file = path.join(directory, name);
    const found = await stat(file, { bigint: true }).catch(() => undefined);
    if (found) versions.set(file, `${found.size}-${found.mtimeNs}`);
  }
  return versions;
}

async function allThere(files: Iterable<string>): Promise<boolean> {
  const found = await Promise.all([...files].map(file => stat(file).catch(() => undefined)));
  return !found.includes(undefined);
}

async function isDirectory(directory: string): Promise<boolean> {
  return (await stat(directory).catch(() => undefined))?.isDirectory() ?? false;
}

async function readNote(directory: string): Promise<DatasetNote> {
  try {
    const note: unknown = JSON.parse(await readFile(path.join(directory, noteFile), 'utf8'));
    return typeof note === 'object' && note !== null ? (note as DatasetNote) : {};
  } catch {
    // An unreadable note on a dataset is no reason to refuse its rows.
    return {};
  }
}

async function writeNote(directory: string, note: DatasetNote): Promise<void> {
  await replaceFile(path.join(directory, noteFile), `${JSON.stringify(note, null, 2)}\n`);
}
