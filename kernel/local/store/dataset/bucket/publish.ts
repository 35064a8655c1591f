import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { bucketAddressText, readBucketAddress } from '../../../../api/api-imports.js';
import type { PublishReport, PublishRequest } from '../../../../api/wire.js';
import type { TypeName } from '../../../../apl/catalog/entry.js';
import { present } from '../../../../present.js';
import { formatBytes, formatCount, plural, visible } from '../../../../text.js';
import { DAY, EARLIEST_TIME, formatTime } from '../../../../time.js';
import { sqlName, sqlText } from '../../../duckdb/duckdb-literal.js';
import type { Engine } from '../../../engine/duckdb.js';
import { columnNames, copyToParquet } from '../../../engine/engine-parquet.js';
import { LocalError } from '../../../local-errors.js';
import { whileFiles } from '../../bounds/bounded-names.js';
import type { DatasetStore } from '../../datasets.js';
import type { Snapshot } from '../../snapshot.js';
import { tableKey, tableSql } from './bucket-table.js';
import { isShown } from './bucket-tree.js';
import type { Buckets } from './buckets.js';
import type { Asking, BucketClient, ObjectEntry } from './client/bucket-client.js';
import { Meter } from './client/meter.js';
import { type Manifest, manifestKey, type PublishedDay, readManifest, sameDay } from './manifest.js';

/** Dependencies of publishing. */
export interface PublishParts {
  readonly store: DatasetStore;
  readonly buckets: Buckets;
  readonly nowNs: bigint;
}

/**
 * Publishes the finished days of a local dataset to a bucket address: one object per day, then the manifest that names it. Unchanged days
 * are skipped. If interrupted, each day is either complete or absent, and the next run continues. Throws LocalError.
 */
export async function publishToBucket(
  { store, buckets, nowNs }: PublishParts,
  { dataset, path: written }: PublishRequest,
  signal?: AbortSignal,
): Promise<PublishReport> {
  const { engine } = buckets;
  const { client } = buckets.at(bucketAddressText(readBucketAddress(written)));
  const place = bucketAddressText(client.address);
  const { prefix } = client.address;
  const asking = { meter: new Meter(), ...present({ signal }) };
  const endNs = (nowNs / DAY) * DAY;
  const origin = await originOf(store, dataset);
  const before = await publishedAt(client, dataset, origin, asking);
  const local = await steadily(store, dataset, signal, (snapshot, within) =>
    daysOf(engine, snapshot, dataset, endNs, within),
  );
  const days = new Map(before.days.map(day => [day.day, day]));
  const notes: string[] = [];
  const totals = { days: 0, rows: 0, bytes: 0 };
  let manifest = before;
  for (const day of local) {
    const known = days.get(day.day);
    if (known !== undefined && sameDay(known, day)) continue;
    if (known !== undefined && known.rows > day.rows) {
      notes.push(
        `${day.day} is unchanged: it has ${plural(known.rows, 'row')} in the bucket, but only ${formatCount(day.rows)} here.`,
      );
      continue;
    }
    const draft = path.join(engine.workDir, `${crypto.randomUUID()}.parquet`);
    try {
      const { fields, facts } = await steadily(store, dataset, signal, (snapshot, within) =>
        writeDay(engine, snapshot, { dataset, startNs: day.startNs, draft, known: manifest.fields }, within),
      );
      const { size } = await stat(draft);
      if (size > mostObjectBytes) throw tooLarge(day.day, size);
      const key = `day=${day.day}/${objectName}`;
      const etag = await client.put(`${prefix}${key}`, { file: draft, bytes: size }, asking);
      days.set(day.day, { day: day.day, key, bytes: size, etag, ...facts });
      const all = [...days.values()].sort((a, b) => (a.day < b.day ? -1 : 1));
      manifest = { ...manifest, fields, days: all };
      await client.put(`${prefix}${manifestKey}`, Buffer.from(JSON.stringify(manifest)), asking);
      if (known !== undefined)
        notes.push(`${day.day} is replaced: it had ${plural(known.rows, 'row')} in the bucket.`);
      totals.days++;
      totals.rows += facts.rows;
      totals.bytes += size;
    } finally {
      await rm(draft, { force: true });
    }
  }
  if (days.size > 0) await client.put(`${prefix}${tableKey}`, Buffer.from(tableSql(manifest, place)), asking);
  return {
    ...{ dataset, place, ...totals, daysThere: days.size },
    notes: [...notes, ...columnNotes(manifest), ...todayNotes(endNs)],
  };
}

