import { present } from '../../present.js';
import type { TypeName } from '../catalog/entry.js';
import type { BinaryOperator, Span } from '../syntax/ast.js';
import type { LiteralValues } from '../syntax/nodes.js';
import type { Column, Scalar } from './plan.js';

/** Constant values by type: times and durations as nanoseconds, dynamic values as JSON text. */
interface ConstantValues extends Omit<LiteralValues, 'dynamic'> {
  readonly dynamic: string;
}

type ScalarOf<K extends Scalar['kind']> = Extract<Scalar, { readonly kind: K }>;

export function constant<T extends TypeName>(type: T, value: ConstantValues[T] | null): ScalarOf<'constant'> {
  return { kind: 'constant', type, value };
}

/** Returns a reference to a column's value in each row. */
export function reference({ id, type }: Pick<Column, 'id' | 'type'>): ScalarOf<'column'> {
  return { kind: 'column', id, type };
}

/** Returns a call to a catalog function; `at` holds the spans of its arguments in the query. */
export function call(
  name: string,
  args: readonly Scalar[],
  type: TypeName,
  at?: readonly Span[],
): ScalarOf<'call'> {
  return { kind: 'call', name, args, type, ...present({ at }) };
}

/** Returns a computation with two operands; `at` holds their spans in the query. */
export function binary(
  operator: BinaryOperator,
  left: Scalar,
  right: Scalar,
  type: TypeName,
  at?: readonly Span[],
): ScalarOf<'binary'> {
  return { kind: 'binary', operator, left, right, type, ...present({ at }) };
}

/** Returns a comparison, a string test, or two conditions joined. */
export function condition(
  operator: BinaryOperator,
  left: Scalar,
  right: Scalar,
  at?: readonly Span[],
): ScalarOf<'binary'> {
  return binary(operator, left, right, 'bool', at);
}

export function not(operand: Scalar): ScalarOf<'not' | 'negate'> {
  return { kind: 'not', operand, type: 'bool' };
}

/** Returns the conditions that a predicate joins by `and`. */
export function conditionsOf(predicate: Scalar): readonly Scalar[] {
  if (predicate.kind !== 'binary' || predicate.operator !== 'and') return [predicate];
  return [predicate.left, predicate.right].flatMap(conditionsOf);
}

/** Returns the conditions joined, or undefined if there are none. */
export function joined(operator: 'and' | 'or', conditions: readonly Scalar[]): Scalar | undefined {
  return conditions.reduceRight<Scalar | undefined>(
    (rest, each) => (rest === undefined ? each : condition(operator, each, rest)),
    undefined,
  );
}

/** Returns a property or an element of a dynamic value. */
export function path(object: Scalar, key: Scalar): ScalarOf<'path'> {
  return { kind: 'path', object, key, type: 'dynamic' };
}
