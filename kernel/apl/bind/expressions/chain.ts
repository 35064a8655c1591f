import type { Scalar } from '../../plan/plan.js';
import { condition } from '../../plan/scalars.js';

/** A field that is compared with a constant. */
interface Test {
  readonly column: Extract<Scalar, { kind: 'column' }>;
  readonly value: Scalar;
}

/** From so many tests on they become a list, in which an engine looks a value up instead of comparing it with each. */
const fewest = 16;

/** Joins two conditions by `or`; a run of `field == constant` becomes `field in (…)`. */
export function either(left: Scalar, right: Scalar): Scalar {
  return joinTests('or', left, right);
}

/** Joins two conditions by `and`; a run of `field != constant` becomes `field !in (…)`. */
export function both(left: Scalar, right: Scalar): Scalar {
  return joinTests('and', left, right);
}

function joinTests(word: 'or' | 'and', left: Scalar, right: Scalar): Scalar {
  const last = testOf(word, right);
  if (last === undefined) return condition(word, left, right);
  const above = left.kind === 'binary' && left.operator === word ? left : undefined;
  const list = listOf(word, above === undefined ? left : above.right, last);
  if (list !== undefined) {
    const longer: Scalar = { ...list, items: [...list.items, last.value] };
    return above === undefined ? longer : condition(word, above.left, longer);
  }
  const run = runOf(word, left, last.column.id);
  if (run.values.length + 1 < fewest) return condition(word, left, right);
  const items = [...run.values, last.value];
  const made: Scalar = { kind: 'in', operator: listWords[word], left: last.column, items, type: 'bool' };
  return run.rest === undefined ? made : condition(word, run.rest, made);
}

/** The values of the tests of one field with which a condition ends, at most as many as a list needs, and what is before them. */
function runOf(word: 'or' | 'and', whole: Scalar, column: number) {
  const values: Scalar[] = [];
  let rest: Scalar | undefined = whole;
  while (rest !== undefined && values.length < fewest - 1) {
    const joint: Extract<Scalar, { kind: 'binary' }> | undefined =
      rest.kind === 'binary' && rest.operator === word ? rest : undefined;
    const test = testOf(word, joint?.right ?? rest);
    if (test?.column.id !== column) break;
    values.unshift(test.value);
    rest = joint?.left;
  }
  return { values, rest };
}

const listWords = { or: 'in', and: '!in' } as const;

/** The list that a run of tests of the same field has become. */
function listOf(
  word: 'or' | 'and',
  scalar: Scalar,
  { column }: Test,
): Extract<Scalar, { kind: 'in' }> | undefined {
  if (scalar.kind !== 'in' || scalar.operator !== listWords[word] || scalar.subquery !== undefined)
    return undefined;
  const isOurs = scalar.left.kind === 'column' && scalar.left.id === column.id;
  return isOurs && scalar.items.every(item => item.kind === 'constant' && item.type === column.type)
    ? scalar
    : undefined;
}

/** Reals are left out, as no list holds NaN. */
function testOf(word: 'or' | 'and', scalar: Scalar): Test | undefined {
  if (scalar.kind !== 'binary' || scalar.operator !== (word === 'or' ? '==' : '!=')) return undefined;
  const { left, right } = scalar;
  if (left.kind !== 'column' || right.kind !== 'constant' || right.value === null) return undefined;
  return left.type === right.type && listed.has(left.type) ? { column: left, value: right } : undefined;
}

const listed: ReadonlySet<Scalar['type']> = new Set(['long', 'string', 'datetime', 'timespan']);
