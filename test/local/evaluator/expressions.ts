import { type FunctionRow, functionRows } from './functions.js';
import {
  Dynamic,
  fitted,
  type Json,
  jsonCell,
  literal,
  numberOf,
  type Type,
  timeText,
  type Value,
} from './values.js';

export interface Column {
  readonly name: string;
  readonly type: Type;
}

/** An expression: its source, and its value for a row. */
export interface Expression {
  readonly text: string;
  readonly type: Type;
  readonly value: (row: readonly Value[]) => Value;
}

/** A source of choices and values; the same draws give the same expression. */
export interface Draw {
  readonly pick: <T>(choices: readonly T[]) => T;
  readonly value: (type: Type) => Value;
}

/** Draws an expression of a type over the columns of a table, with at most `depth` nested calls. */
export function expression(draw: Draw, columns: readonly Column[], type: Type, depth: number): Expression {
  const makers = depth === 0 ? [leaf] : [leaf, ...makersOf[type], called, conditional, firstPresent];
  return draw.pick(makers)(draw, columns, type, depth);
}

type Maker = (draw: Draw, columns: readonly Column[], type: Type, depth: number) => Expression;

const makersOf: Readonly<Record<Type, readonly Maker[]>> = {
  long: [integerArithmetic, integerArithmetic, strlen, asLong, binned],
  real: [realArithmetic, realArithmetic, asReal],
  string: [concatenation],
  bool: [comparison, comparison, looseComparison, logic, negation, nullTest, membership, between],
  datetime: [shiftedTime],
  timespan: [timeDifference, durationSum],
  dynamic: [],
};

/** Draws a call of a function that returns this type. */
function called(draw: Draw, columns: readonly Column[], type: Type, depth: number): Expression {
  const names = Object.keys(functionRows).filter(name => functionRows[name]?.type === type);
  if (names.length === 0) return leaf(draw, columns, type);
  const name = draw.pick(names);
  const { args, compute, ofNulls } = functionRows[name] as FunctionRow;
  const operands = args.map(arg =>
    typeof arg === 'string' ? notNullConstant(draw, columns, arg, depth - 1) : numeral(draw.pick(arg)),
  );
  return {
    text: `${name}(${operands.map(({ text }) => text).join(', ')})`,
    type,
    value: row => {
      const values = operands.map(({ value }) => value(row));
      return ofNulls !== true && values.includes(null) ? null : compute(...(values as never[]));
    },
  };
}

function numeral(text: string): Expression {
  return { text, type: 'long', value: () => BigInt(text) };
}

function leaf(draw: Draw, columns: readonly Column[], type: Type): Expression {
  const fitting = columns.flatMap((column, index) => (column.type === type ? [{ column, index }] : []));
  const constant = fitting.length === 0 || draw.pick([true, false, false, false]);
  if (!constant) {
    const { column, index } = draw.pick(fitting);
    return { text: column.name, type, value: row => row[index] ?? null };
  }
  const value = draw.value(type);
  return { text: literal(value, type), type, value: () => value };
}

function binary(
  draw: Draw,
  columns: readonly Column[],
  depth: number,
  types: readonly [Type, Type],
): readonly [Expression, Expression] {
  return [expression(draw, columns, types[0], depth - 1), expression(draw, columns, types[1], depth - 1)];
}

/** Computes null if an operand is null. */
function strict<A extends Value, B extends Value>(
  left: Expression,
  right: Expression,
  compute: (a: A, b: B) => Value,
): (row: readonly Value[]) => Value {
  return row => {
    const [a, b] = [left.value(row), right.value(row)];
    return a === null || b === null ? null : compute(a as A, b as B);
  };
}

const integerOperators: Readonly<Record<string, (a: bigint, b: bigint) => bigint | null>> = {
  '+': (a, b) => fitted(a + b),
  '-': (a, b) => fitted(a - b),
  '*': (a, b) => fitted(a * b),
  '/': (a, b) => (b === 0n ? null : fitted(a / b)),
  '%': (a, b) => (b === 0n ? null : a % b),
};

