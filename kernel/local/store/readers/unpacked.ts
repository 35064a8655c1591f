import { createReadStream, createWriteStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { LocalError } from '../../errors.js';
import { unpackers } from '../append/unpack.js';
import { packingOf } from './packing.js';

/** Returns the path of a text file without its packing: the file itself, or a copy in `workDir`. */
export async function unpacked(file: string, workDir: string): Promise<string> {
  const packing = await packingOf(file);
  if (packing === undefined) return file;
  const target = path.join(workDir, `${crypto.randomUUID()}.unpacked`);
  const copy = createWriteStream(target, { mode: 0o600 });
  try {
    await pipeline([createReadStream(file), ...unpackers(packing), copy]);
  } catch (error) {
    if (!(error instanceof LocalError)) throw error;
    const message = `${path.basename(file)} is cut off or damaged: it does not unpack to its end.`;
    throw new LocalError('invalid', 'unreadable', message, { cause: error });
  }
  return target;
}
