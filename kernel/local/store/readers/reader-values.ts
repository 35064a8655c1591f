import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { LocalError } from '../../local-errors.js';
import { writeCopy } from '../bounds/bounded-copies.js';
import { longestLine } from '../bounds/bounded-text.js';

/** Converts the source of a value to the lines written for it, without their line breaks. */
export type ValueLines = (text: Buffer) => readonly Buffer[];

/** Bytes of a file, inclusive. */
interface Range {
  readonly start?: number;
  readonly end?: number;
}

/**
 * Writes JSON values one per line: those of an array, or of concatenated objects. Text between values becomes a line too. With `recovers`,
 * an unterminated object ends before the next line that begins like the first object. Returns whether the text ends outside any value, that
 * is, is not truncated. Throws LocalError for a value that is too long.
 */
export async function writeValues(
  file: string,
  target: string,
  {
    recovers = false,
    lines = text => [text],
    ...range
  }: Range & { recovers?: boolean; lines?: ValueLines } = {},
): Promise<boolean> {
  const splitter = new ValueSplitter(recovers);
  const chunks = createReadStream(file, { highWaterMark: chunkBytes, ...range });
  await writeCopy(target, [Readable.from(linesOf(chunks, splitter, lines))], { append: true });
  return splitter.whole;
}

async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  splitter: ValueSplitter,
  lines: ValueLines,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield joined(splitter.take(chunk), lines);
  yield joined(splitter.end(), lines);
}

function joined(values: readonly Buffer[], lines: ValueLines): Buffer {
  return Buffer.concat(values.flatMap(lines).flatMap(line => [oneLine(line), lineBreak]));
}

const chunkBytes = 2 ** 20;
const lineBreak = Buffer.from('\n');

/** Returns a value without its line breaks. One within a string is invalid before and after. */
function oneLine(value: Buffer): Buffer {
  if (!value.includes(newline) && !value.includes(carriageReturn)) return value;
  return Buffer.from(value.toString('latin1').replace(/[\r\n]/g, ' '), 'latin1');
}

const byteOf = (character: string) => character.charCodeAt(0);
const [newline, carriageReturn, space, tab, quote, backslash, comma] = [...'\n\r \t"\\,'].map(byteOf) as [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
];
const [openBrace, closeBrace, openBracket, closeBracket] = [...'{}[]'].map(byteOf) as [
  number,
  number,
  number,
  number,
];

/** Begins each value of a JSON text sequence (RFC 7464). */
const recordSeparator = 0x1e;

/** Splits a text into values. */
class ValueSplitter {
  readonly #recovers: boolean;
  /** The text since the beginning of the current value. */
  #text: Buffer = Buffer.alloc(0);
  /** Offset of its next byte. */
  #at = 0;
  #start = 0;
  #depth = 0;
  /** Nesting depth of values: 1 within an array. */
  #base = 0;
  #inText = false;
  /** Offset of the current line. */
  #lineStart = 0;
  /** Indentation of an object's brace at the beginning of a line, taken from the first one. */
  #indent: number | undefined;
  /** Whether the text begins with an array. */
  #ofArrays: boolean | undefined;
  #found: Buffer[] = [];

  constructor(recovers: boolean) {
    this.#recovers = recovers;
  }

  /** Whether the text so far ends outside any value or array. */
  get whole(): boolean {
    return this.#depth === 0 && !this.#inText;
  }

