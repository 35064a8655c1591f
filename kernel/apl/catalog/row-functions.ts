import type { FunctionEntry, Param } from './entry.js';

const value = { name: 'value', type: 'any' } as const satisfies Param;
const offset = {
  name: 'offset',
  type: 'long',
  optional: true,
  constant: true,
  doc: 'Distance in rows, 1 by default.',
} as const satisfies Param;
const fallback = {
  name: 'default',
  type: 'any',
  optional: true,
  constant: true,
  doc: 'Value to return if there is no such row, null by default.',
} as const satisfies Param;

const numbers = 'datatable(x:long)[3, 1, 2] | sort by x asc';

/** Functions that read neighboring rows in sort order; a sort or `serialize` must precede them. */
export const rowFunctions = [
  {
    kind: 'function',
    name: 'prev',
    group: 'rows in order',
    params: [value, offset, fallback],
    returns: 'common',
    doc: 'Returns the value of a preceding row. Requires ordered rows: use `sort` or `serialize` first.',
    example: { apl: `${numbers} | extend p = prev(x, 1, 0)`, result: '[1, 0]' },
    nulls: { value: '1, 0' },
  },
  {
    kind: 'function',
    name: 'next',
    group: 'rows in order',
    params: [value, offset, fallback],
    returns: 'common',
    doc: 'Returns the value of a following row. Requires ordered rows: use `sort` or `serialize` first.',
    example: { apl: `${numbers} | extend n = next(x)`, result: '[1, 2]' },
    nulls: { value: '1, null' },
  },
  {
    kind: 'function',
    name: 'row_number',
    group: 'rows in order',
    params: [
      {
        name: 'first',
        type: 'long',
        optional: true,
        constant: true,
        doc: 'Number of the first row, 1 by default.',
      },
    ],
    returns: 'long',
    doc: 'Returns the number of the row. Requires ordered rows: use `sort` or `serialize` first.',
    example: { apl: `${numbers} | extend n = row_number(10)`, result: '[1, 10]' },
  },
  {
    kind: 'function',
    name: 'row_cumsum',
    group: 'rows in order',
    params: [{ name: 'term', type: 'number' }],
    returns: 'same',
    doc: 'Returns the cumulative sum of the non-null values up to this row. Requires ordered rows: use `sort` or `serialize` first.',
    example: { apl: `${numbers} | extend s = row_cumsum(x) | where x == 3`, result: '[3, 6]' },
    nulls: { term: '3, 0' },
  },
] as const satisfies readonly FunctionEntry[];

/** Name of a function that reads neighboring rows. */
export type RowFunctionName = (typeof rowFunctions)[number]['name'];

const names: ReadonlySet<string> = new Set(rowFunctions.map(({ name }) => name));

/** True for the name of a function that reads neighboring rows. */
export function isRowFunction(name: string): name is RowFunctionName {
  return names.has(name);
}
