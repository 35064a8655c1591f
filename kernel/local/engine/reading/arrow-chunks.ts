/** The cells of a result as Arrow columns, with the same bytes as those that a kernel would decode from JSON. */
import duckdb from '@duckdb/node-bindings';
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
import { fitted, grown, Validity } from '../../../result/decode/store.js';
import { JsonTextBuilder, StringBuilder } from '../../../result/decode/string-column.js';
import { formatTime } from '../../../time.js';
import type { ArrowCells, DeclaredColumn } from '../columns.js';
import { answerTooLarge } from '../failure.js';
import { Chunks, type Packed, type PlainVector, strictJson, total, type Vector } from './chunks.js';

/** The columns of a result, which grow by rows. */
export class ArrowColumns implements ArrowCells {
  readonly form = 'arrow';
  readonly columns: readonly Column[];
  readonly #mostBytes: number;
  #rows = 0;
  #textBytes = 0;
  #data: readonly Data[] | undefined;

  /** `mostBytes`: of all columns together. */
  constructor(fields: readonly DeclaredColumn[], mostBytes = Number.POSITIVE_INFINITY) {
    this.columns = fields.map(({ type }) => columnFor(type));
    this.#mostBytes = mostBytes;
  }

  get rows(): number {
    return this.#rows;
  }

  /** Of text each cell counts, though many columns keep equal ones once. */
  get size(): number {
    return this.#rows * this.columns.length * cellBytes + this.#textBytes;
  }

