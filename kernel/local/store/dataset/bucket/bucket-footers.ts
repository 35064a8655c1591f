import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { type BucketAddress, bucketAddressText } from '../../../../api/api-imports.js';
import { bytesOf, overwrite } from '../../../../files.js';
import { cut, visible } from '../../../../text.js';
import { LocalError } from '../../../local-errors.js';
import { clearName } from '../../store-files.js';
import type { Asking, BucketClient, ObjectEntry } from './client/bucket-client.js';

/** The end of an object. */
export interface ObjectEnd {
  /** Identifies this version of the object: hash of bucket, key, size and etag. */
  readonly id: string;
  /** Offset of the footer. */
  readonly start: number;
  readonly footer: Buffer;
}

/** Returns an id for the current version of an object. */
export function objectId({ bucket }: BucketAddress, { key, etag, bytes }: ObjectEntry): string {
  return createHash('sha256')
    .update(JSON.stringify([bucket, key, etag, bytes]))
    .digest('hex')
    .slice(0, 32);
}

/** Footers of objects, cached in a directory by object id, which changes with the object. May be deleted at any time. */
export class FooterStore {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Returns the end of an object, from the cache or the bucket. Throws LocalError if it is not a Parquet file. */
  async read(client: BucketClient, object: ObjectEntry, asking: Asking): Promise<ObjectEnd> {
    const id = objectId(client.address, object);
    const file = path.join(this.#directory, id.slice(0, 2), id);
    const kept = await bytesOf(file).then(checked, () => undefined);
    const footer = kept ?? (await readEnd(client, object, asking));
    if (kept === undefined) {
      const sum = Buffer.alloc(4);
      sum.writeUInt32LE(crc32(footer));
      // If it cannot be written, the footer is read again next time; anything else under its name is removed.
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
        .then(() => overwrite(file, Buffer.concat([sum, footer])))
        .catch(() => clearName(file));
    }
    return { id, start: object.bytes - endBytes - footer.length, footer };
  }
}

/** Returns the footer of an intact file: writes are neither durable nor atomic, so the checksum decides. */
function checked(bytes: Buffer): Buffer | undefined {
  const footer = bytes.subarray(4);
  return bytes.length > 4 && bytes.readUInt32LE() === crc32(footer) ? footer : undefined;
}

/** Size that most footers fit into, in bytes. */
const usualBytes = 16 * 2 ** 10;

/** A footer is followed by its length and a four-byte magic number. */
const endBytes = 8;

async function readEnd(client: BucketClient, object: ObjectEntry, asking: Asking): Promise<Buffer> {
  const from = Math.max(0, object.bytes - usualBytes);
  const end = await client.read(object, from, object.bytes, asking);
  const length = end.length < endBytes ? 0 : end.readUInt32LE(end.length - endBytes);
  const start = object.bytes - endBytes - length;
  if (end.toString('latin1', end.length - 4) !== 'PAR1' || length === 0 || start < 0)
    throw notParquet(client.address, object.key);
  if (start >= from) return end.subarray(start - from, end.length - endBytes);
  return Buffer.concat([
    await client.read(object, start, from, asking),
    end.subarray(0, end.length - endBytes),
  ]);
}

/** Returns the error for an object that cannot be read as Parquet: a result without its rows would be wrong. */
export function notParquet(address: BucketAddress, key: string): LocalError {
  const shown = visible(cut(bucketAddressText({ ...address, prefix: key }), 300));
  return new LocalError('invalid', 'bucket', `${shown} is truncated, encrypted, or not a Parquet file.`, {
    hint: 'Delete or replace the object: a result without its rows would be wrong.',
  });
}
