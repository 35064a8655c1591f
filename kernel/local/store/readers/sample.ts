import { type FileHandle, open, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { longestLine } from '../bounds/bounded-text.js';
import { beginsAs, packingOf } from './packing.js';
import { sampleRows } from './reading.js';
import { beginBytes, unpackBegin } from './unpacked.js';

/**
 * Returns a file in `workDir` with lines from all over a large JSON Lines file, as rare fields may not occur at its beginning. Of one in
 * gzip, they come from all over its beginning. Undefined for a small or other file: its first rows suffice.
 */
export async function spreadSample(file: string, workDir: string): Promise<string | undefined> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const head = await part(handle, 0, mostPartBytes);
    if (beginsAs(head) === 'gzip') return await packedSample(file, workDir);
    if (size < spreadFromBytes || !isLines(head.toString())) return undefined;
    const bytes = partBytes(head);
    const places = Array.from({ length: parts - 1 }, (_, index) =>
      Math.floor(((size - bytes) * (index + 1)) / (parts - 1)),
    );
    const spread = await Promise.all(places.map(place => part(handle, place, bytes)));
    const chunks = [head, ...spread.map(chunk => chunk.subarray(chunk.indexOf('\n') + 1))];
    const lines = chunks.map(chunk => chunk.subarray(0, chunk.lastIndexOf('\n') + 1));
    return await writeSample(lines, workDir);
  } finally {
    await handle.close();
  }
}

/** The sample size is limited, so with short lines, smaller parts from all over the file must suffice. */
function partBytes(head: Buffer): number {
  const lineCount = head.toString('latin1').split('\n').length;
  return Math.min(mostPartBytes, Math.ceil((head.length / lineCount) * linesInPart));
}

async function writeSample(lines: readonly Buffer[], workDir: string): Promise<string> {
  const sample = path.join(workDir, `${crypto.randomUUID()}.sample.ndjson`);
  await writeFile(sample, Buffer.concat(lines), { mode: 0o600 });
  return sample;
}

/**
 * Like {@link spreadSample} for a file in gzip: to take rows from it, the engine would decompress several times as much, once for each
 * question about the sample.
 */
async function packedSample(file: string, workDir: string): Promise<string | undefined> {
  const lines: Buffer[] = [];
  let [next, bytes] = [0, 0];
  const read = await unpackBegin(file, (chunk, at) => {
    if (at === 0) bytes = isLines(chunk.toString('latin1')) ? partBytes(chunk) : 0;
    if (at < next || bytes === 0) return bytes > 0;
    const from = at === 0 ? 0 : chunk.indexOf('\n') + 1;
    const some = chunk.subarray(from, from + bytes);
    // A copy, as the chunk would stay in memory.
    lines.push(Buffer.from(some.subarray(0, some.lastIndexOf('\n') + 1)));
    next += beginBytes / parts;
    return true;
  });
  return read < beginBytes ? undefined : writeSample(lines, workDir);
}

/** Returns the maximum number of sampled rows: fewer if the lines at the beginning are long, as samples are in memory. */
export async function rowsInSample(file: string): Promise<number> {
  const head = await headOf(file);
  // An array may be written as one line.
  if (head === undefined || head.trimStart().startsWith('[')) return sampleRows;
  const rowBytes = head.length / head.split('\n').length;
  return Math.min(sampleRows, Math.max(fewestRows, Math.floor(sampleBytes / rowBytes)));
}

/**
 * Estimates the number of rows in a file from the length of the lines at its beginning; 0 if rows are not lines or the file is compressed.
 * With `quoted`, line breaks between quotes do not end a row.
 */
