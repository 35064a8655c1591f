import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { openFile } from '../../../files.js';
import { givenId, givenName } from './dataset-copies.js';

/**
 * Name of our Parquet files, `TIME-ID.CHECKSUM.parquet`: time of arrival in milliseconds since 1970, an id, and the CRC-32 of the content,
 * as the format has none that the engine checks. Earlier versions wrote no checksum.
 */
const partName = /^(\d+)-([^.]+)(?:\.([0-9a-f]{8}))?\.parquet$/;

/** Returns the final path of a finished Parquet file; `target` is the path up to and including the id. */
export async function partPath(draft: string, target: string): Promise<string> {
  const checksum = await withFile(draft, async handle =>
    checksumOf((await handle.stat()).size, (at, length) => bytesAt(handle, at, length)),
  );
  return `${target}.${checksum}.parquet`;
}

/** Returns the id in the name of a Parquet file; the whole name if another program chose it. */
export function idOf(name: string): string {
  return givenId(name) ?? partName.exec(name)?.[2] ?? name;
}

/** Whether the name of a Parquet file contains a checksum. */
export function hasChecksum(name: string): boolean {
  return partName.exec(givenName(name))?.[3] !== undefined;
}

/** A completely read Parquet file. */
export interface ExaminedPart {
  /** Why its content cannot be trusted, as in "it {reason}". */
  readonly damage?: string;
  /** Its footer, if the content matches its checksum or the name has none. */
  readonly footer?: Buffer;
}

/** Reads a Parquet file completely. Rejects with the system's error. */
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
      return { damage: size === 0 ? 'is empty' : 'is truncated, or not a Parquet file' };
    if (expected !== undefined && (await checksumOf(size, read)) !== expected)
      return { damage: 'is damaged: its checksum does not match' };
    return { footer: await read(footer.at, footer.length) };
  });
}

/** Returns the footer of one of our Parquet files without verifying it, undefined if there is none. Rejects with the system's error. */
export async function footerIn(file: string): Promise<Buffer | undefined> {
  return withFile(file, async handle => {
    const read: ReadBytes = (at, length) => bytesAt(handle, at, length);
    const footer = await footerAt((await handle.stat()).size, read);
    return footer && read(footer.at, footer.length);
  });
}

/** Returns the bytes of a file at an offset; fewer at its end. */
type ReadBytes = (at: number, length: number) => Promise<Buffer>;

/** Returns the bytes of an open file at an offset; fewer at its end. */
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

/** Returns the CRC-32 of a file of this size, as hexadecimal digits. */
async function checksumOf(size: number, read: ReadBytes): Promise<string> {
  let checksum = 0;
  for (let at = 0; at < size; at += pieceBytes)
    checksum = crc32(await read(at, Math.min(pieceBytes, size - at)), checksum);
  return checksum.toString(16).padStart(8, '0');
}

/** Chunk size: computing its checksum blocks the event loop for a fraction of a millisecond. */
const pieceBytes = 2 ** 20;

/** Returns the position of the footer, undefined if the file does not end with the footer's length and the Parquet magic. */
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
