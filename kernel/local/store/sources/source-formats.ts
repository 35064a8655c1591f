import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import path from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, gunzipSync } from 'node:zlib';
import { expandPattern } from '../../../api/logs/grok.js';
import type { LogFormat } from '../../../api/logs/log-format.js';
import { type FileKind, fileFormats, formatNames, logFormats } from '../../../api/logs/log-formats.js';
import type { ImportRequest } from '../../../api/wire.js';
import { systemRefusal } from '../../../machine.js';
import { present } from '../../../present.js';
import { checkPattern } from '../../duckdb/regex.js';
import { LocalError } from '../../local-errors.js';
import { TemplateError } from '../../sql/sql-template.js';
import { csvFormatOf, recognizeFormat } from '../readers/logs/recognize-log.js';
import { beginsAs, isOfficeFile, unreadPacking } from '../readers/packing.js';
import { looksLikeCsv } from './csv-recognize.js';
import { isOfObjects } from './plain-lines.js';

/** How to read a file, and its log format, if known. */
export interface FileFormat {
  readonly kind: FileKind;
  readonly log?: LogFormat;
}

const csv: FileFormat = { kind: 'csv' };

/** Formats that a request may specify. */
const named = new Map<string, FileFormat>([
  ...fileFormats.flatMap(({ kind, names }) => names.map(name => [name, { kind }] as const)),
  ...logFormats.map(log => [log.name, formatOfLog(log)] as const),
]);

/** Returns how to read a file in a log format. */
export function formatOfLog(log: LogFormat): FileFormat {
  const { reading } = log;
  if (reading.kind === 'converted') return { kind: reading.to ?? 'json', log };
  const { kind } = reading;
  return { kind: kind === 'csv' || kind === 'json' ? kind : 'lines', log };
}

/** Returns the kind of file for a file name suffix, undefined if unknown. */
export function kindByEnding(ending: string): FileFormat['kind'] | undefined {
  return fileFormats.find(({ endings }) => endings.includes(ending))?.kind;
}

/**
 * Returns the requested format or that of the requested pattern, otherwise that of the file name, otherwise the one detected from the
 * beginning of the file; throws LocalError.
 */
export async function formatOf(
  file: string,
  ending: string,
  { format: wanted, pattern }: Pick<ImportRequest, 'format' | 'pattern'>,
): Promise<FileFormat> {
  if (pattern !== undefined) return { kind: 'lines', log: patternFormat(pattern) };
  if (wanted !== undefined) return namedFormat(wanted);
  const start = await firstBytes(file);
  if (isParquet(start)) return { kind: 'parquet' };
  const kind = kindByEnding(ending);
  if (kind === 'csv') return formatOfCsv(textOf(start));
  if (kind !== undefined) return { kind };
  const { size } = await stat(file);
  return formatOfText(textOf(start), start.length === size);
}

/**
 * Returns the format of a file named as CSV: only log formats with CSV, or with values below a header, are considered besides plain CSV.
 */
function formatOfCsv(text: string): FileFormat {
  const log = csvFormatOf(text.trimStart().split(/\r?\n/, mostLooked));
  return log === undefined ? csv : formatOfLog(log);
}

/** Whether a file that begins with these bytes is Parquet. */
export function isParquet(start: Buffer): boolean {
  return beginsAs(start) === 'parquet';
}

/** Returns the first bytes of a file; throws LocalError if it is empty, or in an unreadable compression or format. */
export async function startOfReadable(file: string): Promise<Buffer> {
  const found = await stat(file).catch(() => undefined);
  if (!found) throw noSuchFile(file);
  if (!found.isFile()) throw notAFile(file);
  if (found.size === 0) throw emptyFile(file);
  const start = await firstBytes(file);
  refusePacked(file, start);
  return start;
}

function refusePacked(file: string, start: Buffer): void {
  const packing = unreadPacking(start, file);
  if (packing !== undefined)
    throw new LocalError('invalid', 'format', `${file} is ${packing.name}.`, { hint: packing.instead });
  if (isArchive(file, start))
    throw new LocalError(
      'invalid',
      'format',
      `${path.basename(file)} is an archive inside another archive.`,
      {
        hint: 'Unpack the outer archive first.',
      },
    );
}

/** Whether a file that begins with these bytes is a ZIP or tar archive, except an Excel workbook, which is never unpacked. */
export function isArchive(file: string, start: Buffer): boolean {
  if (unreadPacking(start, file) !== undefined) return false;
  // A tar archive does not begin with a magic number.
  return (isZip(start) && !isWorkbook(file, start)) || plain(start).toString('latin1', 257, 262) === 'ustar';
}

/** Whether a file that begins with these bytes is a ZIP archive. */
export function isZip(start: Buffer): boolean {
  return beginsAs(start) === 'zip';
}

function isWorkbook(file: string, start: Buffer): boolean {
  return /\.xls[xmb]$/i.test(file) || isOfficeFile(start);
}

function namedFormat(wanted: string): FileFormat {
  const format = named.get(wanted);
  if (format) return format;
  throw new LocalError('invalid', 'invalid-request', `Unknown file format ${JSON.stringify(wanted)}.`, {
    hint: `The formats are ${formatNames.join(', ')}.`,
  });
}

