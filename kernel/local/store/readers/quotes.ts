import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { formatCount } from '../../../text.js';
import { LocalError } from '../../local-errors.js';
import { writeCopy } from '../bounds/bounded-copies.js';

/** What separates and encloses the values of a CSV file: single bytes. */
export interface Quoting {
  readonly delimiter: string;
  readonly quote: string;
  /** The byte before a quote that is part of a value. */
  readonly escaping: string;
}

/** Half-open offsets in bytes of a line, with its line break or without. */
export interface Line {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the lines of a CSV file, from a byte on, that leave a quote open: a reader of CSV takes the lines after such a quote for a
 * part of its value.
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

/** Each may take a pass over the rest of the file. */
const mostLines = 1_000;

function tooMany(): LocalError {
  const message = `A quote is not closed in more than ${formatCount(mostLines)} lines.`;
  return new LocalError('invalid', 'unreadable', message, {
    hint: 'Import the file as plain text: `--format text`.',
  });
}

/** The first line from `from` on that opens a quote which nothing closes. */
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

/** Follows the quotes of a file byte by byte. */
class QuoteScan {
  readonly #delimiter: number;
  readonly #quote: number;
  readonly #escaping: number;
  #place: Place = 'start';
  #at: number;
  /** Where the current line begins, and where the first line break within its quotes is. */
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

  /** The line of the last quote that was opened. */
  get line(): Line {
    return { from: this.#lineFrom, to: this.#break === undefined ? this.#at : this.#break + 1 };
  }

  /**
   * Takes the next byte; returns whether it follows a quote that cannot be a closing one and is in a later line than the opening
   * one.
   */
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

/** Copies a file with something else in place of some lines, which are in their order. */
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

/** Returns lines of a copy that lacks some as lines of the file, beside those. */
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
