import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { formatCount } from '../../../text.js';
import { LocalError } from '../../local-errors.js';
import { writeCopy } from '../bounds/bounded-copies.js';

/** Delimiter and quotes of a CSV file, all single bytes. */
export interface Quoting {
  readonly delimiter: string;
  readonly quote: string;
  /** Byte that escapes a quote within a value. */
  readonly escaping: string;
}

/** Byte range of a line, half-open, with or without its line break. */
export interface Line {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the lines of a CSV file, from an offset, that leave a quote open: a CSV reader takes the lines after such a quote for part of its
 * value.
 */
export async function unclosedLines(file: string, from: number, quoting: Quoting): Promise<readonly Line[]> {
  const lines: Line[] = [];
  for (let line = await unclosedLine(file, from, quoting); line; ) {
    if (lines.length === mostLines) throw tooMany();
    lines.push(line);
    line = await unclosedLine(file, line.to, quoting);
  }
  return lines;
}

/** Maximum number of lines: each may take a pass over the rest of the file. */
const mostLines = 1_000;

function tooMany(): LocalError {
  const message = `A quote is not closed within ${formatCount(mostLines)} lines.`;
  return new LocalError('invalid', 'unreadable', message, {
    hint: 'Import the file as plain text: `--format text`.',
  });
}

/** Returns the first line from an offset with a quote that is never closed. */
async function unclosedLine(file: string, from: number, quoting: Quoting): Promise<Line | undefined> {
  const scan = new QuoteScan(from, quoting);
  for await (const chunk of createReadStream(file, { start: from }) as AsyncIterable<Buffer>) {
    for (const byte of chunk) if (scan.isStray(byte)) return scan.line;
  }
  return scan.isOpen ? scan.line : undefined;
}

const newline = 0x0a;
const carriageReturn = 0x0d;

type Place = 'start' | 'value' | 'quoted' | 'escaped' | 'closed';

/** Tracks the quotes of a file byte by byte. */
class QuoteScan {
  readonly #delimiter: number;
  readonly #quote: number;
  readonly #escaping: number;
  #place: Place = 'start';
  #at: number;
  /** Offsets of the current line and of the first line break within its quotes. */
  #lineFrom: number;
  #break: number | undefined;

  constructor(from: number, { delimiter, quote, escaping }: Quoting) {
    this.#at = from;
    this.#lineFrom = from;
    this.#delimiter = delimiter.charCodeAt(0);
    this.#quote = quote.charCodeAt(0);
    this.#escaping = escaping.charCodeAt(0);
  }

  get isOpen(): boolean {
    return this.#place === 'quoted' || this.#place === 'escaped';
  }

  /** Line of the last opening quote. */
  get line(): Line {
    return { from: this.#lineFrom, to: this.#break === undefined ? this.#at : this.#break + 1 };
  }

  /** Reads the next byte; returns whether it follows a quote that cannot be a closing one, on a later line than the opening one. */
  isStray(byte: number): boolean {
    const before = this.#place;
    this.#place = this.#next(byte);
    if (this.isOpen && byte === newline) this.#break ??= this.#at;
    if (!this.isOpen && byte === newline) this.#lineFrom = this.#at + 1;
    if (before === 'start' && this.isOpen) this.#break = undefined;
    this.#at += 1;
    return before === 'closed' && this.#place === 'value' && this.#break !== undefined;
  }

  #next(byte: number): Place {
    if (this.#place === 'escaped') return 'quoted';
    if (this.#place === 'quoted') {
      if (byte === this.#quote) return 'closed';
      return byte === this.#escaping ? 'escaped' : 'quoted';
    }
    if (byte === this.#quote && this.#place !== 'value') return 'quoted';
    if (byte === newline || byte === this.#delimiter) return 'start';
    return byte === carriageReturn ? this.#place : 'value';
  }
}

/** Copies a file, replacing some lines, which are in order. */
export async function copyWith(
  file: string,
  target: string,
  lines: readonly Line[],
  instead: (line: Buffer) => Buffer,
): Promise<void> {
  await writeCopy(target, [Readable.from(replaced(createReadStream(file), lines, instead))]);
}

async function* replaced(
  chunks: AsyncIterable<Buffer>,
  lines: readonly Line[],
  instead: (line: Buffer) => Buffer,
): AsyncGenerator<Buffer> {
  let begun: Buffer[] = [];
  let index = 0;
  let start = 0;
  for await (const chunk of chunks) {
    let at = 0;
    for (
      let line = lines[index];
      line !== undefined && line.from < start + chunk.length;
      line = lines[index]
    ) {
      const from = Math.max(at, line.from - start);
      const to = Math.min(chunk.length, line.to - start);
      yield chunk.subarray(at, from);
      begun.push(chunk.subarray(from, to));
      at = to;
      if (line.to > start + chunk.length) break;
      yield instead(Buffer.concat(begun));
      begun = [];
      index += 1;
    }
    yield chunk.subarray(at);
    start += chunk.length;
  }
}

/** Maps lines of a copy to the original file and adds the lines that the copy lacks. */
export function withMissing(lines: readonly Line[], missing: readonly Line[]): readonly Line[] {
  const all = [...missing];
  let [index, shift] = [0, 0];
  for (const { from, to } of lines) {
    for (let next = missing[index]; next !== undefined && next.from <= from + shift; next = missing[++index])
      shift += next.to - next.from;
    all.push({ from: from + shift, to: to + shift });
  }
  return all.sort((a, b) => a.from - b.from);
}
