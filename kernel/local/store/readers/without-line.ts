import { constants } from 'node:fs';
import { chmod, copyFile, type FileHandle, open, rm, truncate } from 'node:fs/promises';
import path from 'node:path';
import { hasCode } from '../files.js';

/**
 * Returns a copy in `workDir` of a file of JSON lines without its last line, where that one is cut off, as in a log that is being
 * written. Undefined if it is not, and if there is no room for a copy.
 */
export async function withoutCutLine(file: string, workDir: string): Promise<string | undefined> {
  const length = await lengthOfWholeLines(file);
  if (length === undefined) return undefined;
  const whole = await copyOf(file, workDir);
  if (whole !== undefined) await truncate(whole, length);
  return whole;
}

/** Writes blanks over these bytes of a file. */
export async function blank(
  file: string,
  { start, end }: { readonly start: number; readonly end: number },
): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.write(Buffer.alloc(end - start, ' '), 0, end - start, start);
  } finally {
    await handle.close();
  }
}

/** Returns a copy of a file in `workDir`; undefined if there is no room for one. */
export async function copyOf(file: string, workDir: string): Promise<string | undefined> {
  const copy = path.join(workDir, `${crypto.randomUUID()}.copy.ndjson`);
  try {
    await copyFile(file, copy, constants.COPYFILE_FICLONE);
    // A copy has the mode of its file, which may be read-only.
    await chmod(copy, 0o600);
    return copy;
  } catch (error) {
    if (!hasCode(error, 'ENOSPC', 'EDQUOT')) throw error;
    await rm(copy, { force: true });
    return undefined;
  }
}

/** Returns the bytes of a file up to its last line break, where an object begins after it and does not end. */
async function lengthOfWholeLines(file: string): Promise<number | undefined> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const from = Math.max(0, size - longestLine);
    // Blanks may stand in place of a byte order mark.
    const start = (await part(handle, 0, 4)).trimStart();
    const end = await part(handle, from, size - from);
    const at = end.lastIndexOf('\n');
    const last = end.slice(at + 1).trim();
    const isCut = start.startsWith('{') && at >= 0 && last.startsWith('{') && !last.endsWith('}');
    return isCut ? from + at + 1 : undefined;
  } finally {
    await handle.close();
  }
}

/** In bytes; of a longer one every value is looked at. */
const longestLine = 2 ** 20;

/** A character for each byte. */
async function part(handle: FileHandle, position: number, bytes: number): Promise<string> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, position);
  return buffer.toString('latin1', 0, bytesRead);
}