  /** Makes room for so many rows with so many bytes of text, and returns the first of them; EngineError for too many bytes. */
  extend(rows: number, textBytes: number): number {
    const first = this.#rows;
    this.#rows += rows;
    this.#textBytes += textBytes;
    if (this.size > this.#mostBytes) throw answerTooLarge(this.#mostBytes);
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

/** What a cell takes besides its text. */
const cellBytes = 8;

/** Returns what gives the cell of a row; Arrow's own vectors give times in milliseconds. */
function reader(data: Data): (row: number) => unknown {
  const { values } = data;
  if (values instanceof BigInt64Array) return row => (data.getValid(row) ? values[row] : null);
  const vector = new ArrowVector([data]);
  return row => vector.get(row);
}

function keyOf(value: unknown): unknown {
  return typeof value === 'bigint' ? [String(value)] : value;
}

/** Chunks that are added to Arrow columns. */
export class ArrowChunks extends Chunks {
  readonly columns: ArrowColumns;

  constructor(fields: readonly DeclaredColumn[], columns: ArrowColumns) {
    super(fields);
    this.columns = columns;
  }

  take(rows: number, plain: readonly PlainVector[], packed: Packed | undefined): void {
    const textBytes = (packed?.lengths ?? []).reduce((sum, each) => sum + total(each), 0);
    const first = this.columns.extend(rows, textBytes);
    for (const { index, vector } of plain) {
      const column = this.columns.columns[index];
      if (column !== undefined && !isText(column)) column.take(vector, first, rows);
    }
    if (packed !== undefined) this.#takeTexts(rows, first, packed);
  }

  /** Column by column, as each is kept in its own way. */
  #takeTexts(rows: number, first: number, { packs, lengths }: Packed): void {
    const { starts } = packs;
    for (const [offset, index] of this.texts.entries()) {
      const column = this.columns.columns[index];
      const own = lengths[offset] as Int32Array;
      if (column === undefined || !isText(column)) continue;
      for (let row = 0; row < rows; row++) {
        const length = own[row] as number;
        if (length < 0) {
          column.skip(first + row);
          continue;
        }
        const from = starts[row] as number;
        column.take(packs.piece(row), from, from + length, first + row);
        starts[row] = from + length;
      }
    }
  }
}

/** A column of cells that are as long as each other, or of texts. */
type Column = PlainColumn | TextColumn;

interface PlainColumn {
  /** Takes the rows of a vector, of which the first is the column's row `first`. */
  take(vector: Vector, first: number, rows: number): void;
  finish(rows: number): Data;
}

interface TextColumn {
  take(bytes: Uint8Array, from: number, to: number, row: number): void;
  /** The cell is null. */
  skip(row: number): void;
  finish(rows: number): Data;
}

function isText(column: Column): column is TextColumn {
  return column instanceof StringColumn || column instanceof DynamicColumn;
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

/** Calls `clear` with each row of a vector that is null. */
function eachNull(vector: Vector, rows: number, clear: (row: number) => void): void {
  const valid = duckdb.vector_get_validity(vector, Math.ceil(rows / 64) * 8);
  if (valid === null) return;
  for (let row = 0; row < rows; row++) if ((((valid[row >> 3] ?? 0) >> (row & 7)) & 1) === 0) clear(row);
}

/** Integers of 64 bits, as two words each, the lower first; those of nulls are zero. */
class Int64Column implements PlainColumn {
  readonly #type: Int64 | TimestampNanosecond | DurationNanosecond;
  readonly #validity = new Validity();
  #words = new Int32Array(firstRows * 2);

  constructor(type: Int64 | TimestampNanosecond | DurationNanosecond) {
    this.#type = type;
  }

  take(vector: Vector, first: number, rows: number): void {
    const { buffer, byteOffset } = duckdb.vector_get_data(vector, rows * 8);
    if ((first + rows) * 2 > this.#words.length) this.#words = grown(this.#words, (first + rows) * 2);
    this.#words.set(new Int32Array(buffer, byteOffset, rows * 2), first * 2);
    eachNull(vector, rows, row => {
      this.#validity.clear(first + row);
      this.#words.fill(0, (first + row) * 2, (first + row + 1) * 2);
    });
  }

  finish(rows: number): Data {
    const words = fitted(this.#words, rows * 2);
    const data = new BigInt64Array(words.buffer, words.byteOffset, rows);
    return makeData({ type: this.#type as Int64, length: rows, data, ...this.#validity.finish(rows) });
  }
}

/** JSON has no NaN, no infinity and no sign of zero, and an answer is the same in both forms. */
class RealColumn implements PlainColumn {
  notFinite = 0;
  readonly #validity = new Validity();
  #values = new Float64Array(firstRows);

  take(vector: Vector, first: number, rows: number): void {
    const { buffer, byteOffset } = duckdb.vector_get_data(vector, rows * 8);
    if (first + rows > this.#values.length) this.#values = grown(this.#values, first + rows);
    const values = this.#values;
    values.set(new Float64Array(buffer, byteOffset, rows), first);
    eachNull(vector, rows, row => {
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

  finish(rows: number): Data {
    const data = fitted(this.#values, rows);
    return makeData({ type: new Float64(), length: rows, data, ...this.#validity.finish(rows) });
  }
}

class BoolColumn implements PlainColumn {
  readonly #validity = new Validity();
  #bits = new Uint8Array(firstRows / 8);

  take(vector: Vector, first: number, rows: number): void {
    const values = duckdb.vector_get_data(vector, rows);
    const bytes = (first + rows + 7) >> 3;
    if (bytes > this.#bits.length) this.#bits = grown(this.#bits, bytes);
    const bits = this.#bits;
    for (let row = 0; row < rows; row++) {
      const at = first + row;
      if (values[row]) bits[at >> 3] = (bits[at >> 3] as number) | (1 << (at & 7));
    }
    eachNull(vector, rows, row => {
      const at = first + row;
      this.#validity.clear(at);
      bits[at >> 3] = (bits[at >> 3] as number) & ~(1 << (at & 7));
    });
  }

  finish(rows: number): Data {
    const data = fitted(this.#bits, (rows + 7) >> 3);
    return makeData({ type: new Bool(), length: rows, data, ...this.#validity.finish(rows) });
  }
}

class StringColumn implements TextColumn {
  readonly #validity = new Validity();
  readonly #strings = new StringBuilder(firstRows);

  take(bytes: Uint8Array, from: number, to: number, row: number): void {
    this.#strings.take(bytes, from, to, row);
  }

  skip(row: number): void {
    this.#validity.clear(row);
    this.#strings.skipNull(row);
  }

  finish(rows: number): Data {
    return this.#strings.finish(rows, this.#validity);
  }
}

/** JSON texts, without the white space around them. */
class DynamicColumn implements TextColumn {
  readonly #validity = new Validity();
  readonly #texts = new JsonTextBuilder(firstRows);

  take(bytes: Uint8Array, from: number, to: number, row: number): void {
    let [start, end] = [from, to];
    while (start < end && isSpace(bytes[start])) start++;
    while (end > start && isSpace(bytes[end - 1])) end--;
    const strict = mayBeLoose(bytes, start, end) ? strictly(bytes, start, end) : undefined;
    if (strict !== undefined) this.#add(strict, 0, strict.length, row);
    else this.#add(bytes, start, end, row);
  }

  skip(row: number): void {
    this.#validity.clear(row);
    this.#texts.skipNull();
  }

  finish(rows: number): Data {
    return this.#texts.finish(rows, this.#validity);
  }

  #add(bytes: Uint8Array, from: number, to: number, row: number): void {
    if (bytes[from] === letterN) this.skip(row);
    else this.#texts.take(bytes, from, to);
  }
}

const letterN = 0x6e;
const capitalI = 0x49;
const capitalN = 0x4e;

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Whether it has a letter that NaN or Infinity begins with. */
function mayBeLoose(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at] === capitalN || bytes[at] === capitalI) return true;
  return false;
}

function strictly(bytes: Uint8Array, from: number, to: number): Buffer | undefined {
  const changed = strictJson(Buffer.from(bytes.subarray(from, to)));
  return changed === undefined ? undefined : Buffer.from(changed, 'latin1');
}

/** The rows for which there is room at first. */
const firstRows = 2048;
