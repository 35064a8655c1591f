import type { Field, Table, Vector } from 'apache-arrow';
import type { View } from '../../../../kernel/notebook/results/result-protocol.js';
import { cellText, exactInt64, valueKind } from '../../../../kernel/result/display/display-text.js';
import { rangeOfRows } from '../../../../kernel/result/take.js';
import { vectorOf } from '../grid-cells.js';

/** Returns the rows of a table that match the search, sorted by the keys of the view, as a kernel does; filters are ignored. */
export function arrangedRows(table: Table, { search = '', sort = [] }: View): Uint32Array {
  const rows = rangeOfRows(0, table.numRows);
  const found = search === '' ? rows : rows.filter(row => holds(table, row, search.toLowerCase()));
  const keys = sort.flatMap(({ column, descending }) => {
    const index = table.schema.fields.findIndex(({ name }) => name === column);
    const field = table.schema.fields[index];
    return field === undefined ? [] : [{ sign: descending ? -1 : 1, ranks: ranksOf(table, index, field) }];
  });
  if (keys.length === 0) return found;
  const compare = (a: number, b: number): number => {
    for (const { sign, ranks } of keys) {
      const order = (ranks[a] as number) - (ranks[b] as number);
      if (order !== 0) return sign * order;
    }
    return a - b;
  };
  return found.sort(compare);
}

function holds(table: Table, row: number, text: string): boolean {
  return table.schema.fields.some((field, index) =>
    cellText(vectorOf(table, index), row, field)?.toLowerCase().includes(text),
  );
}

/** Returns the rank of each row by the value of a column: equal values share one, and nulls have the smallest. */
function ranksOf(table: Table, index: number, field: Field): Uint32Array {
  const vector = vectorOf(table, index);
  const values = Array.from(rangeOfRows(0, table.numRows), row =>
    vector.isValid(row) ? valueAt(vector, row, field) : undefined,
  );
  const distinct = [...new Set(values)].filter(value => value !== undefined).sort(inOrder);
  const ranks = new Map(distinct.map((value, rank) => [value, rank + 1]));
  return Uint32Array.from(values, value => (value === undefined ? 0 : (ranks.get(value) ?? 0)));
}

type Value = bigint | number | string;

/** Returns a sortable value. Integers keep all digits; `true` sorts after `false`, as the strings do. */
function valueAt(vector: Vector, row: number, field: Field): Value {
  const kind = valueKind(field);
  if (kind === 'time' || kind === 'span') return exactInt64(vector, row);
  if (kind === 'integer' || kind === 'real') return vector.get(row) as bigint | number;
  return cellText(vector, row, field) ?? '';
}

/** Compares values; NaN sorts last. */
function inOrder(a: Value, b: Value): number {
  if (Number.isNaN(a)) return 1;
  if (Number.isNaN(b)) return -1;
  return a < b ? -1 : 1;
}