function integerArithmetic(draw: Draw, columns: readonly Column[], _: Type, depth: number): Expression {
  const operator = draw.pick(Object.keys(integerOperators));
  const [left, right] = binary(draw, columns, depth, ['long', 'long']);
  const compute = integerOperators[operator] ?? (() => null);
  return {
    text: `(${left.text} ${operator} ${right.text})`,
    type: 'long',
    value: strict<bigint, bigint>(left, right, compute),
  };
}

const realOperators: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
};

/** Draws arithmetic in which one operand may be an integer. */
function realArithmetic(draw: Draw, columns: readonly Column[], _: Type, depth: number): Expression {
  const operator = draw.pick(Object.keys(realOperators));
  const types = draw.pick<readonly [Type, Type]>([
    ['real', 'real'],
    ['long', 'real'],
    ['real', 'long'],
  ]);
  const [left, right] = binary(draw, columns, depth, types);
  const compute = realOperators[operator] ?? (() => Number.NaN);
  return {
    text: `(${left.text} ${operator} ${right.text})`,
    type: 'real',
    value: strict<number | bigint, number | bigint>(left, right, (a, b) => compute(Number(a), Number(b))),
  };
}

function strlen(draw: Draw, columns: readonly Column[], _: Type, depth: number): Expression {
  const inner = expression(draw, columns, 'string', depth - 1);
  return call('strlen', inner, 'long', value =>
    value === null ? null : BigInt([...(value as string)].length),
  );
}

function call(name: string, inner: Expression, type: Type, compute: (value: Value) => Value): Expression {
  return { text: `${name}(${inner.text})`, type, value: row => compute(inner.value(row)) };
}

/** Draws `tolong` of a bool or an integer. */
function asLong(draw: Draw, columns: readonly Column[], _: Type, depth: number): Expression {
  const inner = expression(draw, columns, draw.pick<Type>(['bool', 'long']), depth - 1);
  return call('tolong', inner, 'long', value =>
    typeof value === 'boolean' ? (value ? 1n : 0n) : (value as bigint | null),
  );
}

function asReal(draw: Draw, columns: readonly Column[], _: Type, depth: number): Expression {
  const inner = expression(draw, columns, 'long', depth - 1);
  return call('todouble', inner, 'real', value => (value === null ? null : Number(value)));
}

/** A null counts as an empty string. */
function concatenation(draw: Draw, columns: readonly Column[], _: Type, depth: number): Expression {
  const [left, right] = binary(draw, columns, depth, ['string', 'string']);
  return {
    text: `strcat(${left.text}, ${right.text})`,
    type: 'string',
    value: row => `${left.value(row) ?? ''}${right.value(row) ?? ''}`,
  };
}

const comparedTypes = ['long', 'real', 'string', 'datetime', 'timespan', 'bool'] as const;

const comparisons: Readonly<Record<string, (a: Value, b: Value) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => less(a, b),
  '>': (a, b) => less(b, a),
  '<=': (a, b) => less(a, b) || a === b,
  '>=': (a, b) => less(b, a) || a === b,
};

function less(a: Value, b: Value): boolean {
  if (typeof a === 'string' && typeof b === 'string')
    return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;
  return (a as number) < (b as number);
}

/** A null equals nothing and is not less than anything; it differs from every value, but two nulls neither equal nor differ. */
function comparison(draw: Draw, columns: readonly Column[], _: Type, depth: number): Expression {
  const type = draw.pick(comparedTypes);
  const operator = draw.pick(type === 'bool' ? ['==', '!='] : Object.keys(comparisons));
  const left = notNullConstant(draw, columns, type, depth - 1);
  const right = notNullConstant(draw, columns, type, depth - 1);
  const compute = comparisons[operator] ?? (() => false);
  return {
    text: `(${left.text} ${operator} ${right.text})`,
    type: 'bool',
    value: row => {
      const [a, b] = [left.value(row), right.value(row)];
      if (a !== null && b !== null) return compute(a, b);
      return operator === '!=' && a !== b;
    },
  };
}

