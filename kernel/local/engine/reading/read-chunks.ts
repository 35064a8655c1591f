import type { DuckDBDataChunk } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import type { TypeName } from '../../../apl/catalog/entry.js';
import { AplKernelError } from '../../../errors.js';
import { sqlTypes } from '../../duckdb/duckdb-types.js';
import {
  type CellForm,
  type Columns,
  comma,
  type DeclaredColumn,
  type JsonColumns,
  type Sink,
} from '../engine-columns.js';
import { Copies, type Vector } from './read-copies.js';
import { Texts } from './read-texts.js';

/**
 * A column that the engine computed in another type than declared, a compiler error: its bytes would be misread. Code
 * `internal-column-type`.
 */
class ColumnTypeError extends AplKernelError {
  /** The engine's type. */
  readonly found: string;

  constructor(column: DeclaredColumn, found: string) {
    super(
      'internal-column-type',
      `The field \`${column.name}\` was not computed as a ${column.type}: this is a bug in the local service.`,
      { hint: `As a workaround, convert it, for example with to${column.type}(…), and report the query.` },
    );
    this.found = found;
  }
}

/**
 * Returns the SELECT to run instead of `sql`, readable by {@link Chunks} of this form: strings are written as JSON for JSON, and unchanged
 * for Arrow. The engine's types come last.
 */
export function readableSql(sql: string, fields: readonly DeclaredColumn[], form: CellForm): string {
  const names = fields.map((_, index) => `c${index}`);
  const cells = fields.map(({ type }, index) => cellSql(`c${index}`, type, form));
  // The engine knows these before the run: they cost nothing per row.
  const types = `concat_ws(',', ${names.map(name => `typeof(${name})`).join(', ')}) AS types`;
  return `SELECT ${[...cells, types].join(', ')} FROM (${sql}) AS q(${names.join(', ')})`;
}

/** The chunks of a result of {@link readableSql}, added to its columns from raw vectors. */
export abstract class Chunks {
  abstract readonly columns: Columns;
  readonly fields: readonly DeclaredColumn[];
  /** Copies of a chunk's memory, until all of it is read. */
  readonly copies = new Copies();
  #checked = false;

  constructor(fields: readonly DeclaredColumn[]) {
    this.fields = fields;
  }

  /** Adds the first `rows` rows of a chunk. Throws a {@link ColumnTypeError}, or EngineError for too many bytes. */
  append(chunk: DuckDBDataChunk, rows: number): void {
    this.#check(chunk);
    this.take(rows, at => duckdb.data_chunk_get_vector(chunk.chunk, at));
    this.copies.release();
  }

  /** Adds rows from the vectors of a chunk. */
  abstract take(rows: number, vectorAt: (place: number) => Vector): void;

  /** Checks the types of the first chunk; all chunks of a result have the same types. */
  #check(chunk: DuckDBDataChunk): void {
    if (this.#checked || this.fields.length === 0) return;
    const types = String(chunk.getColumnVector(chunk.columnCount - 1).getItem(0)).split(',');
    for (const [index, field] of this.fields.entries()) {
      if (types[index] !== sqlTypes[field.type]) throw new ColumnTypeError(field, types[index] ?? 'none');
    }
    this.#checked = true;
  }
}

/** Chunks added to JSON columns. */
export class JsonChunks extends Chunks {
  readonly columns: JsonColumns;
  readonly #texts = new Texts(this.copies);

  constructor(fields: readonly DeclaredColumn[], columns: JsonColumns) {
    super(fields);
    this.columns = columns;
  }

  take(rows: number, vectorAt: (place: number) => Vector): void {
    this.columns.append(rows, (sinks, expectRoom) => {
      for (const [index, { type }] of this.fields.entries()) {
        const [sink, vector] = [sinks[index] as Sink, vectorAt(index)];
        if (isText(type)) this.#takeTexts(sink, type, vector, rows, expectRoom);
        else this.#takePlain(sink, type, vector, rows);
      }
    });
  }

  #takePlain(sink: Sink, type: TypeName, vector: Vector, rows: number): void {
    const valid = this.copies.validity(vector, rows);
    const write = cellWriter(sink, type, this.copies.data(vector, rows * (type === 'bool' ? 1 : 8)));
    sink.reserve(rows * widest);
    for (let row = 0; row < rows; row++) {
      if (valid === null || ((valid[row >> 3] ?? 0) >> (row & 7)) & 1) write(row);
      else sink.ascii('null');
      sink.buffer[sink.length++] = comma;
    }
  }

  #takeTexts(
    sink: Sink,
    type: TypeName,
    vector: Vector,
    rows: number,
    expectRoom: (bytes: number) => void,
  ): void {
    const { lengths, starts, pieceOf, pieces, bytes } = this.#texts.read(vector, rows);
    expectRoom(bytes + rows);
    sink.reserve(bytes + rows * 'null,'.length);
    const first = sink.length;
    for (let row = 0; row < rows; row++) {
      const length = lengths[row] as number;
      const from = starts[row] as number;
      if (length < 0) sink.ascii('null');
      else copyBytes(pieces[pieceOf[row] as number] as Uint8Array, from, from + length, sink);
      sink.buffer[sink.length++] = comma;
    }
    if (type === 'dynamic') sink.replaceFrom(first, strictJson);
  }
}

/** Upper bound on the bytes of a number or time. */
const widest = 48;
const zero = 0x30;

