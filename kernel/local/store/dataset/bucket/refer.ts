import { bucketAddressText, readBucketAddress } from '../../../../api/api-imports.js';
import type { ImportReport, ImportRequest } from '../../../../api/wire.js';
import { serviceTypes } from '../../../../apl/catalog/entry.js';
import { present } from '../../../../present.js';
import { cut, formatCount, plural, visible } from '../../../../text.js';
import type { FileField } from '../../../engine/engine-parquet.js';
import { LocalError } from '../../../local-errors.js';
import { mapAtMost } from '../../concurrent.js';
import type { DatasetStore } from '../../datasets.js';
import { isTimeName } from '../../times/timestamps.js';
import type { KnownObject, OpenBucket } from './bucket-open.js';
import { isParquet, widerSlack } from './bucket-reading.js';
import { Directory, type PlacedObject } from './bucket-tree.js';
import type { Buckets } from './buckets.js';
import type { Asking } from './client/bucket-client.js';
import { Meter } from './client/meter.js';

/**
 * Creates a dataset from the objects at a bucket address without copying them: a few objects show the fields, and which of them is the
 * time. Throws LocalError.
 */
export async function referToBucket(
  store: DatasetStore,
  buckets: Buckets,
  request: ImportRequest,
  signal?: AbortSignal,
): Promise<ImportReport> {
  const { dataset } = request;
  store.checkName(dataset);
  const parsed = readBucketAddress(request.path);
  const address = bucketAddressText(parsed);
  const open = buckets.at(address);
  const meter = new Meter();
  const asking = { meter, ...present({ signal }) };
  const { samples, others, isWhole } = await samplesOf(open, asking);
  if (samples.length === 0) throw nothingThere(address, others);
  const [first] = samples;
  const columns = await columnsOf(open, first, asking);
  const time = timeColumn(columns, request.timeField, address);
  const known = await mapAtMost(samplesAtOnce, samples, each => open.describe(each, time.column, asking));
  const shapes = [...new Map(known.map(({ fields }) => [JSON.stringify(fields), fields])).values()];
  const slackHours = widerSlack(1, known);
  const dated = samples.some(({ span }) => span !== undefined);
  const note = { address, time: time.column, shapes, ...present({ slackHours }) };
  await store.refer(dataset, note);
  const schema = (await store.snapshot(dataset)).schema(dataset)?.fields ?? [];
  return {
    dataset,
    rows: 0,
    fields: schema.map(({ name, type }) => ({ name, type: serviceTypes[type] })),
    timeField: time.name,
    notes: [
      `Nothing is copied: queries read what they need from ${address}.`,
      layoutNote(dated, slackHours),
      ...cutNotes(known, time.column),
      ...(isWhole && others > 0 ? [`Objects that are not Parquet are skipped: ${formatCount(others)}.`] : []),
      meter.text(address, await open.client.isAws()),
    ],
    rowsBefore: 0,
    rowsNow: 0,
    place: address,
  };
}

/** Maximum numbers of objects sampled, and of directories listed to find them. */
const mostSamples = 8;
const mostDirectories = 60;
const samplesAtOnce = 4;

interface Samples {
  readonly samples: readonly PlacedObject[];
  /** Number of other objects seen. */
  readonly others: number;
  readonly isWhole: boolean;
}

/** Samples objects from the first and the last directories. */
async function samplesOf({ client }: OpenBucket, asking: Asking): Promise<Samples> {
  const root = new Directory(client.address.prefix);
  await refuseTables(client, asking);
  for (let listed = 0; listed < mostDirectories; ) {
    const unlisted = root.unlisted(undefined);
    const found = root.objects(undefined).filter(({ key }) => isParquet(key));
    if (unlisted.length === 0 || found.length >= mostSamples) break;
    const ends = unlisted.length === 1 ? [unlisted[0]] : [unlisted.at(-1), unlisted[0]];
    for (const each of ends) await each?.list(client, asking);
    listed += ends.length;
  }
  const objects = root.objects(undefined);
  const found = objects.filter(({ key }) => isParquet(key));
  const step = Math.max(1, (found.length - 1) / (mostSamples - 1));
  const picked = Array.from({ length: Math.min(mostSamples, found.length) }, (_, index) =>
    found.at(Math.round(index * step)),
  );
  return {
    samples: [...new Set(picked.flatMap(each => each ?? []))],
    others: objects.length - found.length,
    isWhole: root.unlisted(undefined).length === 0,
  };
}

