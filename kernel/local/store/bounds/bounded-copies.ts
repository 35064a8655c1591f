import { createWriteStream, statfsSync } from 'node:fs';
import path from 'node:path';
import { type Duplex, type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { present } from '../../../present.js';
import { LocalError } from '../../local-errors.js';
import { hasCode } from '../store-files.js';

interface CopyOptions {
  /** Whether to append to an existing file. */
  readonly append?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Writes a scratch file that only this user can read, from the first stream through the others. Throws LocalError before filling up the
 * disk of the data, as a file may decompress to any size; rejects when the signal aborts.
 */
export async function writeCopy(
  target: string,
  steps: readonly [NodeJS.ReadableStream | Readable, ...Duplex[]],
  { append = false, signal }: CopyOptions = {},
): Promise<void> {
  const end = createWriteStream(target, { flags: append ? 'a' : 'w', mode: 0o600 });
  try {
    await pipeline([...steps, roomGuard(path.dirname(target)), end], present({ signal }));
  } catch (error) {
    // Other processes may fill the disk between two checks.
    throw hasCode(error, 'ENOSPC', 'EDQUOT') ? noRoom(error) : error;
  }
}

const MiB = 2 ** 20;

/** Bytes written between two checks of the disk. */
const stepBytes = 16 * MiB;

/** Maximum space that copies leave free, in bytes; otherwise a twentieth of the disk. */
const mostReserved = 1024 * MiB;

function roomGuard(directory: string): Transform {
  let unseen = stepBytes;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      unseen += chunk.length;
      if (unseen >= stepBytes) {
        unseen = 0;
        try {
          if (isNearlyFull(directory)) throw noRoom();
        } catch (error) {
          // The directory may have been deleted; a throw from a transform would end the process.
          done(error as Error);
          return;
        }
      }
      done(null, chunk);
    },
  });
}

function isNearlyFull(directory: string): boolean {
  const { blocks, bavail, bsize } = statfsSync(directory);
  return bavail * bsize < Math.min(mostReserved, (blocks * bsize) / 20) + stepBytes;
}

function noRoom(cause?: unknown): LocalError {
  const message = 'The disk has no space left for an unpacked copy of the import.';
  return new LocalError('storage', 'engine-disk', message, {
    hint: 'Free up space on the disk of the data directory, or unpack the file elsewhere and import it in parts.',
    ...present({ cause }),
  });
}
