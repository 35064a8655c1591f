import type { Expr, Query, Span } from '../../syntax/ast.js';
import { visitQuery } from '../../syntax/syntax-walk.js';
import type { Token } from '../../syntax/tokens/lexer.js';

/**
 * Returns a predicate for whether a space precedes the token at an index, if both tokens are on one line. The tree shows what tokens do
 * not: which minus is a sign, which bracket an index, and which tokens form one name.
 */
export function spacingOf(tokens: readonly Token[], query: Query): (index: number) => boolean {
  const tree = readTree(tokens, query);
  return index => {
    const [before, token] = [tokens[index - 1], tokens[index]];
    if (before === undefined || token === undefined) return false;
    if (before.kind === 'comment' || token.kind === 'comment') return true;
    if (tree.glued.has(index)) return false;
    return isSpaced(before, token, tree.depths[index] ?? 0);
  };
}

interface Tree {
  /** Tokens without a space before them. */
  readonly glued: ReadonlySet<number>;
  /** Bracket depth of each token. */
  readonly depths: readonly number[];
}

const tight = new Set(['(', '[', '{', '.']);
const clinging = new Set([')', ']', '}', ',', ';', '.']);
/** Words followed by a bracket as in a call, although the tree has no call there. */
const callLike = new Set([
  ...['datatable', 'externaldata', 'query_parameters', 'typeof', 'dynamic', 'datetime', 'date', 'timespan'],
  ...['time', 'range', 'table'],
]);

function isSpaced(before: Token, token: Token, depth: number): boolean {
  const [left, right] = [symbolOf(before), symbolOf(token)];
  if (tight.has(left) || clinging.has(right)) return false;
  if (right === ':') return false;
  if (left === ':') return depth > 0;
  if (right === '(' && before.kind === 'word' && callLike.has(before.text)) return false;
  return true;
}

function symbolOf(token: Token): string {
  return token.kind === 'symbol' ? token.text : '';
}

function readTree(tokens: readonly Token[], query: Query): Tree {
  const glued = new Set<number>();
  const at = new Map(tokens.map((token, index) => [token.from, index]));
  const glue = ({ from, to }: Span): void => {
    for (let index = (at.get(from) ?? tokens.length) + 1; (tokens[index]?.to ?? to + 1) <= to; index += 1)
      glued.add(index);
  };
  const glueFirst = (from: number): void => {
    let index = firstAt(tokens, from);
    while (tokens[index]?.kind === 'comment') index += 1;
    glued.add(index);
  };
  visitQuery(query, {
    unit: glue,
    expr: expr => {
      if (expr.kind === 'call') {
        glueFirst(expr.callee.to);
        if (isSlice(expr)) glueFirst(expr.args[0]?.to ?? expr.from);
      }
      if (expr.kind === 'index') glueFirst(expr.object.to);
      // A number too large for any type is a literal with its sign.
      const isSigned = expr.kind === 'literal' && tokens[firstAt(tokens, expr.from)]?.text === '-';
      if (isSigned || (expr.kind === 'unary' && expr.operator !== 'not')) glueFirst(expr.from + 1);
    },
  });
  return { glued, depths: depthsOf(tokens) };
}

/** True for `x[1:3]`, a call whose name is at its colon. */
function isSlice({ from, callee }: Extract<Expr, { kind: 'call' }>): boolean {
  return callee.from > from;
}

/** Returns the index of the first token that starts at or after `from`. */
function firstAt(tokens: readonly Token[], from: number): number {
  let [low, high] = [0, tokens.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tokens[middle]?.from ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

function depthsOf(tokens: readonly Token[]): number[] {
  let depth = 0;
  return tokens.map(token => {
    const symbol = symbolOf(token);
    if (symbol !== '' && ')]}'.includes(symbol)) depth -= 1;
    const here = depth;
    if (symbol !== '' && '([{'.includes(symbol)) depth += 1;
    return here;
  });
}
