import type { TypeName } from '../catalog/entry.js';
import type {
  Argument,
  BinaryOperator,
  Expr,
  Identifier,
  ListOperator,
  Pipeline,
  SearchPredicate,
  Source,
  Span,
  Subquery,
} from './ast.js';

type ExprOf<K extends Expr['kind']> = Extract<Expr, { readonly kind: K }>;

/**
 * Literal values by type: times as nanoseconds since 1970, durations as nanoseconds, dynamic values as JSON, which keeps digits that no
 * other number type holds.
 */
export interface LiteralValues {
  readonly bool: boolean;
  readonly long: bigint;
  readonly real: number;
  readonly string: string;
  readonly datetime: bigint;
  readonly timespan: bigint;
  readonly dynamic: string;
}

export function identifier(name: string, quoted: boolean, { from, to }: Span): Identifier {
  return { name, quoted, from, to };
}

/** Returns a stand-in for unreadable text, as an expression, a source or a search. */
export function missing({ from, to }: Span): ExprOf<'missing'> {
  return { kind: 'missing', from, to };
}

export function literal<T extends TypeName>(
  type: T,
  value: LiteralValues[T] | null,
  { from, to }: Span,
): Span & { readonly kind: 'literal'; readonly type: T; readonly value: LiteralValues[T] | null } {
  return { kind: 'literal', type, value, from, to };
}

export function nameExpr({ name, quoted, from, to }: Identifier): ExprOf<'name'> {
  return { kind: 'name', name, quoted, from, to };
}

export function member(object: Expr, name: Identifier, to: number): ExprOf<'member'> {
  return { kind: 'member', object, member: name, from: object.from, to };
}

export function index(object: Expr, key: Expr, to: number): ExprOf<'index'> {
  return { kind: 'index', object, index: key, from: object.from, to };
}

export function call(callee: Identifier, args: readonly Argument[], to: number): ExprOf<'call'> {
  return { kind: 'call', callee, args, from: callee.from, to };
}

/** Returns a unary expression; `from` is the start of the operator, or of the operand of a postfix one. */
export function unary(operator: ExprOf<'unary'>['operator'], operand: Expr, from: number): ExprOf<'unary'> {
  return { kind: 'unary', operator, operand, from, to: operand.to };
}

/** Returns a binary expression; `at` is the span of the operator, and a missing right side ends there. */
export function binary(operator: BinaryOperator, at: Span, left: Expr, right: Expr): ExprOf<'binary'> {
  const to = right.to > at.to ? right.to : at.to;
  return { kind: 'binary', operator, operatorSpan: spanOf(at), left, right, from: left.from, to };
}

export function list(
  operator: ListOperator,
  at: Span,
  left: Expr,
  items: readonly (Expr | Subquery)[],
  to: number,
): ExprOf<'list'> {
  return { kind: 'list', operator, operatorSpan: spanOf(at), left, items, from: left.from, to };
}

export function paren(inner: Expr, { from, to }: Span): ExprOf<'paren'> {
  return { kind: 'paren', inner, from, to };
}

export function subquery(pipeline: Pipeline): Subquery {
  return { kind: 'subquery', pipeline, from: pipeline.from, to: pipeline.to };
}

export function dataset(name: Identifier, { from, to }: Span): Extract<Source, { readonly kind: 'dataset' }> {
  return { kind: 'dataset', name, from, to };
}

/** Joins two searches. */
export function joinSearches(
  kind: 'and' | 'or',
  left: SearchPredicate,
  right: SearchPredicate,
): SearchPredicate {
  return { kind, left, right, from: left.from, to: right.to };
}

function spanOf({ from, to }: Span): Span {
  return { from, to };
}
