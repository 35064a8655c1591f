import type { Column, Scalar } from '../../plan/plan.js';
import { call, condition, constant, joined, reference } from '../../plan/scalars.js';
import type { BinaryOperator } from '../../syntax/ast.js';
import { convertTo } from '../binder.js';

/** `* has "x"`: any field. Fields that hold no text are read as text, times are left out. */
export function anyField(operator: BinaryOperator, columns: readonly Column[], text: Scalar): Scalar {
  if (termOperator.test(operator)) return condition(operator, textOfFields(columns), text);
  const negated = operator.startsWith('!');
  const tests = textsOf(columns).map(value => condition(operator, value, text));
  return joined(negated ? 'and' : 'or', tests) ?? constant('bool', negated);
}

/**
 * The texts of all fields but times and durations, as one: a term lies in none but one of them, and a pattern for each field would
 * take the engine seconds to plan.
 */
export function textOfFields(columns: readonly Column[]): Scalar {
  const texts = textsOf(columns);
  return texts.length === 0 ? constant('string', '') : call('$joined_text', texts, 'string');
}

/** `has` and its relatives. */
const termOperator = /^!?has/;

function textsOf(columns: readonly Column[]): Scalar[] {
  return columns
    .filter(({ type, name }) => type !== 'datetime' && type !== 'timespan' && !name.startsWith('$'))
    .map(column => convertTo(reference(column), 'string'));
}