/**
 * Returns the id that distinguishes a dataset from others of its name, creating it if necessary. Throws LocalError if its rows are not
 * local.
 */
async function originOf(store: DatasetStore, dataset: string): Promise<string> {
  const { published, bucket } = await store.changeNote(dataset, note =>
    note.bucket === undefined ? { ...note, published: note.published ?? crypto.randomUUID() } : note,
  );
  if (bucket === undefined && published !== undefined) return published;
  throw new LocalError('invalid', 'bucket', `\`${visible(dataset)}\` is already in a bucket.`);
}

/** Object name of a day. One object holds the whole day, so that it is replaced atomically. */
const objectName = 'events.parquet';

/** S3's limit for a single request. */
const mostObjectBytes = 5 * 2 ** 30;

function tooLarge(day: string, bytes: number): LocalError {
  const message = `${day} has ${formatBytes(bytes)}, more than the ${formatBytes(mostObjectBytes)} that fit in one object.`;
  return new LocalError('too-large', 'bucket', message, {
    hint: 'Split the dataset, for example by service, and publish each part to its own prefix.',
  });
}

function columnNotes({ fields }: Manifest): string[] {
  const renamed = fields.filter(({ name, column }) => name !== column);
  if (renamed.length === 0) return [];
  const names = renamed
    .map(({ name, column }) => `\`${visible(name)}\` is \`${visible(column)}\``)
    .join(', ');
  return [`Fields whose names differ only in case are renamed: ${names}.`];
}

function todayNotes(endNs: bigint): string[] {
  return [`Only complete UTC days before ${formatTime(endNs, 'fewest').slice(0, 10)} are published.`];
}

/** Runs work on a snapshot of a dataset; retries once if files were merged away in the meantime. */
async function steadily<T>(
  store: DatasetStore,
  dataset: string,
  signal: AbortSignal | undefined,
  work: (snapshot: Snapshot, within: AbortSignal) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const snapshot = await store.snapshot(dataset);
    try {
      return await whileFiles(
        () => snapshot.files(),
        signal,
        within => work(snapshot, within),
      );
    } catch (error) {
      if (attempt === 2 || signal?.aborted || (await snapshot.intact())) throw error;
    } finally {
      snapshot.close();
    }
  }
}

type LocalDay = Pick<PublishedDay, 'day' | 'rows' | 'times'> & { readonly startNs: bigint };

/** Returns the days before `endNs` that have rows. Throws LocalError for a computed or remote dataset, or one with rows without a time. */
async function daysOf(
  engine: Engine,
  snapshot: Snapshot,
  dataset: string,
  endNs: bigint,
  signal: AbortSignal | undefined,
): Promise<readonly LocalDay[]> {
  const groups = snapshot.rowGroups(dataset, EARLIEST_TIME, endNs);
  if (groups.some(({ timed }) => !timed))
    throw new LocalError(
      'invalid',
      'bucket',
      `\`${visible(dataset)}\` has rows without a timestamp, which belong to no day.`,
      {
        hint: 'Import it with `--time FIELD`, then publish it.',
      },
    );
  const scan = snapshot.scan(dataset, ['_time'], EARLIEST_TIME, endNs);
  const rows = await engine.run(
    `SELECT ${dayOf('f0')}, ${factsSql('f0')} FROM (${scan}) GROUP BY 1 ORDER BY 1`,
    signal,
  );
  return rows.map(([start, ...facts]) => {
    const startNs = BigInt(String(start));
    return { ...factsOf(facts), startNs, day: formatTime(startNs, 'fewest').slice(0, 10) };
  });
}

/** Returns the SQL of the start of a time's day, in nanoseconds. */
function dayOf(time: string): string {
  return `epoch_ns(${time}) - ((epoch_ns(${time}) % ${DAY}) + ${DAY}) % ${DAY}`;
}

/** Returns the SQL that fingerprints the rows of a day: their count, and the sum of their times. */
function factsSql(time: string): string {
  return `count(*), sum(epoch_ns(${time})::HUGEINT)::VARCHAR`;
}

