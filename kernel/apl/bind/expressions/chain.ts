import type { Scalar } from '../../plan/plan.js';
import { condition } from '../../plan/scalars.js';
import type { ListOperator } from '../../syntax/ast.js';

/** A value compared with a constant. */
interface Test {
  readonly value: Scalar;
  /** Equal for equal values. */
  readonly key: string;
  readonly list: ListOperator;
  readonly constant: Scalar;
}

type Word = 'or' | 'and';
type List = Extract<Scalar, { kind: 'in' }>;

/**
 * Minimum number of tests to turn into a list: of values, for which an engine does one lookup instead of a comparison with each, or of
 * terms, which it matches with one pattern, as each takes milliseconds to plan.
 */
const fewest = { value: 16, term: 4 };

function fewestOf(list: ListOperator): number {
  return list.startsWith('has') ? fewest.term : fewest.value;
}

/** Joins two conditions by `or`; a run of `field == constant` becomes `field in (…)`, one of `field has term` `field has_any (…)`. */
export function either(left: Scalar, right: Scalar): Scalar {
  return joinTests('or', left, right);
}

/** Joins two conditions by `and`; a run of `field != constant` becomes `field !in (…)`. */
export function both(left: Scalar, right: Scalar): Scalar {
  return joinTests('and', left, right);
}

function joinTests(word: Word, left: Scalar, right: Scalar): Scalar {
  const last = testOf(word, right);
  if (last === undefined) return condition(word, left, right);
  const above = left.kind === 'binary' && left.operator === word ? left : undefined;
  const nearest = above === undefined ? left : above.right;
  if (isListOf(nearest, last)) {
    const longer: Scalar = { ...nearest, items: [...nearest.items, last.constant] };
    return above === undefined ? longer : condition(word, above.left, longer);
  }
  const run = runOf(word, left, last);
  if (run.items.length + 1 < fewestOf(last.list)) return condition(word, left, right);
  const items = [...run.items, last.constant];
  const made: Scalar = { kind: 'in', operator: last.list, left: last.value, items, type: 'bool' };
  return run.rest === undefined ? made : condition(word, run.rest, made);
}

/**
 * Returns the constants of the trailing tests in a condition that are like `last`, at most as many as a list needs, and the condition
 * before them.
 */
function runOf(word: Word, whole: Scalar, last: Test) {
  const items: Scalar[] = [];
  let rest: Scalar | undefined = whole;
  while (rest !== undefined && items.length < fewestOf(last.list) - 1) {
    const joint: Extract<Scalar, { kind: 'binary' }> | undefined =
      rest.kind === 'binary' && rest.operator === word ? rest : undefined;
    const test = testOf(word, joint?.right ?? rest);
    if (test?.key !== last.key || test.list !== last.list) break;
    items.unshift(test.constant);
    rest = joint?.left;
  }
  return { items, rest };
}

/** True if a condition is the list made from a run of tests, which another test can join. */
function isListOf(scalar: Scalar, { key, list, value }: Test): scalar is List {
  if (scalar.kind !== 'in' || scalar.operator !== list || scalar.subquery !== undefined) return false;
  return keyOf(scalar.left) === key && scalar.items.every(item => item.type === value.type);
}

const lists: Readonly<Record<Word, Readonly<Partial<Record<string, ListOperator>>>>> = {
  or: { '==': 'in', '=~': 'in~', has: 'has_any', has_cs: 'has_any_cs' },
  and: { '!=': '!in', '!~': '!in~' },
};

/** Returns the test in a condition. Reals are excluded, as no list holds NaN. */
function testOf(word: Word, scalar: Scalar): Test | undefined {
  if (scalar.kind !== 'binary') return undefined;
  const { left: value, right: constant } = scalar;
  const list = lists[word][scalar.operator];
  const key = keyOf(value);
  if (list === undefined || key === undefined || !isConstant(constant)) return undefined;
  return value.type === constant.type && listed.has(value.type) ? { value, key, list, constant } : undefined;
}

/** Returns the key of a field or a property, also if read as another type or in one case. */
function keyOf(value: Scalar): string | undefined {
  switch (value.kind) {
    case 'column':
      return String(value.id);
    case 'convert':
      return keyed(value.type, value.value);
    case 'path':
      return value.key.kind === 'constant'
        ? keyed(`${value.key.type} ${JSON.stringify(String(value.key.value))}`, value.object)
        : undefined;
    case 'call': {
      const [inner, ...others] = value.args;
      return inner !== undefined && others.length === 0 && read.has(value.name)
        ? keyed(value.name, inner)
        : undefined;
    }
    default:
      return undefined;
  }
}

function keyed(how: string, inner: Scalar): string | undefined {
  const key = keyOf(inner);
  return key === undefined ? undefined : `${how} ${key}`;
}

/** Deterministic functions of one value. */
const read: ReadonlySet<string> = new Set(['tostring', 'tolower', 'toupper', 'todynamic']);

function isConstant(value: Scalar): boolean {
  return value.kind === 'convert'
    ? isConstant(value.value)
    : value.kind === 'constant' && value.value !== null;
}

const listed: ReadonlySet<Scalar['type']> = new Set(['long', 'string', 'datetime', 'timespan']);
