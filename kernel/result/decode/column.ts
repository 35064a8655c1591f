/** Builders that write the cells of one wire column from JSON bytes into the buffers of one Arrow column. */
import {
  Bool,
  type Data,
  DurationNanosecond,
  Float64,
  Int64,
  makeData,
  Null,
  TimestampNanosecond,
} from 'apache-arrow';
import type { Steps } from './decode-slices.js';
import { type ColumnBuilder, fitted, grown, Int64Store, Validity } from './decode-store.js';
import {
  CLOSE_ARRAY,
  COMMA,
  type JsonBytes,
  MINUS,
  NINE,
  NULL_START,
  OPEN_ARRAY,
  ZERO,
} from './json-bytes.js';
import {
  readDatetime,
  readDatetimes,
  readFloat,
  readFloats,
  readInteger,
  readIntegers,
  readTimespan,
  startsNumber,
} from './scalar.js';
import { JsonTextBuilder, StringBuilder } from './string-column.js';

/** One decoded column; `note` says why it was kept as JSON text despite its declared type. */
export interface DecodedColumn {
  readonly data: Data;
  readonly rows: number;
  /** True if the cells are JSON text, one document each. */
  readonly isJson: boolean;
  readonly note?: string;
}

/**
 * Decodes the JSON array at `json.pos` as a column of the declared type. `rowsHint` only sizes the first buffers.
 * A cell that does not fit turns the whole column into JSON text, with a note.
 */
export function* decodeColumn(
  json: JsonBytes,
  name: string,
  type: string,
  rowsHint: number,
): Steps<DecodedColumn> {
  const builder = builderFor(type, rowsHint);
  if (builder === undefined) return yield* decodeJsonText(json, rowsHint);
  json.mark();
  const read = yield* readCells(json, builder);
  if (read.mismatch !== undefined) json.rewind();
  json.release();
  if (read.mismatch === undefined) return { data: read.data, rows: read.rows, isJson: false };
  return {
    ...(yield* decodeJsonText(json, rowsHint)),
    note: mismatchNote(name, type, read.rows, read.mismatch),
  };
}

function* decodeJsonText(json: JsonBytes, rowsHint: number): Steps<DecodedColumn> {
  const { data, rows } = yield* readCells(json, new JsonTextBuilder(rowsHint));
  return { data, rows, isJson: true };
}

/** Consumes the JSON array at `json.pos`. */
export function* skipCells(json: JsonBytes): Steps<void> {
  yield* readCells(json, new SkippingBuilder());
}

/** Returns undefined for a type whose cells may be any JSON. */
function builderFor(type: string, rowsHint: number): ColumnBuilder | undefined {
  const members = type.split('|').filter(member => member !== 'null');
  if (members.length === 2 && members.includes('integer') && members.includes('float')) {
    return new FloatBuilder(rowsHint, true);
  }
  switch (members.length === 1 ? members[0] : undefined) {
    case 'integer':
      return new Int64Builder(new Int64(), readInteger, readIntegers, rowsHint);
    case 'datetime':
      return new Int64Builder(new TimestampNanosecond('UTC'), readDatetime, readDatetimes, rowsHint);
    case 'timespan':
      return new Int64Builder(new DurationNanosecond(), readTimespan, readIntegers, rowsHint);
    case 'float':
      return new FloatBuilder(rowsHint, false);
    case 'boolean':
      return new BoolBuilder(rowsHint);
    case 'string':
      return new StringBuilder(rowsHint);
    default:
      return undefined;
  }
}

type CellsRead =
  | { readonly data: Data; readonly rows: number; readonly mismatch?: undefined }
  | { readonly data?: undefined; readonly rows: number; readonly mismatch: string };

function readCells(
  json: JsonBytes,
  builder: JsonTextBuilder,
): Steps<{ readonly data: Data; readonly rows: number }>;
function readCells(json: JsonBytes, builder: ColumnBuilder): Steps<CellsRead>;
function* readCells(json: JsonBytes, builder: ColumnBuilder): Steps<CellsRead> {
  const column: OpenColumn = { builder, validity: new Validity(), rows: 0, isBetween: false };
  yield* json.part(() => json.expect(OPEN_ARRAY));
  if (!(yield* json.part(() => json.accept(CLOSE_ARRAY)))) {
    for (let end = readSome(json, column); end !== 'end'; end = readSome(json, column)) {
      if (typeof end !== 'string') return { rows: column.rows, mismatch: end.mismatch };
      if (end === 'cut') yield* json.more();
      else yield;
    }
  }
  return { data: builder.finish(column.rows, column.validity), rows: column.rows };
}

interface OpenColumn {
  readonly builder: ColumnBuilder;
  readonly validity: Validity;
  rows: number;
  /** The last cell has been read, but not what follows it. */
  isBetween: boolean;
}

