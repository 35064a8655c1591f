import type { Data } from 'apache-arrow';
import type { TypeName } from '../../apl/catalog/entry.js';
import { answerTooLarge } from './engine-failure.js';

/** A result column: its name and the type its values are read as. */
export interface DeclaredColumn {
  readonly name: string;
  readonly type: TypeName;
}

/** The comma-separated cells of each column, with the number of NaN or infinite values. */
export interface ReadCells {
  readonly rows: number;
  /** The bytes of each column in pieces, none of which splits a cell. */
  readonly cells: readonly (readonly Uint8Array[])[];
  readonly notFinite: readonly number[];
}

/** The form in which the cells of a result are read from an engine. */
export type CellForm = 'json' | 'arrow';

/** The cells of a result in either form. */
export type Columns = JsonColumns | ArrowCells;

/** Facts about the cells of a result in either form. */
interface Cells {
  readonly form: CellForm;
  readonly rows: number;
  /** Total bytes of all columns. */
  readonly size: number;
  /** Returns the number of NaN or infinite values in a column, which are output as null. */
  notFinite(index: number): number;
  /** Returns the first or last cell of a column of times, and the number of adjacent rows with the same value. */
  run(index: number, end: 'first' | 'last'): { readonly text: string; readonly rows: number };
  /** Returns the number of distinct rows in these columns. */
  distinct(indexes: readonly number[]): number;
}

/** The cells of a result as Arrow columns. */
export interface ArrowCells extends Cells {
  readonly form: 'arrow';
  /** Returns the columns, once all rows are read. */
  data(): readonly Data[];
}

/** Returns the cells as JSON. Throws a RangeError for any other form. */
export function asJson(columns: Columns): JsonColumns {
  if (columns.form !== 'json') throw new RangeError('the cells were not read as JSON');
  return columns;
}

/** The cells of a result as JSON, one comma-separated run of bytes per column, from any engine. */
export class JsonColumns implements Cells {
  readonly form = 'json';
  readonly #sinks: readonly Sink[];
  readonly #mostBytes: number;
  #rows = 0;

  /** `mostBytes`: total of all columns. */
  constructor(fields: readonly DeclaredColumn[], mostBytes = Number.POSITIVE_INFINITY) {
    this.#mostBytes = mostBytes;
    this.#sinks = fields.map(() => new Sink());
  }

  /** Concatenates the columns of several results. */
  static together(fields: readonly DeclaredColumn[], parts: readonly ReadCells[]): JsonColumns {
    const columns = new JsonColumns(fields);
    for (const { rows, cells, notFinite } of parts) {
      columns.#rows += rows;
      for (const [index, pieces] of cells.entries()) columns.#sink(index).add(pieces, notFinite[index] ?? 0);
    }
    return columns;
  }

  /** The cells read so far, for {@link together}. */
  get read(): ReadCells {
    return {
      rows: this.#rows,
      cells: this.#sinks.map(sink => sink.pieces()),
      notFinite: this.#sinks.map(sink => sink.notFinite),
    };
  }

  get rows(): number {
    return this.#rows;
  }

  /** Total bytes of all columns. */
  get size(): number {
    return this.#sinks.reduce((total, { size }) => total + size, 0);
  }