function factsOf([rows, times]: readonly unknown[]): Pick<PublishedDay, 'rows' | 'times'> {
  return { rows: Number(rows), times: String(times) };
}

interface DayOrder {
  readonly dataset: string;
  readonly startNs: bigint;
  readonly draft: string;
  /** Columns of earlier objects. */
  readonly known: Manifest['fields'];
}

/** Writes the rows of a day to a file; returns its fields and a summary of its rows. */
async function writeDay(
  engine: Engine,
  snapshot: Snapshot,
  { dataset, startNs, draft, known }: DayOrder,
  signal: AbortSignal | undefined,
): Promise<{ readonly fields: Manifest['fields']; readonly facts: Pick<PublishedDay, 'rows' | 'times'> }> {
  const schema = snapshot.schema(dataset)?.fields ?? [];
  const fields = withColumns(schema, known);
  const own = schema.map(({ name, type }) => ({
    ...{ name, type, declared: true },
    column: fields.find(each => each.name === name)?.column ?? name,
  }));
  const names = schema.map(({ name }) => name);
  const time = `f${names.indexOf('_time')}`;
  const scan = snapshot.scan(dataset, names, startNs, startNs + DAY);
  const values = own.map(({ column }, index) => `f${index} AS ${sqlName(column)}`);
  const numbered = `SELECT *, row_number() OVER () AS n FROM (${scan})`;
  const select = `SELECT ${values.join(', ')} FROM (${numbered}) ORDER BY ${time}, n`;
  await engine.run(copyToParquet(select, draft, { fields: own }), signal);
  const [facts = []] = await engine.run(
    `SELECT ${factsSql('_time')} FROM read_parquet(${sqlText(draft)})`,
    signal,
  );
  return { fields, facts: factsOf(facts) };
}

/** Assigns columns to fields: known ones keep theirs, new ones get unused names. */
function withColumns(
  schema: readonly { readonly name: string; readonly type: TypeName }[],
  known: Manifest['fields'],
): Manifest['fields'] {
  const fresh = schema.filter(({ name }) => !known.some(each => each.name === name));
  // Other readers turn directory names into a column.
  const taken = ['day', ...known.map(({ column }) => column)];
  const columns = columnNames([...taken, ...fresh.map(({ name }) => name)]);
  const before = known.map(each => ({
    ...each,
    type: schema.find(({ name }) => name === each.name)?.type ?? each.type,
  }));
  return [
    ...before,
    ...fresh.map(({ name, type }, index) => ({ name, type, column: columns[taken.length + index] ?? name })),
  ];
}

/** Returns what was published here before. Throws LocalError if there is anything else. */
async function publishedAt(
  client: BucketClient,
  dataset: string,
  origin: string,
  asking: Asking,
): Promise<Manifest> {
  const { prefix } = client.address;
  const place = bucketAddressText(client.address);
  const { objects } = await client.list(prefix, true, asking);
  const found = new Map(objects.map(object => [object.key.slice(prefix.length), object]));
  const other = [...found.keys()].find(
    key => isShown(key) && !/^day=\d{4}-\d\d-\d\d\/events\.parquet$/.test(key),
  );
  if (other !== undefined) throw occupied(`${place} contains other objects, such as ${visible(other)}.`);
  const manifest = await readManifest(client, found.get(manifestKey), asking);
  if (manifest === undefined) return { version: 1, dataset, origin, fields: [], days: [] };
  if (manifest.dataset !== dataset)
    throw occupied(`The dataset \`${visible(manifest.dataset)}\` is published at ${place}.`);
  if (manifest.origin !== origin)
    throw occupied(`Another dataset named \`${visible(dataset)}\` is published at ${place}.`);
  // Days changed or deleted since are written again.
  const isThere = ({ key, etag, bytes }: PublishedDay) => isSame(found.get(key), etag, bytes);
  return { ...manifest, days: manifest.days.filter(isThere) };
}

function isSame(object: ObjectEntry | undefined, etag: string, bytes: number): boolean {
  return object !== undefined && object.etag === etag && object.bytes === bytes;
}

function occupied(message: string): LocalError {
  return new LocalError('conflict', 'bucket', message, { hint: 'Choose an unused prefix.' });
}
