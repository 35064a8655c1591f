import { formatCount } from '../../../text.js';
import { LocalError } from '../../local-errors.js';
import { packedAs } from '../readers/packing.js';
import { sampleRows } from '../readers/reading.js';
import { csvDelimiters } from '../sources/csv-recognize.js';

/** Maximum number of fields: keys of an object or columns of a CSV. */
export const mostFields = 5000;

/** Maximum number of keys in an event, including nested objects: engine time grows with its square. */
const mostKeys = 100_000;

/** Maximum nesting depth of arrays and objects in an event. */
export const mostLevels = 200;

const MiB = 2 ** 20;

/** Maximum size of a line, an event, or a value in a file, in bytes. */
export const longestLine = 64 * MiB;

/** Inspects bytes as they arrive: both methods throw a LocalError at the first violation of a bound. */
export interface Inspector {
  take(bytes: Buffer): void;
  /** Ends the text. */
  end(): void;
}

/** Inspects a whole text. */
export interface Inspection extends Inspector {
  /** Length of the longest line so far, in bytes; 0 for JSON. */
  readonly longest: number;
  /** Whether a line or an event has ended. */
  readonly begun: boolean;
  /** Whether text in short lines needs no further inspection. */
  readonly settled: boolean;
}

/** The inspected text, as error messages name it. */
export interface Inspected {
  /** `The body`, or a file name. */
  readonly name: string;
  readonly format: string;
  /** Delimiter of a CSV, if known. */
  readonly delimiter?: string;
}

/** Returns the inspector for a text of this format, undefined if it is not a text format. */
export function inspectorOf(what: Inspected): Inspection | undefined {
  if (what.format === 'parquet') return undefined;
  const begin = new Begin(what);
  const rest = what.format === 'json' ? new Events(what) : new Lines(what);
  return {
    take: bytes => {
      begin.take(bytes);
      rest.take(bytes);
    },
    end: () => begin.end(),
    get longest() {
      return rest.longest;
    },
    get begun() {
      return rest.begun;
    },
    get settled() {
      return begin.settled && rest.settled;
    },
  };
}

const formatNames: Readonly<Record<string, string>> = { json: 'JSON', csv: 'CSV' };

/** Rejects bytes that cannot be text, judging by the first ones. */
class Begin implements Inspector {
  readonly #what: Inspected;
  #head = Buffer.alloc(0);
  #judged = false;

  constructor(what: Inspected) {
    this.#what = what;
  }

  get settled(): boolean {
    return this.#judged;
  }

