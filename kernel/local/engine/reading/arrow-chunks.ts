/** The cells of a result as Arrow columns, with the same bytes that a kernel would decode from JSON. */
import {
  Vector as ArrowVector,
  Bool,
  type Data,
  DurationNanosecond,
  Float64,
  Int64,
  makeData,
  TimestampNanosecond,
} from 'apache-arrow';
import type { TypeName } from '../../../apl/catalog/entry.js';
import { fitted, grown, Validity } from '../../../result/decode/decode-store.js';
import { JsonTextBuilder, StringBuilder } from '../../../result/decode/string-column.js';
import { formatTime } from '../../../time.js';
import type { ArrowCells, DeclaredColumn } from '../engine-columns.js';
import { answerTooLarge } from '../engine-failure.js';
import { Chunks, strictJson } from './read-chunks.js';
import type { Copies, Vector } from './read-copies.js';
import { Texts } from './read-texts.js';

/** The columns of a result, growing by rows. */
export class ArrowColumns implements ArrowCells {
  readonly form = 'arrow';
  readonly columns: readonly Column[];
  readonly #limit: number;
  readonly #mostBytes: number;
  #rows = 0;
  /** Number of rows with space allocated. */
  #room = firstRows;
  #textBytes = 0;
  #data: readonly Data[] | undefined;

  /** `limit`: in rows; `mostBytes`: total of all columns. */
  constructor(fields: readonly DeclaredColumn[], limit: number, mostBytes: number) {
    this.columns = fields.map(({ type }) => columnFor(type));
    this.#limit = limit;
    this.#mostBytes = mostBytes;
  }

  get rows(): number {
    return this.#rows;
  }

  /** Every string cell counts, though many columns store equal ones once. */
  get size(): number {
    return this.#rows * this.columns.length * cellBytes + this.#textBytes;
  }

