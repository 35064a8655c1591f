import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { LocalError } from '../../local-errors.js';
import { unpackers } from '../append/unpack.js';
import { writeCopy } from '../bounds/bounded-copies.js';
import { packingOf } from './packing.js';

/** Returns the path of the decompressed file: the file itself, or a copy in `workDir`. */
export async function unpacked(file: string, workDir: string): Promise<string> {
  const packing = await packingOf(file);
  if (packing === undefined) return file;
  const target = path.join(workDir, `${crypto.randomUUID()}.unpacked`);
  try {
    await writeCopy(target, [createReadStream(file), ...unpackers(packing)]);
  } catch (error) {
    if (!(error instanceof LocalError) || error.code === 'engine-disk') throw error;
    const message = `${path.basename(file)} is truncated or damaged: it cannot be unpacked completely.`;
    throw new LocalError('invalid', 'unreadable', message, { cause: error });
  }
  return target;
}

/** Size of the beginning, in bytes: several times a sample. */
export const beginBytes = 8 * 2 ** 20;

/**
 * Decompresses the beginning of a file in gzip, and passes on each chunk with its offset, until `take` returns false. Returns the number of
 * bytes passed on. A damaged file ends at the damage, which the end of the import reports.
 */
export async function unpackBegin(
  file: string,
  take: (chunk: Buffer, at: number) => boolean,
): Promise<number> {
  let read = 0;
  const end = new AbortController();
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const goesOn = take(chunk, read);
      read += chunk.length;
      if (!goesOn || read >= beginBytes) end.abort();
      done();
    },
  });
  const unpacked = createGunzip({ chunkSize: chunkBytes });
  await pipeline(createReadStream(file), unpacked, sink, { signal: end.signal }).catch(() => undefined);
  return read;
}

/**
 * Returns an uncompressed copy of the first lines of a large file in gzip, undefined for any other, or one whose lines are very long. The
 * engine decompresses as much as its buffers hold, once for each question about a sample.
 */
export async function packedBegin(file: string, workDir: string): Promise<string | undefined> {
  if ((await packingOf(file)) !== 'gzip') return undefined;
  const chunks: Buffer[] = [];
  let lines = 0;
  const read = await unpackBegin(file, chunk => {
    chunks.push(chunk);
    if (lines < fewestLines) lines += chunk.toString('latin1').split('\n').length - 1;
    return true;
  });
  if (read < beginBytes || lines < fewestLines) return undefined;
  const last = chunks.findLastIndex(chunk => chunk.includes('\n'));
  const whole = chunks.slice(0, last + 1);
  whole[last] = chunks[last]?.subarray(0, chunks[last].lastIndexOf('\n') + 1) ?? Buffer.alloc(0);
  const target = path.join(workDir, `${crypto.randomUUID()}.begin`);
  await writeFile(target, whole, { mode: 0o600 });
  return target;
}

const chunkBytes = 128 * 1024;
const fewestLines = 100;
