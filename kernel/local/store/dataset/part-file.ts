import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { openFile } from '../../../files.js';
import { givenId, givenName } from './dataset-copies.js';

/**
 * A Parquet file of ours is called `TIME-ID.CHECKSUM.parquet`: when it came, in milliseconds since 1970, an id, and the CRC-32 of
 * its content, as the format has none that the engine checks. Those of earlier versions have no checksum.
 */
const partName = /^(\d+)-([^.]+)(?:\.([0-9a-f]{8}))?\.parquet$/;

/** Returns the path of a finished Parquet file that is to be called `target`, a path without what follows the id. */
export async function partPath(draft: string, target: string): Promise<string> {
  const checksum = await withFile(draft, async handle =>
    checksumOf((await handle.stat()).size, (at, length) => bytesAt(handle, at, length)),
  );
  return `${target}.${checksum}.parquet`;
}

/** Returns the id in the name of a Parquet file; where another program chose the name, the whole of it. */
export function idOf(name: string): string {
  return givenId(name) ?? partName.exec(name)?.[2] ?? name;
}

/** Whether the name of a Parquet file has the checksum of its content. */
export function hasChecksum(name: string): boolean {
  return partName.exec(givenName(name))?.[3] !== undefined;
}

/** A Parquet file that was read whole. */
export interface ExaminedPart {
  /** Why its content is not to be trusted, as in "it {reason}". */
  readonly damage?: string;
  /** Its footer, if the content has its checksum or the name has none. */
  readonly footer?: Buffer;
}

/** Reads the whole of a Parquet file. Rejects with the system's error. */
export async function examinePart(file: string, name: string): Promise<ExaminedPart> {
  const expected = partName.exec(givenName(name))?.[3];
  return withFile(file, async handle => {
    const { size } = await handle.stat();
    // A small file is read once.
    const all = size <= pieceBytes ? await bytesAt(handle, 0, size) : undefined;
    const read: ReadBytes = async (at, length) =>
      all?.subarray(at, at + length) ?? bytesAt(handle, at, length);
    const footer = await footerAt(size, read);
    if (footer === undefined)
      return { damage: size === 0 ? 'is empty' : 'is cut short, or not a Parquet file' };
    if (expected !== undefined && (await checksumOf(size, read)) !== expected)
      return { damage: 'is damaged: it is not what was written' };
    return { footer: await read(footer.at, footer.length) };
  });
}

/** Returns the footer of a Parquet file of ours, which is taken as it is; undefined if there is none. Rejects with the system's error. */
export async function footerIn(file: string): Promise<Buffer | undefined> {
  return withFile(file, async handle => {
    const read: ReadBytes = (at, length) => bytesAt(handle, at, length);
    const footer = await footerAt((await handle.stat()).size, read);
    return footer && read(footer.at, footer.length);
  });
}

/** Returns the bytes of a file from a place on; fewer at its end. */
type ReadBytes = (at: number, length: number) => Promise<Buffer>;

/** Returns the bytes of an open file from a place on; fewer at its end. */
export async function bytesAt(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await handle.read(buffer, done, length - done, at + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return buffer.subarray(0, done);
}

/** Returns the CRC-32 of a file of this size, in hexadecimal. */
async function checksumOf(size: number, read: ReadBytes): Promise<string> {
  let checksum = 0;
  for (let at = 0; at < size; at += pieceBytes)
    checksum = crc32(await read(at, Math.min(pieceBytes, size - at)), checksum);
  return checksum.toString(16).padStart(8, '0');
}

/** The checksum of a piece takes a fraction of a millisecond, in which nothing else is done. */
const pieceBytes = 2 ** 20;

/** Where the footer is: a Parquet file ends with its length and the mark of the format. Undefined if a file ends otherwise. */
async function footerAt(
  size: number,
  read: ReadBytes,
): Promise<{ readonly at: number; readonly length: number } | undefined> {
  if (size < endBytes) return undefined;
  const end = await read(size - endBytes, endBytes);
  if (end.toString('latin1', 4) !== 'PAR1') return undefined;
  const length = end.readUInt32LE(0);
  return length + endBytes <= size ? { at: size - endBytes - length, length } : undefined;
}

const endBytes = 8;

/** Opens a file for `work`, and closes it. Rejects like {@link openFile}. */
export async function withFile<T>(file: string, work: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await openFile(file);
  try {
    return await work(handle);
  } finally {
    await handle.close();
  }
}