function patternFormat(pattern: string): LogFormat {
  const expanded = expandPattern(pattern);
  if (typeof expanded !== 'string') throw patternRefused(expanded.problem, expanded.hint);
  try {
    checkPattern(expanded.replace(/\(\?<[^>]+>/g, '('));
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw patternRefused(`cannot be read: ${error.message}`, error.hint);
  }
  return {
    name: 'pattern',
    label: 'lines that match the pattern',
    example: [],
    reading: { kind: 'lines', shapes: [{ pattern: expanded }] },
  };
}

function patternRefused(problem: string, hint: string | undefined): LocalError {
  return new LocalError('invalid', 'invalid-request', `The pattern ${problem}.`, present({ hint }));
}

/** Whether a text begins like a JSON array of objects. */
export function isArrayOfObjects(text: string): boolean {
  return /^\[\s*[{\]]/.test(text);
}

/** Detects the format of a text; with `whole`, the text is the entire file rather than its beginning. */
function formatOfText(text: string, whole: boolean): FileFormat {
  const begin = text.trimStart();
  if (begin.startsWith('{') || isArrayOfObjects(begin)) return { kind: 'json' };
  const complete = wholeLines(text, whole).filter(line => line !== '');
  if (isOfObjects(complete)) return { kind: 'json' };
  const { format, isUsual } = recognizeFormat(complete);
  return !isUsual && looksLikeCsv(complete) ? csv : formatOfLog(format);
}

/** Returns the complete lines: the last one may be truncated. */
function wholeLines(text: string, whole: boolean): readonly string[] {
  const lines = text.split(/\r?\n/);
  return whole ? lines : lines.slice(0, -1);
}

/** Returns the lines at the beginning of a text file, decompressed, except one that may be truncated. */
export async function linesAtStart(file: string): Promise<readonly string[]> {
  const start = await firstBytes(file);
  return wholeLines(textOf(start), !isCut(start));
}

/** Whether the first bytes of a file may not be all of them. */
export function isCut(start: Buffer): boolean {
  return start.length >= startBytes;
}

/**
 * Returns the beginning of a file as a string, decompressed, without a byte order mark and leading white space: no more of a compressed
 * file than of any other.
 */
export async function startOf(file: string): Promise<string> {
  return textOf(await firstBytes(file))
    .slice(0, startBytes)
    .trimStart();
}

/** Resolves with an error for a gzip file that is damaged or truncated, otherwise undefined; never rejects. */
export async function damageOf(file: string, signal?: AbortSignal): Promise<LocalError | undefined> {
  const named = file.toLowerCase().endsWith('.gz');
  const name = path.basename(file);
  try {
    if (!isPacked(await firstBytes(file)))
      return named
        ? new LocalError('invalid', 'gzip', `${name} is not a gzip file despite its name.`)
        : undefined;
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
    await pipeline(createReadStream(file), createGunzip({ chunkSize: unpackedBytes }), nowhere, { signal });
    return undefined;
  } catch (error) {
    if (signal?.aborted) return undefined;
    return new LocalError(
      'invalid',
      'gzip',
      `${name} is truncated or damaged: it cannot be unpacked completely.`,
      {
        hint: 'Get the complete file, or unpack what is there: gzip -dc FILE > PART.',
        cause: error,
      },
    );
  }
}

function isPacked(bytes: Buffer): boolean {
  return beginsAs(bytes) === 'gzip';
}

/** Whether a text file, decompressed, begins with a byte order mark. */
export async function hasByteOrderMark(file: string): Promise<boolean> {
  return plain(await firstBytes(file)).toString('latin1', 0, 3) === '\xef\xbb\xbf';
}

function textOf(bytes: Buffer): string {
  return plain(bytes)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
}

/** Returns the beginning of a file, decompressed if it is gzip. */
export function plain(bytes: Buffer): Buffer {
  return isPacked(bytes) ? gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }) : bytes;
}

/** Returns the first bytes of a file. */
export async function firstBytes(file: string, mostBytes = startBytes): Promise<Buffer> {
  const handle = await open(file);
  try {
    // Most files of an archive are smaller than a large buffer.
    const { size } = mostBytes > startBytes ? await handle.stat() : { size: mostBytes };
    const length = Math.min(mostBytes, size || mostBytes);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Returns the last bytes of a file, up to a maximum, and its size; no bytes if it is compressed. */
export async function endOf(file: string): Promise<{ readonly text: string; readonly size: number }> {
  const { size } = await stat(file);
  const isText = beginsAs(await firstBytes(file, 8)) === undefined;
  const handle = await open(file);
  try {
    const start = isText ? Math.max(0, size - endBytes) : size;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(endBytes), 0, size - start, start);
    return { text: buffer.toString('latin1', 0, bytesRead), size };
  } finally {
    await handle.close();
  }
}

/** Returns the error for a path without a file. */
export function noSuchFile(file: string): LocalError {
  // A name that is not UTF-8 was decoded with this character, and the original is lost.
  const hint = /\uFFFD/.test(file) ? 'The file name may not be valid UTF-8: rename the file.' : undefined;
  return new LocalError('invalid', 'no-such-file', `There is no file ${file}.`, present({ hint }));
}

/** Returns the error for something other than a file; `is` describes it. */
export function notAFile(file: string, is?: string): LocalError {
  const message = `${file} is not a file${is === undefined ? '' : `: ${is}`}.`;
  return new LocalError('invalid', 'not-a-file', message);
}

/** Returns the error for a file or directory without read permission. */
export function unreadableFile(file: string, error: NodeJS.ErrnoException): LocalError {
  const { reason = String(error.code), hint } = systemRefusal(error) ?? {};
  const message = `${file} cannot be read: ${reason}.`;
  return new LocalError('invalid', 'not-a-file', message, { ...present({ hint }), cause: error });
}

/** Returns the error for a file without rows. */
export function emptyFile(file: string): LocalError {
  return new LocalError('invalid', 'empty', `${file} contains no rows.`);
}

const startBytes = 64 * 1024;
/** Size of decompressed chunks: small ones take twice the processor time. */
const unpackedBytes = 256 * 1024;
const endBytes = 4096;
/** Number of lines searched for field names. */
const mostLooked = 100;
