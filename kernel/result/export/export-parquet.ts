import { DataType, type Field, type Schema, Table, tableToIPC } from 'apache-arrow';
import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import { exactInt64 } from '../display/display-text.js';
import { FIELD_KEY } from '../field.js';
import { rangeOfRows, takeRows } from '../take.js';

/** A part of a file, and the number of complete rows up to its end. */
interface BinaryPart {
  readonly part: Uint8Array;
  readonly rows: number;
}

/** Rows in one row group. */
const groupRows = 65_536;

/**
 * Writes Parquet: times are UTC with nanoseconds; durations are 64-bit nanoseconds, which Arrow's readers turn back into durations;
 * dynamic values are strings marked as JSON.
 */
export function* parquet(table: Table): Generator<BinaryPart> {
  const { fields } = table.schema;
  const bytes = new ByteWriter();
  const elements = fields.map(
    ({ name, type }): SchemaElement => ({ name, repetition_type: 'OPTIONAL', ...elementOf(type) }),
  );
  const writer = new ParquetWriter({
    writer: bytes,
    schema: [{ name: 'root', num_children: fields.length }, ...elements],
    kvMetadata: [{ key: 'ARROW:schema', value: arrowSchema(table.schema) }],
    createdBy: 'apl-kernel',
  });
  let sent = 0;
  const rest = (rows: number): BinaryPart => {
    const part = bytes.getBytes().slice(sent);
    sent += part.length;
    return { part, rows };
  };
  const places = [...fields.keys()];
  for (let from = 0; from < table.numRows; from += groupRows) {
    const rows = Math.min(table.numRows, from + groupRows);
    const part = takeRows(table, places, rangeOfRows(from, rows - from));
    // Bounds of JSON strings are useless, and would be as long as the strings.
    const columnData = fields.map((field, index) => ({
      name: field.name,
      data: valuesOf(part, index),
      statistics: !isJson(field),
    }));
    void writer.write({ columnData, rowGroupSize: groupRows });
    yield rest(rows);
  }
  // Only now: in a column marked as JSON, the writer would treat each string as a value, and quote it.
  for (const [index, element] of elements.entries()) if (isJson(fields[index])) Object.assign(element, json);
  void writer.finish();
  yield rest(table.numRows);
}

/** Both annotations, since some readers only know the older one. */
const json = { converted_type: 'JSON', logical_type: { type: 'JSON' } } as const;

function isJson(field: Field | undefined): boolean {
  return field?.metadata.get(FIELD_KEY.extension) === 'arrow.json';
}

function elementOf(type: DataType) {
  if (DataType.isBool(type)) return { type: 'BOOLEAN' as const };
  if (DataType.isFloat(type)) return { type: 'DOUBLE' as const };
  if (DataType.isTimestamp(type))
    return {
      type: 'INT64' as const,
      logical_type: { type: 'TIMESTAMP' as const, isAdjustedToUTC: true, unit: 'NANOS' as const },
    };
  if (DataType.isInt(type) || DataType.isDuration(type)) return { type: 'INT64' as const };
  return { type: 'BYTE_ARRAY' as const, converted_type: 'UTF8' as const };
}

/** Returns the Arrow schema as Arrow's own readers look for it in a file: it has types that Parquet lacks. */
function arrowSchema(schema: Schema): string {
  return Buffer.from(tableToIPC(new Table(schema), 'stream')).toString('base64');
}

function valuesOf(table: Table, index: number): unknown[] {
  const vector = table.getChildAt(index);
  const type = table.schema.fields[index]?.type;
  if (vector === null) return [];
  const isWide = DataType.isInt(type) || DataType.isTimestamp(type) || DataType.isDuration(type);
  return Array.from({ length: table.numRows }, (_, row) => {
    if (!vector.isValid(row)) return null;
    return isWide ? exactInt64(vector, row) : vector.get(row);
  });
}
