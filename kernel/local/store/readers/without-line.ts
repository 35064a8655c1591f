import { constants } from 'node:fs';
import { appendFile, chmod, copyFile, type FileHandle, open, rm, truncate } from 'node:fs/promises';
import path from 'node:path';
import { writeAll } from '../../../files.js';
import { messageLine } from '../sources/plain-lines.js';
import { hasCode } from '../store-files.js';

/** A copy of a JSON Lines file with its truncated last line turned into the `message` of an object. */
export interface Completed {
  readonly file: string;
  /** Line with that object. */
  readonly line: string;
}

/**
 * Returns a copy in `workDir` of a JSON Lines file with a truncated last line, such as an open log. Undefined if it is not truncated, or
 * there is no space for a copy.
 */
export async function withCutLine(file: string, workDir: string): Promise<Completed | undefined> {
  const cut = await cutLineOf(file);
  if (cut === undefined) return undefined;
  const copy = await copyOf(file, workDir);
  if (copy === undefined) return undefined;
  const line = messageLine(cut.text.trimEnd());
  await truncate(copy, cut.start);
  await appendFile(copy, line);
  return { file: copy, line };
}

/** Overwrites a byte range of a file with blanks. */
export async function blank(
  file: string,
  { start, end }: { readonly start: number; readonly end: number },
): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await writeAll(handle, Buffer.alloc(end - start, ' '), start);
  } finally {
    await handle.close();
  }
}

/** Returns a copy of a file in `workDir`, undefined if there is no space for one. */
export async function copyOf(file: string, workDir: string): Promise<string | undefined> {
  const copy = path.join(workDir, `${crypto.randomUUID()}.copy.ndjson`);
  try {
    await copyFile(file, copy, constants.COPYFILE_FICLONE);
    // A copy has the mode of the original, which may be read-only.
    await chmod(copy, 0o600);
    return copy;
  } catch (error) {
    if (!hasCode(error, 'ENOSPC', 'EDQUOT')) throw error;
    await rm(copy, { force: true });
    return undefined;
  }
}

/** Whether a file begins with a bracket and does not end with one: the engine accepts a truncated array. */
export async function isOpenArray(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const begin = (await part(handle, 0, blankBytes)).toString('latin1').trimStart();
    const end = (await part(handle, Math.max(0, size - blankBytes), blankBytes)).toString('latin1').trimEnd();
    return begin.startsWith('[') && end !== '' && !end.endsWith(']');
  } finally {
    await handle.close();
  }
}

const blankBytes = 1024;

/** Returns the last line of a file and its offset if an object begins after the last line break and does not end. */
async function cutLineOf(file: string): Promise<{ start: number; text: string } | undefined> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const from = Math.max(0, size - longestLine);
    // Blanks may have replaced a byte order mark.
    const begin = (await part(handle, 0, 4)).toString('latin1').trimStart();
    const end = await part(handle, from, size - from);
    const at = end.lastIndexOf(0x0a);
    const text = end.subarray(at + 1).toString();
    const isCut = begin.startsWith('{') && at >= 0 && text.startsWith('{') && !text.trimEnd().endsWith('}');
    return isCut ? { start: from + at + 1, text } : undefined;
  } finally {
    await handle.close();
  }
}

/** Maximum length in bytes; with a longer last line, all values are examined. */
const longestLine = 2 ** 20;

async function part(handle: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, position);
  return buffer.subarray(0, bytesRead);
}
