import type { OperatorRow } from './grammar.js';

const numbers = 'datatable(x:long, ok:bool)[1, true, 2, false, 6, true]';
const names = "datatable(id:long, name:string)[1, 'ann', 2, 'bob']";

const sortClauses = [
  {
    name: 'keys',
    takes: 'sort keys',
    word: 'by',
    expected: ['`by`', 'after `$`', 'Write `$ by field desc`.'],
    context: 'after `$ by`',
    startsLine: true,
  },
] as const;

/** Operators that select and order rows. */
export const filtering = {
  where: {
    old: ['filter'],
    usage: ['T | where predicate'],
    doc: 'Keeps the rows for which the predicate is true, and drops those for which it is false or null. `* has "x"` is true if any field matches.',
    example: { apl: `${numbers} | where ok and x > 1`, result: '[6, true]' },
    clauses: [{ name: 'predicate', takes: 'expression' }],
  },
  limit: {
    usage: ['T | limit [number]'],
    doc: 'Returns up to the given number of rows, 10 by default; without a sort, the newest events. Directly after a summarize by a time bin and further keys, it limits the number of groups instead and keeps every bin of each.',
    example: { apl: `${numbers} | sort by x asc | limit 1`, result: '[1, true]' },
    also: {
      take: {
        usage: ['T | take [number]'],
        doc: 'Equivalent to limit.',
        example: { apl: `${numbers} | sort by x desc | take 1`, result: '[6, true]' },
      },
    },
    clauses: [{ name: 'count', takes: 'expression', optional: true }],
  },
  sort: {
    usage: ['T | sort by expression [asc|desc] [nulls first|nulls last], …'],
    doc: 'Sorts the rows in descending order, or in ascending order with `asc`. Nulls sort as the smallest values unless `nulls first` or `nulls last` is given.',
    example: { apl: `${numbers} | sort by x asc`, result: '[1, true]' },
    also: {
      order: {
        usage: ['T | order by expression [asc|desc] [nulls first|nulls last], …'],
        doc: 'Equivalent to sort.',
        example: { apl: `${numbers} | order by x`, result: '[6, true]' },
      },
    },
    clauses: sortClauses,
  },
  serialize: {
    usage: ['T | serialize [name = expression, …]'],
    doc: 'Preserves the row order of a sort or a datatable for functions such as `prev` and `row_number`. Like extend, it can also add fields.',
    example: { apl: `${numbers} | serialize n = row_number(), p = prev(x)`, result: '[1, true, 1, null]' },
    clauses: [{ name: 'items', takes: 'assignments', optional: true }],
  },
  top: {
    usage: ['T | top number by expression [asc|desc]'],
    doc: 'Returns the given number of rows with the largest values of the expression, or with the smallest if `asc` is given.',
    example: { apl: `${numbers} | top 1 by x`, result: '[6, true]' },
    clauses: [
      { name: 'count', takes: 'expression' },
      {
        name: 'key',
        takes: 'sort key',
        word: 'by',
        expected: ['`by`', 'after the number of `$`', 'For example: top 10 by duration.'],
        startsLine: true,
      },
    ],
  },
  sample: {
    usage: ['T | sample proportion'],
    doc: 'Returns a random sample that includes each row with the given probability, above 0 and at most 1.',
    example: { apl: `${numbers} | sample 1.0 | count`, result: '[3]' },
    clauses: [{ name: 'proportion', takes: 'expression' }],
  },
  search: {
    usage: [
      'T | search [kind=case_sensitive] predicate',
      'search [kind=case_sensitive] [in (T, …)] predicate',
    ],
    doc: 'Searches all fields for "term", "prefix*" or "*suffix", or a single field with field:"term". Combine searches with and, or and not.',
    example: { apl: `${names} | search "bob"`, result: '[2, "bob"]' },
    clauses: [
      {
        name: 'options',
        takes: 'options',
        options: {
          kind: {
            takes: 'word',
            values: ['default', 'case_insensitive', 'case_sensitive'],
            doc: 'Whether the search is case-sensitive; by default, it is not.',
          },
        },
      },
      { name: 'tables', takes: 'sources in parentheses', word: 'in', optional: true },
      { name: 'predicate', takes: 'search' },
    ],
  },
} as const satisfies Readonly<Record<string, OperatorRow>>;
