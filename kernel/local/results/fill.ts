import { DuckDBDataChunk, type DuckDBType, VARCHAR } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import { type Data, DataType } from 'apache-arrow';
import { sqlTypes } from '../duckdb/duckdb-types.js';
import type { Connection } from '../engine/duckdb.js';
import { columnsOf, type SentTable } from './sent-arrow.js';
import { makeSchema, resultsSchema, resultTable } from './sent-names.js';

/** Creates a table with the rows of a result in the engine's memory: columns c0, c1, … in the order of its fields. */
export async function fillTable(connection: Connection, name: string, sent: SentTable): Promise<void> {
  const words = sent.fields.map((_, index) => wordsOf(sent, index));
  await connection.run(makeSchema);
  for (const [index, values] of words.entries())
    if (values !== undefined) await makeWords(connection, wordsType(name, index), values);
  const columns = sent.fields.map(
    ({ type }, index) =>
      `c${index} ${words[index] === undefined ? sqlTypes[type] : resultTable(wordsType(name, index))}`,
  );
  // SQL has no tables without columns.
  const all = columns.length === 0 ? ['nothing BOOLEAN'] : columns;
  await connection.run(`CREATE TABLE ${resultTable(name)} (${all.join(', ')})`);
  await connection.append(resultsSchema, name, types => chunksOf(sent, types));
}

/** Removes a table and its types from the engine's memory. */
export async function dropTable(connection: Connection, name: string, { fields }: SentTable): Promise<void> {
  await connection.run(`DROP TABLE IF EXISTS ${resultTable(name)}`);
  for (const index of fields.keys())
    await connection.run(`DROP TYPE IF EXISTS ${resultTable(wordsType(name, index))}`);
}

/** Removes every table of results from the engine's memory. */
export async function dropTables(connection: Connection): Promise<void> {
  await connection.run(`DROP SCHEMA IF EXISTS ${resultsSchema} CASCADE`);
}

function wordsType(table: string, column: number): string {
  return `${table}_${column}`;
}

/** Returns the words of a column that the kernel sent as one dictionary, for an engine ENUM; undefined if they cannot form one. */
function wordsOf({ table, fields }: SentTable, index: number): readonly Uint8Array[] | undefined {
  if (fields[index]?.type !== 'string') return undefined;
  const dictionaries = new Set(
    table.batches.map(batch => (columnsOf(batch)[index] as Data).dictionary?.data[0]),
  );
  const [only] = dictionaries;
  if (dictionaries.size !== 1 || only === undefined || only.length === 0) return undefined;
  const texts = Array.from({ length: only.length }, (_, row) => textAt(only, row));
  const distinct = new Set(texts.map(text => Buffer.from(text).toString('latin1')));
  // The engine cuts the words of an ENUM at a NUL character.
  const hasNul = texts.some(text => text.includes(0));
  return only.nullCount > 0 || distinct.size < texts.length || hasNul ? undefined : texts;
}

async function makeWords(connection: Connection, type: string, words: readonly Uint8Array[]): Promise<void> {
  const list = resultTable(`${type}_words`);
  await connection.run(`CREATE TABLE ${list} (word VARCHAR)`);
  await connection.append(resultsSchema, `${type}_words`, () => wordChunks(words));
  await connection.run(`CREATE TYPE ${resultTable(type)} AS ENUM (SELECT word FROM ${list})`);
  await connection.run(`DROP TABLE ${list}`);
}

/** Rows in one chunk of the engine. */
const chunkRows = 2048;

function* wordChunks(words: readonly Uint8Array[]): Generator<DuckDBDataChunk> {
  for (let from = 0; from < words.length; from += chunkRows) {
    const part = words.slice(from, from + chunkRows);
    const chunk = DuckDBDataChunk.create([VARCHAR], part.length);
    const vector = duckdb.data_chunk_get_vector(chunk.chunk, 0);
    for (const [row, word] of part.entries()) duckdb.vector_assign_string_element_len(vector, row, word);
    yield chunk;
  }
}

/** Yields the same chunk every time: creating one takes a step for every word of its types. */
function* chunksOf({ table, fields }: SentTable, types: readonly DuckDBType[]): Generator<DuckDBDataChunk> {
  const chunk = DuckDBDataChunk.create(types);
  for (const batch of table.batches) {
    const writers = columnsOf(batch).map((data, index) => writerOf(data, types[index]));
    for (let from = 0; from < batch.numRows; from += chunkRows) {
      const rows = Math.min(chunkRows, batch.numRows - from);
      chunk.reset();
      chunk.rowCount = rows;
      for (const index of types.keys()) {
        const vector = duckdb.data_chunk_get_vector(chunk.chunk, index);
        if (fields.length === 0) markNull(vector, rows);
        else writers[index]?.(vector, from, rows);
      }
      yield chunk;
    }
  }
}

