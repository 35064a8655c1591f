/**
 * Arrow tables as streams of bytes (https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format): the same table
 * always gives the same bytes.
 */
import { createHash, type Hash } from 'node:crypto';
import {
  CompressionType,
  type Data,
  DataType,
  Dictionary,
  type Field,
  Int32,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  Table,
  Utf8,
  Vector,
  vectorFromArray,
} from 'apache-arrow';
import { atOnce, type Steps } from '../decode/decode-slices.js';
import { tableOf } from './codec.js';

/** A stream, and how many leading rows and columns of the table it holds. */
export interface ArrowPart {
  readonly bytes: Uint8Array;
  readonly rows: number;
  readonly columns: number;
}

/**
 * Returns the compressed stream of as many leading rows as fit the budget; if not even one does, of the leading columns of a few rows.
 * Undefined if not even one column fits.
 */
export function arrowWithin(table: Table, budget: number): ArrowPart | undefined {
  return firstRows(table, budget) ?? firstColumns(table.slice(0, WIDE_ROWS), budget);
}

/** Maximum rows of a table too wide for the budget. */
const WIDE_ROWS = 30;

function firstColumns(table: Table, budget: number): ArrowPart | undefined {
  let columns = table.numCols - 1;
  while (columns > 0) {
    const bytes = toStream(table.selectAt([...Array(columns).keys()]), table.numRows);
    if (bytes.length <= budget) return { bytes, rows: table.numRows, columns };
    columns = Math.min(columns - 1, Math.floor((columns * budget * 0.95) / bytes.length));
  }
  return undefined;
}

function firstRows(table: Table, budget: number): ArrowPart | undefined {
  let rows = Math.min(table.numRows, rowsWorthTrying(table, budget));
  for (let bytes = toStream(table, rows); ; bytes = toStream(table, rows)) {
    if (bytes.length <= budget)
      return rows === 0 && table.numRows > 0 ? undefined : { bytes, rows, columns: table.numCols };
    if (rows === 0) return undefined;
    rows = Math.min(rows - 1, Math.floor((rows * budget * 0.95) / bytes.length));
  }
}

/** Reads the table from a stream in an output, in base64. */
export function readStream(base64: string): Table {
  return tableOf(Buffer.from(base64, 'base64'));
}

/** Returns the SHA-256 of the names, types and cells of a table, in hexadecimal. */
export function tableHash(table: Table): string {
  return atOnce(hashSteps(table));
}

/** Like `tableHash`, in steps of about a millisecond each, for potentially large tables. */
export function* hashSteps(table: Table): Steps<string> {
  const known = hashes.get(table) ?? (yield* freshHash(table));
  hashes.set(table, known);
  return known;
}

/** Hashes by table; tables never change. */
const hashes = new WeakMap<Table, string>();

function* freshHash(table: Table): Steps<string> {
  const hash = createHash('sha256');
  const fields = table.schema.fields.map(({ name, type }) => [name, String(type)]);
  hash.update(JSON.stringify([table.numRows, fields]));
  for (const column of fields.keys())
    for (const chunk of table.getChildAt(column)?.data ?? []) yield* hashChunk(hash, chunk);
  return hash.digest('hex');
}

/** Bytes to hash in one step. */
const STEP_BYTES = 2 ** 20;

function* hashChunk(hash: Hash, { length, valueOffsets, values, nullBitmap, dictionary }: Data): Steps<void> {
  hash.update(String(length));
  for (const buffer of [valueOffsets, values, nullBitmap]) {
    if (!ArrayBuffer.isView(buffer)) continue;
    hash.update(String(buffer.byteLength));
    const bytes = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    for (let from = 0; from < bytes.length; from += STEP_BYTES) {
      hash.update(bytes.subarray(from, from + STEP_BYTES));
      yield;
    }
  }
  for (const chunk of dictionary?.data ?? []) yield* hashChunk(hash, chunk);
}

/** Best compression to expect: the size of a stream as a share of the table's bytes. */
const BEST_COMPRESSION = 1 / 6;

/** Returns the maximum number of rows that could fit, to avoid encoding a large table only to find that it is too large. */
function rowsWorthTrying(table: Table, budget: number): number {
  const bytesPerRow =
    table.batches.reduce((sum, batch) => sum + batch.data.byteLength, 0) / Math.max(table.numRows, 1);
  return bytesPerRow === 0 ? table.numRows : Math.ceil(budget / (bytesPerRow * BEST_COMPRESSION));
}

/**
 * Writes the uncompressed length before each compressed buffer, as the format requires; Arrow's own class writes the
 * compressed one.
 */
class CompressedStreamWriter extends RecordBatchStreamWriter {
  override _compressBodyBuffers(
    buffers: ArrayBufferView[],
  ): ReturnType<RecordBatchStreamWriter['_compressBodyBuffers']> {
    const compressed = super._compressBodyBuffers(buffers);
    for (const [index, { byteLength }] of buffers.entries()) {
      const prefix = compressed.buffers[index * 2];
      if (prefix === undefined || prefix.byteLength === 0) continue;
      const view = new DataView(prefix.buffer, prefix.byteOffset);
      if (view.getBigInt64(0, true) !== NOT_COMPRESSED) view.setBigInt64(0, BigInt(byteLength), true);
    }
    return compressed;
  }
}

const NOT_COMPRESSED = -1n;

function toStream(table: Table, rows: number): Uint8Array {
  const part = rows === table.numRows ? table.batches : table.slice(0, rows).batches;
  const children = part.map(({ data }) =>
    rows === table.numRows ? data.children : data.children.map(compacted),
  );
  const fields = table.schema.fields.map((field, index) => numbered(field, index));
  const schema = new Schema(fields, table.schema.metadata);
  const batches = children.map((columns, index) => {
    const typed = columns.map((column, at) => column.clone((fields[at] as Field).type));
    const struct = { type: new Struct(fields), length: part[index]?.numRows ?? 0, nullCount: 0 };
    return new RecordBatch(schema, makeData({ ...struct, children: typed }));
  });
  const writer = new CompressedStreamWriter({ compressionType: CompressionType.LZ4_FRAME });
  writer.writeAll(new Table(schema, batches));
  return writer.finish().toUint8Array(true);
}

/** Returns a column without the dictionary entries that only later rows use. */
function compacted(column: Data): Data {
  if (!DataType.isDictionary(column.type)) return column;
  const texts = [...new Vector([column])] as (string | null)[];
  return vectorFromArray(texts, new Dictionary(new Utf8(), new Int32())).data[0] as Data;
}

/** Returns the field with its column's index as the id of its dictionary: Arrow numbers ids across the whole process. */
function numbered(field: Field, index: number): Field {
  const { type } = field;
  if (!DataType.isDictionary(type)) return field;
  return field.clone({ type: new Dictionary(type.dictionary, type.indices, index, type.isOrdered) });
}
