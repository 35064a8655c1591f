import { isAscii } from 'node:buffer';
import { existsSync, mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { bytesOfSync } from '../files.js';
import { present } from '../present.js';

/**
 * Runs a CommonJS file with the code that V8 compiled for it in earlier runs, and returns whether there was any. On exit, the process
 * writes the code it has compiled to the file `kept` if there is more than before; failed writes are ignored. Node's own compile cache is
 * not in every supported version.
 */
export function runCompiled(file: string, kept: string): boolean {
  const source = readFileSync(file);
  const before = readCompiled(kept, source);
  const script = new Script(`${HEAD}${textOf(source)}\n})`, {
    filename: pathToFileURL(file).href,
    columnOffset: -HEAD.length,
    ...present({ cachedData: before }),
  });
  const used = before !== undefined && script.cachedDataRejected === false;
  process.on('exit', () => {
    const code = script.createCachedData();
    if (!used || code.length > before.length * WORTH_KEEPING) writeCompiled(kept, source, code);
  });
  script.runInThisContext()(createRequire(file), file);
  return used;
}

/** Decodes source as Latin-1 if possible: Node takes a fifth of the time for a string of one byte per character. */
function textOf(source: Buffer): string {
  return isAscii(source) ? source.toString('latin1') : source.toString();
}

const HEAD = '(function (require, __filename) {';

/**
 * Minimum growth worth saving: processes of one kind compile nearly the same code, and writing a little more would cost more than it saves.
 */
const WORTH_KEEPING = 1.1;

const HEADER_BYTES = 8;

/** Returns the two checksums at the start of compiled code: V8 itself checks only the length of the source, and nothing of the code. */
function header(source: Buffer, code: Buffer): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeUInt32LE(crc32(source), 0);
  bytes.writeUInt32LE(crc32(code), 4);
  return bytes;
}

function readCompiled(kept: string, source: Buffer): Buffer | undefined {
  try {
    const bytes = bytesOfSync(kept);
    const code = bytes.subarray(HEADER_BYTES);
    return header(source, code).equals(bytes.subarray(0, HEADER_BYTES)) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the compiled code atomically, as other processes may be starting. */
function writeCompiled(kept: string, source: Buffer, code: Buffer): void {
  const fresh = `${kept}.${process.pid}`;
  try {
    // Does not create the program's folder too: it may have been removed for a new build.
    if (!existsSync(dirname(kept))) mkdirSync(dirname(kept));
    writeFileSync(fresh, Buffer.concat([header(source, code), code]));
    renameSync(fresh, kept);
  } catch {
    // The next start compiles again. Otherwise every start would leave a file here, on a disk that may be full.
    remove(fresh);
  }
}

function remove(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // It was never written.
  }
}