/** Bytes of cells to read in one step. */
const STEP_BYTES = 64 * 1024;

/** Reads cells to the end of the column, of the step or of the bytes received, or to a cell that does not fit the type. */
function readSome(
  json: JsonBytes,
  column: OpenColumn,
): 'end' | 'more' | 'cut' | { readonly mismatch: string } {
  const { builder, validity } = column;
  const stop = json.pos + STEP_BYTES;
  let row = column.rows;
  let first = 0;
  let from = json.pos;
  let to = from;
  let { isBetween } = column;
  try {
    while (json.pos < stop) {
      if (!isBetween) {
        row = builder.readUsual(json, row, stop, validity);
        if (json.pos >= stop) break;
        first = json.peek();
        from = json.pos;
        if (first === NULL_START) json.literal();
        else if (!builder.read(json, row)) return mismatchAt(json, from, first);
        to = json.pos;
        isBetween = true;
      }
      const more = json.another(CLOSE_ARRAY);
      if (first === NULL_START) {
        validity.clear(row);
        builder.skipNull(row);
      }
      isBetween = false;
      row++;
      if (!more) return 'end';
    }
    return 'more';
  } catch (error) {
    if (!json.isCut(error)) throw error;
    // A number may continue in the next bytes; cells that the builder would add twice are not read again.
    const isNumber = first === MINUS || (first >= ZERO && first <= NINE);
    const isReadAgain = first === NULL_START || (isNumber && to === json.bytes.length);
    if (isReadAgain || !isBetween) {
      isBetween = false;
      json.pos = from;
    }
    return 'cut';
  } finally {
    column.rows = row;
    column.isBetween = isBetween;
  }
}

/** Returns the mismatch, or 'cut': a cell that has not arrived completely may still fit. */
function mismatchAt(json: JsonBytes, from: number, first: number): 'cut' | { readonly mismatch: string } {
  json.pos = from;
  json.skip();
  const isCut = Number.isNaN(json.peek()) && !json.isWhole;
  json.pos = from;
  return isCut ? 'cut' : { mismatch: cellKind(first) };
}

function cellKind(first: number): string {
  switch (String.fromCharCode(first)) {
    case '"':
      return 'a string';
    case '{':
      return 'an object';
    case '[':
      return 'an array';
    case 't':
    case 'f':
      return 'a boolean';
    default:
      return 'a number';
  }
}

function mismatchNote(name: string, type: string, row: number, kind: string): string {
  return `The field ${JSON.stringify(name)} is declared ${type}, but row ${row + 1} holds ${kind} that does not fit; its values are kept as JSON text.`;
}

/** 64-bit integers, including times and durations, which are stored as such. */
class Int64Builder implements ColumnBuilder {
  readonly #type: Int64 | TimestampNanosecond | DurationNanosecond;
  readonly #cell: typeof readInteger;
  readonly #cells: typeof readIntegers;
  readonly #store: Int64Store;

  constructor(
    type: Int64 | TimestampNanosecond | DurationNanosecond,
    cell: typeof readInteger,
    cells: typeof readIntegers,
    rowsHint: number,
  ) {
    this.#type = type;
    this.#cell = cell;
    this.#cells = cells;
    this.#store = new Int64Store(rowsHint);
  }

  read(json: JsonBytes, row: number): boolean {
    this.#store.reserve(row);
    return this.#cell(json, this.#store, row);
  }

  readUsual(json: JsonBytes, row: number, stop: number): number {
    return this.#cells(json, this.#store, row, stop);
  }

  skipNull(row: number): void {
    this.#store.reserve(row);
  }