  /** Reads a chunk; returns the values that end in it. */
  take(chunk: Buffer): readonly Buffer[] {
    this.#lineStart -= this.#start;
    this.#at -= this.#start;
    this.#text = Buffer.concat([this.#text.subarray(this.#start), chunk]);
    this.#start = 0;
    if (this.#text.length - chunk.length > longestLine) throw tooLong();
    while (this.#at < this.#text.length) this.#next();
    return this.#found.splice(0);
  }

  /** Returns the rest. */
  end(): readonly Buffer[] {
    this.#ends(this.#text.length);
    return this.#found.splice(0);
  }

  #next(): void {
    if (this.#inText) this.#passString();
    const byte = this.#text[this.#at];
    if (byte === undefined) return;
    if (byte === newline) this.#breaks();
    else if (byte === openBrace && this.#isNextObject()) {
      this.#ends(this.#lineStart);
      this.#depth = this.#base + 1;
      this.#inText = false;
    } else if (!this.#inText) this.#ofValue(byte);
    else if (byte === quote) this.#inText = false;
    this.#at += 1;
  }

  /** Skips to the quote that ends a string, a line break in it, or a position at which an object may begin a line. */
  #passString(): void {
    const text = this.#text;
    const begin = this.#recovers ? this.#lineStart + (this.#indent ?? 0) : -1;
    let at = this.#at;
    for (; at < text.length && text[at] !== quote && text[at] !== newline && at !== begin; at++)
      if (text[at] === backslash) at += 1;
    this.#at = at;
  }

  #breaks(): void {
    if (this.#depth === 0) {
      this.#inText = false;
      this.#ends(this.#at);
    }
    this.#lineStart = this.#at + 1;
  }

  /** Whether a brace begins a line like the first object did, while the current value is unterminated. */
  #isNextObject(): boolean {
    if (!this.#recovers || this.#depth <= this.#base || this.#at - this.#lineStart !== this.#indent)
      return false;
    return this.#isBlank(this.#lineStart, this.#at);
  }

  #ofValue(byte: number): void {
    switch (byte) {
      case quote:
        this.#inText = true;
        break;
      case openBracket:
        if (this.#isArray()) this.#opensArray();
        else this.#depth += 1;
        break;
      case openBrace:
        if (this.#depth === this.#base) this.#opensObject();
        this.#depth += 1;
        break;
      case closeBrace:
      case closeBracket:
        this.#closes();
        break;
      case comma:
        if (this.#depth === this.#base && this.#divides()) this.#ends(this.#at, 1);
        break;
    }
  }

  /** Whether a bracket opens an array of values: if the first one does, any between values does. */
  #isArray(): boolean {
    if (this.#depth > 0 || !this.#isBlank(this.#start, this.#at)) return false;
    this.#ofArrays ??= true;
    return this.#ofArrays;
  }

  /** Whether a comma separates values: outside an array it may be part of a line of text. */
  #divides(): boolean {
    return this.#base === 1 || this.#isBlank(this.#start, this.#at);
  }

  #opensArray(): void {
    [this.#base, this.#depth] = [1, 1];
    this.#start = this.#at + 1;
  }

  #opensObject(): void {
    const isFirst = this.#isBlank(this.#lineStart, this.#at);
    if (isFirst) this.#indent ??= this.#at - this.#lineStart;
    if (this.#depth === 0) this.#ends(this.#at);
  }

  #closes(): void {
    if (this.#depth === 0) return;
    this.#depth -= 1;
    if (this.#depth < this.#base) {
      this.#base = 0;
      this.#ends(this.#at, 1);
    } else if (this.#depth === this.#base) this.#ends(this.#at + 1);
  }

  /** Ends the current value before this offset; the next one begins `gap` bytes after it. */
  #ends(at: number, gap = 0): void {
    if (!this.#isBlank(this.#start, at)) {
      this.#ofArrays ??= false;
      this.#found.push(trimmed(this.#text.subarray(this.#start, at)));
    }
    this.#start = at + gap;
  }

  #isBlank(from: number, to: number): boolean {
    return firstInk(this.#text, from, to) >= to;
  }
}

function tooLong(): LocalError {
  const most = `${longestLine / 2 ** 20} MiB`;
  return new LocalError(
    'invalid',
    'too-large',
    `A JSON value has more than ${most}; the limit per event is ${most}.`,
    {
      hint: 'Split it, or drop its long values.',
    },
  );
}

function trimmed(value: Buffer): Buffer {
  const from = firstInk(value, 0, value.length);
  let to = value.length;
  while (to > from && isWhite(value[to - 1])) to -= 1;
  return value.subarray(from, to);
}

/** Returns the offset of the first byte that is neither white space nor part of a byte order mark, or `to`. */
function firstInk(text: Buffer, from: number, to: number): number {
  let at = from;
  for (;;) {
    while (at < to && isWhite(text[at])) at += 1;
    if (at + 2 >= to || text[at] !== 0xef || text[at + 1] !== 0xbb || text[at + 2] !== 0xbf) return at;
    at += 3;
  }
}

function isWhite(byte: number | undefined): boolean {
  return (
    byte === space || byte === newline || byte === carriageReturn || byte === tab || byte === recordSeparator
  );
}
