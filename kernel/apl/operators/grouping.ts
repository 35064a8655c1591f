import type { OperatorRow } from './grammar.js';

const numbers = 'datatable(x:long, ok:bool)[1, true, 2, false, 6, true]';

/** Operators that aggregate rows, or describe the table itself. */
export const grouping = {
  count: {
    usage: ['T | count'],
    doc: 'Returns a single row with the number of rows, in the field `count`.',
    example: { apl: `${numbers} | count`, result: '[3]' },
    clauses: [],
  },
  distinct: {
    usage: ['T | distinct field, …', 'T | distinct *'],
    doc: 'Returns the distinct combinations of the given fields.',
    example: { apl: "datatable(s:string)['a', 'a', 'a'] | distinct s | count", result: '[1]' },
    clauses: [{ name: 'items', takes: 'assignments' }],
  },
  getschema: {
    usage: ['T | getschema'],
    doc: 'Returns the schema of the table: the name, type and position of each field.',
    example: { apl: 'print a = 1 | getschema', result: '["a", "long", 0, "long"]' },
    clauses: [],
  },
  summarize: {
    usage: ['T | summarize [name =] aggregate, … [by [name =] expression, …]'],
    doc: 'Groups the rows by the expressions after `by` and returns one row of aggregates per group.',
    example: {
      apl: `${numbers} | summarize n = count(), total = sum(x) by ok | sort by n desc`,
      result: '[true, 2, 7]',
    },
    clauses: [
      { name: 'aggregates', takes: 'assignments', absentBefore: 'by', offers: 'aggregates' },
      { name: 'by', takes: 'assignments', word: 'by', optional: true, offers: 'keys', startsLine: true },
    ],
  },
  'make-series': {
    usage: [
      'T | make-series [name =] aggregate [default=value], … on time [from start to end] step width [by field, …]',
      'T | make-series … on time in range(start, end, width) [by field, …]',
    ],
    doc: 'Aggregates each group over regular time steps and returns one row per group, with one array per aggregate. Steps without rows get the default: if not specified, 0 for counts and sums, and null for other aggregates. The end is exclusive, except in `in range()`.',
    example: {
      apl: 'datatable(t:datetime)[datetime(2026-01-01T00:10:00Z), datetime(2026-01-01T02:10:00Z)] | make-series n = count() on t from datetime(2026-01-01) to datetime(2026-01-01T03:00:00Z) step 1h | project n',
      result: '[[1, 0, 1]]',
    },
    clauses: [
      {
        name: 'options',
        takes: 'options',
        options: {
          kind: {
            takes: 'word',
            values: ['nonempty'],
            doc: 'As in Kusto: no rows give one series of defaults, which they also do without the option.',
          },
        },
      },
      { name: 'aggregates', takes: 'defaulted assignments', offers: 'aggregates' },
      {
        name: 'on',
        takes: 'expression',
        word: 'on',
        level: 'sum',
        offers: 'fields',
        expected: ['`on` and a time field', 'in `$`', 'For example: make-series count() on _time step 5m.'],
        startsLine: true,
      },
      { name: 'start', takes: 'expression', word: 'from', optional: true },
      { name: 'stop', takes: 'expression', word: 'to', optional: true },
      { name: 'range', takes: 'range', word: 'in', optional: true },
      { name: 'step', takes: 'expression', word: 'step', optional: true, startsLine: true },
      { name: 'by', takes: 'assignments', word: 'by', optional: true, offers: 'keys', startsLine: true },
    ],
  },
} as const satisfies Readonly<Record<string, OperatorRow>>;
