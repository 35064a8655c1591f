import { createReadStream } from 'node:fs';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { packingOf } from '../readers/packing.js';
import { hasCode } from '../store-files.js';
import { type Inspected, type Inspection, inspectorOf } from './bounded-text.js';

/**
 * Looks at a file, or at its first bytes and at least one event; throws a LocalError at the first thing in it that is beyond a bound, and returns how
 * many bytes its longest line has, 0 of JSON. Of one that does not unpack, what there is is looked at; one in Zstandard is left to
 * the engine, as the oldest Node cannot unpack it.
 */
export async function inspectFile(
  file: string,
  what: Inspected,
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<number> {
  const inspector = inspectorOf(what);
  const packing = await packingOf(file);
  if (inspector === undefined || packing === 'zstd') return 0;
  const unpackers = packing === 'gzip' ? [createGunzip({ chunkSize: chunkBytes })] : [];
  const end = new AbortController();
  try {
    const source = createReadStream(file, { highWaterMark: chunkBytes });
    await pipeline([source, ...unpackers, sinkOf(inspector, mostBytes, end)], { signal: end.signal });
  } catch (error) {
    if (!end.signal.aborted && !isDamage(error)) throw error;
  }
  return inspector.longest;
}

/** Of the beginning of a file of JSON, which the engine decides by. */
export const firstBytes = 4 * 2 ** 20;

const chunkBytes = 256 * 1024;

function sinkOf(inspector: Inspection, mostBytes: number, end: AbortController): Writable {
  let read = 0;
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      read += chunk.length;
      try {
        inspector.take(chunk);
      } catch (error) {
        done(error as Error);
        return;
      }
      if (read >= mostBytes && inspector.begun) end.abort();
      done();
    },
    final(done) {
      try {
        inspector.end();
        done();
      } catch (error) {
        done(error as Error);
      }
    },
  });
}

function isDamage(error: unknown): boolean {
  return hasCode(error, 'Z_DATA_ERROR', 'Z_BUF_ERROR');
}