type Vector = ReturnType<typeof duckdb.data_chunk_get_vector>;
type WriteRows = (vector: Vector, from: number, rows: number) => void;

/** Returns a function that writes rows of a column to an engine vector; `from` is a multiple of the chunk size. */
function writerOf(data: Data, type: DuckDBType | undefined): WriteRows {
  const values = valuesWriter(data, type);
  return (vector, from, rows) => {
    if (data.nullCount > 0) copyValidity(vector, data, from, rows);
    values(vector, from, rows);
  };
}

function valuesWriter(data: Data, type: DuckDBType | undefined): WriteRows {
  if (DataType.isBool(data.type)) return bits(data);
  if (DataType.isDictionary(data.type)) return isWords(type) ? numbers(data) : dictionaryTexts(data);
  if (DataType.isUtf8(data.type)) return texts(data);
  return copied(data.values, 8, data.offset);
}

function isWords(type: DuckDBType | undefined): boolean {
  return type !== undefined && 'values' in type;
}

function copied(values: ArrayBufferView, width: number, offset = 0): WriteRows {
  const start = values.byteOffset + offset * width;
  return (vector, from, rows) =>
    duckdb.copy_data_to_vector(vector, 0, values.buffer as ArrayBuffer, start + from * width, rows * width);
}

function bits(data: Data): WriteRows {
  const packed: Uint8Array = data.values;
  return (vector, from, rows) => {
    const bytes = Uint8Array.from({ length: rows }, (_, row) => bitAt(packed, data.offset + from + row));
    duckdb.copy_data_to_vector(vector, 0, bytes.buffer, 0, rows);
  };
}

/** Returns a function that writes the indices into an ENUM, in the engine's width for this many words. */
function numbers(data: Data): WriteRows {
  const indices: Int32Array = data.values;
  const words = data.dictionary?.length ?? 0;
  const Width = words <= 0xff ? Uint8Array : words <= 0xffff ? Uint16Array : Uint32Array;
  return (vector, from, rows) => {
    const part = new Width(indices.subarray(data.offset + from, data.offset + from + rows));
    duckdb.copy_data_to_vector(vector, 0, part.buffer, 0, part.byteLength);
  };
}

function texts(data: Data): WriteRows {
  return (vector, from, rows) => {
    for (let row = 0; row < rows; row++)
      if (isValid(data, from + row))
        duckdb.vector_assign_string_element_len(vector, row, textAt(data, from + row));
  };
}

function dictionaryTexts(data: Data): WriteRows {
  const [words] = data.dictionary?.data ?? [];
  const indices: Int32Array = data.values;
  return (vector, from, rows) => {
    for (let row = 0; row < rows; row++) {
      if (words === undefined || !isValid(data, from + row)) continue;
      const word = textAt(words, indices[data.offset + from + row] ?? 0);
      duckdb.vector_assign_string_element_len(vector, row, word);
    }
  };
}

/** Returns the bytes of a row in a utf8 column. */
function textAt(data: Data, row: number): Uint8Array {
  const offsets: Int32Array = data.valueOffsets;
  return (data.values as Uint8Array).subarray(offsets[data.offset + row], offsets[data.offset + row + 1]);
}

/** Copies validity bits, shifted if the column does not begin at a byte boundary. */
function copyValidity(vector: Vector, data: Data, from: number, rows: number): void {
  const bytes = new Uint8Array(Math.ceil(rows / 64) * 8);
  for (let row = 0; row < rows; row++)
    if (isValid(data, from + row)) bytes[row >> 3] = (bytes[row >> 3] ?? 0) | (1 << (row & 7));
  duckdb.vector_ensure_validity_writable(vector);
  duckdb.copy_data_to_vector_validity(vector, 0, bytes.buffer, 0, bytes.length);
}

function markNull(vector: Vector, rows: number): void {
  duckdb.vector_ensure_validity_writable(vector);
  const bytes = new Uint8Array(Math.ceil(rows / 64) * 8);
  duckdb.copy_data_to_vector_validity(vector, 0, bytes.buffer, 0, bytes.length);
}

function isValid({ nullBitmap, offset, nullCount }: Data, row: number): boolean {
  return nullCount === 0 || bitAt(nullBitmap, offset + row) === 1;
}

function bitAt(bytes: Uint8Array, index: number): number {
  return ((bytes[index >> 3] ?? 0) >> (index & 7)) & 1;
}