/** Throws LocalError for a table format with a log of valid objects: the remaining objects hold deleted rows. */
async function refuseTables(client: OpenBucket['client'], asking: Asking): Promise<void> {
  const { prefix } = client.address;
  const { directories } = await client.list(prefix, false, asking);
  const table = tables.find(({ directory }) => directories.includes(`${prefix}${directory}/`));
  if (table === undefined) return;
  const { objects } = await client.list(`${prefix}${table.directory}/`, false, asking);
  if (!objects.some(({ key }) => key.endsWith(table.ending))) return;
  const message = `${bucketAddressText(client.address)} is a ${table.name} table: some of its objects contain deleted or replaced rows.`;
  throw new LocalError('invalid', 'bucket', message, {
    hint: 'Export it as Parquet and import the export.',
  });
}

/** Table formats, by the directory of their log and the ending of names in it. */
const tables = [
  { name: 'Delta', directory: '_delta_log', ending: '.json' },
  { name: 'Iceberg', directory: 'metadata', ending: '.metadata.json' },
  { name: 'Hudi', directory: '.hoodie', ending: '.properties' },
] as const;

async function columnsOf(
  open: OpenBucket,
  object: PlacedObject | undefined,
  asking: Asking,
): Promise<readonly FileField[]> {
  return object === undefined ? [] : open.columns(object, asking);
}

/** Returns the time column: the one named, otherwise one that is recognized as the time. Throws LocalError if there is none. */
function timeColumn(columns: readonly FileField[], named: string | undefined, address: string): FileField {
  const times = columns.filter(({ type }) => type === 'datetime');
  const found =
    named === undefined
      ? (times.find(({ name }) => name === '_time') ??
        times.find(({ name }) => isTimeName(name)) ??
        (times.length === 1 ? times[0] : undefined))
      : columns.find(({ name }) => name === named);
  if (found?.type === 'datetime') return found;
  const names = times.map(({ name }) => `\`${visible(cut(name, 80))}\``).join(', ');
  const hint =
    times.length === 0
      ? 'Timestamps as text or numbers work only when files are imported: copy them to this machine first.'
      : `Columns with timestamps: ${names}. Choose one with \`--time\`.`;
  const what =
    named === undefined
      ? `It is unclear which column of the objects at ${address} is the event time.`
      : `\`${visible(cut(named, 80))}\` contains no timestamps in the objects at ${address}.`;
  throw new LocalError('invalid', 'bucket', what, { hint });
}

function layoutNote(dated: boolean, slackHours: number | undefined): string {
  if (!dated) return 'No directory is named by a day, so a query reads the footer of every object once.';
  if (slackHours === undefined)
    return 'The directory names do not match the event times, so a query reads the footer of every object once.';
  return `Directories are named by time: a query lists those in its range, plus ${plural(slackHours, 'hour')} before and after.`;
}

function cutNotes(known: readonly KnownObject[], time: string): string[] {
  const columns = [...new Set(known.flatMap(({ cut: names }) => names))];
  if (columns.length === 0) return [];
  const names = columns.map(name => `\`${visible(cut(name, 80))}\``).join(', ');
  const also = columns.includes(time)
    ? ' Such timestamps have no statistics, so every object in the range is read.'
    : '';
  return [
    `The timestamps in ${names} have the old type INT96: they are read with microsecond precision.${also}`,
  ];
}

function nothingThere(address: string, others: number): LocalError {
  const [what, hint] =
    others === 0
      ? [`No object found at ${address}`, 'Check the prefix, for example with `aws s3 ls`.']
      : [
          `No Parquet file found at ${address}, only ${plural(others, 'other object')}`,
          `Only Parquet can be read in place: use \`%import ${address} --copy\` to copy the objects here and import them.`,
        ];
  return new LocalError('invalid', 'bucket', `${what}.`, { hint });
}
