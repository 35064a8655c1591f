import { formatTime } from '../../../time.js';
import { comma, type DeclaredColumn, type JsonColumns, type Sink } from '../../engine/engine-columns.js';
import { damagedAnswer, type PageError } from './trino-failure.js';

/** A page of a response: facts about the statement, and the bytes of its rows, an array of arrays. */
export interface Page {
  readonly head: PageHead;
  readonly rows: Buffer | undefined;
}

/** The supported members of a page (https://trino.io/docs/current/develop/client-protocol.html). */
export interface PageHead {
  readonly id?: string;
  readonly nextUri?: string;
  readonly columns?: readonly { readonly name: string; readonly type: string }[];
  readonly stats?: PageStats;
  readonly error?: PageError;
}

export interface PageStats {
  readonly state?: string;
  readonly queued?: boolean;
  readonly totalSplits?: number;
  readonly completedSplits?: number;
  readonly processedRows?: number;
  readonly processedBytes?: number;
  readonly cpuTimeMillis?: number;
}

/** Reads a page. Throws EngineError for an invalid or incomplete body. */
export function readPage(body: Buffer): Page {
  try {
    const found = memberOf(body, 'data');
    if (found === undefined) return { head: headOf(body.toString('utf8')), rows: undefined };
    const { from, to } = found;
    const head = `${body.toString('utf8', 0, from)}null${body.toString('utf8', to)}`;
    const rows = body.subarray(from, to);
    return { head: headOf(head), rows: rows[0] === open ? rows : undefined };
  } catch (cause) {
    throw damagedAnswer(cause);
  }
}

function headOf(text: string): PageHead {
  const head: unknown = JSON.parse(text);
  if (typeof head === 'object' && head !== null && !Array.isArray(head)) return head;
  throw new SyntaxError('the page is not an object');
}

const [quote, backslash, open, close] = [0x22, 0x5c, 0x5b, 0x5d];
const [openBrace, closeBrace] = [0x7b, 0x7d];

/** Returns the span of a member's value in an object. */
function memberOf(body: Buffer, name: string): { readonly from: number; readonly to: number } | undefined {
  let at = afterSpace(body, 0);
  if (body[at] !== openBrace) throw new SyntaxError('the page is not an object');
  at = afterSpace(body, at + 1);
  while (body[at] === quote) {
    const keyEnd = afterString(body, at);
    const key = body.toString('latin1', at + 1, keyEnd - 1);
    // A colon follows the key.
    const from = afterSpace(body, afterSpace(body, keyEnd) + 1);
    const to = afterValue(body, from);
    if (key === name) return { from, to };
    at = afterSpace(body, to);
    if (body[at] === comma) at = afterSpace(body, at + 1);
  }
  return undefined;
}

function afterSpace(body: Buffer, from: number): number {
  let at = from;
  while ((body[at] ?? 0x21) <= 0x20) at++;
  return at;
}

/** Returns the end of the string that begins here. */
function afterString(body: Buffer, from: number): number {
  for (let at = from + 1; at < body.length; at++) {
    if (body[at] === backslash) at++;
    else if (body[at] === quote) return at + 1;
  }
  throw new SyntaxError('a string has no end');
}

/** Returns the end of the value that begins here. */
function afterValue(body: Buffer, from: number): number {
  let depth = 0;
  for (let at = from; at < body.length; at++) {
    const byte = body[at];
    if (byte === quote) {
      at = afterString(body, at) - 1;
      if (depth === 0) return at + 1;
    } else if (byte === open || byte === openBrace) depth++;
    else if (byte === close || byte === closeBrace) {
      if (depth === 0) return at;
      depth--;
      if (depth === 0) return at + 1;
    } else if (byte === comma && depth === 0) return at;
  }
  throw new SyntaxError('a value has no end');
}

/** Adds up to `most` rows of a page to columns; returns the number of rows in the page. */
export function appendRows(
  rows: Buffer,
  fields: readonly DeclaredColumn[],
  columns: JsonColumns,
  most: number,
): number {
  try {
    return new RowReader(rows, fields).append(columns, most);
  } catch (cause) {
    if (cause instanceof SyntaxError) throw damagedAnswer(cause);
    throw cause;
  }
}

