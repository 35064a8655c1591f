import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

/**
 * A Parquet file of ours is called `TIME-ID.CHECKSUM.parquet`: when it came, in milliseconds since 1970, an id, and the CRC-32 of
 * its content, as the format has none that the engine checks. Those of earlier versions have no checksum.
 */
const partName = /^(\d+)-([^.]+)(?:\.([0-9a-f]{8}))?\.parquet$/;

/** Returns the path of a finished Parquet file that is to be called `target`, a path without what follows the id. */
export async function partPath(draft: string, target: string): Promise<string> {
  return `${target}.${await checksumOf(draft)}.parquet`;
}

/** Returns the id in the name of a Parquet file; where another program chose the name, the whole of it. */
export function idOf(name: string): string {
  return partName.exec(name)?.[2] ?? name;
}

/** Whether the name of a Parquet file has the checksum of its content. */
export function hasChecksum(name: string): boolean {
  return partName.exec(name)?.[3] !== undefined;
}

/** Returns why the content of a Parquet file is not to be trusted, as in "it {reason}". Rejects with the system's error. */
export async function damageIn(file: string, name: string): Promise<string | undefined> {
  const expected = partName.exec(name)?.[3];
  if (expected !== undefined && (await checksumOf(file)) === expected) return undefined;
  const kind = await endOf(file);
  if (kind !== 'whole') return kind === 'empty' ? 'is empty' : 'is cut short, or not a Parquet file';
  return expected === undefined ? undefined : 'is damaged: it is not what was written';
}

/** Returns the CRC-32 of a file, in hexadecimal. */
async function checksumOf(file: string): Promise<string> {
  const checksum = await withFile(file, async handle => {
    const buffer = Buffer.alloc(pieceBytes);
    for (let sum = 0; ; ) {
      const { bytesRead } = await handle.read(buffer, 0, pieceBytes, null);
      if (bytesRead === 0) return sum;
      sum = crc32(buffer.subarray(0, bytesRead), sum);
    }
  });
  return checksum.toString(16).padStart(8, '0');
}

/** The checksum of a piece takes a fraction of a millisecond, in which nothing else is done. */
const pieceBytes = 2 ** 20;

/** Whether a file ends as a Parquet file does: with the length of its footer and the mark of the format. */
async function endOf(file: string): Promise<'whole' | 'empty' | 'other'> {
  return withFile(file, async handle => {
    const { size } = await handle.stat();
    if (size < endBytes) return size === 0 ? 'empty' : 'other';
    const end = Buffer.alloc(endBytes);
    await handle.read(end, 0, endBytes, size - endBytes);
    return end.toString('latin1', 4) === 'PAR1' && end.readUInt32LE(0) + endBytes <= size ? 'whole' : 'other';
  });
}

const endBytes = 8;

async function withFile<T>(file: string, work: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(file);
  try {
    return await work(handle);
  } finally {
    await handle.close();
  }
}
