import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bind } from '../../kernel/apl/bind/bind.js';
import type { Diagnostic, Span } from '../../kernel/apl/syntax/ast.js';
import { completeness, parseCell, splitCell, toCellOffset } from '../../kernel/apl/syntax/cell.js';
import { mergeDiagnostics } from '../../kernel/apl/syntax/diagnostics.js';
import { parseQuery } from '../../kernel/apl/syntax/parse.js';
import { tokenize } from '../../kernel/apl/syntax/tokens/lexer.js';
import { mutated, pipeline, tokenSoup } from './queries.js';

const environment = {
  schema: () => undefined,
  datasets: () => [],
  now: 1_000n,
  start: 0n,
  end: 1_000n,
  variables: {},
  autoBin: 1n,
};

/** Parses, binds and splits any text; nothing may throw, and every position must lie within the text. */
function read(text: string): void {
  checkTokens(text);
  const parsed = parseQuery(text);
  const bound = bind(parsed.query, text, environment);
  const found = mergeDiagnostics(text, parsed.diagnostics, bound.diagnostics);
  expect(found.filter(diagnostic => !isPlace(diagnostic, text))).toEqual([]);
  if (bound.plan === undefined) expect(found.map(each => each.severity)).toContain('error');
  completeness(text);
  splitCell(text);
  for (const query of parseCell(text).queries) checkSegments(text, query);
}

function checkTokens(text: string): void {
  let at = 0;
  const misplaced = tokenize(text).filter(({ from, to }) => {
    const isBehind = from >= at && to > from && to <= text.length;
    at = to;
    return !isBehind;
  });
  expect(misplaced).toEqual([]);
}

function isPlace({ from, to, message }: Diagnostic & Span, text: string): boolean {
  return from >= 0 && from <= to && to <= text.length && message.length > 0;
}

/** Checks that a query's text is copied from the cell, except the `;` and line break after shared statements. */
function checkSegments(cell: string, query: ReturnType<typeof parseCell>['queries'][number]): void {
  for (const { text, cell: from, length } of query.segments) {
    expect(query.text.slice(text, text + length)).toBe(cell.slice(from, from + length));
    expect(toCellOffset(query, text)).toBe(from);
    expect(toCellOffset(query, text + length)).toBe(from + length);
  }
}

describe('the parser and the binder never throw', () => {
  const check = (arbitrary: fc.Arbitrary<string>, runs: number): void =>
    fc.assert(fc.property(arbitrary, read), { numRuns: runs });

  test('on random characters', () => check(fc.string({ unit: 'binary', maxLength: 200 }), 1_500));
  test('on random printable text', () => check(fc.string({ maxLength: 100 }), 1_500));
  test('on keywords in any order', () => check(tokenSoup, 1_500));
  test('on valid queries', () => check(pipeline, 250));
  test('on queries with a few characters changed', () => check(mutated, 400));
  test('on 20,000 random byte strings', () => {
    const bytes = fc.uint8Array({ maxLength: 60 }).map(array => Buffer.from(array).toString('latin1'));
    fc.assert(
      fc.property(bytes, text => void parseQuery(text)),
      { numRuns: 20_000 },
    );
  });
});

describe('the parser handles 16,000 repetitions of', () => {
  const repeated: readonly [string, (count: number) => string][] = [
    ['parentheses', count => `print ${'('.repeat(count)}`],
    ['closed parentheses', count => `print ${'('.repeat(count)}1${')'.repeat(count)}`],
    ['brackets', count => `print ${'dynamic(['.repeat(count)}`],
    ['lists within lists', count => `T | where ${'a in ('.repeat(count)}`],
    ['queries in parentheses', count => `${'('.repeat(count)}T${' | where (a)'.repeat(count)}`],
    ['minus signs', count => `print ${'-'.repeat(count)}1`],
    ['not', count => `T | where ${'not '.repeat(count)}a`],
    ['members', count => `T | project ${'a.'.repeat(count)}a`],
    ['pipes', count => `T ${'| '.repeat(count)}`],
    ['operators', count => `T ${'| where a == 1 '.repeat(count)}`],
    ['conditions', count => `T | where ${'a == 1 and '.repeat(count)}a`],
    ['let statements', count => 'let a = (1) ;'.repeat(count)],
    ['raw literals', count => 'datetime('.repeat(count)],
    ['fences', count => '``'.repeat(count)],
    ['search groups', count => `search ${'('.repeat(count)}`],
    ['calls', count => `print ${'f('.repeat(count)}`],
    ['unions', count => 'union '.repeat(count)],
    ['tables of a search', count => 'search in (search '.repeat(count)],
    ['joins', count => `T ${'| join (T '.repeat(count)}`],
    ['lookups', count => `T ${'| lookup union '.repeat(count)}`],
    ['SQL comments', count => '-- a\n'.repeat(count)],
    ['conditions in parentheses', count => `T | where ${'((x)| '.repeat(count)}`],
  ];
  test.each(repeated)('%s', (_, text) => {
    const source = text(16_000);
    const { query } = parseQuery(source);
    expect([query.from, query.to]).toEqual([0, source.length]);
  });
});
