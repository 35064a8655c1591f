import type { DuckDBDataChunk } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import type { TypeName } from '../../../apl/catalog/entry.js';
import { AplKernelError } from '../../../errors.js';
import { sqlTypes } from '../../duckdb/types.js';
import {
  type CellForm,
  type Columns,
  comma,
  type DeclaredColumn,
  type JsonColumns,
  type Sink,
} from '../columns.js';

/**
 * A column that the engine computed in another type than the one declared, a fault of the compiler: its bytes would be read
 * as something else. Code `internal-column-type`.
 */
class ColumnTypeError extends AplKernelError {
  /** The type that the engine gave. */
  readonly found: string;

  constructor(column: DeclaredColumn, found: string) {
    super(
      'internal-column-type',
      `The field \`${column.name}\` was not computed as a ${column.type}: this is a fault of the local service.`,
      { hint: `Convert it, for example with to${column.type}(…), and report the query.` },
    );
    this.found = found;
  }
}

/**
 * Returns the SELECT to run instead of `sql`, so that a {@link Chunks} of this form can read it. Texts are slow to fetch one by
 * one, so each row's texts travel as one, for JSON already written as such, with their lengths beside them, which are -1 for null;
 * last come the engine's types.
 */
export function packedSql(sql: string, fields: readonly DeclaredColumn[], form: CellForm): string {
  const names = fields.map((_, index) => `c${index}`);
  const texts = textIndexes(fields);
  const plain = names.filter((_, index) => !texts.includes(index));
  const textOf = form === 'json' ? jsonOf : plainTextOf;
  const written = texts.map(index => `${textOf(`c${index}`, fields[index]?.type)} AS j${index}`);
  // The engine knows these before it runs: they cost nothing per row.
  const types = `concat_ws(',', ${names.map(name => `typeof(${name})`).join(', ')}) AS types`;
  const inner = `SELECT ${[...plain, ...written, types].join(', ')} FROM (${sql}) AS q(${names.join(', ')})`;
  if (texts.length === 0) return inner;
  const pack = concatenated(texts.map(index => (form === 'json' ? `j${index}` : `coalesce(j${index}, '')`)));
  const lengths = texts.map(index => `coalesce(strlen(j${index}), -1)::INTEGER`);
  return `SELECT ${[...plain, pack, ...lengths, 'types'].join(', ')} FROM (${inner})`;
}

/** Concatenates texts in short chains, as the engine refuses one of a thousand operators. */
function concatenated(names: readonly string[]): string {
  const chains: string[] = [];
  for (let from = 0; from < names.length; from += longestChain)
    chains.push(`(${names.slice(from, from + longestChain).join(' || ')})`);
  return chains.join(' || ');
}

const longestChain = 100;

/** The chunks of a result of {@link packedSql}, added to its columns from raw vectors. */
export abstract class Chunks {
  abstract readonly columns: Columns;
  readonly #fields: readonly DeclaredColumn[];
  /** The indexes of the columns that travel as one. */
  readonly texts: readonly number[];
  #checked = false;

  constructor(fields: readonly DeclaredColumn[]) {
    this.#fields = fields;
    this.texts = textIndexes(fields);
  }

  /** Adds the first `rows` rows of a chunk; throws a {@link ColumnTypeError}, or EngineError for too many bytes. */
  append(chunk: DuckDBDataChunk, rows: number): void {
    this.#check(chunk);
    const vectors = this.#fields.flatMap(({ type }, index) =>
      this.texts.includes(index)
        ? []
        : { index, type, vector: duckdb.data_chunk_get_vector(chunk.chunk, this.plainAt(index)) },
    );
    const packAt = vectors.length;
    const packed =
      this.texts.length === 0
        ? undefined
        : {
            packs: new TextVector(chunk, packAt, rows),
            lengths: this.texts.map((_, offset) => int32(chunk, packAt + 1 + offset, rows)),
          };
    this.take(rows, vectors, packed);
  }

  /** Adds rows: the columns that are no texts, and those that travel as one, if there are any. */
  abstract take(rows: number, plain: readonly PlainVector[], packed: Packed | undefined): void;

  /** The place of a column among those of a chunk; -1 for a text or no column. */
  plainAt(index: number): number {
    if (index < 0 || this.texts.includes(index)) return -1;
    return index - this.texts.filter(each => each < index).length;
  }

  /** Checks the types of the first chunk; every chunk of a result has the same. */
  #check(chunk: DuckDBDataChunk): void {
    if (this.#checked || this.#fields.length === 0) return;
    const types = String(chunk.getColumnVector(chunk.columnCount - 1).getItem(0)).split(',');
    for (const [index, field] of this.#fields.entries()) {
      if (types[index] !== sqlTypes[field.type]) throw new ColumnTypeError(field, types[index] ?? 'none');
    }
    this.#checked = true;
  }
}

