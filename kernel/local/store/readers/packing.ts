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
