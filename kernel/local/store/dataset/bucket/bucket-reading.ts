import { setMaxListeners } from 'node:events';
import type { StatusMessage } from '../../../../api/wire.js';
import type { DatasetSchema } from '../../../../apl/plan/plan.js';
import { present } from '../../../../present.js';
import { plural } from '../../../../text.js';
import { EARLIEST_TIME, HOUR, LATEST_TIME } from '../../../../time.js';
import type { FileField, FileSummary } from '../../../engine/engine-parquet.js';
import type { ExaminedBlocks } from '../../../engine/scans.js';
import { LocalError } from '../../../local-errors.js';
import type { RowGroup, ScanFilter } from '../../../sql/compiled-query.js';
import { mapAtMost } from '../../concurrent.js';
import type { FarDataset } from '../../snapshot.js';
import { type BucketNote, type DatasetNote, StoredDataset } from '../stored.js';
import type { Unit, Wanted } from './bucket-chunks.js';
import type { KnownObject, OpenBucket } from './bucket-open.js';
import { Directory, type PlacedObject } from './bucket-tree.js';
import type { Asking } from './client/bucket-client.js';
import { Meter } from './client/meter.js';
import type { Span } from './directories.js';
import { type Sieve, sieveOf } from './sieve.js';

/** Parts of a bucket reading. */
interface ReadingParts {
  readonly name: string;
  readonly note: DatasetNote;
  readonly bucket: BucketNote;
  readonly open: OpenBucket;
  /** Stores what was learned about the objects. */
  readonly learn: (bucket: BucketNote) => Promise<void>;
}

/**
 * A dataset in a bucket as one request sees it: listings are read only once. Queries record whatever data is missing, and {@link load}
 * reads it; until then, they have no result.
 */
export class BucketReading implements FarDataset {
  readonly #parts: ReadingParts;
  readonly #root: Directory;
  readonly #meter = new Meter();
  readonly #objects = new Map<string, KnownObject>();
  readonly #pinned: string[] = [];
  readonly #held = new Set<string>();
  /** Read first, as later reads depend on it. */
  readonly #first = new Set<Directory | PlacedObject>();
  readonly #listings = new Set<Directory>();
  readonly #footers = new Map<string, PlacedObject>();
  readonly #chunks: Wanted[] = [];
  readonly #sieves = new Map<string, Sieve>();
  /** Ids of the row groups with rows that pass a filter, by sieve key. */
  readonly #sieved = new Map<string, ReadonlySet<string>>();
  #bucket: BucketNote;
  #dataset: StoredDataset | undefined;
  #units = new Map<FileSummary, Unit>();
  #priced = false;
  #others = 0;
  #isRunning = false;

  constructor(parts: ReadingParts) {
    this.#parts = parts;
    this.#bucket = parts.bucket;
    this.#root = new Directory(parts.open.client.address.prefix);
  }

  get schema(): DatasetSchema {
    return this.#stored.schema;
  }

