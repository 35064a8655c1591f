import {
  BufferType,
  type Data,
  DataType,
  Dictionary,
  Field,
  Int32,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  Utf8,
  Vector,
} from 'apache-arrow';

/**
 * Returns a table of the given rows of the columns at `places`, with the same fields. A dictionary keeps only the strings of these
 * rows; with `plain`, its strings are written out instead.
 */
export function takeRows(
  table: Table,
  places: readonly number[],
  rows: Uint32Array,
  { plain = false } = {},
): Table {
  const columns = places.map(place => takeColumn(table, place, rows, plain));
  const fields = places.map((place, index) => {
    const field = table.schema.fields[place] as Field;
    return new Field(field.name, columns[index]?.type ?? field.type, true, field.metadata);
  });
  const schema = new Schema(fields, table.schema.metadata);
  const data = makeData({ type: new Struct(fields), length: rows.length, nullCount: 0, children: columns });
  return new Table(schema, [new RecordBatch(schema, data)]);
}

/** Returns consecutive row numbers. */
export function rangeOfRows(from: number, count: number): Uint32Array {
  return Uint32Array.from({ length: Math.max(0, count) }, (_, row) => from + row);
}

function takeColumn(table: Table, place: number, rows: Uint32Array, plain: boolean): Data {
  const chunk = chunkOf(table, place);
  const validity = takeValidity(chunk, rows);
  const { type } = chunk;
  if (DataType.isBool(type))
    return makeData({
      type,
      length: rows.length,
      data: takeBits(chunk.values, chunk.offset, rows),
      ...validity,
    });
  if (DataType.isUtf8(type))
    return makeData({ type, length: rows.length, ...takeTexts(chunk, rows), ...validity });
  if (DataType.isDictionary(type))
    return plain ? takePlain(chunk, rows, validity) : takeWords(chunk, rows, validity);
  const values = takeValues(chunk.values, chunk.offset, rows);
  const { nullCount, nullBitmap = new Uint8Array(0) } = validity;
  return chunk.clone(type, 0, rows.length, nullCount, {
    ...chunk.buffers,
    [BufferType.DATA]: values,
    [BufferType.VALIDITY]: nullBitmap,
  });
}

/** Returns the only chunk of a column: results are decoded in one piece. */
function chunkOf(table: Table, place: number): Data {
  const [batch, ...others] = table.batches;
  const data = batch?.data.children[place];
  if (data === undefined || others.length > 0) throw new RangeError('a result is a table in one piece');
  return data;
}

interface TakenValidity {
  readonly nullCount: number;
  readonly nullBitmap?: Uint8Array;
}

function takeValidity({ nullCount, nullBitmap, offset }: Data, rows: Uint32Array): TakenValidity {
  if (nullCount === 0) return { nullCount: 0 };
  const taken = takeBits(nullBitmap, offset, rows);
  let set = 0;
  for (let row = 0; row < rows.length; row++) set += bitAt(taken, row);
  return { nullCount: rows.length - set, nullBitmap: taken };
}

function takeBits(bits: Uint8Array, offset: number, rows: Uint32Array): Uint8Array {
  const taken = new Uint8Array(Math.ceil(rows.length / 8));
  for (let row = 0; row < rows.length; row++)
    if (bitAt(bits, offset + (rows[row] as number)) === 1)
      taken[row >> 3] = (taken[row >> 3] as number) | (1 << (row & 7));
  return taken;
}

function bitAt(bits: Uint8Array, index: number): number {
  return ((bits[index >> 3] ?? 0) >> (index & 7)) & 1;
}

type Values = BigInt64Array | Float64Array | Int32Array;

function takeValues<T extends Values>(values: T, offset: number, rows: Uint32Array): T {
  const taken = values.slice(0, 0).constructor as new (length: number) => T;
  const into = new taken(rows.length);
  for (let row = 0; row < rows.length; row++) into[row] = values[offset + (rows[row] as number)] as T[number];
  return into;
}

/** Returns the strings of rows; one that is not `valid` is empty. */
function takeTexts(
  { values, valueOffsets, offset }: Data,
  rows: Uint32Array,
  valid?: Uint8Array,
): { readonly data: Uint8Array; readonly valueOffsets: Int32Array } {
  const offsets = new Int32Array(rows.length + 1);
  const at = (row: number): number => valueOffsets[offset + row] ?? 0;
  const end = (row: number, index: number): number =>
    at(valid === undefined || bitAt(valid, index) === 1 ? row + 1 : row);
  for (const [index, row] of rows.entries())
    offsets[index + 1] = (offsets[index] as number) + end(row, index) - at(row);
  const data = new Uint8Array(offsets[rows.length] ?? 0);
  for (const [index, row] of rows.entries())
    data.set((values as Uint8Array).subarray(at(row), end(row, index)), offsets[index]);
  return { data, valueOffsets: offsets };
}

/** Returns the strings of the rows, written out one after the other. A null row has the number of a string too. */
function takePlain(chunk: Data, rows: Uint32Array, validity: TakenValidity): Data {
  const numbers: Int32Array = takeValues(chunk.values, chunk.offset, rows);
  const [words] = chunk.dictionary?.data ?? [];
  const texts =
    words === undefined || words.length === 0
      ? { data: new Uint8Array(0), valueOffsets: new Int32Array(rows.length + 1) }
      : takeTexts(words, Uint32Array.from(numbers), validity.nullBitmap);
  return makeData({ type: new Utf8(), length: rows.length, ...texts, ...validity });
}

/** Returns the strings of the rows with a new dictionary. */
function takeWords(chunk: Data, rows: Uint32Array, validity: TakenValidity): Data {
  const numbers: Int32Array = takeValues(chunk.values, chunk.offset, rows);
  const used = new Map<number, number>();
  for (const [row, word] of numbers.entries()) {
    const known = used.get(word) ?? used.size;
    used.set(word, known);
    numbers[row] = known;
  }
  const [words] = chunk.dictionary?.data ?? [];
  const texts =
    words === undefined
      ? { data: new Uint8Array(0), valueOffsets: new Int32Array(1) }
      : takeTexts(words, Uint32Array.from(used.keys()));
  const length = words === undefined ? 0 : used.size;
  const dictionary = makeData({ type: new Utf8(), length, nullCount: 0, ...texts });
  return makeData({
    type: new Dictionary(new Utf8(), new Int32()),
    length: rows.length,
    data: numbers,
    dictionary: new Vector([dictionary]),
    ...validity,
  });
}