/** Compares a dynamic value with a number or another dynamic value: by value if both read as numbers; two other dynamic values by text. */
function looseComparison(draw: Draw, columns: readonly Column[], _: Type, depth: number): Expression {
  const operator = draw.pick(Object.keys(comparisons));
  const others = ['long', 'real', 'dynamic'] as const;
  const left = notNullConstant(draw, columns, 'dynamic', depth - 1);
  const right = notNullConstant(draw, columns, draw.pick(others), depth - 1);
  const compute = comparisons[operator] ?? (() => false);
  return {
    text: `(${left.text} ${operator} ${right.text})`,
    type: 'bool',
    value: row => {
      const [a, b] = [jsonOf(left.value(row)), jsonOf(right.value(row))];
      if (a === null || b === null) return operator === '!=' && a !== b;
      const [x, y] = [numberOf(a), numberOf(b)];
      if (x !== undefined && y !== undefined) return compute(x, y);
      if (right.type !== 'dynamic') return operator === '!=';
      return compute(textOf(a), textOf(b));
    },
  };
}

function jsonOf(value: Value): Json {
  return value instanceof Dynamic ? value.json : value;
}

export function textOf(json: Json): string {
  return typeof json === 'string' ? json : jsonCell(json);
}

/** Avoids `x == null`, which asks whether x is null and has its own test. */
function notNullConstant(draw: Draw, columns: readonly Column[], type: Type, depth: number): Expression {
  const made = expression(draw, columns, type, depth);
  if (!made.text.endsWith('(null)')) return made;
  const value = somethingOf(type);
  return { text: literal(value, type), type, value: () => value };
}

function somethingOf(type: Type): Value {
  switch (type) {
    case 'bool':
      return true;
    case 'string':
      return 'a';
    case 'real':
      return 1.5;
    case 'dynamic':
      return new Dynamic(9n);
    default:
      return 1n;
  }
}

function logic(draw: Draw, columns: readonly Column[], _: Type, depth: number): Expression {
  const operator = draw.pick(['and', 'or']);
  const [left, right] = binary(draw, columns, depth, ['bool', 'bool']);
  const decides = operator === 'or';
  return {
    text: `(${left.text} ${operator} ${right.text})`,
    type: 'bool',
    value: row => {
      const [a, b] = [left.value(row), right.value(row)];
      if (a === decides || b === decides) return decides;
      return a === null || b === null ? null : !decides;
    },
  };
}

function negation(draw: Draw, columns: readonly Column[], _: Type, depth: number): Expression {
  return call('not', expression(draw, columns, 'bool', depth - 1), 'bool', value =>
    value === null ? null : !value,
  );
}

function nullTest(draw: Draw, columns: readonly Column[], _: Type, depth: number): Expression {
  const types = [...comparedTypes, 'dynamic'] as const;
  const inner = expression(draw, columns, draw.pick(types), depth - 1);
  const [name, expected] = draw.pick([['isnull', true] as const, ['isnotnull', false] as const]);
  return call(name, inner, 'bool', value => (value === null) === expected);
}

/** A null is not in any list. */
function membership(draw: Draw, columns: readonly Column[], _: Type, depth: number): Expression {
  const inner = expression(draw, columns, 'string', depth - 1);
  const listed = draw.pick([['a', 'B'], [''], ['b', 'a', 'ä']]);
  const [operator, expected] = draw.pick([['in', true] as const, ['!in', false] as const]);
  return {
    text: `(${inner.text} ${operator} (${listed.map(each => JSON.stringify(each)).join(', ')}))`,
    type: 'bool',
    value: row => {
      const value = inner.value(row);
      return (typeof value === 'string' && listed.includes(value)) === expected;
    },
  };
}

/** A null condition counts as false. */
function conditional(draw: Draw, columns: readonly Column[], type: Type, depth: number): Expression {
  const condition = expression(draw, columns, 'bool', depth - 1);
  const [yes, no] = binary(draw, columns, depth, [type, type]);
  return {
    text: `iff(${condition.text}, ${yes.text}, ${no.text})`,
    type,
    value: row => (condition.value(row) === true ? yes.value(row) : no.value(row)),
  };
}

