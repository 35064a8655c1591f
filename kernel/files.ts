import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  type Stats,
  statSync,
} from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { devNull } from 'node:os';

/**
 * Safe opening of files whose names others can replace: a pipe that nobody writes to blocks the opener forever, with a thread of this
 * process, and a device may never end. Files of the data directory and of the user's settings are opened here.
 */

/** Does not wait for the other end, and does not acquire a controlling terminal. Windows has neither. */
const atOnce = constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Opens a file, with the system's flags. Rejects with the system's error; for a pipe, a socket or a device that is ENXIO, and for a
 * dangling link ENOLINK, as whoever created it meant more than a missing file. The null device is an empty file: linking to it means that
 * nothing is to be stored.
 */
export async function openFile(
  file: string,
  flags: number = constants.O_RDONLY,
  mode?: number,
): Promise<FileHandle> {
  const handle = await open(file, flags | atOnce, mode).catch(error => {
    throw openError(error, file);
  });
  try {
    refuseSpecial(await handle.stat(), file);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Opens a file like {@link openFile}, and returns its descriptor. Throws the same. */
export function openFileSync(file: string, flags: number = constants.O_RDONLY, mode?: number): number {
  const handle = openedSync(file, flags | atOnce, mode);
  try {
    refuseSpecial(fstatSync(handle), file);
    return handle;
  } catch (error) {
    closeSync(handle);
    throw error;
  }
}

/**
 * Maximum size of a file that is read whole, in bytes. Files of the kernel or a user are a thousandth of it; a sparse file has any size,
 * and would take all memory.
 */
export const mostBytes = 64 * 2 ** 20;

/** The same for files that grow with their content: a log of batches, an answer, a notebook, the cache of ten thousand files. */
export const anySize = 2 ** 31 - 1;

/** Returns the content of a file of at most `most` bytes. Rejects like {@link openFile}, and with EOVERFLOW for a larger one. */
export async function bytesOf(file: string, most = mostBytes): Promise<Buffer> {
  const handle = await openFile(file);
  try {
    refuseLarge(await handle.stat(), file, most);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** Returns the content of a file as text. Rejects like {@link bytesOf}. */
export async function textOf(file: string, most = mostBytes): Promise<string> {
  return decoded(await bytesOf(file, most));
}

/**
 * Decodes bytes without the byte order mark that Windows editors add: as UTF-16 if the mark says so, else as UTF-8. With `fatal`, throws
 * for bytes that are not text.
 */
export function decoded(bytes: Uint8Array, options: { readonly fatal?: boolean } = {}): string {
  const mark = isUtf16(bytes) ? 'utf-16le' : 'utf-8';
  return new TextDecoder(mark, options).decode(bytes);
}

/** Decodes the bytes of a JSON Lines file. If an editor has saved it in UTF-16, the lines appended since are in UTF-8. */
export function decodedLines(bytes: Buffer): string {
  const added = isUtf16(bytes) ? bytes.indexOf('\n{"') : -1;
  return added < 0 ? decoded(bytes) : decoded(bytes.subarray(0, added)) + decoded(bytes.subarray(added));
}

function isUtf16(bytes: Uint8Array): boolean {
  return bytes[0] === 0xff && bytes[1] === 0xfe;
}

/** Returns the content of a file. Throws what {@link bytesOf} rejects with. */
export function bytesOfSync(file: string): Buffer {
  const handle = openFileSync(file);
  try {
    refuseLarge(fstatSync(handle), file, mostBytes);
    return readFileSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Overwrites a file, readable only by this user. Neither durable nor atomic. Rejects like {@link openFile}. */
export async function overwrite(file: string, content: string | Uint8Array): Promise<void> {
  const handle = await openFile(file, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
  try {
    await handle.writeFile(content);
  } finally {
    await handle.close();
  }
}

/**
 * Removes a file that may already be gone. Rejects with the system's error: Node.js's `rm` treats a file that may not be removed as a
 * directory, and reports that it is not one.
 */
export async function removeFile(file: string): Promise<void> {
  await unlink(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

/**
 * Opens the other end of a pipe, and closes it: a waiting reader gets an end of file. Returns whether there was one; false for a pipe that
 * may not be written to.
 */
export function letGo(pipe: string): boolean {
  try {
    closeSync(openSync(pipe, constants.O_WRONLY | atOnce));
    return true;
  } catch {
    return false;
  }
}

function openedSync(file: string, flags: number, mode?: number): number {
  try {
    return openSync(file, flags, mode);
  } catch (error) {
    throw openError(error, file);
  }
}

function openError(error: unknown, file: string): unknown {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !isLink(file)) return error;
  return systemError('ENOLINK', 'is a broken link', file);
}

/** True if the name is a link. */
function isLink(file: string): boolean {
  try {
    return lstatSync(file).isSymbolicLink();
  } catch {
    return false;
  }
}

function refuseSpecial(stats: Stats, file: string): void {
  if (stats.isFile()) return;
  // On some file systems a directory looks like an empty file.
  if (stats.isDirectory()) throw systemError('EISDIR', 'is a directory', file);
  if (!isNull(stats)) throw systemError('ENXIO', 'is not a file', file);
}

function refuseLarge({ size }: Stats, file: string, most: number): void {
  if (size > most) throw systemError('EOVERFLOW', 'is too large', file);
}

function isNull(stats: Stats): boolean {
  return stats.isCharacterDevice() && stats.rdev === statSync(devNull).rdev;
}

function systemError(code: string, says: string, file: string): Error {
  return Object.assign(new Error(`${code}: ${file} ${says}`), { code, path: file, syscall: 'open' });
}

/**
 * Writes all of the bytes, at a position or after what was written before. A disk that fills up accepts part of them without an error, and
 * fails on the rest.
 */
export async function writeAll(
  file: Pick<FileHandle, 'write'>,
  bytes: Uint8Array,
  position?: number,
): Promise<void> {
  for (let from = 0; from < bytes.byteLength; ) {
    const at = position === undefined ? null : position + from;
    from += (await file.write(bytes, from, bytes.byteLength - from, at)).bytesWritten;
  }
}
