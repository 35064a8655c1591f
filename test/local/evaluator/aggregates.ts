import { type Column, type Draw, expression } from './expressions.js';
import { fitted, groupKey, order, type Type, type Value } from './values.js';

/** Rows of one group, and the values of its keys. */
export interface Grouped {
  readonly key: readonly Value[];
  readonly rows: readonly (readonly Value[])[];
}

export interface Aggregate {
  readonly name: string;
  readonly text: string;
  readonly type: Type;
  readonly value: (group: Grouped) => Value;
}

/** Draws an aggregate over the columns; all except `count` ignore nulls. */
export function aggregate(draw: Draw, columns: readonly Column[], name: string): Aggregate {
  const made = draw.pick([counted, countedIf, summed, averaged, extreme, extreme, distinctCount, taken])(
    draw,
    columns,
  );
  return { ...made, name, text: `${name} = ${made.text}` };
}

type Made = Omit<Aggregate, 'name'>;

function counted(): Made {
  return { text: 'count()', type: 'long', value: ({ rows }) => BigInt(rows.length) };
}

function countedIf(draw: Draw, columns: readonly Column[]): Made {
  const condition = expression(draw, columns, 'bool', 2);
  return {
    text: `countif(${condition.text})`,
    type: 'long',
    value: ({ rows }) => BigInt(rows.filter(row => condition.value(row) === true).length),
  };
}

function summed(draw: Draw, columns: readonly Column[]): Made {
  const operand = expression(draw, columns, 'long', 1);
  return {
    text: `sum(${operand.text})`,
    type: 'long',
    value: ({ rows }) =>
      fitted(rows.reduce((sum, row) => sum + ((operand.value(row) as bigint | null) ?? 0n), 0n)),
  };
}

function averaged(draw: Draw, columns: readonly Column[]): Made {
  const operand = expression(draw, columns, 'long', 1);
  return {
    text: `avg(${operand.text})`,
    type: 'real',
    value: ({ rows }) => {
      const values = present(rows.map(operand.value)) as bigint[];
      if (values.length === 0) return null;
      return Number(values.reduce((sum, value) => sum + value, 0n)) / values.length;
    },
  };
}

/** Ignores NaN as well as nulls. */
function extreme(draw: Draw, columns: readonly Column[]): Made {
  const types = ['long', 'real', 'string', 'datetime', 'timespan', 'dynamic'] as const;
  const operand = expression(draw, columns, draw.pick(types), 1);
  const [name, sign] = draw.pick([['max', 1] as const, ['min', -1] as const]);
  const condition = draw.pick([true, false, false]) ? expression(draw, columns, 'bool', 1) : undefined;
  return {
    text:
      condition === undefined ? `${name}(${operand.text})` : `${name}if(${operand.text}, ${condition.text})`,
    type: operand.type,
    value: ({ rows }) => {
      const counted = rows.filter(row => condition === undefined || condition.value(row) === true);
      const values = present(counted.map(operand.value)).filter(value => !Number.isNaN(value));
      return values.toSorted((a, b) => sign * order(b, a))[0] ?? null;
    },
  };
}

function distinctCount(draw: Draw, columns: readonly Column[]): Made {
  const operand = expression(draw, columns, draw.pick(['long', 'string', 'bool', 'datetime'] as const), 1);
  return {
    text: `dcount(${operand.text})`,
    type: 'long',
    value: ({ rows }) => BigInt(new Set(present(rows.map(operand.value)).map(each => groupKey([each]))).size),
  };
}

function taken(draw: Draw, columns: readonly Column[]): Made {
  const operand = expression(draw, columns, 'long', 1);
  const condition = expression(draw, columns, 'bool', 1);
  return {
    text: `sumif(${operand.text}, ${condition.text})`,
    type: 'long',
    value: ({ rows }) =>
      fitted(
        rows
          .filter(row => condition.value(row) === true)
          .reduce((sum, row) => sum + ((operand.value(row) as bigint | null) ?? 0n), 0n),
      ),
  };
}

function present(values: readonly Value[]): Value[] {
  return values.filter(value => value !== null);
}
