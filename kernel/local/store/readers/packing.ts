import { open } from 'node:fs/promises';

/** Returns how a file is packed; undefined for one that is not, or in a way that is not supported. */
export async function packingOf(file: string): Promise<'gzip' | 'zstd' | undefined> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    const start = buffer.subarray(0, bytesRead).toString('hex');
    if (start.startsWith(gzip)) return 'gzip';
    return start === zstd ? 'zstd' : undefined;
  } finally {
    await handle.close();
  }
}

const gzip = '1f8b';
const zstd = '28b52ffd';

/** How data begins that is packed, or in a format that is not text. */
const packings: readonly (readonly [begin: string, name: string])[] = [
  ['\x1f\x8b', 'compressed with gzip'],
  ['\x28\xb5\x2f\xfd', 'compressed with Zstandard'],
  ['PAR1', 'a Parquet file'],
  ['BZh91AY&SY', 'compressed with bzip2'],
  ['\xfd7zXZ\0', 'compressed with xz'],
  ['\x04"M\x18', 'compressed with LZ4'],
  ['PK\x03\x04', 'a ZIP archive'],
  ["7z\xbc\xaf'\x1c", 'a 7-Zip archive'],
  ['ARROW1\0\0', 'an Arrow file'],
  ['Obj\x01', 'an Avro file'],
  ['SQLite format 3\0', 'an SQLite database'],
];

/** Whether files that begin like this are read all the same. */
export function isRead(packing: string): boolean {
  return packings.slice(0, 3).some(([, name]) => name === packing);
}

/** Returns what the beginning of data shows it to be instead of text, in words; undefined where it shows nothing. */
export function packedAs(start: Buffer): string | undefined {
  return packings.find(([begin]) => start.toString('latin1', 0, begin.length) === begin)?.[1];
}
