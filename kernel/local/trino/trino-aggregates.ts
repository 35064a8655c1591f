import type { AggregateCall } from '../../apl/plan/plan.js';
import type { AggregateParts, Dialect } from '../sql/dialect.js';
import { type SqlArg, sqlArg, squareable, TemplateError } from '../sql/sql-template.js';
import { standard } from '../sql/standard.js';
import { arrayOf, element, literal, notHere, sqlTypes, withoutNaN } from './trino-values.js';

const maxListLength = 1_048_576;
const defaultSetLength = 128;

type Template = (parts: AggregateParts<readonly [SqlArg, ...SqlArg[]]>) => string;

/** Whether distinct counts and percentiles may be estimated, at a fraction of the time. */
export interface Estimates {
  readonly approximate: boolean;
}

/** Returns the aggregates of a deployment. NaN is skipped like null. */
export function aggregateSql({ approximate }: Estimates): Dialect['aggregate'] {
  return parts => {
    const { name } = parts.call;
    const args = parts.args.map((arg, index) =>
      name === 'take_first' || (name.startsWith('arg_m') && index === 0)
        ? arg
        : { ...arg, sql: withoutNaN(arg), mayBeNaN: false },
    );
    const [first, ...rest] = args;
    if (first === undefined) return standard.aggregate(parts);
    const template = (approximate ? estimates[name] : undefined) ?? templates[name];
    return template === undefined ? notHere(`\`${name}\``) : template({ ...parts, args: [first, ...rest] });
  };
}

const templates: Readonly<Record<string, Template>> = {
  count: ({ filter }) => `count(*)${where(filter)}`,
  $values: ({ args, filter }) => `count(${args[0].sql})${where(filter)}`,
  dcount: ({ args, filter }) => `count(DISTINCT ${unfolded(args[0].sql)})${where(filter)}`,
  sum: ({ args, filter }) =>
    args[0].type === 'real'
      ? `coalesce(sum(${args[0].sql})${where(filter)}, 0)`
      : exactSum(args[0].sql, filter),
  avg: ({ args, filter, call }) => asType(call, meanSql(args[0], filter)),
  min: ({ args, filter }) => extreme('min', args[0], filter),
  max: ({ args, filter }) => extreme('max', args[0], filter),
  stdev: ({ args, filter, call }) => asType(call, spread('stddev_samp', args[0], filter)),
  variance: ({ args, filter }) => spread('var_samp', args[0], filter),
  percentile: ({ args, filter, call }) =>
    asType(call, `apl_quantile(${sorted(args[0], filter)}, ${fraction(args[1])})`),
  make_list: ({ args, filter, order }) => {
    const list = `array_agg(${element(args[0])}${order})${where(filter, `${args[0].sql} IS NOT NULL`)}`;
    return arrayOf(`slice(coalesce(${list}, ARRAY[]), 1, ${atMost(args[1], maxListLength)})`);
  },
  make_set: ({ args, filter }) => {
    const list = `array_agg(DISTINCT ${args[0].sql})${where(filter, `${args[0].sql} IS NOT NULL`)}`;
    const set = `slice(array_sort(coalesce(${list}, CAST(ARRAY[] AS array(${sqlTypes[args[0].type]})))), 1, ${atMost(args[1], defaultSetLength)})`;
    return arrayOf(`transform(${set}, e -> ${element(sqlArg('e', args[0].type))})`);
  },
  arg_max: ({ args, filter }) => rowOf('max_by', args, filter),
  arg_min: ({ args, filter }) => rowOf('min_by', args, filter),
  // All aggregates of a group see its rows in one order, so these come from the same row.
  take_first: ({ args }) => `element_at(array_agg(${args[0].sql}), 1)`,
  take_any: ({ args, filter }) => `any_value(${args[0].sql})${where(filter)}`,
};

const estimates: Readonly<Record<string, Template>> = {
  dcount: ({ args, filter }) => `approx_distinct(${args[0].sql})${where(filter)}`,
  percentile: ({ args, filter, call }) =>
    asType(call, `approx_percentile(CAST(${args[0].sql} AS double), ${fraction(args[1])})${where(filter)}`),
};

