/**
 * Decodes the response of a query from wire JSON to Arrow: the bytes of the cells go straight into column buffers, and only the
 * envelope around them becomes JavaScript values.
 */

import { isUtf8 } from 'node:buffer';
import { type Data, Field, makeData, RecordBatch, Schema, Struct, Table } from 'apache-arrow';
import type { FieldMeta, ResultField, TabularResult } from '../../api/wire.js';
import { present } from '../../present.js';
import { FIELD_KEY } from '../field.js';
import { hasArrowEnd, isArrow, readAnswer } from '../ipc/ipc-answer.js';
import type { ArrowTable, TableInfo } from '../result.js';
import { ArrivingJson } from './arriving.js';
import { type DecodedColumn, decodeColumn, skipCells } from './column.js';
import { asTabular, isOlderFormat } from './decode-legacy.js';
import { atOnce, type Steps } from './decode-slices.js';
import { type Envelope, readEnvelope, readFields, readTableInfo } from './envelope.js';
import { CLOSE_OBJECT, DecodeError, JsonBytes, OPEN_ARRAY } from './json-bytes.js';

export { DecodeError } from './json-bytes.js';

/** A decoded tabular response: everything but the cells, and one Arrow table for each table. */
export interface TabularArrow {
  readonly envelope: Envelope;
  readonly tables: readonly ArrowTable[];
}

/**
 * Decodes the body of a `format=tabular` response, JSON or Arrow IPC with the same columns, or of a `format=legacy` one.
 * datetime -> timestamp[ns, UTC], integer -> int64, float -> float64, timespan -> duration[ns], string -> utf8 (dictionary-encoded
 * if that pays), boolean -> bool; every other type, and a column with a cell that does not fit its type, -> JSON text. Throws a
 * DecodeError with the byte offset.
 */
export function decodeTabular(body: Uint8Array): TabularArrow {
  return atOnce(decodeSteps(body));
}

/** Like `decodeTabular`, in steps of less than a millisecond each, for potentially large results. */
export function* decodeSteps(body: Uint8Array): Steps<TabularArrow> {
  if (isArrow(body)) return decodeStreams(body);
  return yield* decodeJson(new JsonBytes(yield* asTabular(yield* wellFormed(body))));
}

/** Like `decodeSteps`, for JSON that is still arriving: its bytes are retained only until their column has been read. */
export function* decodeArriving(
  source: AsyncIterable<Uint8Array>,
  windowBytes?: number,
): Steps<TabularArrow> {
  const json = new ArrivingJson(source, windowBytes);
  json.mark();
  const older = yield* isOlderFormat(json);
  json.rewind();
  if (older) return yield* decodeSteps(yield* json.rest());
  json.release();
  return yield* decodeJson(json);
}

function* decodeJson(json: JsonBytes): Steps<TabularArrow> {
  const rest = new Map<string, unknown>();
  let tables: readonly DecodedTable[] | undefined;
  yield* json.part(() => json.skipBom());
  if (Number.isNaN(yield* json.part(() => json.peek())))
    throw new DecodeError('The response is empty', json.offset);
  yield* json.members(function* (key) {
    if (key === 'tables' && (yield* json.part(() => json.peek())) === OPEN_ARRAY)
      tables = yield* decodeTables(json);
    else rest.set(key, yield* json.part(() => json.value()));
  });
  if (!Number.isNaN(yield* json.part(() => json.peek())))
    json.fail(`expected the end of the response, found ${json.found()}`);
  if (tables === undefined && rest.get('tables') !== null) {
    throw new DecodeError('The response has no `tables` list: it is not a tabular result', 0);
  }
  const envelope = readEnvelope(rest);
  return { envelope, tables: (tables ?? []).map(table => toArrow(table, envelope.fieldsMetaMap)) };
}

/** Decodes a response of the local service; its columns are views of the bytes. */
function decodeStreams(body: Uint8Array): TabularArrow {
  if (!hasArrowEnd(body))
    throw new DecodeError('The response ends before its Arrow stream does', body.length);
  const { head, tables } = readStreams(body);
  const rest = new Map(Object.entries(head));
  const envelope = readEnvelope(rest);
  const described = (rest.get('tables') ?? []) as readonly Readonly<Record<string, unknown>>[];
  return {
    envelope,
    tables: described.map((each, index) => {
      const fields = readFields(each.fields, 0);
      const info = readTableInfo(new Map(Object.entries(each)), fields, index);
      const columns = tables[index] ?? [];
      if (columns.length !== fields.length)
        throw new DecodeError(`A table has ${fields.length} fields but ${columns.length} columns`, 0);
      return toArrow(
        { info, columns: columns.map((data, at) => arrivedColumn(data, fields[at])) },
        envelope.fieldsMetaMap,
      );
    }),
  };
}

