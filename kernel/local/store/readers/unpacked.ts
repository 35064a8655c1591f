import { createReadStream, createWriteStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { sqlText } from '../../duckdb/literal.js';
import type { Connection } from '../../engine/duckdb.js';
import { lineReader } from './line-reader.js';
import { packingOf } from './packing.js';

/** Returns the path of a text file without its packing: the file itself, or a copy in `workDir`. */
export async function unpacked(connection: Connection, file: string, workDir: string): Promise<string> {
  const packing = await packingOf(file);
  const target = path.join(workDir, `${crypto.randomUUID()}.unpacked`);
  if (packing === 'gzip') {
    await pipeline(createReadStream(file), createGunzip(), createWriteStream(target, { mode: 0o600 }));
    return target;
  }
  if (packing === undefined) return file;
  // The oldest Node that is supported cannot unpack this; the engine can, line by line.
  const lines = `SELECT coalesce(l, '') FROM ${lineReader(file, 'long')}`;
  const asTheyAre = `FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER chr(1)`;
  await connection.run(`COPY (${lines}) TO ${sqlText(target)} (${asTheyAre})`);
  return target;
}