export async function rowsByLines(file: string, quoted: boolean): Promise<number> {
  const head = await headOf(file);
  if (head === undefined || head.trimStart().startsWith('[')) return 0;
  const whole = head.slice(0, head.lastIndexOf('\n') + 1);
  if (whole === '') return 0;
  const rows = (quoted ? whole.replace(/"[^"]*("|$)/g, '') : whole).split('\n').length - 1;
  const { size } = await stat(file);
  return Math.round((size * rows) / whole.length);
}

/** A line of a file, from its first byte to before its line break. */
export interface FileLine {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  /** Size of the file, in bytes. */
  readonly size: number;
}

/**
 * Returns a line of a file, counted from 1 without blank ones, like the engine counts lines of JSON; undefined if it does not exist, is
 * long, or the file is compressed.
 */
export async function lineAt(file: string, number: number): Promise<FileLine | undefined> {
  if ((await packingOf(file)) !== undefined) return undefined;
  const handle = await open(file);
  try {
    const start = await startOfLine(handle, number);
    if (start === undefined) return undefined;
    const bytes = await part(handle, start, headBytes);
    const length = bytes.indexOf('\n');
    const { size } = await handle.stat();
    return length < 0 ? undefined : { bytes: bytes.subarray(0, length), start, end: start + length, size };
  } finally {
    await handle.close();
  }
}

async function startOfLine(handle: FileHandle, number: number): Promise<number | undefined> {
  let linesLeft = number;
  let start = 0;
  let isBlank = true;
  for (let from = 0; ; from += headBytes) {
    const bytes = await part(handle, from, headBytes);
    for (let at = 0; at < bytes.length; ) {
      const end = bytes.indexOf('\n', at);
      if (isBlank && bytes.subarray(at, end < 0 ? undefined : end).some(isNoSpace)) {
        isBlank = false;
        linesLeft -= 1;
        if (linesLeft === 0) return start;
      }
      if (end < 0) break;
      at = end + 1;
      start = from + at;
      isBlank = true;
    }
    if (bytes.length < headBytes) return undefined;
  }
}

function isNoSpace(byte: number): boolean {
  return byte > 0x20;
}

/** Reader options for the longest lines; the engine's buffers have to fit them. */
export const longLines = lineOptions(longestLine + 1024);

/** Returns the reader options for the first lines of a file: buffers are small if those lines are short. */
export async function firstLines(file: string): Promise<string> {
  const head = await headOf(file);
  return head?.split('\n').every(line => line.length < shortLineBytes) ? lineOptions(2 * 2 ** 20) : longLines;
}

/**
 * Returns the delimiter that Excel writes into the first line of a CSV, as in `sep=;`; undefined if there is none or the file is
 * compressed.
 */
export async function saidDelimiter(file: string): Promise<string | undefined> {
  return /^(?:\xef\xbb\xbf)?"?sep=([\t ,;|:])"?\r?\n/i.exec((await headOf(file)) ?? '')?.[1];
}

/** Whether a CSV begins with the type of its rows, as written by PowerShell. */
export async function saysType(file: string): Promise<boolean> {
  return /^(?:\xef\xbb\xbf)?#TYPE [\w.+[\],` ]+\r?\n/.test((await headOf(file)) ?? '');
}

/** Returns the number of blank lines at the beginning of a file; 0 for a compressed one. */
export async function blankLines(file: string): Promise<number> {
  const [blank = ''] = /^(\r?\n)*/.exec((await headOf(file)) ?? '') ?? [];
  return blank.split('\n').length - 1;
}

function lineOptions(mostBytes: number): string {
  return `max_line_size = ${mostBytes}, buffer_size = ${2 * mostBytes}`;
}

/** Returns the beginning of a file as Latin-1, undefined if it is compressed. */
async function headOf(file: string): Promise<string | undefined> {
  const handle = await open(file);
  try {
    const head = await part(handle, 0, headBytes);
    const kind = beginsAs(head);
    return kind === 'gzip' || kind === 'zstd' ? undefined : head.toString('latin1');
  } finally {
    await handle.close();
  }
}

const shortLineBytes = 64 * 1024;
const headBytes = 2 ** 20;
const sampleBytes = 4 * 2 ** 20;
const fewestRows = 16;

const spreadFromBytes = 16 * 2 ** 20;
const parts = 48;
const linesInPart = 100;
const mostPartBytes = 64 * 1024;

async function part(handle: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, position);
  return buffer.subarray(0, bytesRead);
}

/** Whether the first two lines are objects. */
function isLines(head: string): boolean {
  const lines = head.split('\n', 3);
  return lines.length === 3 && lines.slice(0, 2).every(isObject);
}

function isObject(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