  finish(rows: number, validity: Validity): Data {
    const buffers = { length: rows, data: this.#store.values(rows), ...validity.finish(rows) };
    return makeData({ type: this.#type as Int64, ...buffers });
  }
}

class FloatBuilder implements ColumnBuilder {
  #values: Float64Array;
  readonly #exactIntegers: boolean;
  /** Offset in the response before which there is something other than numbers. */
  #oneByOneUntil = 0;

  constructor(rowsHint: number, exactIntegers: boolean) {
    this.#values = new Float64Array(Math.max(rowsHint, 16));
    this.#exactIntegers = exactIntegers;
  }

  read(json: JsonBytes, row: number): boolean {
    if (row >= this.#values.length) this.#values = grown(this.#values);
    return readFloat(json, this.#values, row, this.#exactIntegers);
  }

  readUsual(json: JsonBytes, row: number, stop: number, validity: Validity): number {
    const next = readFloats(json, this.#values, row, stop);
    if (json.pos >= stop || json.offset < this.#oneByOneUntil) return next;
    return startsNumber(json) ? this.#readLong(json, next, stop, validity) : next;
  }

  /** Reads cells with more digits or an exponent with JavaScript's parser, all at once: six times as fast as one by one. */
  #readLong(json: JsonBytes, row: number, stop: number, validity: Validity): number {
    const { bytes } = json;
    const close = bytes.subarray(json.pos, stop).indexOf(CLOSE_ARRAY);
    const end = bytes.lastIndexOf(COMMA, close < 0 ? stop : json.pos + close);
    if (end <= json.pos) return row;
    const most = this.#exactIntegers ? Number.MAX_SAFE_INTEGER : Number.MAX_VALUE;
    const cells = numbersOf(json.ascii(json.pos, end), most);
    if (cells === undefined) {
      this.#oneByOneUntil = json.base + end;
      return row;
    }
    if (row + cells.length > this.#values.length) this.#values = grown(this.#values, row + cells.length);
    for (const [at, cell] of cells.entries()) {
      if (cell === null) validity.clear(row + at);
      else this.#values[row + at] = cell;
    }
    json.pos = end + 1;
    return row + cells.length;
  }

  skipNull(row: number): void {
    if (row >= this.#values.length) this.#values = grown(this.#values);
  }

  finish(rows: number, validity: Validity): Data {
    return makeData({
      type: new Float64(),
      length: rows,
      data: fitted(this.#values, rows),
      ...validity.finish(rows),
    });
  }
}

class BoolBuilder implements ColumnBuilder {
  #bits: Uint8Array;

  constructor(rowsHint: number) {
    this.#bits = new Uint8Array(Math.max((rowsHint >> 3) + 1, 16));
  }

  read(json: JsonBytes, row: number): boolean {
    const first = json.bytes[json.pos];
    if (first !== 0x74 && first !== 0x66) return false;
    const index = row >> 3;
    if (index >= this.#bits.length) this.#bits = grown(this.#bits);
    if (json.literal() === 'true') this.#bits[index] = (this.#bits[index] as number) | (1 << (row & 7));
    return true;
  }

  readUsual(json: JsonBytes, row: number, stop: number): number {
    const { bytes } = json;
    const bits = this.#bits;
    const end = Math.min(stop, bytes.length - LONGEST_BOOL);
    let next = row;
    let p = json.pos;
    for (; p < end && next >> 3 < bits.length; next++) {
      if (isTrue(bytes, p)) {
        bits[next >> 3] = (bits[next >> 3] as number) | (1 << (next & 7));
        p += 5;
      } else if (isFalse(bytes, p)) p += 6;
      else break;
    }
    json.pos = p;
    return next;
  }

  skipNull(row: number): void {
    if (row >> 3 >= this.#bits.length) this.#bits = grown(this.#bits);
  }

  finish(rows: number, validity: Validity): Data {
    return makeData({
      type: new Bool(),
      length: rows,
      data: fitted(this.#bits, (rows + 7) >> 3),
      ...validity.finish(rows),
    });
  }
}

/** Returns comma-separated numbers up to `most` and nulls; undefined if there is anything else. */
function numbersOf(text: string, most: number): readonly (number | null)[] | undefined {
  const isExpected = (cell: unknown): cell is number | null =>
    cell === null || (typeof cell === 'number' && Math.abs(cell) <= most);
  try {
    const cells = JSON.parse(`[${text}]`) as readonly unknown[];
    return cells.every(isExpected) ? cells : undefined;
  } catch {
    return undefined;
  }
}

/** Length of `false` with its comma. */
const LONGEST_BOOL = 6;

/** Returns whether `true,` is at `p`. */
function isTrue(bytes: Uint8Array, p: number): boolean {
  const [t, r, u, e] = [bytes[p], bytes[p + 1], bytes[p + 2], bytes[p + 3]];
  return t === 0x74 && r === 0x72 && u === 0x75 && e === 0x65 && bytes[p + 4] === COMMA;
}

/** Returns whether `false,` is at `p`. */
function isFalse(bytes: Uint8Array, p: number): boolean {
  const [f, a, l, s, e] = [bytes[p], bytes[p + 1], bytes[p + 2], bytes[p + 3], bytes[p + 4]];
  return f === 0x66 && a === 0x61 && l === 0x6c && s === 0x73 && e === 0x65 && bytes[p + 5] === COMMA;
}

/** Skips cells without storing them. */
class SkippingBuilder implements ColumnBuilder {
  read(json: JsonBytes): true {
    json.skip();
    return true;
  }

  readUsual(_json: JsonBytes, row: number): number {
    return row;
  }

  skipNull(): void {}

  finish(): Data {
    return makeData({ type: new Null(), length: 0 });
  }
}
