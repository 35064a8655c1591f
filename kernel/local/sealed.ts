import { closeSync, constants, fstatSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { openFileSync } from '../files.js';
import { makeDirectory } from '../machine.js';

/**
 * Small JSON files with a checksum that detects changes. A file that people edit and commit is still read if its checksum differs, since
 * manual edits and damage look alike, and the reader is told.
 *
 * Files of such lines are shared by processes without a lock: each line is appended by one write, which the system does not interleave with
 * others. A line cut off by a full disk or a crash is ended before the next one, which would otherwise be lost with it.
 */

const member = 'checksum';

/** Reason given for a file whose checksum differs, worded as in "it {reason}". */
export const changedReason = 'does not match its checksum: it was edited by hand or is damaged';

/** Instructions for such a file. */
export const changedRemedy = `If the content is correct, delete the line with \`${member}\`.`;

/** Returns the text of a file with this content and its checksum. */
export function sealedText(content: object): string {
  return `${JSON.stringify(sealed(content), null, 2)}\n`;
}

/** Returns the same as a single line. */
export function sealedLine(content: object): string {
  return `${JSON.stringify(sealed(content))}\n`;
}

/** Returns content with its checksum. */
export function sealed(content: object): object {
  return { ...content, [member]: checksumOf(content) };
}

/** Returns the content of a file, and whether it is intact; undefined if the file has no checksum. */
export function unsealed(value: unknown): { readonly content: unknown; readonly intact?: boolean } {
  if (typeof value !== 'object' || value === null || !(member in value)) return { content: value };
  const { [member]: checksum, ...content } = value;
  return { content, intact: checksum === checksumOf(content) };
}

/** Computes the checksum of the members in order, ignoring white space. */
function checksumOf(content: object): string {
  return crc32(JSON.stringify(content)).toString(16).padStart(8, '0');
}

/** Appends content as a line with its checksum; the file and its directories are created for this user alone. Throws the system's error. */
export function appendLine(file: string, content: object): void {
  makeDirectory(dirname(file));
  const handle = openToAppend(file);
  try {
    const bytes = Buffer.from(sealedLine(content));
    if (writeSync(handle, bytes) < bytes.length) throw new Error('the disk accepted only part of a line');
  } finally {
    closeSync(handle);
  }
}

/** Opens a file of lines for appending, at the beginning of a line. Throws the system's error. */
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
