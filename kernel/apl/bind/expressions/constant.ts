import type { Scalar } from '../../plan/plan.js';
import type { Binder } from '../binder.js';

/** Folds negated constants. */
export function fold(value: Scalar): Scalar {
  if (value.kind !== 'negate') return value;
  const operand = fold(value.operand);
  if (operand.kind !== 'constant') return value;
  if (typeof operand.value === 'bigint')
    return { ...operand, value: -operand.value > int64Max ? null : -operand.value };
  return typeof operand.value === 'number' ? { ...operand, value: -operand.value } : value;
}

export const int64Max = 2n ** 63n - 1n;

/**
 * Returns the integer, time or duration that an expression equals in every row, or undefined: literals, now(), ago(), bins and their sums.
 */
export function constantInteger(binder: Binder, bound: Scalar): bigint | undefined {
  const value = fold(bound);
  if (value.kind === 'constant') return typeof value.value === 'bigint' ? value.value : undefined;
  if (value.kind === 'convert') return constantInteger(binder, value.value);
  if (value.kind === 'binary') return evaluateSum(binder, value);
  if (value.kind !== 'call') return undefined;
  const args = value.args.map(argument => constantInteger(binder, argument));
  const { now } = binder.environment;
  const [first, second] = args;
  if (value.name === 'now') return now + (first ?? 0n);
  if (value.name === 'ago' && first !== undefined) return now - first;
  if (value.name === 'bin' && first !== undefined && second !== undefined && second > 0n)
    return first - (((first % second) + second) % second);
  return undefined;
}

function evaluateSum(binder: Binder, value: Extract<Scalar, { kind: 'binary' }>): bigint | undefined {
  const [left, right] = [constantInteger(binder, value.left), constantInteger(binder, value.right)];
  if (left === undefined || right === undefined) return undefined;
  if (value.operator === '+') return left + right;
  if (value.operator === '-') return left - right;
  return value.operator === '*' ? left * right : undefined;
}
