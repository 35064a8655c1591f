import { stat } from 'node:fs/promises';
import type { DatasetInfo, StatusMessage } from '../../api/wire.js';
import type { DatasetSchema } from '../../apl/plan/plan.js';
import { systemRefusal } from '../../machine.js';
import { present } from '../../present.js';
import type { FileSummary } from '../engine/engine-parquet.js';
import type { ExaminedBlocks, MeasuredCatalog } from '../engine/scans.js';
import { LocalError } from '../local-errors.js';
import type { BuiltinDataset, Lookup, RowGroup, ScanFilter } from '../sql/compiled-query.js';
import type { Places } from '../sql/rewrite/placed.js';
import { mapAtMost } from './concurrent.js';
import { type Damage, damagedDataset, unstoredEvents } from './dataset/dataset-damage.js';
import type { Listing } from './dataset/directory.js';
import { type DatasetNote, type GroupsLeftOut, StoredDataset } from './dataset/stored.js';

/** One dataset as it was when it was read, with why acknowledged events are not in it, if so. */
export interface Reading {
  readonly listing: Listing;
  readonly unstored?: unknown;
}

/**
 * A dataset whose rows lie elsewhere, as one request reads it. What a question needs that is not here is read by `load`; until then a
 * scan is empty text, row groups are none, and a count is not known.
 */
export interface FarDataset {
  readonly schema: DatasetSchema;
  scan(fields: readonly string[], startNs: bigint, endNs: bigint, filter?: ScanFilter): string;
  examined(startNs: bigint, endNs: bigint): ExaminedBlocks;
  rowGroups(startNs: bigint, endNs: bigint): readonly RowGroup[];
  rowCount(startNs: bigint, endNs: bigint): number | undefined;
  /** Reads what was asked for; returns whether there was anything, so that what was made without it is to be made again. */
  load(signal?: AbortSignal): Promise<boolean>;
  /** From now on its fields must stay what they are: `load` throws LocalError (`bucket-changed`) if they do not. */
  run(): void;
  /** Whether the files that it keeps here are as they were written; those that are not are read again by the next request. */
  isWhole(): Promise<boolean>;
  /** What was read. */
  notices(): readonly StatusMessage[];
  /** Lets go of what was read for the request. */
  close(): void;
}

/** What a snapshot asks the store for. */
export interface SnapshotSource {
  readonly builtins: ReadonlyMap<string, BuiltinDataset>;
  /** The names of the stored datasets, in no order. */
  names(): readonly string[];
  exists(name: string): boolean;
  /** A dataset if it is known as it is now; undefined if it must be read. */
  current(name: string): Reading | undefined;
  /** Reads a dataset; undefined when there is none. */
  read(name: string): Promise<Reading | undefined>;
  /** Reads all of the files of a dataset, and returns those that are damaged. */
  verify(name: string, signal: AbortSignal): Promise<readonly Damage[]>;
  /** A dataset whose rows lie elsewhere; undefined if they are in its directory. */
  far(name: string, note: DatasetNote): FarDataset | undefined;
  /** Whether it is worthwhile to ask for {@link groupsLeftOut}. */
  leavesOut(files: readonly FileSummary[]): boolean;
  /** The row groups of the files of a dataset that have no row for which all lookups hold, as far as is known. */
  groupsLeftOut(
    name: string,
    files: readonly FileSummary[],
    lookups: readonly Lookup[],
  ): Promise<GroupsLeftOut>;
}

/**
 * The datasets that one request reads: each is read when it is first asked for, and stays as it was then, so that all queries of a
 * request read the same rows. A dataset that must be read from the disk has no fields until {@link load}.
 */
export class Snapshot implements MeasuredCatalog {
  readonly #source: SnapshotSource;
  readonly #readings = new Map<string, Reading | undefined>();
  readonly #wanted = new Set<string>();
  readonly #far = new Map<string, FarDataset>();
  /** What filters look up in datasets, and the row groups that have no such row; undefined until they were looked for. */
  readonly #lookedUp = new Map<string, LookedUp>();
  /** The query holds a worker of the engine by now, and must not wait for another. */
  #isRunning = false;

  constructor(source: SnapshotSource) {
    this.#source = source;
  }