  take(bytes: Buffer): void {
    if (this.#judged) return;
    this.#head = Buffer.concat([this.#head, bytes.subarray(0, headBytes - this.#head.length)]);
    if (this.#head.length >= headBytes) this.end();
  }

  end(): void {
    if (this.#judged) return;
    this.#judged = true;
    const found = packedAs(this.#head) ?? (isBinary(this.#head) ? 'binary data' : undefined);
    if (found === undefined) return;
    const { name, format } = this.#what;
    const message = `${name} is not ${formatNames[format] ?? 'text'} but ${found}.`;
    throw new LocalError('invalid', 'format', message, {
      hint: 'Send UTF-8 text, compressed with gzip at most once.',
    });
  }
}

const headBytes = 512;
/** Number of control characters tolerated in any text. */
const fewControls = 8;

/** Whether more than one byte in twenty is a control character not used in text. */
function isBinary(head: Buffer): boolean {
  const controls = head.reduce((count, byte) => count + (byte < 0x20 && !textControls.has(byte) ? 1 : 0), 0);
  return controls > Math.max(fewControls, head.length / 20);
}

/** Bell to carriage return, and escape. */
const textControls = new Set([0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1b]);

const newline = 0x0a;
const carriageReturn = 0x0d;

/** Limits the length of lines and the columns of a CSV. */
class Lines implements Inspection {
  longest = 0;
  begun = false;
  readonly #what: Inspected;
  readonly #columns: Columns | undefined;
  #line = 1;
  /** Bytes of the current line so far. */
  #length = 0;

  constructor(what: Inspected) {
    this.#what = what;
    this.#columns = what.format === 'csv' ? new Columns(what) : undefined;
  }

  take(bytes: Buffer): void {
    this.#columns?.take(bytes);
    let from = 0;
    for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, from)) {
      this.#grow(at - from);
      this.#length = 0;
      this.begun = true;
      this.#line++;
      from = at + 1;
    }
    this.#grow(bytes.length - from);
  }

  end(): void {}

  get settled(): boolean {
    return this.begun && this.#columns?.settled !== false;
  }

  #grow(bytes: number): void {
    this.#length += bytes;
    this.longest = Math.max(this.longest, this.#length);
    if (this.#length > longestLine) throw tooLong(this.#what, `line ${formatCount(this.#line)}`);
  }
}

/**
 * Counts the columns of the first lines of a CSV, from which the engine detects the number of columns. Further down, it skips lines with
 * more.
 */
class Columns implements Inspector {
  readonly #what: Inspected;
  /** Number of occurrences of each candidate delimiter in the line. */
  #counts: Map<number, number>;
  #separators: Uint8Array = isSeparator;
  #quoted = false;
  /** Offsets of the start of the value, and of a quote in it that may close it. */
  #start = 0;
  #closing: number | undefined;
  /** Whether a quoted value continues past the end of a line. */
  #broken = false;
  #line = 1;
  #rows = 0;
  #read = 0;

  constructor(what: Inspected) {
    this.#what = what;
    const delimiters = what.delimiter === undefined ? csvDelimiters : [what.delimiter];
    this.#counts = new Map(delimiters.map(each => [each.charCodeAt(0), 0]));
  }

  /** Whether the engine samples no further rows. */
  get settled(): boolean {
    return this.#rows > mostSampled;
  }

  take(bytes: Buffer): void {
    if (this.settled) return;
    const rest = bytes.subarray(0, Math.max(0, linesBegin - this.#read));
    for (let at = 0; at < rest.length; at++) {
      const byte = rest[at] as number;
      if (this.#separators[byte] === 1) this.#next(byte, this.#read + at);
    }
    this.#read += rest.length;
  }

  end(): void {}

  #next(byte: number, at: number): void {
    if (byte === newline) this.#line++;
    if (this.#quoted && this.#stays(byte, at)) return;
    if (byte === quote) {
      this.#quoted = at === this.#start;
      this.#broken = false;
      return;
    }
    const isDelimiter = this.#counts.has(byte);
    if (byte === newline) this.#nextLine();
    else if (isDelimiter) this.#count(byte);
    if (byte === newline || isDelimiter) this.#start = at + 1;
  }

  /**
   * Whether a byte still belongs to a quoted value. A character that cannot follow a closing quote shows that the value was never closed.
   */
  #stays(byte: number, at: number): boolean {
    const isNext = at - 1 === this.#closing;
    if (this.#closing === undefined || (isNext && byte === quote)) {
      this.#broken ||= byte === newline;
      this.#closing = this.#closing === undefined && byte === quote ? at : undefined;
      return true;
    }
    const isEnd = isNext && (byte === newline || byte === carriageReturn || this.#counts.has(byte));
    if (!isEnd && this.#broken) this.#counts = new Map([...this.#counts.keys()].map(each => [each, 0]));
    this.#quoted = false;
    this.#closing = undefined;
    return false;
  }

  #count(byte: number): void {
    const columns = (this.#counts.get(byte) ?? 0) + 1;
    this.#counts.set(byte, columns);
    if (columns >= mostFields) throw tooManyColumns(this.#what.name, this.#line);
  }

  /** Picks the most frequent candidate in the first line that has any. */
  #nextLine(): void {
    this.#rows++;
    const [byte, count] = [...this.#counts].reduce((most, each) => (each[1] > most[1] ? each : most));
    if (count === 0) return;
    if (this.#counts.size > 1) this.#separators = separatorsBeside(byte);
    this.#counts = new Map([[byte, 0]]);
  }
}

/** Returns the significant bytes of a CSV with this delimiter. */
function separatorsBeside(delimiter: number): Uint8Array {
  const separators = new Uint8Array(256);
  for (const byte of [delimiter, newline, carriageReturn, quote]) separators[byte] = 1;
  return separators;
}

/** Bytes that may be significant in a CSV: line breaks, quotes, and all candidate delimiters. */
const isSeparator = new Uint8Array(256).map((_, byte) =>
  Number(/[\n\r\t\x20-\x2f:-@[-`{-~]/.test(String.fromCharCode(byte))),
);

/** More than the engine samples to detect a CSV; further down, only line length is checked. */
export const linesBegin = 16 * MiB;
/** More rows than it samples. */
const mostSampled = 2 * sampleRows;

/** Token kind of JSON bytes outside strings; 0 for all others. */
const meaning = new Uint8Array(256);
const quote = 0x22;
const backslash = 0x5c;
const [openObject, closeObject, openArray, closeArray, colon, comma] = [...'{}[]:,'].map(character =>
  character.charCodeAt(0),
) as [number, number, number, number, number, number];
const [isQuote, opens, closes, isColon, isNewline] = [1, 2, 3, 4, 5] as const;
meaning[quote] = isQuote;
meaning[openObject] = meaning[openArray] = opens;
meaning[closeObject] = meaning[closeArray] = closes;
meaning[colon] = isColon;
meaning[newline] = isNewline;

/** Significant bytes in a string: a line break ends it. */
const inString = new Uint8Array(256);
inString[quote] = inString[backslash] = inString[newline] = 1;

/**
 * Limits depth, keys and length of JSON events: one per line, in an array or concatenated. Broken JSON is left to the reader: a bracket out
 * of place after it opens a new event.
 */
class Events implements Inspection {
  readonly longest = 0;
  readonly settled = false;
  begun = false;
  readonly #what: Inspected;
  /** Nesting depth of events: 1 in an array. Undefined until the first non-blank byte. */
  #base: number | undefined;
  #depth = 0;
  /** Keys of the event itself. */
  #keys = 0;
  /** Keys of the event and its nested objects. */
  #all = 0;
  #inText = false;
  #escaped = false;
  #line = 1;
  #event = 0;
  /** Last non-blank byte of a chunk. */
  #last = 0;
  /** Bytes since the end of the last event, or of the last line outside one. */
  #length = 0;

  constructor(what: Inspected) {
    this.#what = what;
  }

  take(bytes: Buffer): void {
    this.#base ??= baseOf(bytes);
    const start = this.#scan(bytes, this.#base ?? 0);
    this.begun ||= start !== undefined;
    this.#length = start === undefined ? this.#length + bytes.length : bytes.length - start;
    if (this.#length > longestLine) throw tooLong(this.#what, this.#place());
    this.#last = lastBefore(bytes, bytes.length) ?? this.#last;
  }

  end(): void {}

  /** Returns the offset after the last event that ended, if any. Keeps the state in local variables, which are faster. */
  #scan(bytes: Buffer, base: number): number | undefined {
    const length = bytes.length;
    let [at, depth, inText, line] = [0, this.#depth, this.#inText, this.#line];
    let [keys, all] = [this.#keys, this.#all];
    let start: number | undefined;
    if (this.#escaped && length > 0) at = 1;
    this.#escaped = false;
    for (;;) {
      if (inText) {
        while (at < length && inString[bytes[at] as number] === 0) at++;
        if (at >= length) break;
        const byte = bytes[at++];
        if (byte === backslash) {
          this.#escaped = ++at > length;
          continue;
        }
        inText = false;
        if (byte === newline) {
          line++;
          depth = base;
          start = at;
        }
      }
      let byte = 0;
      // biome-ignore lint/suspicious/noAssignInExpressions: the innermost loop
      while (at < length && (byte = meaning[bytes[at] as number] as number) === 0) at++;
      if (at >= length) break;
      at++;
      if (byte === isQuote) inText = true;
      else if (byte === isColon) {
        if ((depth === base + 1 && ++keys > mostFields) || ++all > mostKeys) {
          this.#line = line;
          throw keys > mostFields
            ? tooManyFields(this.#what.name, this.#place())
            : tooManyKeys(this.#what.name, this.#place());
        }
      } else if (byte === opens) {
        if (depth > base && !this.#mayOpen(bytes, at - 1)) depth = base;
        if (depth === base) {
          keys = all = 0;
          this.#event++;
        }
        if (++depth - base > mostLevels) {
          this.#line = line;
          throw tooDeep(this.#what.name, this.#place());
        }
      } else if (byte === closes) {
        if (depth > 0) depth--;
        if (depth <= base) start = at;
      } else {
        line++;
        if (depth <= base) start = at;
      }
    }
    [this.#depth, this.#inText, this.#line, this.#keys, this.#all] = [depth, inText, line, keys, all];
    return start;
  }

  /** Whether a nested value may start at a position: after a colon, a comma or an opening bracket. */
  #mayOpen(bytes: Buffer, at: number): boolean {
    const before = lastBefore(bytes, at) ?? this.#last;
    return before === colon || before === comma || before === openArray;
  }

  #place(): string {
    return `event ${formatCount(Math.max(this.#event, 1))}, line ${formatCount(this.#line)}`;
  }
}

/** Returns the last non-blank byte before a position. */
function lastBefore(bytes: Buffer, place: number): number | undefined {
  let at = place - 1;
  while (at >= 0 && (bytes[at] ?? 0) <= 0x20) at--;
  return bytes[at];
}

/** Returns 1 for an array, 0 for anything else, undefined if there are only blanks or a byte order mark. */
function baseOf(bytes: Buffer): number | undefined {
  const first = bytes.find(byte => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf);
  return first === undefined ? undefined : first === openArray ? 1 : 0;
}

function tooManyFields(name: string, place: string): LocalError {
  const most = formatCount(mostFields);
  const message = `${name} has more than ${most} keys in ${place}; the limit is ${most} fields.`;
  return new LocalError('invalid', 'too-large', message, { hint: fewerFields });
}

/** Hint for too many keys. */
export const fewerFields = 'Move keys that are data under a single key: {"labels": {…}}.';

function tooManyKeys(name: string, place: string): LocalError {
  const most = formatCount(mostKeys);
  const message = `${name} has more than ${most} keys in total in ${place}; the limit per event is ${most}.`;
  return new LocalError('invalid', 'too-large', message, {
    hint: 'Write one event per inner object, or write the objects as a string.',
  });
}

/** Returns the error for a table with more columns than can be fields. */
export function tooManyColumns(name: string, line?: number): LocalError {
  const most = formatCount(mostFields);
  return new LocalError(
    'invalid',
    'too-large',
    `${name} has more than ${most} columns${line === undefined ? '' : ` in line ${formatCount(line)}`}; the limit is ${most} fields.`,
    { hint: 'Drop columns, or write one row per value with the column name next to it.' },
  );
}

function tooDeep(name: string, place: string): LocalError {
  return new LocalError(
    'invalid',
    'too-large',
    `${name} is nested more than ${mostLevels} levels deep in ${place}; the limit per event is ${mostLevels}.`,
    { hint: 'Write the inner objects as a string.' },
  );
}

/** Returns the error for a table with a value that is too long. */
export function valueTooLong(name: string, field: string): LocalError {
  const most = `${longestLine / MiB} MiB`;
  return new LocalError(
    'invalid',
    'too-large',
    `${name} has a value of more than ${most} in \`${field}\`; the limit per value is ${most}.`,
    { hint: 'Shorten the values of this field, or drop the field.' },
  );
}

function tooLong(what: Inspected, place: string): LocalError {
  const most = `${longestLine / MiB} MiB`;
  return new LocalError(
    'invalid',
    'too-large',
    `${what.name} has more than ${most} in ${place}; ${what.format === 'json' ? 'the limit per event is' : 'the limit per line is'} ${most}.`,
    { hint: 'Split it, or drop its long values.' },
  );
}
