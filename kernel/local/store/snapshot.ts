import { stat } from 'node:fs/promises';
import type { DatasetInfo, StatusMessage } from '../../api/wire.js';
import type { DatasetSchema } from '../../apl/plan/plan.js';
import { systemRefusal } from '../../machine.js';
import { present } from '../../present.js';
import type { FileSummary } from '../engine/engine-parquet.js';
import type { ExaminedBlocks, MeasuredCatalog } from '../engine/scans.js';
import { LocalError } from '../local-errors.js';
import type {
  BuiltinDataset,
  CompiledTable,
  FieldBounds,
  Lookup,
  RowGroup,
  ScanFilter,
} from '../sql/compiled-query.js';
import type { Places } from '../sql/rewrite/placed.js';
import { mapAtMost } from './concurrent.js';
import { type Damage, damagedDataset, unstoredEvents } from './dataset/dataset-damage.js';
import type { Listing } from './dataset/directory.js';
import { type DatasetNote, type GroupsLeftOut, StoredDataset } from './dataset/stored.js';

/** A dataset as of one read, with the error if it lacks acknowledged events. */
export interface Reading {
  readonly listing: Listing;
  readonly unstored?: unknown;
}

/**
 * A dataset with remote rows, as seen by one request. Missing data is read by `load`; until then a scan is an empty string, there are no
 * row groups, and counts are undefined.
 */
export interface FarDataset {
  readonly schema: DatasetSchema;
  scan(fields: readonly string[], startNs: bigint, endNs: bigint, filter?: ScanFilter): string;
  examined(startNs: bigint, endNs: bigint): ExaminedBlocks;
  rowGroups(startNs: bigint, endNs: bigint): readonly RowGroup[];
  rowCount(startNs: bigint, endNs: bigint): number | undefined;
  /** Reads what was requested; returns whether there was anything, in which case earlier results must be recomputed. */
  load(signal?: AbortSignal): Promise<boolean>;
  /** Freezes its fields: from now on, `load` throws LocalError (`bucket-changed`) if they change. */
  run(): void;
  /** Whether its cached files are intact; damaged ones are read again by the next request. */
  isWhole(): Promise<boolean>;
  /** Reports what was read. */
  notices(): readonly StatusMessage[];
  /** Releases what the request read. */
  close(): void;
}

/** Interface of the store to a snapshot. */
export interface SnapshotSource {
  readonly builtins: ReadonlyMap<string, BuiltinDataset>;
  /** Returns the names of the stored datasets, unsorted. */
  names(): readonly string[];
  exists(name: string): boolean;
  /** Returns a dataset from the cache, undefined if it must be read. */
  current(name: string): Reading | undefined;
  /** Reads a dataset; undefined if it does not exist. */
  read(name: string): Promise<Reading | undefined>;
  /** Reads all files of a dataset completely and returns the damaged ones. */
  verify(name: string, signal: AbortSignal): Promise<readonly Damage[]>;
  /** Returns a dataset with remote rows, undefined if they are local. */
  far(name: string, note: DatasetNote): FarDataset | undefined;
  /** Whether {@link groupsLeftOut} is worth calling. */
  leavesOut(files: readonly FileSummary[]): boolean;
  /** Returns the row groups of a dataset's files known to have no row that satisfies all lookups. */
  groupsLeftOut(
    name: string,
    files: readonly FileSummary[],
    lookups: readonly Lookup[],
  ): Promise<GroupsLeftOut>;
}

/**
 * Datasets of one request: each is read on first access and then fixed, so that all queries of a request see the same rows. A dataset that
 * must be read from disk has no fields until {@link load}.
 */
export class Snapshot implements MeasuredCatalog {
  readonly #source: SnapshotSource;
  readonly #readings = new Map<string, Reading | undefined>();
  readonly #wanted = new Set<string>();
  readonly #far = new Map<string, FarDataset>();
  /** Lookups of filters, with the row groups that cannot match; undefined until they are loaded. */
  readonly #lookedUp = new Map<string, LookedUp>();
  /** Whether the query already occupies a worker of the engine, and must not wait for another. */
  #isRunning = false;

  constructor(source: SnapshotSource) {
    this.#source = source;
  }

  /**
   * Reads the datasets that were requested and are missing; returns whether there were any, in which case earlier results must be
   * recomputed.
   */
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