  /** Reads the datasets that were asked for and not there yet; returns whether there were any, so that what was made without them is to be made again. */
  async load(signal?: AbortSignal): Promise<boolean> {
    const names = [...this.#wanted];
    this.#wanted.clear();
    await mapAtMost(datasetsAtOnce, names, async name => {
      signal?.throwIfAborted();
      this.#readings.set(name, await this.#source.read(name));
    });
    let isMore = names.length > 0;
    for (const far of this.#far.values()) isMore = (await far.load(signal)) || isMore;
    for (const lookedUp of this.#lookedUp.values()) {
      if (lookedUp.leftOut !== undefined) continue;
      const { name, files, lookups } = lookedUp;
      lookedUp.leftOut = await this.#source.groupsLeftOut(name, files, lookups);
      isMore = true;
    }
    return isMore;
  }

  /** The query that was compiled against it runs now. */
  run(): void {
    this.#isRunning = true;
    for (const far of this.#far.values()) far.run();
  }

  /** Lets go of what was read of datasets whose rows lie elsewhere. */
  close(): void {
    for (const far of this.#far.values()) far.close();
  }

  /** What is to be said of datasets whose rows lie elsewhere once they were read. */
  farNotices(): readonly StatusMessage[] {
    return [...this.#far.values()].flatMap(far => far.notices());
  }

  names(): string[] {
    return [...new Set([...this.#source.names(), ...this.#source.builtins.keys()])].sort();
  }

  /** Throws LocalError for a dataset with damaged files, and why acknowledged events are not stored. */
  schema(name: string): DatasetSchema | undefined {
    const builtin = this.#source.builtins.get(name);
    if (builtin !== undefined) return builtin.schema;
    const stored = this.#stored(name);
    return stored === unread ? { name, fields: [], open: true } : stored?.schema;
  }

  scan(name: string, fields: readonly string[], startNs: bigint, endNs: bigint, filter?: ScanFilter): string {
    const builtin = this.#source.builtins.get(name);
    if (builtin !== undefined) return builtin.scan(fields, startNs, endNs, filter);
    const stored = this.#stored(name);
    if (stored === undefined) throw unknownDataset(name);
    if (stored === unread) return '';
    if (!(stored instanceof StoredDataset)) return stored.scan(fields, startNs, endNs, filter);
    const leftOut = filter === undefined ? new Map() : this.#leftOut(name, stored, filter);
    return leftOut === undefined ? '' : stored.scan(fields, startNs, endNs, filter, leftOut);
  }

  /** The row groups that have no row that passes a filter, as far as is known; undefined until they were looked for. */
  #leftOut(name: string, { files }: StoredDataset, { lookups }: ScanFilter): GroupsLeftOut | undefined {
    if (lookups.length === 0 || !this.#source.leavesOut(files)) return new Map();
    const key = JSON.stringify([name, lookups], (_, value) =>
      typeof value === 'bigint' ? `${value}n` : value,
    );
    const lookedUp = this.#lookedUp.get(key);
    if (lookedUp !== undefined || this.#isRunning)
      return lookedUp === undefined ? new Map() : lookedUp.leftOut;
    this.#lookedUp.set(key, { name, files, lookups });
    return undefined;
  }

  examined(name: string, startNs: bigint, endNs: bigint, filter?: ScanFilter): ExaminedBlocks {
    const builtin = this.#source.builtins.get(name);
    if (builtin !== undefined) {
      const computed = builtin.rowGroups?.(startNs, endNs) ?? [];
      return { blocks: 0, rows: 0, computed: computed.reduce((total, group) => total + group.rows, 0) };
    }
    const held = this.#held(name);
    if (!(held instanceof StoredDataset)) return held?.examined(startNs, endNs) ?? { blocks: 0, rows: 0 };
    return held.examined(startNs, endNs, filter && this.#leftOut(name, held, filter));
  }

  rowGroups(name: string, startNs: bigint, endNs: bigint): readonly RowGroup[] {
    const source = this.#source.builtins.get(name) ?? this.#held(name);
    return source?.rowGroups?.(startNs, endNs) ?? [];
  }

  rowCount(name: string, startNs: bigint, endNs: bigint): number | undefined {
    return this.#held(name)?.rowCount(startNs, endNs);
  }

  places(name: string): Places | undefined {
    return this.#far.has(name) ? undefined : this.#readings.get(name)?.listing.dataset.places;
  }

  textLists(name: string): ReadonlySet<string> {
    const held = this.#held(name);
    return held instanceof StoredDataset ? held.textLists : new Set();
  }

  boundedReals(name: string): ReadonlySet<string> {
    const held = this.#held(name);
    return held instanceof StoredDataset ? held.boundedReals : new Set();
  }

  /** What is to be said beside an answer from these datasets. */
  notices(names: readonly string[]): readonly StatusMessage[] {
    return names.flatMap(name =>
      (this.#readings.get(name)?.listing.defects ?? []).map(defect => ({
        priority: 'warn' as const,
        count: 1,
        code: 'dataset-defect',
        msg: `\`${name}\`: ${inWords(defect)}.`,
      })),
    );
  }

  /** Reads all of the files of its datasets, and throws LocalError for one of which some are damaged. */
  async verify(signal: AbortSignal): Promise<void> {
    for (const name of this.#readings.keys()) {
      const damages = await this.#source.verify(name, signal);
      if (damages.length > 0) throw damagedDataset(name, damages);
    }
  }

  /** Whether what is kept here of datasets whose rows lie elsewhere is as it was written; what is not is read again by the next. */
  async isFarWhole(): Promise<boolean> {
    const all = await Promise.all([...this.#far.values()].map(far => far.isWhole()));
    return !all.includes(false);
  }

  /** The files that it reads, by their paths. */
  files(): readonly string[] {
    return [...this.#readings.values()].flatMap(reading => reading?.listing.dataset.paths ?? []);
  }

  /** Whether every file that it reads still exists, which is not so once a dataset was deleted. */
  async intact(): Promise<boolean> {
    const found = await mapAtMost(filesAtOnce, this.files(), file => stat(file).catch(() => undefined));
    return !found.includes(undefined);
  }

  /** A dataset that was asked for before. */
  #held(name: string): FarDataset | StoredDataset | undefined {
    return this.#far.get(name) ?? this.#readings.get(name)?.listing.dataset;
  }

  #stored(name: string): StoredDataset | FarDataset | typeof unread | undefined {
    if (!this.#readings.has(name)) {
      const current = this.#source.current(name);
      if (current === undefined && this.#source.exists(name)) {
        this.#wanted.add(name);
        return unread;
      }
      this.#readings.set(name, current);
    }
    const reading = this.#readings.get(name);
    if (reading === undefined) return undefined;
    const { dataset, damages } = reading.listing;
    if (damages.length > 0) throw damagedDataset(name, damages);
    // An answer without the events that were acknowledged, or their fields, would be wrong.
    if (reading.unstored !== undefined) throw unstoredEvents(name, reading.unstored);
    const far = this.#far.get(name) ?? this.#source.far(name, dataset.note);
    if (far === undefined) return dataset;
    this.#far.set(name, far);
    return far;
  }
}

interface LookedUp {
  readonly name: string;
  readonly files: readonly FileSummary[];
  readonly lookups: readonly Lookup[];
  leftOut?: GroupsLeftOut;
}

const unread = Symbol('a dataset that is not read yet');

/** Datasets that are read, and files that are looked at, at the same time. */
const datasetsAtOnce = 16;
const filesAtOnce = 64;

/** Returns the error for a dataset that does not exist. */
export function unknownDataset(name: string): LocalError {
  return new LocalError('not-found', 'dataset-not-found', `There is no dataset \`${name}\`.`, {
    hint: '`%datasets` lists those that exist.',
  });
}

/** What the API says of a dataset, with every member that it always has. */
export interface ServedDataset extends DatasetInfo {
  readonly created: string;
  readonly updatedAt: string;
  readonly who: string;
  readonly kind: string;
  readonly canWrite: boolean;
  readonly useRetentionPeriod: boolean;
  readonly retentionDays: number;
  readonly mapFields: readonly string[];
  readonly edgeDeployment?: string;
  readonly region?: string;
  /** Where its rows lie, if not here. */
  readonly place?: string;
}

/** Returns what the API says of a dataset. */
export function infoOf(name: string, note: DatasetNote, canWrite = true): ServedDataset {
  const { created = longAgo, edgeDeployment, region, bucket } = note;
  return {
    id: name,
    name,
    description: note.description ?? (bucket === undefined ? '' : `read in place: ${bucket.address}`),
    created,
    updatedAt: note.updated ?? created,
    who: 'local',
    kind: note.kind ?? 'axiom:events:v1',
    canWrite,
    useRetentionPeriod: note.useRetentionPeriod ?? false,
    retentionDays: note.retentionDays ?? 0,
    mapFields: note.mapFields ?? [],
    ...present({ edgeDeployment, region, place: bucket?.address }),
  };
}

/** When a dataset was made of which nothing says it: one that comes with the service, or whose note was deleted. */
const longAgo = '2026-01-01T00:00:00Z';

/** Returns that with how much the dataset holds, or with what is wrong with its files. */
export function measuredInfo(name: string, { listing, unstored }: Reading): ServedDataset {
  const { dataset, damages, defects } = listing;
  const info = infoOf(name, dataset.note);
  if (dataset.note.bucket !== undefined && damages.length === 0) return info;
  const waiting =
    unstored === undefined
      ? []
      : [`acknowledged events are not stored yet: ${systemRefusal(unstored)?.reason ?? messageOf(unstored)}`];
  const problems = [...damages.map(inWords), ...defects.map(inWords), ...waiting];
  if (damages.length > 0 || unstored !== undefined) return { ...info, problems };
  return { ...info, ...dataset.extent, ...present({ problems: problems.length > 0 ? problems : undefined }) };
}

function inWords({ file, reason }: Damage): string {
  return `${file} ${reason}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
