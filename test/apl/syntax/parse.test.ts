import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Expr } from '../../../kernel/apl/syntax/ast.js';
import { parseQuery } from '../../../kernel/apl/syntax/parse.js';
import { pipeline } from '../queries.js';

/** Prints an expression with every operation in parentheses. */
function tree(expr: Expr): string {
  switch (expr.kind) {
    case 'binary':
      return `(${tree(expr.left)} ${expr.operator} ${tree(expr.right)})`;
    case 'unary':
      return `(${expr.operator} ${tree(expr.operand)})`;
    case 'paren':
      return tree(expr.inner);
    case 'name':
      return expr.name;
    case 'member':
      return `${tree(expr.object)}.${expr.member.name}`;
    case 'index':
      return `${tree(expr.object)}[${tree(expr.index)}]`;
    case 'literal':
      return String(expr.value);
    case 'call':
      return `${expr.callee.name}(${expr.args.map(({ value }) => tree(value)).join(', ')})`;
    case 'list':
      return `(${tree(expr.left)} ${expr.operator} [${expr.items.map(tree).join(', ')}])`;
    case 'between':
      return `(${tree(expr.value)} ${expr.negated ? '!' : ''}between ${tree(expr.low)}, ${tree(expr.high)})`;
    default:
      return expr.kind;
  }
}

const expressions: readonly (readonly [text: string, expected: string])[] = [
  ['a or b and c', '(a or (b and c))'],
  ['a and b or c', '((a and b) or c)'],
  ['a == 1 and b != 2', '((a == 1) and (b != 2))'],
  ['a + b * c - d', '((a + (b * c)) - d)'],
  ['a - b - c', '((a - b) - c)'],
  ['a / b % c', '((a / b) % c)'],
  ['(a + b) * c', '((a + b) * c)'],
  ['-a * b', '((- a) * b)'],
  ['- -1', '(- (- 1))'],
  ['a > b + 1', '(a > (b + 1))'],
  ['a <> b', '(a != b)'],
  ['not a and b', '((not a) and b)'],
  ['not(a) and b', '(not(a) and b)'],
  ['a.b.c', 'a.b.c'],
  ["a['b'][0].c", 'a[b][0].c'],
  ["a.['b c']", 'a.b c'],
  ["['a b'] contains 'x'", '(a b contains x)'],
  ['a in (1, 2) or b', '((a in [1, 2]) or b)'],
  ['a between (1 .. 2) and b', '((a between 1, 2) and b)'],
  ["a matches regex 'x' and b", '((a matches regex x) and b)'],
  ['f(a, g(b))', 'f(a, g(b))'],
  ['a not in (1)', '(not (a in [1]))'],
  ['a is not null', '(a != null)'],
  ['a && b || c', '((a and b) or c)'],
  ['!(a)', '(not a)'],
];

test.each(expressions)('%s', (text, expected) => {
  const { query } = parseQuery(`T | where ${text}`);
  const [statement] = query.statements;
  const operator = statement?.kind === 'query' ? statement.pipeline.operators[0] : undefined;
  expect(operator?.kind === 'where' && tree(operator.predicate)).toBe(expected);
});

describe('spans', () => {
  test('of nodes are inside their parents', () => {
    fc.assert(
      fc.property(pipeline, text => {
        const { query, diagnostics } = parseQuery(text);
        fc.pre(diagnostics.length === 0);
        expect(outside(query, { from: 0, to: text.length })).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

interface Place {
  readonly from: number;
  readonly to: number;
}

/** Returns the nodes of a tree whose span is not inside their parent's. */
function outside(node: unknown, parent: Place): unknown[] {
  if (Array.isArray(node)) return node.flatMap(item => outside(item, parent));
  if (typeof node !== 'object' || node === null) return [];
  const { from, to } = node as Partial<Place>;
  const isPlaced = from !== undefined && to !== undefined;
  const here = isPlaced && (from < parent.from || to > parent.to || from > to) ? [node] : [];
  const within = isPlaced ? { from, to } : parent;
  return [...here, ...Object.values(node).flatMap(child => outside(child, within))];
}
