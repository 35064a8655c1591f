import { bucketAddressText } from '../../../../api/api-imports.js';
import { serviceTypes, type TypeName } from '../../../../apl/catalog/entry.js';
import { LocalError } from '../../../local-errors.js';
import type { Asking, BucketClient, ObjectEntry } from './client/bucket-client.js';

/** Manifest of a published dataset: its fields with types and columns, and its days. */
export interface Manifest {
  readonly version: 1;
  readonly dataset: string;
  /** Id that distinguishes it from datasets with the same name. */
  readonly origin: string;
  readonly fields: readonly { readonly name: string; readonly type: TypeName; readonly column: string }[];
  readonly days: readonly PublishedDay[];
}

/** A published day. */
export interface PublishedDay {
  /** Date in UTC, such as `2026-06-01`. */
  readonly day: string;
  /** Key of its object, below the prefix. */
  readonly key: string;
  readonly rows: number;
  /** Sum of the times of its rows, in nanoseconds, as decimal digits. */
  readonly times: string;
  readonly bytes: number;
  readonly etag: string;
}

/** Key of a manifest, below the prefix; a leading underscore keeps it from being read as data. */
export const manifestKey = '_apl/manifest.json';

/** Whether two days have the same rows, judging by their count and times. */
export function sameDay(
  a: Pick<PublishedDay, 'rows' | 'times'>,
  b: Pick<PublishedDay, 'rows' | 'times'>,
): boolean {
  return a.rows === b.rows && a.times === b.times;
}

/** Reads a manifest, if it exists. Throws LocalError if it is damaged. */
export async function readManifest(
  client: BucketClient,
  object: ObjectEntry | undefined,
  asking: Asking,
): Promise<Manifest | undefined> {
  if (object === undefined) return undefined;
  const bytes = object.bytes > mostBytes ? undefined : await client.read(object, 0, object.bytes, asking);
  const manifest = bytes && manifestIn(bytes.toString('utf8'));
  if (manifest !== undefined) return manifest;
  const key = bucketAddressText({ ...client.address, prefix: object.key });
  throw new LocalError('invalid', 'bucket', `${key} is not a manifest of a published dataset.`, {
    hint: 'Choose another prefix, or delete it to publish all days again.',
  });
}

/** Maximum size in bytes; a million days need less. */
const mostBytes = 2 ** 28;

function manifestIn(text: string): Manifest | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isManifest(value) ? value : undefined;
}

function isManifest(value: unknown): value is Manifest {
  const { version, dataset, origin, fields, days } = Object(value) as Record<keyof Manifest, unknown>;
  const areTexts = (...texts: readonly unknown[]) => texts.every(each => typeof each === 'string');
  return (
    version === 1 &&
    areTexts(dataset, origin) &&
    Array.isArray(fields) &&
    Array.isArray(days) &&
    fields.every(each => areTexts(each?.name, each?.column) && Object.hasOwn(serviceTypes, each.type)) &&
    days.every(
      each =>
        areTexts(each?.day, each?.key, each?.times, each?.etag) &&
        [each.rows, each.bytes].every(Number.isSafeInteger),
    )
  );
}