  /** Adds this many rows, which `write` appends to the column sinks. Throws EngineError for too many bytes. */
  append(rows: number, write: (sinks: readonly Sink[], expectRoom: (bytes: number) => void) => void): void {
    write(this.#sinks, bytes => this.#expectRoom(bytes));
    this.#rows += rows;
    this.#expectRoom(0);
  }

  #expectRoom(bytes: number): void {
    if (this.size + bytes > this.#mostBytes) throw answerTooLarge(this.#mostBytes);
  }

  /** Returns the number of NaN or infinite values in a column. JSON cannot express these, so they are null. */
  notFinite(index: number): number {
    return this.#sink(index).notFinite;
  }

  /** Returns the bytes of a column, without brackets, in pieces that do not split a cell. */
  pieces(index: number): readonly Buffer[] {
    return this.#sink(index).pieces();
  }

  /** Returns the bytes of a column, without brackets. */
  bytes(index: number): Buffer {
    const [first = Buffer.alloc(0), ...others] = this.pieces(index);
    return others.length === 0 ? first : Buffer.concat([first, ...others]);
  }

  /** Returns the first or last cell of a column without strings, and the number of adjacent rows with the same value. */
  run(index: number, end: 'first' | 'last'): { readonly text: string; readonly rows: number } {
    if (this.#rows === 0) return { text: '', rows: 0 };
    const cells = this.bytes(index);
    const at = end === 'first' ? cells.indexOf(comma) : cells.lastIndexOf(comma) + 1;
    const cell = end === 'first' ? cells.subarray(0, at < 0 ? cells.length : at) : cells.subarray(at);
    const step = cell.length + 1;
    let rows = 1;
    for (; rows < this.#rows; rows++) {
      const from = end === 'first' ? rows * step : cells.length - cell.length - rows * step;
      if (from < 0 || from + cell.length > cells.length) break;
      if (cells.compare(cell, 0, cell.length, from, from + cell.length) !== 0) break;
    }
    return { text: cell.toString('latin1'), rows };
  }

  /** Returns the number of distinct rows in these columns. */
  distinct(indexes: readonly number[]): number {
    const columns = indexes.map(index => this.cells(index));
    const keys = new Set<string>();
    for (let row = 0; row < this.#rows; row++) keys.add(columns.map(cells => cells[row]).join(','));
    return keys.size;
  }

  /** Returns the cells of a column as JSON text. */
  cells(index: number): string[] {
    return splitCells(this.bytes(index).toString('utf8'));
  }

  #sink(index: number): Sink {
    const sink = this.#sinks[index];
    if (!sink) throw new RangeError(`there is no column ${index}`);
    return sink;
  }
}

/** Splits a run of JSON values at the commas between them. */
function splitCells(text: string): string[] {
  const cells: string[] = [];
  let from = 0;
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},]/g)) {
    if (token === '[' || token === '{') depth++;
    else if (token === ']' || token === '}') depth--;
    else if (token === ',' && depth === 0) {
      cells.push(text.slice(from, index));
      from = index + 1;
    }
  }
  if (text !== '') cells.push(text.slice(from));
  return cells;
}

/** The byte between two cells. */
export const comma = 0x2c;

/** A piece of this size is not grown any further: copying a gigabyte would hold up all other requests for seconds. */
const fullPiece = 2 ** 20;

/** The bytes of a column in pieces, the last of which grows. */
export class Sink {
  /** The last piece, and the number of bytes written to it. */
  buffer = Buffer.allocUnsafe(4096);
  length = 0;
  notFinite = 0;
  readonly #full: Buffer[] = [];
  #fullBytes = 0;

  get size(): number {
    return this.#fullBytes + this.length;
  }

  /** Makes room for this many bytes in the last piece. */
  reserve(extra: number): void {
    if (this.length + extra <= this.buffer.length) return;
    if (this.length >= fullPiece) this.#close();
    const grown = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.length + extra));
    this.buffer.copy(grown, 0, 0, this.length);
    this.buffer = grown;
  }

  /** Starts a new piece. */
  #close(): void {
    this.#keep(this.buffer.subarray(0, this.length));
    this.buffer = Buffer.alloc(0);
    this.length = 0;
  }

  #keep(piece: Buffer): void {
    this.#full.push(piece);
    this.#fullBytes += piece.length;
  }

  /** Writes text with one byte per character. */
  ascii(text: string): void {
    for (let at = 0; at < text.length; at++) this.buffer[this.length++] = text.charCodeAt(at);
  }

  /** Adds the pieces of another column, which must not change afterwards. */
  add(pieces: readonly Uint8Array[], notFinite: number): void {
    this.notFinite += notFinite;
    if (pieces.every(({ byteLength }) => byteLength === 0)) return;
    if (this.size > 0) {
      this.reserve(1);
      this.buffer[this.length++] = comma;
    }
    this.#close();
    for (const { buffer, byteOffset, byteLength } of pieces)
      this.#keep(Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength));
  }

  /** Every cell is followed by a comma; the last comma is omitted. */
  pieces(): readonly Buffer[] {
    const all = [...this.#full, this.buffer.subarray(0, this.length)].filter(({ length }) => length > 0);
    const last = all.pop();
    if (last === undefined) return [];
    return [...all, last[last.length - 1] === comma ? last.subarray(0, -1) : last];
  }

  /** Rewrites the bytes added since `start`; `change` receives one byte per character, and returns undefined to keep them. */
  replaceFrom(start: number, change: (bytes: Buffer) => string | undefined): void {
    const changed = change(this.buffer.subarray(start, this.length));
    if (changed === undefined) return;
    this.length = start;
    this.reserve(changed.length);
    this.ascii(changed);
  }
}
