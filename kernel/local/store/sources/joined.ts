import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { Transform } from 'node:stream';
import type { LogFormat } from '../../../api/logs/log-format.js';
import { present } from '../../../present.js';
import { plural } from '../../../text.js';
import { writeCopy } from '../bounds/bounded-copies.js';
import { longestLine } from '../bounds/bounded-text.js';
import { writeValues } from '../readers/reader-values.js';
import { unlike } from '../readers/reading.js';
import { commentsAbove, csvDelimiters, looksLikeHeader } from './csv-recognize.js';
import { firstBytes, isArrayOfObjects, kindByEnding } from './source-formats.js';

/** A file in a form that the readers accept, converted from the requested files if necessary. */
export interface Prepared {
  readonly file: string;
  /** Files of a Parquet dataset, which are read together; `file` is the first. */
  readonly parts?: readonly string[];
  /** File name suffix that determines the format. */
  readonly ending: string;
  readonly notes: readonly string[];
  /** Format that JSON lines were converted from, if it carries more information. */
  readonly log?: LogFormat;
}

/**
 * Concatenates the texts of several files: CSV with a single header, JSON arrays as lines. `plainText` returns a copy of a text. Throws
 * LocalError for files in different formats.
 */
export async function joinTexts(
  files: readonly string[],
  target: string,
  plainText: (file: string) => Promise<Prepared>,
): Promise<Prepared> {
  const notes = new Set<string>();
  let ending: string | undefined;
  let names: string | undefined;
  let comments = 0;
  let log: LogFormat | undefined;
  for (const file of files) {
    const text = await plainText(file);
    for (const note of text.notes) notes.add(note);
    if (ending !== undefined && ending !== text.ending)
      throw unlike(file, `It ends in ${text.ending}, and others in ${ending}.`);
    const { begin, head } = await beginningOf(text);
    const isNamed = names !== undefined;
    if (names !== undefined && head.line !== names)
      throw unlike(file, 'Its first line differs from that of the first file.');
    if (ending === undefined && namesFields(head.line, text.ending)) names = head.line;
    ending ??= text.ending;
    log ??= text.log;
    const lines = (await asLines(text, begin)) ?? text.file;
    await append(lines, target, isNamed ? head.length : 0);
    if (isNamed) comments += head.comments;
    await rm(lines);
  }
  return {
    file: target,
    ending: ending ?? '',
    notes: [togetherNote(files), ...partitionNotes(files), ...commentNotes(comments), ...notes],
    ...present({ log }),
  };
}

/** Returns a note on the number of files imported as one. */
export function togetherNote(files: readonly string[]): string {
  return `Imported ${plural(files.length, 'file')} together.`;
}

/** Returns a note on values that are only in directory names, such as `year=2026/month=11`. */
function partitionNotes(files: readonly string[]): readonly string[] {
  const directories = files.flatMap(file => path.dirname(file).split(path.sep));
  const keys = new Set(directories.flatMap(name => /^([\w.-]+)=/.exec(name)?.[1] ?? []));
  if (keys.size === 0) return [];
  const names = [...keys].map(key => `\`${key}\``).join(', ');
  return [
    `Not imported as fields: ${names} from the directory names. To tell the files apart, import each directory into its own dataset.`,
  ];
}

/** Returns a note on the number of lines above the header that are dropped from all files but the first. */
function commentNotes(lines: number): readonly string[] {
  return lines === 0 ? [] : [`Skipped above the tables of the other files: ${plural(lines, 'line')}.`];
}

function namesFields(line: string, ending: string): boolean {
  const cells = line.split(new RegExp(`[${csvDelimiters.join('')}]`));
  return kindByEnding(ending) === 'csv' && looksLikeHeader(cells.map(cell => cell.trim()));
}

/** Returns the path of a JSON array's values as lines, undefined for any other text. */
async function asLines({ file, ending }: Prepared, begin: string): Promise<string | undefined> {
  if (kindByEnding(ending) === 'csv' || !isArrayOfObjects(begin.trimStart())) return undefined;
  const lines = `${file}.lines`;
  await writeValues(file, lines);
  await rm(file);
  return lines;
}

/** Appends a text from an offset, with a line break at its end. */
async function append(file: string, target: string, start: number): Promise<void> {
  await writeCopy(target, [createReadStream(file, { start, highWaterMark: chunkBytes }), withLineBreak()], {
    append: true,
  });
}

function withLineBreak(): Transform {
  let last: number | undefined;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      last = chunk.at(-1);
      done(null, chunk);
    },
    flush(done) {
      done(null, last === undefined || last === newline ? undefined : '\n');
    },
  });
}

const newline = 10;

/** Beginning of a text through its first line, which is the header of a CSV, below comments. */
interface Head {
  /** Includes its line break. */
  readonly line: string;
  readonly comments: number;
  /** Length in bytes, including the comments and the line. */
  readonly length: number;
}

/** Returns the beginning of a text as Latin-1, of a CSV through the whole header. */
async function beginningOf({
  file,
  ending,
}: Prepared): Promise<{ readonly begin: string; readonly head: Head }> {
  for (let bytes = usualBytes; ; bytes *= 8) {
    const begin = (await firstBytes(file, bytes)).toString('latin1');
    const head = headOf(begin, ending);
    const isLonger = begin.length === bytes && bytes < longestLine && !head.line.endsWith('\n');
    if (kindByEnding(ending) !== 'csv' || !isLonger) return { begin, head };
  }
}

function headOf(text: string, ending: string): Head {
  const isCsv = kindByEnding(ending) === 'csv';
  const lines = text.match(isCsv ? /[^\n]*\n|[^\n]+$/g : /[^\n]*\n|[^\n]+$/) ?? [];
  const comments = isCsv ? commentsAbove(lines) : 0;
  const above = lines.slice(0, comments);
  const line = lines[comments] ?? '';
  return {
    line: Buffer.from(line, 'latin1').toString(),
    comments: above.filter(each => each.trim() !== '').length,
    length: above.join('').length + line.length,
  };
}

/** Length in bytes that comments and a header seldom exceed. */
const usualBytes = 2 ** 20;
/** Size of the parts in which files are copied. */
const chunkBytes = 256 * 1024;