/** Aggregates over the aggregates of bins; see `totals.ts`. */
export const merge: Dialect['merge'] = {
  ...standard.merge,
  extreme: (name, own) => extreme(name, own, undefined),
  any: own => `any_value(${own})`,
  scaled: (own, factor) => `sum(${own}) * ${literal('real', factor)}`,
  mean: (own, count, sum) => {
    const over = (total: string): string =>
      `CAST(sum(${total}) AS double) / nullif(CAST(sum(${count}) AS double), 0)`;
    return sum === undefined
      ? over(`${own} * ${count}`)
      : `apl_real_long(${over(`CAST(${sum} AS decimal(38, 0))`)})`;
  },
  rowOf: (name, own, by) => `${name === 'arg_max' ? 'max_by' : 'min_by'}(${own}, ${by.sql})`,
};

/** Returns ` FILTER (WHERE …)` with the given conditions, or nothing. */
function where(...conditions: readonly (string | undefined)[]): string {
  const all = conditions.filter(condition => condition !== undefined);
  return all.length === 0 ? '' : ` FILTER (WHERE ${all.join(' AND ')})`;
}

/**
 * Returns a value that Trino does not recognize as constant: next to other aggregates, it would count the rows for a constant, distinct or
 * not.
 */
function unfolded(value: string): string {
  return `CASE WHEN random() >= 0 THEN ${value} END`;
}

/** Sums beyond 64 bits are null, and a sum over no rows is 0. */
function exactSum(value: string, filter: string | undefined): string {
  return `TRY_CAST(coalesce(sum(CAST(${value} AS decimal(38, 0)))${where(filter)}, DECIMAL '0') AS bigint)`;
}

/** The sum of integers is exact before the division. */
function meanSql(arg: SqlArg, filter: string | undefined): string {
  if (arg.type === 'real') return `avg(${arg.sql})${where(filter)}`;
  const sum = `CAST(sum(CAST(${arg.sql} AS decimal(38, 0)))${where(filter)} AS double)`;
  return `${sum} / nullif(CAST(count(${arg.sql})${where(filter)} AS double), 0)`;
}

function extreme(name: 'min' | 'max', arg: SqlArg, filter: string | undefined): string {
  if (arg.type === 'dynamic') return notHere(`\`${name}\` of dynamic values`);
  return `${name}(${arg.sql})${where(filter)}`;
}

/** Infinities are skipped, and a deviation whose squares would not fit a real is null. */
function spread(name: string, arg: SqlArg, filter: string | undefined): string {
  const x =
    arg.type === 'real'
      ? `CASE WHEN is_finite(${arg.sql}) THEN ${arg.sql} END`
      : `CAST(${arg.sql} AS double)`;
  const rows = where(filter);
  if (arg.type !== 'real') return `${name}(${x})${rows}`;
  return `CASE WHEN coalesce(max(abs(${x}))${rows} < ${literal('real', squareable)}, true) THEN ${name}(${x})${rows} END`;
}

function sorted(arg: SqlArg, filter: string | undefined): string {
  const x = `CAST(${arg.sql} AS double)`;
  return `array_agg(${x} ORDER BY ${x})${where(filter, `${arg.sql} IS NOT NULL`)}`;
}

function rowOf(name: string, [value, by]: readonly SqlArg[], filter: string | undefined): string {
  if (value === undefined || by === undefined || by.type === 'dynamic')
    return notHere('`arg_max` or `arg_min` of dynamic values');
  return `${name}(${value.sql}, ${by.sql})${where(filter)}`;
}

/** The mean of durations is also a duration. */
function asType(call: AggregateCall, sql: string): string {
  return call.type === 'timespan' ? `apl_real_long(${sql})` : sql;
}

/** Converts a percentage to a fraction between 0 and 1. */
function fraction(arg: SqlArg | undefined): string {
  const percentage = Number(arg?.constant ?? 50);
  if (percentage >= 0 && percentage <= 100) return literal('real', percentage / 100);
  throw new TemplateError(`a percentile must be between 0 and 100, not ${percentage}`, 1);
}

function atMost(limit: SqlArg | undefined, fallback: number): string {
  const { constant } = limit ?? {};
  if (typeof constant !== 'bigint') return String(fallback);
  return String(constant < 0n ? 0n : constant > BigInt(maxListLength) ? maxListLength : constant);
}
