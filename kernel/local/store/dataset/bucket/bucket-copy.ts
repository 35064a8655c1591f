import { mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bucketAddressText, readBucketAddress } from '../../../../api/api-imports.js';
import type { ImportReport, ImportRequest } from '../../../../api/wire.js';
import { writeAll } from '../../../../files.js';
import { present } from '../../../../present.js';
import { formatBytes, formatCount, plural } from '../../../../text.js';
import { LocalError } from '../../../local-errors.js';
import { mapAtMost } from '../../concurrent.js';
import { mostFiles } from '../../sources/source-files.js';
import { isShown } from './bucket-tree.js';
import type { Buckets } from './buckets.js';
import type { Asking, BucketClient, ObjectEntry } from './client/bucket-client.js';
import { Meter } from './client/meter.js';

/** Copies the objects at a bucket address to local files, has `read` import them in one request, and deletes them. Throws LocalError. */
export async function importCopy(
  buckets: Buckets,
  request: ImportRequest,
  read: (request: ImportRequest) => Promise<ImportReport>,
  signal?: AbortSignal,
): Promise<ImportReport> {
  const parsed = readBucketAddress(request.path);
  const address = bucketAddressText(parsed);
  const { client } = buckets.at(address);
  const meter = new Meter();
  const asking = { meter, ...present({ signal }) };
  const objects = await objectsAt(client, asking);
  const scratch = await mkdtemp(path.join(tmpdir(), 'apl-kernel-'));
  // Messages contain its last segment.
  const directory = path.join(scratch, safeName(address.split('/').at(-2) ?? ''));
  try {
    await mapAtMost(copiesAtOnce, [...objects.entries()], ([index, object]) =>
      copyObject(client, object, path.join(directory, String(index + 1)), asking),
    );
    const report = await read({ ...request, path: directory });
    return { ...report, notes: [meter.text(address, await client.isAws()), ...report.notes] };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

const copiesAtOnce = 12;

/** Maximum size of a copy, in bytes. */
const mostBytes = 2 * 2 ** 30;

/** Maximum size of a request, which is buffered in memory. */
const pieceBytes = 16 * 2 ** 20;

/** Lists the objects. Throws LocalError if there are none, or more than can be copied at once. */
async function objectsAt(client: BucketClient, asking: Asking): Promise<readonly ObjectEntry[]> {
  const { prefix } = client.address;
  const address = bucketAddressText(client.address);
  const { objects } = await client.list(prefix, true, asking);
  const found = objects.filter(({ key, bytes }) => bytes > 0 && isShown(key.slice(prefix.length)));
  if (found.length === 0)
    throw new LocalError('invalid', 'bucket', `No object found at ${address}.`, {
      hint: 'Check the prefix, for example with `aws s3 ls`.',
    });
  const total = found.reduce((sum, { bytes }) => sum + bytes, 0);
  if (found.length <= mostFiles && total <= mostBytes) return found;
  const [most, of] = [formatBytes(mostBytes), formatCount(mostFiles)];
  throw new LocalError(
    'too-large',
    'bucket',
    `${address} has ${plural(found.length, 'object')} of ${formatBytes(total)}, but at most ${of} of ${most} can be copied at once.`,
    { hint: 'Import them in parts into one dataset, for example one day at a time: s3://BUCKET/PREFIX/DAY.' },
  );
}

async function copyObject(
  client: BucketClient,
  object: ObjectEntry,
  directory: string,
  asking: Asking,
): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = await open(path.join(directory, safeName(object.key.split('/').at(-1) ?? '')), 'wx', 0o600);
  try {
    for (let from = 0; from < object.bytes; from += pieceBytes) {
      const bytes = await client.read(object, from, Math.min(object.bytes, from + pieceBytes), asking);
      await writeAll(file, bytes, from);
    }
  } finally {
    await file.close();
  }
}

/** Turns an object name into a file name, keeping its end, which shows the format. */
function safeName(name: string): string {
  return (
    name
      .replace(/[^\w.=-]+/g, '-')
      .replace(/^\.+/, '')
      .slice(-100) || 'objects'
  );
}
