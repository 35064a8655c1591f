import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { packingOf } from '../readers/packing.js';
import { hasCode } from '../store-files.js';
import { type Inspected, type Inspection, inspectorOf, linesBegin } from './bounded-text.js';

/** What the inspection of a file tells. */
export interface InspectedFile {
  /** Length in bytes of the longest line if it exceeds {@link shortLine}; 0 for JSON. */
  readonly longest: number;
  /** Whether the file is compressed, and was decompressed to its end. */
  readonly isIntact: boolean;
}

/**
 * Inspects a file, or its first bytes and at least one event. Throws LocalError at the first violation of a bound. A file that fails
 * to decompress is inspected up to the failure; Zstandard is left to the engine, as the oldest supported Node cannot decompress it.
 */
export async function inspectFile(
  file: string,
  what: Inspected,
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<InspectedFile> {
  const inspector = inspectorOf(what);
  const packing = await packingOf(file);
  if (inspector === undefined || packing === 'zstd') return { longest: 0, isIntact: false };
  // Only JSON has other bounds further down.
  const isLined = what.format !== 'json' && packing === undefined && !(await mayHaveLongLine(file));
  const isEnough = isLined
    ? (read: number) => inspector.settled || read >= Math.min(mostBytes, linesBegin)
    : (read: number) => read >= mostBytes;
  const unpackers = packing === 'gzip' ? [createGunzip({ chunkSize: chunkBytes })] : [];
  const end = new AbortController();
  try {
    const source = createReadStream(file, { highWaterMark: chunkBytes });
    await pipeline([source, ...unpackers, sinkOf(inspector, isEnough, end)], { signal: end.signal });
  } catch (error) {
    if (!end.signal.aborted && !isDamage(error)) throw error;
    return { longest: inspector.longest, isIntact: false };
  }
  return { longest: inspector.longest, isIntact: packing === 'gzip' };
}

/** Size of the beginning of a JSON file that the engine samples. */
export const firstBytes = 4 * 2 ** 20;

const chunkBytes = 256 * 1024;

/** Maximum length of a short line, in bytes: half of a buffer of the engine's fast reader. */
export const shortLine = 16 * 2 ** 20;

/** Whether a file may have a line that is not short: checks for a line break in each block of half that size. */
async function mayHaveLongLine(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const block = shortLine / 2;
    const buffer = Buffer.alloc(lookBytes);
    for (let from = 0; from + block <= size; from += block)
      if (!(await breaksWithin(handle, from, from + block, buffer))) return true;
    return false;
  } finally {
    await handle.close();
  }
}

const lookBytes = 64 * 1024;

async function breaksWithin(handle: FileHandle, from: number, to: number, buffer: Buffer): Promise<boolean> {
  for (let at = from; at < to; at += buffer.length) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
    if (buffer.subarray(0, bytesRead).includes(newline)) return true;
  }
  return false;
}

const newline = 0x0a;

function sinkOf(inspector: Inspection, isEnough: (read: number) => boolean, end: AbortController): Writable {
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
      if (inspector.begun && isEnough(read)) end.abort();
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