/** Scans the rows of a page. */
class RowReader {
  readonly #bytes: Buffer;
  readonly #writers: readonly CellWriter[];
  /** Start and end of each cell, row by row. */
  readonly #places: number[] = [];
  #at = 1;

  constructor(bytes: Buffer, fields: readonly DeclaredColumn[]) {
    this.#bytes = bytes;
    this.#writers = fields.map(({ type }) => writers[type]);
  }

  append(columns: JsonColumns, most: number): number {
    let count = 0;
    for (; this.#more(); count++) this.#row();
    const taken = Math.min(count, most);
    columns.append(taken, (sinks, expectRoom) => {
      expectRoom(this.#bytes.length);
      for (const [index, sink] of sinks.entries()) this.#column(sink, index, taken);
    });
    return count;
  }

  #place(cell: number): readonly [from: number, to: number] {
    return [this.#places[cell * 2] ?? 0, this.#places[cell * 2 + 1] ?? 0];
  }

  #column(sink: Sink, index: number, rows: number): void {
    const write = this.#writers[index] as CellWriter;
    const width = this.#writers.length;
    for (let row = 0; row < rows; row++) {
      const [from, to] = this.#place(row * width + index);
      sink.reserve(to - from + widest);
      write(sink, this.#bytes, from, to);
      sink.buffer[sink.length++] = comma;
    }
  }

  /** Returns whether another row begins here. */
  #more(): boolean {
    this.#at = afterSpace(this.#bytes, this.#at);
    if (this.#bytes[this.#at] === comma) this.#at = afterSpace(this.#bytes, this.#at + 1);
    return this.#bytes[this.#at] === open;
  }

  #row(): void {
    const bytes = this.#bytes;
    this.#at += 1;
    for (let index = 0; index < this.#writers.length; index++) {
      const from = afterSpace(bytes, this.#at);
      const to = afterValue(bytes, from);
      if (to === from) throw new SyntaxError('a row has too few cells');
      this.#places.push(from, to);
      this.#at = afterSpace(bytes, to);
      if (bytes[this.#at] === comma) this.#at += 1;
    }
    this.#at = afterSpace(bytes, this.#at);
    if (bytes[this.#at] !== close) throw new SyntaxError('a row has too many cells');
    this.#at += 1;
  }
}

/** Upper bound on the bytes of a time or number that is not copied. */
const widest = 64;

/** Writes the cell of one type; room is reserved for its length and some more. */
type CellWriter = (sink: Sink, bytes: Buffer, from: number, to: number) => void;

const copy: CellWriter = (sink, bytes, from, to) => {
  bytes.copy(sink.buffer, sink.length, from, to);
  sink.length += to - from;
};

/** Numbers are written unchanged, so integers lose no digits. */
const writers: Readonly<Record<DeclaredColumn['type'], CellWriter>> = {
  bool: copy,
  long: copy,
  timespan: copy,
  string: copy,
  // NaN and infinities arrive as strings, as the consumer expects.
  real: copy,
  datetime: (sink, bytes, from, to) => {
    if (isNull(bytes, from)) return copy(sink, bytes, from, to);
    sink.ascii(JSON.stringify(timeOfCell(bytes.toString('latin1', from, to))));
  },
  dynamic: (sink, bytes, from, to) => {
    if (isNull(bytes, from)) return copy(sink, bytes, from, to);
    // Unescaped, the text is shorter.
    const text: unknown = JSON.parse(bytes.toString('utf8', from, to));
    if (typeof text !== 'string') throw new SyntaxError('a dynamic value has to be a string');
    sink.length += sink.buffer.write(text, sink.length, 'utf8');
  },
};

function isNull(bytes: Buffer, from: number): boolean {
  return bytes[from] === 0x6e;
}

/** Returns the time of a cell in the API's format. Throws SyntaxError for anything but nanoseconds since 1970. */
function timeOfCell(cell: string): string {
  if (!/^-?\d+$/.test(cell)) throw new SyntaxError('a time has to be an integer');
  return formatTime(BigInt(cell), 'fewest');
}