/** Returns whether the cells of a type are read as strings. */
function isText(type: TypeName): boolean {
  return type === 'string' || type === 'dynamic';
}

/** Returns the SQL of a cell. Invalid JSON in a dynamic value becomes a JSON string, so one bad cell cannot break a response. */
function cellSql(column: string, type: TypeName, form: CellForm): string {
  const text = `${column}::VARCHAR`;
  const json = `to_json(${text})::VARCHAR`;
  if (type === 'string') return form === 'json' ? json : text;
  return type === 'dynamic' ? `CASE WHEN json_valid(${text}) THEN ${text} ELSE ${json} END` : column;
}

function cellWriter(sink: Sink, type: TypeName, data: Uint8Array<ArrayBuffer>): (row: number) => void {
  switch (type) {
    case 'bool':
      return row => sink.ascii(data[row] ? 'true' : 'false');
    case 'real': {
      const reals = new Float64Array(data.buffer, data.byteOffset, data.length / 8);
      return row => writeReal(sink, reals[row] as number);
    }
    case 'long':
    case 'timespan':
    case 'datetime': {
      // Halves of int64, the lower first: creating a bigint for each cell would take most of the time.
      const halves = new Int32Array(data.buffer, data.byteOffset, data.length / 4);
      const write = type === 'datetime' ? writeTime : writeLong;
      return row => write(sink, halves[2 * row] as number, halves[2 * row + 1] as number);
    }
    case 'string':
    case 'dynamic':
      throw new RangeError('these are read as texts');
  }
}

/** Writes a real; NaN and infinities, which JSON lacks, become null. */
function writeReal(sink: Sink, value: number): void {
  if (value === (value | 0)) writeInteger(sink, value);
  else if (Number.isFinite(value)) sink.ascii(String(value));
  else {
    sink.notFinite++;
    sink.ascii('null');
  }
}

function writeLong(sink: Sink, low: number, high: number): void {
  if (high === low >> 31) writeInteger(sink, low);
  else if (high >= -0x200000 && high < 0x200000) sink.ascii(String(high * 0x1_0000_0000 + (low >>> 0)));
  else sink.ascii(((BigInt(high) << 32n) | BigInt(low >>> 0)).toString());
}

/** Writes a 32-bit integer. */
function writeInteger(sink: Sink, value: number): void {
  let rest = value;
  if (rest < 0) {
    sink.buffer[sink.length++] = 0x2d;
    rest = -rest;
  }
  let digits = 1;
  for (let limit = 10; rest >= limit; limit *= 10) digits++;
  writeDigits(sink, rest, digits);
}

function writeDigits(sink: Sink, value: number, digits: number): void {
  let rest = value;
  for (let at = sink.length + digits - 1; at >= sink.length; at--) {
    const next = (rest / 10) >>> 0;
    sink.buffer[at] = zero + rest - next * 10;
    rest = next;
  }
  sink.length += digits;
}

const nsPerSecond = 1_000_000_000;
let lastDay = Number.NaN;
let lastDate = '';

function writeTime(sink: Sink, low: number, high: number): void {
  // A double is accurate to within one second; the remainder fits 32 bits, where the arithmetic is exact.
  let second = Math.floor((high * 0x1_0000_0000 + (low >>> 0)) / nsPerSecond);
  let fraction = (low - Math.imul(second, nsPerSecond)) | 0;
  if (fraction < 0) {
    second -= 1;
    fraction += nsPerSecond;
  } else if (fraction >= nsPerSecond) {
    second += 1;
    fraction -= nsPerSecond;
  }
  const day = Math.floor(second / 86_400);
  if (day !== lastDay) {
    lastDay = day;
    lastDate = `"${new Date(day * 86_400_000).toISOString().slice(0, 10)}T`;
  }
  sink.ascii(lastDate);
  writeClock(sink, second - day * 86_400);
  if (fraction !== 0) writeFraction(sink, fraction);
  sink.ascii('Z"');
}

function writeClock(sink: Sink, secondOfDay: number): void {
  writeDigits(sink, Math.floor(secondOfDay / 3600), 2);
  sink.ascii(':');
  writeDigits(sink, Math.floor(secondOfDay / 60) % 60, 2);
  sink.ascii(':');
  writeDigits(sink, secondOfDay % 60, 2);
}

function writeFraction(sink: Sink, ns: number): void {
  sink.ascii('.');
  writeDigits(sink, ns, 9);
  while (sink.buffer[sink.length - 1] === zero) sink.length--;
}

/** Below this many bytes, a loop beats the built-in copy. */
const shortBytes = 64;

function copyBytes(source: Uint8Array, from: number, to: number, sink: Sink): void {
  if (to - from > shortBytes) {
    sink.buffer.set(source.subarray(from, to), sink.length);
    sink.length += to - from;
    return;
  }
  const target = sink.buffer;
  let length = sink.length;
  for (let at = from; at < to; at++) target[length++] = source[at] as number;
  sink.length = length;
}

/**
 * Replaces NaN and Infinity, which the engine prints bare inside JSON, with null; undefined if there are none. Other bytes are unchanged.
 */
export function strictJson(bytes: Buffer): string | undefined {
  if (!bytes.includes('NaN') && !bytes.includes('Infinity')) return undefined;
  return bytes
    .toString('latin1')
    .replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?(?:NaN|Infinity)/g, token =>
      token.startsWith('"') ? token : 'null',
    );
}
