import { closeSync, constants, fstatSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { openFileSync } from '../files.js';
import { makeDirectory } from '../machine.js';

/**
 * Small JSON files with a checksum, which tells whether one is as it was written. One that people edit and commit is read all the same
 * when its checksum differs, as an edit by hand and damage look alike, and whoever asks for it is told.
 *
 * Files of such lines are shared by processes without a lock: each line is added by one write, which the system does not interleave with
 * that of another. A line that was cut off, on a full disk or by a crash, is ended before the next, which would be lost with it.
 */

const member = 'checksum';

/** What is said of a file whose checksum differs, as in "it {reason}". */
export const changedReason = 'does not match its checksum: it was edited by hand, or is damaged';

/** A sentence that says what to do with such a file. */
export const changedRemedy = `If it is right, delete its line with \`${member}\`.`;

/** Returns the text of a file with this content. */
export function sealedText(content: object): string {
  return `${JSON.stringify(sealed(content), null, 2)}\n`;
}

/** Returns the text of a file in one line. */
export function sealedLine(content: object): string {
  return `${JSON.stringify(sealed(content))}\n`;
}

/** Returns content with its checksum. */
export function sealed(content: object): object {
  return { ...content, [member]: checksumOf(content) };
}

/** Returns the content of a file, and whether it is as it was written; undefined if the file has no checksum. */
export function unsealed(value: unknown): { readonly content: unknown; readonly intact?: boolean } {
  if (typeof value !== 'object' || value === null || !(member in value)) return { content: value };
  const { [member]: checksum, ...content } = value;
  return { content, intact: checksum === checksumOf(content) };
}

/** Of the members and their order, whatever the white space. */
function checksumOf(content: object): string {
  return crc32(JSON.stringify(content)).toString(16).padStart(8, '0');
}

/** Adds content as a line with its checksum; the file and its directories are made for this user alone. Throws what the system says. */
export function appendLine(file: string, content: object): void {
  makeDirectory(dirname(file));
  const handle = openToAppend(file);
  try {
    const bytes = Buffer.from(sealedLine(content));
    if (writeSync(handle, bytes) < bytes.length) throw new Error('the disk took only a part of a line');
  } finally {
    closeSync(handle);
  }
}

/** Opens a file of lines for appending, at the beginning of a line. Throws what the system says. */
export function openToAppend(file: string): number {
  const handle = openFileSync(file, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600);
  try {
    if (endsTorn(handle)) writeSync(handle, '\n');
    return handle;
  } catch (error) {
    closeSync(handle);
    throw error;
  }
}

function endsTorn(handle: number): boolean {
  const stats = fstatSync(handle);
  if (stats.size === 0) return false;
  const last = Buffer.alloc(1);
  return readSync(handle, last, 0, 1, stats.size - 1) === 1 && last[0] !== newline;
}

const newline = 10;
