import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { sqlText } from '../../duckdb/literal.js';
import type { Connection } from '../../engine/duckdb.js';
import { lineReader } from './lines.js';

/** Returns a file with the bytes of a text file that may be packed: itself, or one in `workDir`. */
export async function unpacked(connection: Connection, file: string, workDir: string): Promise<string> {
  const start = await firstFour(file);
  const target = path.join(workDir, `${crypto.randomUUID()}.unpacked`);
  if (start.startsWith(gzip)) {
    await pipeline(createReadStream(file), createGunzip(), createWriteStream(target, { mode: 0o600 }));
    return target;
  }
  if (start !== zstd) return file;
  // The oldest Node that is supported cannot unpack this; the engine can, line by line.
  const lines = `SELECT coalesce(l, '') FROM ${lineReader(file, 'long')}`;
  const asTheyAre = `FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER chr(1)`;
  await connection.run(`COPY (${lines}) TO ${sqlText(target)} (${asTheyAre})`);
  return target;
}

/** Whether a file is packed in one of the ways that are read. */
export async function isPacked(file: string): Promise<boolean> {
  const start = await firstFour(file);
  return start.startsWith(gzip) || start === zstd;
}

const gzip = '1f8b';
const zstd = '28b52ffd';

/** The first bytes in hexadecimal. */
async function firstFour(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.subarray(0, bytesRead).toString('hex');
  } finally {
    await handle.close();
  }
}
