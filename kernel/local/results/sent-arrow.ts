import { type Data, DataType, type RecordBatch, type Table, tableFromIPC } from 'apache-arrow';
import type { FieldSchema } from '../../apl/plan/plan.js';
import { typeNamed } from '../../apl/syntax/syntax-types.js';
import { present } from '../../present.js';
import { LocalError } from '../local-errors.js';

/** A result as sent by a kernel: its fields, and an Arrow column for each, in order. */
export interface SentTable {
  readonly fields: readonly FieldSchema[];
  readonly rows: number;
  readonly table: Table;
}

/** Metadata key of the Arrow schema under which a kernel describes the fields: JSON, a list of name, type and unit. */
export const fieldsKey = 'apl.fields';

/** Reads an Arrow IPC stream from a kernel. Throws LocalError (`invalid`) for one that is damaged or has columns of other types. */
export function readSentTable(body: Uint8Array): SentTable {
  const table = readStream(body);
  const fields = readFields(table.schema.metadata.get(fieldsKey));
  const columns = table.schema.fields;
  if (fields.length !== columns.length || fields.some(({ type }, index) => !fits(type, columns[index]?.type)))
    throw invalid('The columns do not match the field descriptions.');
  return { fields, rows: table.numRows, table };
}

/** Returns the columns of a batch. */
export function columnsOf(batch: RecordBatch): readonly Data[] {
  return batch.data.children;
}

function readStream(body: Uint8Array): Table {
  try {
    return tableFromIPC(body);
  } catch (cause) {
    throw invalid('The body is not an Arrow stream.', cause);
  }
}

function readFields(text: string | undefined): readonly FieldSchema[] {
  const fields = parsed(text ?? 'null');
  if (!Array.isArray(fields)) throw invalid('The Arrow stream does not describe its fields.');
  return fields.map(readField);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid('The Arrow stream does not describe its fields.', cause);
  }
}

function readField(field: unknown): FieldSchema {
  const { name, type, unit, description } = (field ?? {}) as Record<string, unknown>;
  const known = typeNamed(String(type));
  if (typeof name !== 'string' || known === undefined)
    throw invalid('A field has no name or an unknown type.');
  return {
    name,
    type: known,
    ...present({ unit: textOrNone(unit), description: textOrNone(description) }),
  };
}

function textOrNone(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns whether an Arrow type fits a field: times, durations and integers are 64 bits wide; a dynamic value is JSON text. */
function fits(type: FieldSchema['type'], arrow: DataType | undefined): boolean {
  switch (type) {
    case 'bool':
      return DataType.isBool(arrow);
    case 'real':
      return DataType.isFloat(arrow) && arrow.precision === 2;
    case 'long':
      return DataType.isInt(arrow) && arrow.bitWidth === 64;
    case 'datetime':
      return DataType.isTimestamp(arrow);
    case 'timespan':
      return DataType.isDuration(arrow);
    case 'string':
    case 'dynamic':
      return DataType.isUtf8(arrow) || (DataType.isDictionary(arrow) && DataType.isUtf8(arrow.dictionary));
  }
}

function invalid(message: string, cause?: unknown): LocalError {
  return new LocalError('invalid', 'invalid-request', message, { cause });
}
