import { formatCount } from '../../text.js';

/** Maximum number of items of one kind in a query, and the message if there are more. */
export interface Limit {
  readonly most: number;
  /** Items counted, as named in the table of limits. */
  readonly what: string;
  readonly code: 'too-deep' | 'too-long';
  readonly message: string;
  readonly hint: string;
}

/** Limits of the language: within them, a query exhausts neither the stack, nor time, nor an engine. */
export const limits = {
  text: more(1_000_000, 'characters in a query', 'Import long lists of values as a dataset, and join it.'),
  statements: more(10_000, 'statements in a query', 'Import the values as a dataset.'),
  /** In UTF-16 units, as everywhere. */
  name: more(4_000, 'characters in a name', 'Is a quote or a bracket missing?'),
  literal: more(100_000, 'characters in a string', 'Import longer strings as a dataset.'),
  pattern: more(
    10_000,
    'characters in a regular expression',
    'Search for several shorter ones, or list the strings with `in` or `has_any`.',
  ),
  nesting: deep(200, 'levels of nested brackets and queries', 'Name parts of it with `let` or `extend`.'),
  queryNesting: deep(200, 'levels of nested queries', 'Name inner queries with `let`.'),
  /** Depth of an expression's tree, `let` values included; a condition counts one, anything else five. */
  expression: {
    most: 1000,
    what: 'levels in an expression: `and` and `or` count as one, every other operator as five',
    code: 'too-deep',
    message: 'the expression is too deep: at most 200 operators in a row, or 1,000 of `and` and `or`',
    hint: 'Compute parts of it with `extend`; write many values as a list: `field in (a, b, …)`.',
  },
  /** Nodes of all expressions; those of a `let` value count at each use. */
  nodes: more(
    200_000,
    'values and operators in a query, including its `let` statements',
    'Compute repeated values once, with `extend`.',
  ),
  items: more(
    10_000,
    'items in a list',
    'Import the values as a dataset: `where field in ((values | project field))`.',
  ),
  terms: more(1_000, 'strings in a `has_any`', 'Search for a substring that they have in common.'),
  allTerms: more(100, 'strings in a `has_all`', 'Search for fewer strings: all of them have to match.'),
  cells: more(100_000, 'values in a datatable', 'Import the rows as a dataset.'),
  pieces: more(
    200,
    'literals and fields in a `parse` pattern',
    'Parse the rest of the string with a second `parse`.',
  ),
  pairs: more(200, 'fields in a `parse-kv`', 'Parse the remaining fields with a second `parse-kv`.'),
  expanded: more(100, 'fields in an `mv-expand`', 'Expand a single field that contains arrays of maps.'),
  redacted: more(100, 'patterns in a `redact`', 'Combine them with `|` in one regular expression.'),
  /** Operators in a row, including those of `let` tables. */
  stages: more(
    300,
    'operators in a row',
    'Compute several fields in one `extend`, and combine several conditions in one `where`.',
  ),
  /** Each use of a `let` table counts, and each dataset that matches a pattern. */
  tables: more(500, 'tables in a query', 'Use fewer datasets, or combine their rows into one.'),
  joins: more(64, 'joins and lookups in a query', 'Import the joined rows as a dataset.'),
} as const satisfies Readonly<Record<string, Limit>>;

function more(most: number, what: string, hint: string): Limit {
  return { most, what, code: 'too-long', message: `more than ${formatCount(most)} ${what}`, hint };
}

function deep(most: number, what: string, hint: string): Limit {
  return { ...more(most, what, hint), code: 'too-deep' };
}
