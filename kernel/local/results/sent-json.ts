import { type Data, Int64, Vector } from 'apache-arrow';
import type { TypeName } from '../../apl/catalog/entry.js';
import { columnsOf, type SentTable } from './sent-arrow.js';

/** A column as a JSON array. Reals are strings, to preserve -0, NaN, `Infinity` and every digit; times are nanoseconds. */
export interface JsonColumn {
  readonly type: TypeName;
  readonly json: string;
}

/**
 * Returns columns of a result as JSON, with row numbers for a name that is not a field; undefined if they exceed `most` characters in
 * total.
 */
export function jsonColumns(
  sent: SentTable,
  names: readonly string[],
  most: number,
): readonly JsonColumn[] | undefined {
  let left = most;
  const columns: JsonColumn[] = [];
  for (const name of names) {
    const index = sent.fields.findIndex(field => field.name === name);
    const type = sent.fields[index]?.type ?? 'long';
    const cells: string[] = [];
    for (const cell of index < 0 ? numbers(sent.rows) : cellsOf(sent, index, type)) {
      cells.push(cell);
      left -= cell.length + 1;
      if (left < 0) return undefined;
    }
    columns.push({ type, json: `[${cells.join(',')}]` });
  }
  return columns;
}

function* numbers(count: number): Generator<string> {
  for (let number = 0; number < count; number += 1) yield String(number);
}

function* cellsOf({ table }: SentTable, index: number, type: TypeName): Generator<string> {
  for (const batch of table.batches) {
    const vector = vectorOf(columnsOf(batch)[index] as Data, type);
    for (const value of vector) yield value === null ? 'null' : written(type, value);
  }
}

function written(type: TypeName, value: unknown): string {
  if (type === 'real') return JSON.stringify(Object.is(value, -0) ? '-0' : String(value));
  return type === 'string' || type === 'dynamic' ? JSON.stringify(value) : String(value);
}

/** Reads times as integers, which keep every digit: Arrow returns them in milliseconds. */
function vectorOf(data: Data, type: TypeName): Vector {
  return new Vector([type === 'datetime' || type === 'timespan' ? data.clone(new Int64()) : data]);
}
