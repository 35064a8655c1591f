import { createReadStream } from 'node:fs';
import path from 'node:path';
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