/** The vector of one column. */
export interface PlainVector {
  readonly index: number;
  readonly type: TypeName;
  readonly vector: Vector;
}

/** The texts of each row in one, and the length of each in bytes. */
export interface Packed {
  readonly packs: TextVector;
  readonly lengths: readonly Int32Array[];
}

/** Chunks that are added to columns of JSON. */
export class JsonChunks extends Chunks {
  readonly columns: JsonColumns;
  readonly #dynamic: readonly boolean[];

  constructor(fields: readonly DeclaredColumn[], columns: JsonColumns) {
    super(fields);
    this.columns = columns;
    this.#dynamic = this.texts.map(index => fields[index]?.type === 'dynamic');
  }

  take(rows: number, plain: readonly PlainVector[], packed: Packed | undefined): void {
    this.columns.append(rows, (sinks, expectRoom) => {
      for (const { index, type, vector } of plain) appendPlain(sinks[index] as Sink, type, vector, rows);
      if (packed !== undefined) this.#takeTexts(rows, packed, sinks, expectRoom);
    });
  }

  #takeTexts(
    rows: number,
    { packs, lengths }: Packed,
    all: readonly Sink[],
    expectRoom: (bytes: number) => void,
  ): void {
    const sinks = this.texts.map(index => all[index] as Sink);
    const sizes = lengths.map(each => total(each) + rows);
    expectRoom(sizes.reduce((sum, size) => sum + size, 0));
    for (const [offset, sink] of sinks.entries()) sink.reserve(sizes[offset] ?? 0);
    const starts = sinks.map(sink => sink.length);
    splitRows(packs, lengths, sinks, rows);
    for (const [offset, sink] of sinks.entries())
      if (this.#dynamic[offset]) sink.replaceFrom(starts[offset] ?? 0, strictJson);
  }
}

/** More bytes than any number or time needs. */
const widest = 48;
const zero = 0x30;

/** A vector of the engine. */
export type Vector = ReturnType<typeof duckdb.data_chunk_get_vector>;

function textIndexes(fields: readonly DeclaredColumn[]): number[] {
  return fields.flatMap(({ type }, index) => (type === 'string' || type === 'dynamic' ? [index] : []));
}

function jsonOf(column: string, type: TypeName | undefined): string {
  const text = type === 'string' ? `to_json(${column}::VARCHAR)::VARCHAR` : plainTextOf(column, type);
  return `coalesce(${text}, 'null')`;
}

/** Of a dynamic value, invalid JSON becomes a JSON string, so that one bad cell cannot break a response. */
function plainTextOf(column: string, type: TypeName | undefined): string {
  const text = `${column}::VARCHAR`;
  if (type === 'string') return text;
  return `CASE WHEN json_valid(${text}) THEN ${text} ELSE to_json(${text})::VARCHAR END`;
}

function appendPlain(sink: Sink, type: TypeName, vector: Vector, rows: number): void {
  const valid = duckdb.vector_get_validity(vector, Math.ceil(rows / 64) * 8);
  const write = cellWriter(sink, type, vector, rows);
  sink.reserve(rows * widest);
  for (let row = 0; row < rows; row++) {
    if (valid === null || ((valid[row >> 3] ?? 0) >> (row & 7)) & 1) write(row);
    else sink.ascii('null');
    sink.buffer[sink.length++] = comma;
  }
}

function cellWriter(sink: Sink, type: TypeName, vector: Vector, rows: number): (row: number) => void {
  switch (type) {
    case 'bool': {
      const data = duckdb.vector_get_data(vector, rows);
      return row => sink.ascii(data[row] ? 'true' : 'false');
    }
    case 'real': {
      const data = duckdb.vector_get_data(vector, rows * 8);
      const reals = new Float64Array(data.buffer, data.byteOffset, rows);
      return row => writeReal(sink, reals[row] as number);
    }
    case 'long':
    case 'timespan':
    case 'datetime': {
      const data = duckdb.vector_get_data(vector, rows * 8);
      // Halves of int64, the lower first: a bigint for each cell would take most of the time.
      const halves = new Int32Array(data.buffer, data.byteOffset, rows * 2);
      const write = type === 'datetime' ? writeTime : writeLong;
      return row => write(sink, halves[2 * row] as number, halves[2 * row + 1] as number);
    }
    case 'string':
    case 'dynamic':
      throw new RangeError('texts are packed');
  }
}