/** Returns the first value that is not null, nor an empty string; a NaN is not null. */
function firstPresent(draw: Draw, columns: readonly Column[], type: Type, depth: number): Expression {
  const [first, second] = binary(draw, columns, depth, [type, type]);
  return {
    text: `coalesce(${first.text}, ${second.text})`,
    type,
    value: row => {
      const [a, b] = [first.value(row), second.value(row)];
      return [a, b].find(value => value !== null && value !== '') ?? a ?? b;
    },
  };
}

/** The greatest multiple that does not exceed the value. */
function binned(draw: Draw, columns: readonly Column[], _: Type, depth: number): Expression {
  const inner = expression(draw, columns, 'long', depth - 1);
  const width = draw.pick([2n, 5n, 10n]);
  return {
    text: `bin(${inner.text}, ${width})`,
    type: 'long',
    value: row => {
      const value = inner.value(row) as bigint | null;
      return value === null ? null : fitted(value - (((value % width) + width) % width));
    },
  };
}

/** A null is not between any bounds. */
function between(draw: Draw, columns: readonly Column[], _: Type, depth: number): Expression {
  const type = draw.pick(['long', 'real', 'datetime', 'timespan'] as const);
  const [value, low, high] = [1, 2, 3].map(() => notNullConstant(draw, columns, type, depth - 1)) as [
    Expression,
    Expression,
    Expression,
  ];
  const [operator, expected] = draw.pick([['between', true] as const, ['!between', false] as const]);
  return {
    text: `(${value.text} ${operator} (${low.text} .. ${high.text}))`,
    type: 'bool',
    value: row => {
      const [a, b, c] = [value.value(row), low.value(row), high.value(row)];
      const inside =
        a !== null && b !== null && c !== null && !less(a, b) && !less(c, a) && isNumber(a, b, c);
      return inside === expected;
    },
  };
}

function isNumber(...values: readonly Value[]): boolean {
  return values.every(value => !Number.isNaN(value));
}

/** Range of `datetime`: 1677-09-22T00:00:00Z to 2262-04-11T23:47:16.854775806Z. */
export const times = { least: -9_223_286_400_000_000_000n, greatest: 2n ** 63n - 2n };

function shiftedTime(draw: Draw, columns: readonly Column[], _: Type, depth: number): Expression {
  const [time, duration] = binary(draw, columns, depth, ['datetime', 'timespan']);
  const operator = draw.pick(['+', '-']);
  return {
    text: `(${time.text} ${operator} ${duration.text})`,
    type: 'datetime',
    value: strict<bigint, bigint>(time, duration, (a, b) => {
      const moved = operator === '+' ? a + b : a - b;
      return moved < times.least || moved > times.greatest ? null : moved;
    }),
  };
}

function timeDifference(draw: Draw, columns: readonly Column[], _: Type, depth: number): Expression {
  const [left, right] = binary(draw, columns, depth, ['datetime', 'datetime']);
  return {
    text: `(${left.text} - ${right.text})`,
    type: 'timespan',
    value: strict<bigint, bigint>(left, right, (a, b) => fitted(a - b)),
  };
}

function durationSum(draw: Draw, columns: readonly Column[], _: Type, depth: number): Expression {
  const [left, right] = binary(draw, columns, depth, ['timespan', 'timespan']);
  const operator = draw.pick(['+', '-']);
  return {
    text: `(${left.text} ${operator} ${right.text})`,
    type: 'timespan',
    value: strict<bigint, bigint>(left, right, (a, b) => fitted(operator === '+' ? a + b : a - b)),
  };
}

/** Converts a value to dynamic, as union and join do. */
export function widened(value: Value, from: Type, to: Type): Value {
  if (value === null || from === to) return value;
  if (to === 'real') return Number(value);
  // JSON cannot represent NaN or infinity.
  if (from === 'real' && !Number.isFinite(value)) return null;
  if (from === 'datetime') return new Dynamic(timeText(value as bigint));
  return value instanceof Dynamic ? value : new Dynamic(value as string | bigint | number | boolean);
}
