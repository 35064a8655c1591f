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
    doc: 'Keeps the rows for which the predicate is true; if it is null, the row is left out. `* has "x"` asks whether any field does.',
    example: { apl: `${numbers} | where ok and x > 1`, result: '[6, true]' },
    clauses: [{ name: 'predicate', takes: 'expression' }],
  },
  limit: {
    usage: ['T | limit [number]'],
    doc: 'Returns at most that many rows, by default 10; the newest events if nothing sorts them. Right after a summarize whose first key is a time bin, with other keys after it, it counts groups, and each keeps all its times.',
    example: { apl: `${numbers} | sort by x asc | limit 1`, result: '[1, true]' },
    also: {
      take: {
        usage: ['T | take [number]'],
        doc: 'The same as limit.',
        example: { apl: `${numbers} | sort by x desc | take 1`, result: '[6, true]' },
      },
    },
    clauses: [{ name: 'count', takes: 'expression', optional: true }],
  },
  sort: {
    usage: ['T | sort by expression [asc|desc] [nulls first|nulls last], …'],
    doc: 'Sorts the rows, largest first unless `asc` is written. Nulls are smallest unless `nulls first` or `nulls last` says otherwise.',
    example: { apl: `${numbers} | sort by x asc`, result: '[1, true]' },
    also: {
      order: {
        usage: ['T | order by expression [asc|desc] [nulls first|nulls last], …'],
        doc: 'The same as sort.',
        example: { apl: `${numbers} | order by x`, result: '[6, true]' },
      },
    },
    clauses: sortClauses,
  },
  serialize: {
    usage: ['T | serialize [name = expression, …]'],
    doc: 'Keeps the order of a sort, or in which a datatable is written, for functions such as `prev` and `row_number`, and adds fields like extend.',
    example: { apl: `${numbers} | serialize n = row_number(), p = prev(x)`, result: '[1, true, 1, null]' },
    clauses: [{ name: 'items', takes: 'assignments', optional: true }],
  },
  top: {
    usage: ['T | top number by expression [asc|desc]'],
    doc: 'Returns the first rows in the order of the expression, largest first unless `asc` is written.',
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
    doc: 'Keeps each row with the given probability, above 0 and at most 1; which ones is left to chance.',
    example: { apl: `${numbers} | sample 1.0 | count`, result: '[3]' },
    clauses: [{ name: 'proportion', takes: 'expression' }],
  },
  search: {
    usage: [
      'T | search [kind=case_sensitive] predicate',
      'search [kind=case_sensitive] [in (T, …)] predicate',
    ],
    doc: 'Looks for text in all fields: "term", "prefix*", "*suffix", field:"term", joined by and, or, not.',
    example: { apl: `${names} | search "bob"`, result: '[2, "bob"]' },
    clauses: [
      {
        name: 'options',
        takes: 'options',
        options: {
          kind: {
            takes: 'word',
            values: ['default', 'case_insensitive', 'case_sensitive'],
            doc: 'Whether case matters; by default it does not.',
          },
        },
      },
      { name: 'tables', takes: 'sources in parentheses', word: 'in', optional: true },
      { name: 'predicate', takes: 'search' },
    ],
  },
} as const satisfies Readonly<Record<string, OperatorRow>>;