  /** Marks the start of the query that was compiled against this snapshot. */
  run(): void {
    this.#isRunning = true;
    for (const far of this.#far.values()) far.run();
  }

  /** Releases what was read of datasets with remote rows. */
  close(): void {
    for (const far of this.#far.values()) far.close();
  }

  /** Returns the notices about datasets with remote rows, after they were read. */
  farNotices(): readonly StatusMessage[] {
    return [...this.#far.values()].flatMap(far => far.notices());
  }

  names(): string[] {
    return [...new Set([...this.#source.names(), ...this.#source.builtins.keys()])].sort();
  }

  /** Returns the schema of a dataset; throws LocalError if it has damaged files or events that could not be stored. */
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

  /** Returns the row groups known to have no rows that pass a filter, undefined until they are loaded. */
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

  bounds(name: string): FieldBounds | undefined {
    const held = this.#held(name);
    return held instanceof StoredDataset ? held.bounds : undefined;
  }

  /** Returns the notices for a result from these datasets. */
  notices(names: readonly string[], range?: CompiledTable['range']): readonly StatusMessage[] {
    const defects = names.flatMap(name =>
      (this.#readings.get(name)?.listing.defects ?? []).map(defect => ({
        priority: 'warn' as const,
        count: 1,
        code: 'dataset-defect',
        msg: `\`${name}\`: ${inWords(defect)}.`,
      })),
    );
    return [...defects, ...this.#withoutTimes(names, range)];
  }

  /**
   * Returns a notice if no dataset has times and rows are imported outside of the range, which applies to none of them. Beside events,
   * such a dataset is a lookup table.
   */
  #withoutTimes(
    names: readonly string[],
    { start, end }: Partial<CompiledTable['range']> = {},
  ): StatusMessage[] {
    if (typeof start !== 'bigint' || typeof end !== 'bigint') return [];
    const timeless = names.flatMap(name => {
      const held = this.#held(name);
      return held instanceof StoredDataset && held.places === 'timeless' ? [held.examined(start, end)] : [];
    });
    const areWithin = timeless.every(({ minNs = start, maxNs = start }) => start <= minNs && maxNs < end);
    if (timeless.length < names.length || areWithin) return [];
    const list = names.map(name => `\`${name}\``).join(', ');
    const msg = `The time range does not apply: the rows of ${list} have no time of their own.`;
    return [{ priority: 'info', count: 1, code: 'no_time', msg }];
  }

  /** Reads all files of its datasets completely; throws LocalError if some are damaged. */
  async verify(signal: AbortSignal): Promise<void> {
    for (const name of this.#readings.keys()) {
      const damages = await this.#source.verify(name, signal);
      if (damages.length > 0) throw damagedDataset(name, damages);
    }
  }

  /** Whether cached files of datasets with remote rows are intact; damaged ones are read again by the next request. */
  async isFarWhole(): Promise<boolean> {
    const all = await Promise.all([...this.#far.values()].map(far => far.isWhole()));
    return !all.includes(false);
  }

  /** Paths of the files it reads. */
  files(): readonly string[] {
    return [...this.#readings.values()].flatMap(reading => reading?.listing.dataset.paths ?? []);
  }

  /** Whether all files it reads still exist; false after a dataset is deleted. */
  async intact(): Promise<boolean> {
    const found = await mapAtMost(filesAtOnce, this.files(), file => stat(file).catch(() => undefined));
    return !found.includes(undefined);
  }

  /** Returns a dataset that was accessed before. */
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
    // A result without acknowledged events, or their fields, would be wrong.
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

/** Numbers of datasets read, and of files checked, concurrently. */
const datasetsAtOnce = 16;
const filesAtOnce = 64;

/** Returns the error for a dataset that does not exist. */
export function unknownDataset(name: string): LocalError {
  return new LocalError('not-found', 'dataset-not-found', `There is no dataset \`${name}\`.`, {
    hint: '`%datasets` lists those that exist.',
  });
}

/** A dataset as served by the API, with all members that are always present. */
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
  /** Location of its rows, if remote. */
  readonly place?: string;
}

/** Returns the API's info on a dataset. */
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

/** Creation time of a dataset without one: a built-in dataset, or one whose note was deleted. */
const longAgo = '2026-01-01T00:00:00Z';

/** Returns the info with the dataset's extent, or the damage to its files. */
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