  scan(fields: readonly string[], startNs: bigint, endNs: bigint, filter?: ScanFilter): string {
    const units = this.#unitsIn(startNs, endNs);
    if (units === undefined) return '';
    const sieve = filter && sieveOf(fields, startNs, endNs, filter);
    const found = sieve && this.#sieved.get(sieve.key);
    if (found !== undefined) {
      const passing = units.filter(({ id }) => found.has(id));
      if (!this.#isHere(this.#wanted(passing, fields))) return '';
      return this.#storedOf(found).scan(fields, startNs, endNs, filter);
    }
    const wanted = this.#wanted(units, fields);
    if (sieve !== undefined && this.#parts.open.chunks.bytesMissing(wanted) > fewBytes) {
      if (this.#isHere(this.#wanted(units, sieve.fields))) this.#sieves.set(sieve.key, sieve);
      return '';
    }
    return this.#isHere(wanted) ? this.#stored.scan(fields, startNs, endNs, filter) : '';
  }

  #wanted(units: readonly Unit[], fields: readonly string[]): readonly Wanted[] {
    return units.map(unit => ({ unit, columns: columnsOf(this.#fieldsOf(unit), fields) }));
  }

  /** Whether everything is cached. If not, requests all of it, so that nothing is evicted for the rest. */
  #isHere(wanted: readonly Wanted[]): boolean {
    const { chunks } = this.#parts.open;
    if (wanted.every(each => this.#held.has(each.unit.id) && chunks.has(each))) return true;
    this.#chunks.push(...wanted);
    return false;
  }

  examined(startNs: bigint, endNs: bigint): ExaminedBlocks {
    return this.#stored.examined(startNs, endNs);
  }

  rowCount(startNs: bigint, endNs: bigint): number | undefined {
    return this.#unitsIn(startNs, endNs) === undefined ? undefined : this.#stored.rowCount(startNs, endNs);
  }

  /** Returns the row groups of the newest directory with objects, and estimates for older ones, so that they are not read in vain. */
  rowGroups(startNs: bigint, endNs: bigint): readonly RowGroup[] {
    const times = this.#widened(startNs, endNs);
    const unlisted = this.#root.unlisted(times);
    const unplaced = unlisted.filter(({ span }) => span === undefined);
    const [newest] = unlisted
      .flatMap(each => (each.span === undefined ? [] : { each, startNs: each.span.startNs }))
      .sort((a, b) => (a.startNs < b.startNs ? 1 : -1));
    const listed = this.#parquetIn(times);
    const wanted = newest === undefined || listed.length > 0 ? unplaced : [...unplaced, newest.each];
    const unread = listed.filter(object => !this.#objects.has(object.key));
    for (const each of [...wanted, ...unread]) this.#first.add(each);
    if (wanted.length > 0 || unread.length > 0) return [];
    const known = this.#stored.rowGroups(startNs, endNs);
    const rows = Math.max(
      fewestEstimated,
      known.reduce((total, group) => total + group.rows, 0),
    );
    const estimates = unlisted.flatMap(({ span }) => (span === undefined ? [] : estimateOf(span, rows)));
    return [...known, ...estimates.filter(({ maxNs, minNs }) => maxNs >= startNs && minNs < endNs)];
  }

  /** Reads what was requested; returns whether there was anything. Throws LocalError. */
  async load(signal?: AbortSignal): Promise<boolean> {
    const wants = this.#take();
    if (Object.values(wants).every(each => each.length === 0)) return false;
    const { client, chunks } = this.#parts.open;
    const asking: Asking = { meter: this.#meter, ...present({ signal }) };
    // Each concurrent request adds a listener.
    if (signal !== undefined) setMaxListeners(0, signal);
    this.#priced = await client.isAws();
    await mapAtMost(listingsAtOnce, wants.listings, each => each.list(client, asking));
    await mapAtMost(footersAtOnce, wants.footers, each => this.#readFooter(each, asking));
    if (wants.footers.length > 0) await this.#learn();
    if (wants.chunks.length > 0) {
      const ids = await chunks.fetch(client, unique(wants.chunks), asking);
      this.#pinned.push(...ids);
      for (const id of ids) this.#held.add(id);
    }
    for (const sieve of wants.sieves) await this.#sift(sieve, signal);
    return true;
  }

  /** Takes the requests to serve now; the rest are made again when the query is rebuilt. */
  #take() {
    const first = [...this.#first];
    const isFirst = first.length > 0;
    const wants = {
      listings: isFirst ? first.filter(each => each instanceof Directory) : [...this.#listings],
      footers: isFirst
        ? first.flatMap(each => (each instanceof Directory ? [] : each))
        : [...this.#footers.values()],
      chunks: isFirst ? [] : [...this.#chunks],
      sieves: isFirst ? [] : [...this.#sieves.values()],
    };
    for (const each of [this.#first, this.#listings, this.#footers, this.#sieves]) each.clear();
    this.#chunks.length = 0;
    return wants;
  }

  /** Finds the row groups with rows that pass a filter. If only the query engine knows the filter, all pass. */
  async #sift({ key, sql }: Sieve, signal: AbortSignal | undefined): Promise<void> {
    const units = [...this.#filesAndUnits().values()];
    const all = new Set(units.map(({ id }) => id));
    const dataset = this.#stored;
    const shapes = this.#bucket.shapes.length;
    const numbers =
      dataset.places === undefined ? undefined : await this.#parts.open.numbers(sql(dataset), signal);
    const found = numbers && new Set(numbers.flatMap(number => units[number - shapes]?.id ?? []));
    this.#sieved.set(key, found ?? all);
  }

  /** Marks the query as running: the metadata it was built from must not change. */
  run(): void {
    this.#isRunning = true;
  }

  /** Reports what was and was not read. */
  notices(): readonly StatusMessage[] {
    const { address } = this.#bucket;
    const info = (code: string, msg: string, priority: StatusMessage['priority'] = 'info') => ({
      ...{ priority, count: 1, code, msg },
    });
    const others = `${plural(this.#others, 'object')} at ${address} ${this.#others === 1 ? 'is' : 'are'} not Parquet and skipped.`;
    return [
      info('bucket_read', this.#meter.text(address, this.#priced)),
      ...(this.#others === 0 ? [] : [info('bucket_others', others, 'warn')]),
    ];
  }

  isWhole(): Promise<boolean> {
    return this.#parts.open.chunks.areWhole([...this.#held]);
  }

  close(): void {
    this.#parts.open.chunks.release(this.#pinned);
    this.#pinned.length = 0;
  }

  /** Returns the row groups of a time window, undefined if not known yet. */
  #unitsIn(startNs: bigint, endNs: bigint): readonly Unit[] | undefined {
    const times = this.#widened(startNs, endNs);
    const unlisted = this.#root.unlisted(times);
    for (const each of unlisted) this.#listings.add(each);
    const objects = this.#parquetIn(times);
    const unread = objects.filter(object => !this.#objects.has(object.key));
    for (const object of unread) this.#footers.set(object.key, object);
    if (unlisted.length > 0 || unread.length > 0) return undefined;
    return [...this.#filesAndUnits()].flatMap(([, unit]) =>
      unit.group.maxNs >= startNs && unit.group.minNs < endNs ? unit : [],
    );
  }

  #parquetIn(times: Span | undefined): readonly PlacedObject[] {
    const objects = this.#root.objects(times);
    const parquet = objects.filter(({ key }) => isParquet(key));
    this.#others = Math.max(this.#others, objects.length - parquet.length);
    return parquet;
  }

  /** Returns the directory times in which events of a window may lie, undefined for any. */
  #widened(startNs: bigint, endNs: bigint): Span | undefined {
    const { slackHours } = this.#bucket;
    if (slackHours === undefined) return undefined;
    const slack = BigInt(slackHours) * HOUR;
    return { startNs: startNs - slack, endNs: endNs + slack };
  }

  async #readFooter(object: PlacedObject, asking: Asking): Promise<void> {
    const known = await this.#parts.open.describe(object, this.#bucket.time, asking);
    this.#objects.set(object.key, known);
    this.#dataset = undefined;
  }

  /** Stores new fields, and how far events lie outside the times of their directories. */
  async #learn(): Promise<void> {
    const known = new Set(this.#bucket.shapes.map(shape => JSON.stringify(shape)));
    const found = new Map([...this.#objects.values()].map(({ fields }) => [JSON.stringify(fields), fields]));
    const shapes = [...found].flatMap(([text, fields]) => (known.has(text) ? [] : [fields]));
    const slackHours = widerSlack(this.#bucket.slackHours, this.#objects.values());
    if (shapes.length === 0 && slackHours === this.#bucket.slackHours) return;
    const { slackHours: _, ...rest } = this.#bucket;
    this.#bucket = {
      ...rest,
      shapes: [...this.#bucket.shapes, ...shapes],
      ...present({ slackHours }),
    };
    this.#dataset = undefined;
    await this.#parts.learn(this.#bucket);
    if (!this.#isRunning) return;
    const message = `The objects at ${this.#bucket.address} differ: older ones have other fields, or times that do not match their directories.`;
    throw new LocalError('conflict', 'bucket-changed', message, { hint: 'Run it again.' });
  }

  get #stored(): StoredDataset {
    // Files are created for one dataset; this checks that they match the known objects.
    const files = this.#filesAndUnits();
    this.#dataset ??= this.#datasetOf([...files.keys()]);
    return this.#dataset;
  }

  /** Returns the dataset with only these row groups and the same fields. */
  #storedOf(ids: ReadonlySet<string>): StoredDataset {
    return this.#datasetOf([...this.#filesAndUnits()].flatMap(([file, { id }]) => (ids.has(id) ? file : [])));
  }

  #datasetOf(files: readonly FileSummary[]): StoredDataset {
    const shapes = this.#bucket.shapes.map(shapeOnly);
    return new StoredDataset(this.#parts.name, [...shapes, ...files], this.#parts.note);
  }

  #filesAndUnits(): Map<FileSummary, Unit> {
    if (this.#dataset !== undefined) return this.#units;
    const { chunks } = this.#parts.open;
    this.#units = new Map(
      [...this.#objects.values()].flatMap(({ units, fields }) =>
        units.map(unit => [summaryOf(unit, fields, chunks.pathOf(unit)), unit] as const),
      ),
    );
    return this.#units;
  }

  #fieldsOf(unit: Unit): readonly FileField[] {
    return this.#objects.get(unit.object.key)?.fields ?? [];
  }
}

const listingsAtOnce = 8;
const footersAtOnce = 16;

/** Size in bytes above which only row groups with rows that pass the filter are read. */
const fewBytes = 2 * 2 ** 20;

/** Estimated rows of an unlisted directory: enough for a step of its own when rows are read from the newest backward. */
const fewestEstimated = 50_000;

/** Whether an object is read as Parquet: some programs write such files without an extension. */
export function isParquet(key: string): boolean {
  const name = key.split('/').at(-1) ?? '';
  return /\.(?:parquet|parq|pq)$/i.test(name) || !name.includes('.');
}

function estimateOf({ startNs, endNs }: Span, rows: number): RowGroup[] {
  return [{ rows, minNs: startNs, maxNs: endNs - 1n, timed: true, computed: true }];
}

/** Constant members of object summaries: any program may have written an object. */
const ofObject = {
  bytes: 0,
  version: '',
  timeless: false,
  replaces: [],
  foreign: true,
  hidesNaN: true,
} as const;

function summaryOf({ group, object }: Unit, fields: readonly FileField[], path: string): FileSummary {
  const { rows, minNs, maxNs, timed } = group;
  const blocks = [{ rows, minNs, maxNs, timed }];
  const { partitions } = object;
  return { ...ofObject, path, fields, blocks, partitions };
}

/** Returns a file without rows that gives the dataset fields not found in any object read so far. */
function shapeOnly(fields: readonly FileField[]): FileSummary {
  const blocks = [{ rows: 0, minNs: LATEST_TIME, maxNs: EARLIEST_TIME, timed: true }];
  return { ...ofObject, path: '', fields, blocks };
}

/** Returns the columns that fields are read from, including maps that contain them and the members of a map. */
function columnsOf(fields: readonly FileField[], asked: readonly string[]): readonly string[] {
  const columns = fields.flatMap(({ name, column, ofDirectory }) => {
    if (ofDirectory === true) return [];
    const isAsked = asked.some(
      each => each === name || each.startsWith(`${name}.`) || name.startsWith(`${each}.`),
    );
    return isAsked || name === '_time' ? column : [];
  });
  return [...new Set(columns)];
}

/** Merges the columns requested of each row group. */
function unique(wanted: readonly Wanted[]): readonly Wanted[] {
  const byUnit = new Map<string, Wanted>();
  for (const { unit, columns } of wanted) {
    const before = byUnit.get(unit.id)?.columns ?? [];
    byUnit.set(unit.id, { unit, columns: [...new Set([...before, ...columns])] });
  }
  return [...byUnit.values()];
}

/** Returns by how many hours events lie outside the times of their directories, undefined if the two are unrelated. */
export function widerSlack(before: number | undefined, objects: Iterable<KnownObject>): number | undefined {
  if (before === undefined) return undefined;
  let most = BigInt(before) * HOUR;
  for (const { object, units } of objects) {
    if (object.span === undefined) continue;
    for (const { group } of units) {
      // Unknown times may have any value.
      if (group.minNs === EARLIEST_TIME) return undefined;
      for (const beyond of [object.span.startNs - group.minNs, group.maxNs - object.span.endNs + 1n])
        if (beyond > most) most = beyond;
    }
  }
  const hours = Number((most + HOUR - 1n) / HOUR);
  return hours > mostSlackHours ? undefined : hours;
}

/** Maximum slack in hours; beyond it, directories are not named for event times. */
const mostSlackHours = 48;