/** JSON has no NaN and no infinity. */
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

/** Writes an integer of 32 bits. */
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
  // A double gives the second to within one; the remainder fits 32 bits, where the arithmetic is exact.
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

/** Texts of up to twelve bytes are in the vector itself, longer ones elsewhere. */
const inlineBytes = 12;

/** Texts that are no further apart than this lie in one piece of memory: what is between them is on pages of theirs. */
const closest = 8;

/**
 * A vector of texts none of which is null, as places in few pieces of bytes: the engine writes most of a vector's texts one after
 * the other, and to fetch each by itself takes longer than all else.
 */
export class TextVector {
  /** The piece with the text of each row, by its number. */
  readonly #pieceOf: Int32Array;
  /** The place of each text in its piece. */
  readonly starts: Int32Array;
  readonly #pieces: Uint8Array[];

  constructor(chunk: DuckDBDataChunk, index: number, rows: number) {
    const data = duckdb.vector_get_data(duckdb.data_chunk_get_vector(chunk.chunk, index), rows * 16);
    // Of each text the length, four bytes of it, and where it is; or the length and the text.
    const words = new Uint32Array(data.buffer, data.byteOffset, rows * 4);
    this.#pieceOf = new Int32Array(rows);
    this.starts = new Int32Array(rows);
    this.#pieces = [data];
    const piece = { row: 0, from: 0, to: 0 };
    const fetch = () => {
      if (piece.to === piece.from) return;
      const { buffer, byteOffset } = data;
      const pointerAt = byteOffset + piece.row * 16 + 8;
      const bytes = piece.to - piece.from;
      this.#pieces.push(duckdb.get_data_from_pointer(buffer as ArrayBuffer, pointerAt, bytes));
    };
    for (let row = 0; row < rows; row++) {
      const length = words[row * 4] as number;
      if (length <= inlineBytes) {
        this.starts[row] = row * 16 + 4;
        continue;
      }
      // Addresses have 48 bits.
      const from = (words[row * 4 + 2] as number) + (words[row * 4 + 3] as number) * 0x1_0000_0000;
      if (piece.to === piece.from || from < piece.to || from >= piece.to + closest) {
        fetch();
        Object.assign(piece, { row, from });
      }
      piece.to = from + length;
      this.starts[row] = from - piece.from;
      this.#pieceOf[row] = this.#pieces.length;
    }
    fetch();
  }

  /** The piece in which the text of a row is. */
  piece(row: number): Uint8Array {
    return this.#pieces[this.#pieceOf[row] as number] as Uint8Array;
  }
}

function splitRows(
  packs: TextVector,
  lengths: readonly Int32Array[],
  sinks: readonly Sink[],
  rows: number,
): void {
  for (let row = 0; row < rows; row++) {
    const pack = packs.piece(row);
    let from = packs.starts[row] as number;
    for (let at = 0; at < sinks.length; at++) {
      const sink = sinks[at] as Sink;
      const to = from + ((lengths[at] as Int32Array)[row] as number);
      copyBytes(pack, from, to, sink);
      sink.buffer[sink.length++] = comma;
      from = to;
    }
  }
}

/** A loop beats the built-in copy on short texts. */
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

/** The engine prints NaN and Infinity bare inside JSON: they become null. Bytes are kept as they are. */
export function strictJson(bytes: Buffer): string | undefined {
  if (!bytes.includes('NaN') && !bytes.includes('Infinity')) return undefined;
  return bytes
    .toString('latin1')
    .replace(/"(?:[^"\\]|\\.)*"|-?(?:NaN|Infinity)/g, token => (token.startsWith('"') ? token : 'null'));
}

/** The bytes of all texts of these lengths; -1 is that of a null. */
export function total(lengths: Int32Array): number {
  let bytes = 0;
  for (const length of lengths) if (length > 0) bytes += length;
  return bytes;
}

function int32(chunk: DuckDBDataChunk, index: number, rows: number): Int32Array {
  const data = duckdb.vector_get_data(duckdb.data_chunk_get_vector(chunk.chunk, index), rows * 4);
  return new Int32Array(data.buffer, data.byteOffset, rows);
}
