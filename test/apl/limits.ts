import type { limits } from '../../kernel/apl/syntax/syntax-limits.js';

/** A query that scales with the quantity that a limit counts, and the text that is reported when one too many is used. */
export interface LimitCase {
  readonly write: (count: number) => string;
  /** Highest count within the limit, if it differs from the limit itself. */
  readonly most?: number;
  /** The reported text, or its beginning. */
  readonly at: string;
}

/** Joins `count` results of `write`. */
export function repeated(count: number, join: string, write: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => write(index)).join(join);
}

/** Cases for every limit of the language. */
export const limitCases: Readonly<Record<keyof typeof limits, LimitCase>> = {
  text: { write: count => `print 1 //${'n'.repeat(count - 10)}`, at: 'n' },
  statements: { write: count => `${'let a = 1;'.repeat(count - 1)}print a`, at: 'print a' },
  name: { write: count => `print ['${'n'.repeat(count)}'] = 1`, at: "['nnn" },
  literal: { write: count => `print x = strlen('${'n'.repeat(count)}')`, at: "'nnn" },
  pattern: { write: count => `print x = 'a' matches regex '${'n'.repeat(count)}'`, at: "'nnn" },
  nesting: { write: count => `print x = ${'('.repeat(count)}1${')'.repeat(count)}`, most: 197, at: '1' },
  queryNesting: {
    write: count => `let T = print 1; ${'('.repeat(count)}T${')'.repeat(count)}`,
    most: 199,
    at: 'T',
  },
  expression: {
    write: count => `print x = ${repeated(count, ' or ', at => `${at} == 0`)}`,
    most: 999,
    at: '0',
  },
  nodes: {
    write: count =>
      `let a = ${repeated(999, ' or ', () => 'true')}; print ${repeated(count, ',', () => 'a')}`,
    most: 99,
    at: 'a',
  },
  items: { write: count => `print x = 1 in (${repeated(count, ',', at => `${at}`)})`, at: '10000' },
  terms: {
    write: count => `print x = 'a' has_any (${repeated(count, ',', at => `'b${at}'`)})`,
    at: "'b1000'",
  },
  allTerms: {
    write: count => `print x = 'a' has_all (${repeated(count, ',', at => `'b${at}'`)})`,
    at: "'b100'",
  },
  cells: {
    write: count => `datatable(x:long)[${repeated(count, ',', at => `${at}`)}] | count`,
    at: '100000',
  },
  pieces: {
    write: count =>
      `print s = 'a' | parse s with ${repeated(count, ' ', at => (at % 2 === 0 ? `'k${at}'` : `f${at}`))}`,
    at: "'k200'",
  },
  pairs: {
    write: count => `print s = 'a' | parse-kv s as (${repeated(count, ',', at => `f${at}:long`)})`,
    at: 'f200:long',
  },
  expanded: {
    write: count =>
      `print ${repeated(count, ',', at => `a${at} = dynamic([1, 2])`)} | mv-expand ${repeated(count, ',', at => `a${at}`)}`,
    at: 'a100',
  },
  redacted: {
    write: count => `print s = 'a' | redact ${repeated(count, ',', at => `'b${at}'`)}`,
    at: "'b100'",
  },
  stages: { write: count => `print x = 1 ${repeated(count, ' ', () => '| where x > 0')}`, at: 'where' },
  tables: { write: count => `union ${repeated(count, ',', at => `(print x = ${at})`)}`, at: 'print' },
  joins: {
    write: count =>
      `print a = 1 ${repeated(count, ' ', at => `| join kind=inner (print a = 1, b${at} = 1) on a`)}`,
    at: 'join',
  },
};