  /**
   * Makes room for this many rows with this many bytes of strings, and returns the index of the first one. Throws EngineError for too many
   * bytes.
   */
  extend(rows: number, textBytes: number): number {
    const first = this.#rows;
    this.#rows += rows;
    this.#textBytes += textBytes;
    if (this.size > this.#mostBytes) throw answerTooLarge(this.#mostBytes);
    if (this.#rows > this.#room) {
      this.#room = Math.max(this.#rows, Math.min(this.#room * growth, this.#limit));
      for (const column of this.columns) column.reserve(this.#room);
    }
    return first;
  }

  notFinite(index: number): number {
    const column = this.columns[index];
    return column instanceof RealColumn ? column.notFinite : 0;
  }

  run(index: number, end: 'first' | 'last'): { readonly text: string; readonly rows: number } {
    if (this.#rows === 0) return { text: '', rows: 0 };
    const cell = reader(this.#column(index));
    const at = (row: number) => cell(end === 'first' ? row : this.#rows - 1 - row);
    const edge = at(0);
    let rows = 1;
    while (rows < this.#rows && at(rows) === edge) rows++;
    return { text: typeof edge === 'bigint' ? formatTime(edge, 'fewest') : 'null', rows };
  }

  distinct(indexes: readonly number[]): number {
    const columns = indexes.map(index => reader(this.#column(index)));
    const keys = new Set<string>();
    for (let row = 0; row < this.#rows; row++)
      keys.add(JSON.stringify(columns.map(cell => keyOf(cell(row)))));
    return keys.size;
  }

  data(): readonly Data[] {
    this.#data ??= this.columns.map(column => column.finish(this.#rows));
    return this.#data;
  }

  #column(index: number): Data {
    const data = this.data()[index];
    if (data === undefined) throw new RangeError(`there is no column ${index}`);
    return data;
  }
}

/** Size of a cell besides its string, in bytes. */
const cellBytes = 8;

/** Returns a function that reads the cell of a row; Arrow's own vectors return times in milliseconds. */
function reader(data: Data): (row: number) => unknown {
  const { values } = data;
  if (values instanceof BigInt64Array) return row => (data.getValid(row) ? values[row] : null);
  const vector = new ArrowVector([data]);
  return row => vector.get(row);
}

function keyOf(value: unknown): unknown {
  return typeof value === 'bigint' ? [String(value)] : value;
}

/** Chunks added to Arrow columns. */
export class ArrowChunks extends Chunks {
  readonly columns: ArrowColumns;
  /** The strings of a chunk, by column. */
  readonly #texts: readonly (Texts | undefined)[];

  constructor(fields: readonly DeclaredColumn[], columns: ArrowColumns) {
    super(fields);
    this.columns = columns;
    this.#texts = columns.columns.map(column => ('takeTexts' in column ? new Texts(this.copies) : undefined));
  }

  take(rows: number, vectorAt: (place: number) => Vector): void {
    let textBytes = 0;
    for (const [index, texts] of this.#texts.entries())
      textBytes += texts?.read(vectorAt(index), rows).bytes ?? 0;
    const first = this.columns.extend(rows, textBytes);
    for (const [index, column] of this.columns.columns.entries()) {
      if ('takeTexts' in column) column.takeTexts(this.#texts[index] as Texts, first, rows);
      else column.take({ vector: vectorAt(index), copies: this.copies }, first, rows);
    }
  }
}

/** A column of fixed-size cells, or of strings. */
type Column = PlainColumn | TextColumn;

/** A vector, and the copies through which its memory is read. */
interface Cells {
  readonly vector: Vector;
  readonly copies: Copies;
}

interface PlainColumn {
  /** Makes room for this many rows in total. */
  reserve(rows: number): void;
  /** Adds the rows of a vector, starting at row `first` of the column. */
  take(cells: Cells, first: number, rows: number): void;
  finish(rows: number): Data;
}

interface TextColumn {
  reserve(rows: number): void;
  takeTexts(texts: Texts, first: number, rows: number): void;
  finish(rows: number): Data;
}

function columnFor(type: TypeName): Column {
  switch (type) {
    case 'bool':
      return new BoolColumn();
    case 'real':
      return new RealColumn();
    case 'long':
      return new Int64Column(new Int64());
    case 'timespan':
      return new Int64Column(new DurationNanosecond());
    case 'datetime':
      return new Int64Column(new TimestampNanosecond('UTC'));
    case 'string':
      return new StringColumn();
    case 'dynamic':
      return new DynamicColumn();
  }
}

/** Calls `clear` for each null row of a vector. */
function eachNull({ vector, copies }: Cells, rows: number, clear: (row: number) => void): void {
  const valid = copies.validity(vector, rows);
  if (valid === null) return;
  for (let row = 0; row < rows; row++) {
    const bits = valid[row >> 3] as number;
    if (bits === 0xff) row |= 7;
    else if (((bits >> (row & 7)) & 1) === 0) clear(row);
  }
}

/** 64-bit integers as two words each, the lower first; nulls are zero. */
class Int64Column implements PlainColumn {
  readonly #type: Int64 | TimestampNanosecond | DurationNanosecond;
  readonly #validity = new Validity();
  #words = new Int32Array(firstRows * 2);

  constructor(type: Int64 | TimestampNanosecond | DurationNanosecond) {
    this.#type = type;
  }

  take(cells: Cells, first: number, rows: number): void {
    const { buffer, byteOffset } = cells.copies.data(cells.vector, rows * 8);
    this.#words.set(new Int32Array(buffer, byteOffset, rows * 2), first * 2);
    eachNull(cells, rows, row => {
      this.#validity.clear(first + row);
      this.#words.fill(0, (first + row) * 2, (first + row + 1) * 2);
    });
  }

  reserve(rows: number): void {
    this.#words = grown(this.#words, rows * 2);
  }

  finish(rows: number): Data {
    const words = fitted(this.#words, rows * 2);
    const data = new BigInt64Array(words.buffer, words.byteOffset, rows);
    return makeData({ type: this.#type as Int64, length: rows, data, ...this.#validity.finish(rows) });
  }
}

/** Like JSON, it has no NaN, infinity or negative zero, so both forms give the same result. */
class RealColumn implements PlainColumn {
  notFinite = 0;
  readonly #validity = new Validity();
  #values = new Float64Array(firstRows);

  take(cells: Cells, first: number, rows: number): void {
    const { buffer, byteOffset } = cells.copies.data(cells.vector, rows * 8);
    const values = this.#values;
    values.set(new Float64Array(buffer, byteOffset, rows), first);
    eachNull(cells, rows, row => {
      this.#validity.clear(first + row);
      values[first + row] = 0;
    });
    for (let at = first; at < first + rows; at++) {
      const value = values[at] as number;
      if (value === 0) values[at] = 0;
      else if (!Number.isFinite(value)) {
        this.notFinite++;
        this.#validity.clear(at);
        values[at] = 0;
      }
    }
  }

  reserve(rows: number): void {
    this.#values = grown(this.#values, rows);
  }

  finish(rows: number): Data {
    const data = fitted(this.#values, rows);
    return makeData({ type: new Float64(), length: rows, data, ...this.#validity.finish(rows) });
  }
}

class BoolColumn implements PlainColumn {
  readonly #validity = new Validity();
  #bits = new Uint8Array(firstRows / 8);

  take(cells: Cells, first: number, rows: number): void {
    const values = cells.copies.data(cells.vector, rows);
    const bits = this.#bits;
    eachNull(cells, rows, row => {
      this.#validity.clear(first + row);
      values[row] = 0;
    });
    for (let row = 0; row < rows; row++) {
      const at = first + row;
      if (values[row]) bits[at >> 3] = (bits[at >> 3] as number) | (1 << (at & 7));
    }
  }

  reserve(rows: number): void {
    this.#bits = grown(this.#bits, (rows + 7) >> 3);
  }

  finish(rows: number): Data {
    const data = fitted(this.#bits, (rows + 7) >> 3);
    return makeData({ type: new Bool(), length: rows, data, ...this.#validity.finish(rows) });
  }
}

class StringColumn implements TextColumn {
  readonly #validity = new Validity();
  readonly #strings = new StringBuilder(firstRows);

  takeTexts(texts: Texts, first: number, rows: number): void {
    for (let row = 0; row < rows; row++)
      if ((texts.lengths[row] as number) < 0) this.#validity.clear(first + row);
    this.#strings.takeRows(texts, rows, first);
  }

  reserve(rows: number): void {
    this.#strings.reserve(rows);
  }

  finish(rows: number): Data {
    return this.#strings.finish(rows, this.#validity);
  }
}

/** JSON text without surrounding white space. */
class DynamicColumn implements TextColumn {
  readonly #validity = new Validity();
  readonly #texts = new JsonTextBuilder(firstRows);

  takeTexts({ lengths, starts, pieceOf, pieces }: Texts, first: number, rows: number): void {
    for (let row = 0; row < rows; row++) {
      const length = lengths[row] as number;
      const start = starts[row] as number;
      if (length < 0) this.#skip(first + row);
      else this.#take(pieces[pieceOf[row] as number] as Uint8Array, start, start + length, first + row);
    }
  }

  reserve(rows: number): void {
    this.#texts.reserve(rows);
  }

  finish(rows: number): Data {
    return this.#texts.finish(rows, this.#validity);
  }

  #take(bytes: Uint8Array, from: number, to: number, row: number): void {
    let [start, end] = [from, to];
    while (start < end && isSpace(bytes[start])) start++;
    while (end > start && isSpace(bytes[end - 1])) end--;
    const strict = mayBeLoose(bytes, start, end) ? strictly(bytes, start, end) : undefined;
    if (strict !== undefined) this.#add(strict, 0, strict.length, row);
    else this.#add(bytes, start, end, row);
  }

  #add(bytes: Uint8Array, from: number, to: number, row: number): void {
    if (bytes[from] === letterN) this.#skip(row);
    else this.#texts.take(bytes, from, to);
  }

  #skip(row: number): void {
    this.#validity.clear(row);
    this.#texts.skipNull();
  }
}

const letterN = 0x6e;
const capitalI = 0x49;
const capitalN = 0x4e;

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Returns whether the text has an initial letter of NaN or Infinity. */
function mayBeLoose(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at] === capitalN || bytes[at] === capitalI) return true;
  return false;
}

function strictly(bytes: Uint8Array, from: number, to: number): Buffer | undefined {
  const changed = strictJson(Buffer.from(bytes.subarray(from, to)));
  return changed === undefined ? undefined : Buffer.from(changed, 'latin1');
}

/** Rows allocated at first. */
const firstRows = 2048;

/** Growth factor for rows: memory takes no space until it is written to. */
const growth = 8;
