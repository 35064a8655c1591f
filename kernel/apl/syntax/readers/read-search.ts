import type { Expr, SearchPredicate } from '../ast.js';
import { joinSearches, nameExpr } from '../nodes.js';
import type { TokenStream } from '../tokens/token-stream.js';
import { parseExpression } from './read-expression.js';

/** Parses the predicate of `search`: terms, fields with terms, and conditions, joined by `and`, `or` and `not`. */
export function parseSearch(stream: TokenStream): SearchPredicate {
  return parseOr(stream);
}

function parseOr(stream: TokenStream): SearchPredicate {
  let left = parseAnd(stream);
  while (stream.takeWord('or') !== undefined) left = joinSearches('or', left, parseAnd(stream));
  return left;
}

function parseAnd(stream: TokenStream): SearchPredicate {
  let left = parseNot(stream);
  while (stream.takeWord('and') !== undefined) left = joinSearches('and', left, parseNot(stream));
  return left;
}

function parseNot(stream: TokenStream): SearchPredicate {
  const word = stream.isWord('not') ? stream.next() : undefined;
  if (word === undefined) return parseTerm(stream);
  const operand = parseTerm(stream);
  return { kind: 'not', operand, from: word.from, to: operand.to };
}

function parseTerm(stream: TokenStream): SearchPredicate {
  const token = stream.peek();
  const { from } = token;
  if (stream.isSymbol('*') && !startsComparison(stream)) return { kind: 'all', from, to: stream.next().to };
  if (token.kind === 'string' && !startsComparison(stream)) {
    return { kind: 'term', text: stream.next().text, from, to: token.to };
  }
  if (stream.isSymbol('(')) return parseGroup(stream);
  return parseFieldTerm(stream);
}

/** Parses a predicate in parentheses, or an expression such as `(a + b) > 1` that starts with them. */
function parseGroup(stream: TokenStream): SearchPredicate {
  const mark = stream.mark;
  const errors = stream.diagnostics.length;
  stream.next();
  const inner = stream.nested(
    () => parseOr(stream),
    () => parseFieldTerm(stream),
  );
  const closed = stream.takeSymbol(')') !== undefined;
  if (closed && !startsComparison(stream, 0)) return inner;
  stream.rewind(mark);
  stream.diagnostics.length = errors;
  return parseFieldTerm(stream);
}

/** Parses `field:"text"`, or any boolean expression. */
function parseFieldTerm(stream: TokenStream): SearchPredicate {
  const from = stream.peek().from;
  const mark = stream.mark;
  const name = stream.takeName();
  if (name !== undefined && stream.takeSymbol(':') !== undefined) {
    const token = stream.peek();
    if (token.kind === 'string' || token.kind === 'word' || token.kind === 'number') {
      stream.next();
      return { kind: 'term', field: nameExpr(name), text: token.text, from, to: token.to };
    }
    stream.expected('a text', 'after `:`');
    return { kind: 'all', from, to: stream.lastEnd };
  }
  stream.rewind(mark);
  const expr = stream.withComparing(true, parseSearchExpression, 'after `search`');
  return { kind: 'expr', expr, from, to: Math.max(expr.to, from) };
}

/** Parses an expression up to `and`, `or` or `not`, which belong to the search. */
function parseSearchExpression(stream: TokenStream, context: string): Expr {
  return parseExpression(stream, context, 'comparison');
}

const comparisons = new Set([
  '==',
  '!=',
  '<>',
  '<',
  '<=',
  '>',
  '>=',
  '=~',
  '!~',
  '+',
  '-',
  '*',
  '/',
  '%',
  '=',
  '.',
  '[',
]);

function startsComparison(stream: TokenStream, ahead = 1): boolean {
  const token = stream.peek(ahead);
  if (token.kind === 'symbol') return comparisons.has(token.text) && !stream.done;
  return token.kind === 'word' && !['and', 'or', 'asc', 'desc'].includes(token.text);
}