function arrivedColumn(data: Data, field: ResultField | undefined): DecodedColumn {
  return { data, rows: data.length, isJson: field?.type === 'dynamic' };
}

function readStreams(body: Uint8Array) {
  try {
    const { head, tables } = readAnswer(body);
    return { head: JSON.parse(head) as object, tables };
  } catch (cause) {
    throw new DecodeError('The Arrow stream of the response is damaged', 0, cause);
  }
}

interface DecodedTable {
  readonly info: TableInfo;
  readonly columns: readonly DecodedColumn[];
}

/** Replaces invalid UTF-8 by U+FFFD, as any JSON parser would; in pieces, since a single string could be too long. */
function* wellFormed(body: Uint8Array): Steps<Uint8Array> {
  if (yield* isWellFormed(body)) return body;
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < body.length; from += PIECE_BYTES) {
    const piece = body.subarray(from, from + PIECE_BYTES);
    pieces.push(Buffer.from(decoder.decode(piece, { stream: true })));
    yield;
  }
  return Buffer.concat([...pieces, Buffer.from(decoder.decode())]);
}

const PIECE_BYTES = 2 ** 20;

/** Returns whether the body is valid UTF-8. Pieces end before the first byte of a character, so none is split. */
function* isWellFormed(body: Uint8Array): Steps<boolean> {
  for (let from = 0; from < body.length; ) {
    let to = Math.min(from + PIECE_BYTES, body.length);
    for (let back = 0; back < 3 && isContinuation(body[to]); back++) to--;
    if (!isUtf8(body.subarray(from, to))) return false;
    from = to;
    yield;
  }
  return true;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function* decodeTables(json: JsonBytes): Steps<readonly DecodedTable[]> {
  const tables: DecodedTable[] = [];
  yield* json.items(function* (index) {
    tables.push(yield* decodeTable(json, index));
  });
  return tables;
}

/** Decodes a table. Columns before the fields that describe them are skipped, and read when the object is complete. */
function* decodeTable(json: JsonBytes, index: number): Steps<DecodedTable> {
  const parts = new Map<string, unknown>();
  let columns: readonly DecodedColumn[] | undefined;
  let isSkipped = false;
  yield* json.part(() => json.peek());
  const start = json.offset;
  yield* json.members(function* (key) {
    if (key !== 'columns' || (yield* json.part(() => json.peek())) !== OPEN_ARRAY)
      parts.set(key, yield* json.part(() => json.value()));
    else if (parts.has('fields'))
      columns = yield* decodeColumns(json, readFields(parts.get('fields'), start));
    else {
      json.mark();
      isSkipped = true;
      yield* skipColumns(json);
    }
  });
  const fields = readFields(parts.get('fields'), start);
  if (isSkipped) {
    json.rewind();
    columns ??= yield* decodeColumns(json, fields);
    yield* skipMembers(json);
  }
  if (columns === undefined && fields.length > 0 && parts.get('columns') !== null) {
    throw new DecodeError('A table has fields and no columns', start);
  }
  return {
    info: readTableInfo(parts, fields, index),
    columns: columns?.length ? columns : fields.map(emptyColumn),
  };
}

function* skipColumns(json: JsonBytes): Steps<void> {
  yield* json.items(function* () {
    if ((yield* json.part(() => json.peek())) === OPEN_ARRAY) yield* skipCells(json);
    else yield* json.part(() => json.skip());
  });
}

/** Skips to the end of an object, from the end of one of its values. */
function* skipMembers(json: JsonBytes): Steps<void> {
  while (yield* json.part(() => json.another(CLOSE_OBJECT))) {
    yield* json.part(() => json.key());
    yield* json.part(() => json.skip());
  }
}

/** Returns an empty column: a table without rows may lack columns. */
function emptyColumn({ name, type }: ResultField): DecodedColumn {
  return atOnce(decodeColumn(new JsonBytes(new TextEncoder().encode('[]')), name, type, 0));
}

function* decodeColumns(json: JsonBytes, fields: readonly ResultField[]): Steps<readonly DecodedColumn[]> {
  const columns: DecodedColumn[] = [];
  yield* json.items(function* (index) {
    const field = fields[index];
    yield* json.part(() => json.peek());
    const start = json.offset;
    if (field === undefined)
      throw new DecodeError(`A table has ${fields.length} fields but more columns`, start);
    const rows = columns[0]?.rows;
    const column = yield* decodeBounded(json, field, rows ?? 0);
    if (rows !== undefined && column.rows !== rows) {
      const name = JSON.stringify(field.name);
      throw new DecodeError(
        `The columns differ in length: ${name} has ${column.rows}, the first has ${rows}`,
        start,
      );
    }
    columns.push(column);
  });
  if (columns.length > 0 && columns.length < fields.length) {
    throw new DecodeError(`A table has ${fields.length} fields but ${columns.length} columns`, json.offset);
  }
  return columns;
}

function* decodeBounded(json: JsonBytes, field: ResultField, rowsHint: number): Steps<DecodedColumn> {
  const start = json.offset;
  try {
    return yield* decodeColumn(json, field.name, field.type, rowsHint);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new DecodeError(
      `The field ${JSON.stringify(field.name)} is too large: ${cause.message}`,
      start,
      cause,
    );
  }
}

function toArrow({ info, columns }: DecodedTable, metaMap: TabularResult['fieldsMetaMap']): ArrowTable {
  const names = uniqueNames(info.fields.map(field => field.name));
  const fields = info.fields.map((field, index) => {
    const column = columns[index] as DecodedColumn;
    const name = names[index] as string;
    const metadata = fieldMetadata(field, column, metaOf(field, info, metaMap));
    if (name !== field.name) metadata.set(FIELD_KEY.note, renamedNote(field.name, name));
    return new Field(name, column.data.type, true, metadata);
  });
  const schema = new Schema(fields, new Map([['apl.table', info.name]]));
  const struct = makeData({
    type: new Struct(fields),
    length: columns[0]?.rows ?? 0,
    nullCount: 0,
    children: columns.map(column => column.data),
  });
  return { info, data: new Table(schema, [new RecordBatch(schema, struct)]) };
}

/** Arrow's readers take columns by name: the second `a` becomes `a_2`. */
function uniqueNames(names: readonly string[]): readonly string[] {
  const taken = new Set(names);
  const seen = new Set<string>();
  return names.map(name => {
    let unique = name;
    for (let number = 2; seen.has(unique) || (number > 2 && taken.has(unique)); number++)
      unique = `${name}_${number}`;
    seen.add(unique);
    return unique;
  });
}

function renamedNote(from: string, to: string): string {
  return `Several fields are named ${JSON.stringify(from)}; a later one is shown as ${JSON.stringify(to)}.`;
}

function fieldMetadata(
  field: ResultField,
  column: DecodedColumn,
  meta: Partial<FieldMeta>,
): Map<string, string> {
  const metadata = new Map<string, string>([[FIELD_KEY.type, field.type]]);
  const set = (key: string, value: string | undefined) => value && metadata.set(key, value);
  set(FIELD_KEY.unit, meta.unit === 'none' ? '' : meta.unit);
  set(FIELD_KEY.description, meta.description);
  set(FIELD_KEY.hidden, meta.hidden ? 'true' : '');
  set(FIELD_KEY.agg, field.agg && JSON.stringify(field.agg));
  set(FIELD_KEY.note, column.note);
  if (column.isJson) {
    metadata.set(FIELD_KEY.extension, 'arrow.json');
    metadata.set(FIELD_KEY.extensionMetadata, '');
  }
  return metadata;
}

/** Aggregates whose result has the unit of the field they read. */
const UNIT_KEEPING =
  /^(avg|min|max|sum|stdev|stdevif|avgif|minif|maxif|sumif|percentile|percentileif|percentiles_array|topk|arg_min|arg_max|take_any|any)$/;

/** Aggregates whose arrays have numeric bucket bounds: bounds of a timespan are nanoseconds. */
const BUCKETS = /^histogram(?:if)?$/;

function metaOf(
  field: ResultField,
  info: TableInfo,
  metaMap: TabularResult['fieldsMetaMap'],
): Partial<FieldMeta> {
  const named = findMeta(field.name, info, metaMap);
  if (named !== undefined || field.agg === undefined) return named ?? {};
  const { name, fields } = field.agg;
  const areBuckets = BUCKETS.test(name);
  if (!areBuckets && !UNIT_KEEPING.test(name)) return {};
  const source = findMeta(fields?.[0] ?? '', info, metaMap);
  return present({ unit: areBuckets && source?.type === 'timespan' ? 'ns' : source?.unit });
}

function findMeta(
  name: string,
  info: TableInfo,
  metaMap: TabularResult['fieldsMetaMap'],
): FieldMeta | undefined {
  const named = info.sources.map(source => source.name).filter(source => Object.hasOwn(metaMap, source));
  const datasets = named.length > 0 ? named : Object.keys(metaMap);
  return datasets.flatMap(dataset => metaMap[dataset] ?? []).find(meta => meta.name === name);
}
