import { combining } from './combining.js';
import { drawing } from './drawing.js';
import { filtering } from './filtering.js';
import type { Clause, OperatorRow, Options, SourceRow } from './grammar.js';
import { grouping } from './grouping.js';
import { fields } from './operator-fields.js';
import { reading } from './operator-reading.js';

/** Operators that may follow a pipe, by word. */
export const operators = {
  ...filtering,
  ...fields,
  ...grouping,
  ...combining,
  ...reading,
  ...drawing,
} as const;

/** Operator kinds: the words that have a row. */
export type OperatorKind = keyof typeof operators;

/** Sources introduced by a word. */
export const sources = {
  print: {
    usage: ['print [name =] expression, …'],
    doc: 'Returns a single row of computed values.',
    example: { apl: 'print a = 1 + 1, b = strcat("x", "y")', result: '[2, "xy"]' },
    clauses: [{ name: 'items', takes: 'assignments' }],
  },
  union: operators.union,
  search: operators.search,
  datatable: {
    usage: ['datatable(name:type, …)[value, …]'],
    doc: 'Returns a table defined in the query, with its values listed row by row.',
    example: { apl: "datatable(a:long, b:string)[1, 'x', 2, 'y'] | where a == 2", result: '[2, "y"]' },
    clauses: [
      { name: 'columns', takes: 'columns' },
      { name: 'values', takes: 'values' },
    ],
  },
  range: {
    aliases: ['range (tabular)'],
    usage: ['range name from start to end step width'],
    doc: 'Returns one row for each value from start up to and including end.',
    example: { apl: 'range i from 1 to 9 step 2 | summarize n = count(), last = max(i)', result: '[5, 9]' },
    clauses: [
      { name: 'name', takes: 'name' },
      { name: 'start', takes: 'expression', word: 'from', expected: ['`from`', 'in `range`'] },
      { name: 'end', takes: 'expression', word: 'to', expected: ['`to`', 'in `range`'] },
      {
        name: 'step',
        takes: 'expression',
        word: 'step',
        expected: ['`step`', 'in `range`'],
        startsLine: true,
      },
    ],
  },
  externaldata: {
    usage: ['externaldata (name:type, …) ["address", …] [with (format="csv", ignoreFirstRecord=true)]'],
    doc: 'Reads a table from files under `external` in the data directory: CSV, TSV, PSV, SCSV, JSON, plain text by line, or raw content. Network addresses are rejected.',
    clauses: [
      { name: 'columns', takes: 'columns' },
      { name: 'urls', takes: 'texts' },
      {
        name: 'options',
        takes: 'options in parentheses',
        word: 'with',
        optional: true,
        options: {
          format: {
            takes: 'word',
            values: ['csv', 'scsv', 'tsv', 'psv', 'json', 'multijson', 'raw', 'txt'],
            synonyms: { ndjson: 'json', jsonl: 'json' },
            doc: 'File format; by default, inferred from the file extension.',
          },
          ignoreFirstRecord: {
            takes: 'word',
            values: ['true', 'false'],
            doc: 'Whether to skip the first line, as a header.',
          },
          skipFirstRow: { takes: 'word', values: ['true', 'false'], doc: 'Equivalent to ignoreFirstRecord.' },
        },
        startsLine: true,
      },
    ],
  },
} as const satisfies Readonly<Record<string, SourceRow>>;

/** Source kinds introduced by a word. */
export type SourceKind = keyof typeof sources;

/** The operator that a word names, and its row. */
export interface NamedOperator {
  readonly kind: OperatorKind;
  readonly row: OperatorRow;
}

const byWord = new Map<string, NamedOperator>(
  Object.keys(operators)
    .filter(isOperator)
    .flatMap(kind => {
      const row: OperatorRow = operators[kind];
      return [kind, ...Object.keys(row.also ?? {}), ...(row.old ?? [])].map(
        word => [word, { kind, row }] as const,
      );
    }),
);

/** Returns the operator of a word, old spellings included. */
export function operatorNamed(word: string): NamedOperator | undefined {
  return byWord.get(word);
}

/** Words that may follow a pipe, without old spellings. */
export const operatorWords: readonly string[] = [...byWord].flatMap(([word, { row }]) =>
  row.old?.includes(word) === true ? [] : [word],
);

/** Returns the source that a word introduces. */
export function sourceNamed(word: string): { kind: SourceKind; row: SourceRow } | undefined {
  return isSource(word) ? { kind: word, row: sources[word] } : undefined;
}

function isOperator(word: string): word is OperatorKind {
  return Object.hasOwn(operators, word);
}

function isSource(word: string): word is SourceKind {
  return Object.hasOwn(sources, word);
}

/** Returns the clauses of an operator or a source, by kind; none for any other kind. */
export function clausesOf(kind: string): readonly Clause[] {
  return operatorNamed(kind)?.row.clauses ?? sourceNamed(kind)?.row.clauses ?? [];
}

const everyClause: readonly Clause[] = [...Object.values(operators), ...Object.values(sources)].flatMap(
  (row): readonly Clause[] => row.clauses,
);

/** Words that introduce clauses, such as `by`. */
export const clauseWords: ReadonlySet<string> = new Set(
  everyClause.flatMap(({ word }) => (word === undefined ? [] : [word])),
);

/** Words of clauses that start a line if an operator spans several lines. */
export const lineWords: ReadonlySet<string> = new Set(
  everyClause.flatMap(({ word, startsLine }) => (word === undefined || startsLine !== true ? [] : [word])),
);

/** Returns the options of an operator or a source. */
export function optionsOf(kind: string): Options {
  return Object.assign({}, ...clausesOf(kind).map(clause => clause.options ?? {}));
}
