import {
  type Data,
  DataType,
  Field,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableToIPC,
} from 'apache-arrow';
import type { FieldSchema } from '../../apl/plan/plan.js';
import { limits } from '../../apl/syntax/syntax-limits.js';
import { present } from '../../present.js';
import { FIELD_KEY } from '../../result/field.js';

/** Metadata key that describes the fields of a sent result to the local service. */
const fieldsKey = 'apl.fields';

/** Returns the fields of a result as a query over it sees them, with the types of the values in the kernel. */
export function fieldsOf(table: Table): readonly FieldSchema[] {
  return table.schema.fields.map(field => {
    const unit = field.metadata.get(FIELD_KEY.unit);
    const description = field.metadata.get(FIELD_KEY.description);
    return {
      name: field.name,
      type: typeOf(field),
      ...present({ unit, description }),
    };
  });
}

/** Like {@link fieldsOf}, with a unique shorter name for each field whose name is longer than a query may write. */
export function writableFieldsOf(table: Table): readonly FieldSchema[] {
  const fields = fieldsOf(table);
  const taken = new Set(fields.map(({ name }) => name));
  return fields.map((field, place) => {
    if (!isUnwritable(field)) return field;
    let name = `column_${place}`;
    while (taken.has(name)) name += '_';
    return { ...field, name };
  });
}

/** Returns whether a field's name is longer than a query may write. */
export function isUnwritable({ name }: { readonly name: string }): boolean {
  return name.length > limits.name.most;
}

/**
 * Returns the columns at `places` as an Arrow IPC stream with field descriptions in its metadata, in the order of the table; the
 * columns are named c0, c1 and so on.
 */
export function sendableStream(
  table: Table,
  fields: readonly FieldSchema[],
  places: readonly number[],
): Uint8Array {
  const described = places.map(place => fields[place]);
  const columns = places.map((place, index) => {
    const field = table.schema.fields[place] as Field;
    return new Field(`c${index}`, field.type, true);
  });
  const schema = new Schema(columns, new Map([[fieldsKey, JSON.stringify(described)]]));
  const batches = table.batches.map(batch => batchOf(schema, batch, places));
  return tableToIPC(new Table(schema, batches), 'stream');
}

function batchOf(schema: Schema, batch: RecordBatch, places: readonly number[]): RecordBatch {
  const children = places.map(place => batch.data.children[place] as Data);
  const data = makeData({
    type: new Struct(schema.fields),
    length: batch.numRows,
    nullCount: 0,
    children,
  });
  return new RecordBatch(schema, data);
}

function typeOf({ type, metadata }: Field): FieldSchema['type'] {
  if (metadata.get(FIELD_KEY.extension) === 'arrow.json') return 'dynamic';
  if (DataType.isBool(type)) return 'bool';
  if (DataType.isInt(type)) return 'long';
  if (DataType.isFloat(type)) return 'real';
  if (DataType.isTimestamp(type)) return 'datetime';
  if (DataType.isDuration(type)) return 'timespan';
  return 'string';
}
