/**
 * Responses to queries as Arrow IPC, between a kernel and the service on the same machine: a stream of one batch for each table, one after
 * the other. The metadata of the first schema has everything a JSON response contains besides its cells.
 */
import './schema.js';
import {
  Bool,
  type Data,
  type DataType,
  Dictionary,
  DurationNanosecond,
  Field,
  Float64,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  RecordBatchReader,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  Table,
  TimestampNanosecond,
  Type,
  Utf8,
  Vector,
} from 'apache-arrow';

/** The columns of a table, and their names. */
export interface AnswerTable {
  readonly names: readonly string[];
  readonly columns: readonly Data[];
}

/** The contents of a response besides its cells, as a JSON object; its member `tables` describes each table. */
export interface ArrowAnswer {
  readonly head: string;
  /** The columns of each table. */
  readonly tables: readonly (readonly Data[])[];
}

const headKey = 'apl.answer';

/** Returns the bytes of a response in pieces, which share memory with its columns. */
export function answerPieces(head: string, tables: readonly AnswerTable[]): readonly Uint8Array[] {
  const [first = { names: [], columns: [] }, ...others] = tables;
  const metadata = new Map([[headKey, head]]);
  return [...streamOf(first, metadata), ...others.flatMap(table => streamOf(table, new Map()))];
}

function streamOf({ names, columns }: AnswerTable, metadata: Map<string, string>): readonly Uint8Array[] {
  const fields = columns.map(({ type }, index) => new Field(names[index] ?? '', type, true));
  const schema = new Schema(fields, metadata);
  const length = columns[0]?.length ?? 0;
  const struct = makeData({ type: new Struct(fields), length, nullCount: 0, children: [...columns] });
  const writer = new PieceWriter();
  writer.writeAll(new Table(schema, [new RecordBatch(schema, struct)]));
  return writer.pieces;
}

/** Collects the written pieces without copying them. */
class PieceWriter extends RecordBatchStreamWriter {
  readonly pieces: Uint8Array[] = [];

  override _write(chunk: ArrayBufferView): this {
    const { buffer, byteOffset, byteLength } = chunk;
    if (this._started && byteLength > 0) {
      this.pieces.push(new Uint8Array(buffer, byteOffset, byteLength));
      this._position += byteLength;
    }
    return this;
  }
}

/** Returns whether bytes begin like an Arrow stream, which JSON never does. */
export function isArrow(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && [0, 1, 2, 3].every(at => bytes[at] === 0xff);
}

/** Returns whether the last stream is terminated. */
export function hasArrowEnd(bytes: Uint8Array): boolean {
  const end = bytes.subarray(-8);
  return end.length === 8 && end.every((byte, at) => byte === (at < 4 ? 0xff : 0));
}

/** Reads a response, whose columns are views of its bytes; throws if it is damaged. */
export function readAnswer(bytes: Uint8Array): ArrowAnswer {
  let head: string | undefined;
  const tables: (readonly Data[])[] = [];
  for (const reader of RecordBatchReader.readAll(bytes)) {
    head ??= reader.schema.metadata.get(headKey);
    const batches = [...reader];
    if (batches.length !== 1) throw new RangeError(`a table has ${batches.length} batches, not one`);
    tables.push((batches[0] as RecordBatch).data.children.map(exactly));
  }
  if (head === undefined) throw new RangeError('the stream does not describe its tables');
  return { head, tables };
}

/** Trims a column to the bytes that its rows need: buffers of a stream are padded. */
function exactly(data: Data): Data {
  const { length, type } = data;
  const validity = validityOf(data);
  switch (type.typeId) {
    case Type.Dictionary: {
      const strings = data.dictionary?.data[0] ?? makeData({ type: new Utf8(), length: 0 });
      return makeData({
        type: new Dictionary(new Utf8(), new Int32()),
        length,
        data: (data.values as Int32Array).subarray(0, length),
        dictionary: new Vector([exactly(strings) as Data<Utf8>]),
        ...validity,
      });
    }
    case Type.Utf8: {
      const valueOffsets =
        data.valueOffsets.length > length ? data.valueOffsets.subarray(0, length + 1) : new Int32Array(1);
      const values = (data.values as Uint8Array).subarray(0, valueOffsets[length]);
      return makeData({ type: new Utf8(), length, data: values, valueOffsets, ...validity });
    }
    case Type.Bool: {
      const bits = bytesOf(data.values as Uint8Array, length);
      return makeData({ type: new Bool(), length, data: bits, ...validity });
    }
    case Type.Float:
      return makeData({
        type: new Float64(),
        length,
        data: (data.values as Float64Array).subarray(0, length),
        ...validity,
      });
    default: {
      const values = (data.values as BigInt64Array).subarray(0, length);
      return makeData({ type: wholeType(type) as Int64, length, data: values, ...validity });
    }
  }
}

function wholeType({ typeId }: DataType): Int64 | TimestampNanosecond | DurationNanosecond {
  if (typeId === Type.Timestamp) return new TimestampNanosecond('UTC');
  if (typeId === Type.Duration) return new DurationNanosecond();
  if (typeId === Type.Int) return new Int64();
  throw new RangeError(`a column has an unsupported type: ${typeId}`);
}

/** Sets the bits beyond the last row, as the JSON decoder leaves them. */
function validityOf({ length, nullCount, nullBitmap }: Data): {
  readonly nullCount: number;
  readonly nullBitmap?: Uint8Array;
} {
  if (nullCount === 0) return { nullCount };
  const bits = Uint8Array.from(bytesOf(nullBitmap, length));
  const last = bits.length - 1;
  if (length & 7) bits[last] = (bits[last] as number) | (0xff << (length & 7));
  return { nullCount, nullBitmap: bits };
}

/** Returns the bytes for `length` bits; none for an omitted buffer. */
function bytesOf(bits: Uint8Array, length: number): Uint8Array {
  const bytes = (length + 7) >> 3;
  return bits.length >= bytes ? bits.subarray(0, bytes) : new Uint8Array(bytes);
}
