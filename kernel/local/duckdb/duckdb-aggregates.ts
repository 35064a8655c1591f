import type { aggregates } from '../../apl/catalog/aggregates.js';
import type { internalAggregates } from '../../apl/catalog/catalog-internal.js';
import type { AggregateCall, Scalar } from '../../apl/plan/plan.js';
import type { AggregateParts, Dialect } from '../sql/dialect.js';
import { type ArgsOf, type SqlArg, sqlArg, sqlOr, squareable, TemplateError } from '../sql/sql-template.js';
import { failing, longestValue } from './bounds/lengths.js';
import { computeHeavyFirst } from './duckdb-arguments.js';
import { withoutNaN } from './duckdb-expressions.js';
import { sqlText } from './duckdb-literal.js';
import { convert, memberOf, toDynamic } from './functions/duckdb-conversion.js';

type AggregateTemplate<Args extends readonly unknown[]> = (parts: AggregateParts<Args>) => string;

const maxListLength = 1_048_576;
const defaultSetLength = 128;

/** Returns an aggregate as SQL. NaN is skipped like null. */
export function aggregateSql(parts: AggregateParts): string {
  const { name } = parts.call;
  if (!Object.hasOwn(templates, name)) throw new RangeError(`no SQL for the aggregate ${name}`);
  const template = templates[name as keyof Templates] as AggregateTemplate<readonly SqlArg[]>;
  const args = parts.args.map((arg, index) =>
    keepsNaN(name, index) ? arg : { ...arg, sql: withoutNaN(arg), mayBeNaN: false },
  );
  return template({ ...parts, args });
}

/** Returns whether an argument is passed on unchanged. */
function keepsNaN(name: string, index: number): boolean {
  return (
    name === 'take_first' ||
    name === 'presence' ||
    ((name === 'stdev' || name === 'variance') && index === 0) ||
    ((name === 'arg_max' || name === 'arg_min') && index === 0)
  );
}

type Internal = (typeof internalAggregates)[number];
/** The `…if` aggregates are omitted: they become the plain aggregate with the predicate as its filter. */
type Plain = Exclude<
  (typeof aggregates)[number],
  // A separate query; see `duckdb-spotlight.ts`.
  { readonly name: `${string}if` | Internal['name'] | 'spotlight' }
>;
type Templates = {
  readonly [Entry in Plain | Internal as Entry['name']]: AggregateTemplate<ArgsOf<Entry['params']>>;
};

const templates: Templates = {
  // A filter would copy the matching rows. Without any rows, this count is null.
  count: ({ filter }) => (filter === undefined ? 'count(*)' : `coalesce(count_if(${filter}), 0)::BIGINT`),
  $values: ({ args, filter }) => `count(${args[0].sql})${where(filter)}`,
  dcount: ({ args, filter }) => `count(DISTINCT ${args[0].sql})${where(filter)}`,
  sum: sumSql,
  avg: ({ args, filter, call }) => asType(call, `avg(${args[0].sql})${where(filter)}`),
  min: ({ args, filter }) => extremeSql('min', args[0], filter),
  max: ({ args, filter }) => extremeSql('max', args[0], filter),
  stdev: ({ args, filter, call }) => asType(call, spreadSql('stddev_samp', args[0], filter)),
  variance: ({ args, filter }) => spreadSql('var_samp', args[0], filter),
  percentile: percentileSql,
  percentiles_array: percentilesSql,
  make_list: ({ args, filter, order, call }) =>
    bounded(
      call.name,
      { value: args[0], rows: where(filter, notNull(args[0])) },
      cut(`list(${memberOf(args[0])}${order})${where(filter, notNull(args[0]))}`, args[1], maxListLength),
    ),
  make_set: ({ args, filter, call }) =>
    bounded(
      call.name,
      { value: args[0], rows: where(filter, notNull(args[0])) },
      cut(
        `list_sort(list(DISTINCT ${setValue(args[0])})${where(filter, notNull(args[0]))})`,
        args[1],
        filter === undefined ? defaultSetLength : maxListLength,
        args[0],
      ),
    ),
  rate: ({ args, filter }) =>
    `(coalesce(sum(${args[0].sql})${where(filter)}, 0)::DOUBLE / ${sqlOr(args[1], '1')})`,
  arg_max: ({ args, filter }) => `arg_max_null(${args[0].sql}, ${sortKey(args[1])})${where(filter)}`,
  arg_min: ({ args, filter }) => `arg_min_null(${args[0].sql}, ${sortKey(args[1])})${where(filter)}`,
  take_first: ({ args }) => `first(${args[0].sql})`,
  take_any: ({ args, filter }) => `any_value(${args[0].sql})${where(filter)}`,
  topk: topkSql,
  histogram: histogramSql,
  presence: presenceSql,
  phrases: ({ args, filter }) =>
    `apl_phrases(to_json(histogram(${args[0].sql})${where(filter)})::VARCHAR, ${sqlOr(args[1], '10')})::JSON`,
};

/** Aggregates over the aggregates of bins; see `totals.ts`. */
export const merge: Dialect['merge'] = {
  count: own => `coalesce(sum(${own}), 0)::BIGINT`,
  // A bin's sum beyond 64 bits is null, which makes the sum of its group null too.
  sum: (own, type) =>
    type === 'real'
      ? `sum(${own})`
      : `TRY_CAST(CASE WHEN count(*) = count(${own}) THEN sum(${own}) END AS BIGINT)`,
  extreme: (name, own) => extremeSql(name, own, undefined),
  any: own => `any_value(${own})`,
  scaled: (own, factor) => `sum(${own}) * ${factor}::DOUBLE`,
  mean: (own, count, sum) => {
    const over = (total: string): string => `sum(${total})::DOUBLE / nullif(sum(${count}), 0)::DOUBLE`;
    return sum === undefined ? over(`${own} * ${count}`) : `apl_real_long(${over(sum)})`;
  },
  rowOf: (name, own, by) => `${name}_null(${own}, ${sortKey(by)})`,
};

/** Returns ` FILTER (WHERE …)` with the given conditions, or nothing. */
function where(...conditions: readonly (string | undefined)[]): string {
  const all = conditions.filter(condition => condition !== undefined);
  return all.length === 0 ? '' : ` FILTER (WHERE ${all.join(' AND ')})`;
}

/** Returns a map from each field to the number of rows with a value; a repeated field counts once. */
function presenceSql({ args, filter, call }: AggregateParts): string {
  const fields = new Map(args.map((arg, index) => [call.labels?.[index] ?? '', arg]));
  const counts = [...fields].map(([name, { sql }]) => `${sqlText(name)}, count(${sql})${where(filter)}`);
  return `json_object(${counts.join(', ')})`;
}

/** Returns the smallest or largest value. Dynamic values follow sort order: those that read as numbers first, by value. */
function extremeSql(name: 'min' | 'max', arg: SqlArg, filter: string | undefined): string {
  // The engine does not track memory of the plain form for strings, and never frees it if the query is interrupted.
  if (arg.type === 'string') return `(${name}(${arg.sql}, 1)${where(filter)})[1]`;
  if (arg.type !== 'dynamic') return `${name}(${arg.sql})${where(filter)}`;
  return `apl_key_value(${name}(${sortKey(arg)}, 1)${where(filter)}[1])`;
}

/** Returns the sort key of a value. Dynamic values sort by whether they read as numbers, then by number, then as strings. */
function sortKey(arg: SqlArg): string {
  if (arg.type !== 'dynamic') return arg.sql;
  return computeHeavyFirst(
    [arg],
    ([value = arg]) => `apl_number_key(${convert(value, 'real')}, ${value.sql})`,
  );
}

/**
 * Returns a standard deviation or variance, null if a square would not fit a real. Infinities and NaN are skipped. The engine fails on such
 * squares, but the covariance of the values with themselves is the same number at the cost of one aggregate.
 */
function spreadSql(
  name: 'stddev_samp' | 'var_samp',
  { sql, type, mayBeNaN, constant }: SqlArg,
  filter: string | undefined,
): string {
  if (type !== 'real') return `${name}(${sql}::DOUBLE)${where(filter)}`;
  const edge = `${sqlText(String(squareable))}::DOUBLE`;
  const isBounded = mayBeNaN === false && constant === undefined;
  const value = isBounded
    ? sql
    : `CASE WHEN ${sql} > -${edge} AND ${sql} < ${edge} THEN ${sql} WHEN isfinite(${sql}) THEN ${infinite} END`;
  const spread = `covar_samp(${value}, ${value})${where(filter)}`;
  return `CASE WHEN isfinite(${spread}) THEN ${name === 'stddev_samp' ? `sqrt(${spread})` : spread} END`;
}

/** Its distance to anything is undefined, which makes the covariance NaN. */
const infinite = "'Infinity'::DOUBLE";

/** Sums beyond 64 bits are null, and a sum over no rows is 0, as in Go and Kusto. */
function sumSql({ args, filter }: AggregateParts<readonly [SqlArg]>): string {
  const sum = `sum(${args[0].sql})${where(filter)}`;
  return args[0].type === 'real' ? `coalesce(${sum}, 0)` : `TRY_CAST(coalesce(${sum}, 0) AS BIGINT)`;
}

/** The mean of durations is also a duration. */
function asType(call: AggregateCall, sql: string): string {
  return call.type === 'timespan' ? `apl_real_long(${sql})` : sql;
}

/** The engine refuses to compute a deviation over infinities. */
function finite(arg: SqlArg): string {
  const sql = `${arg.sql}::DOUBLE`;
  return arg.type === 'real' ? `CASE WHEN isfinite(${sql}) THEN ${sql} END` : sql;
}

/** Converts a percentage to a fraction between 0 and 1, as short as it was written. */
function fraction(percentage: number, argIndex: number): string {
  if (percentage >= 0 && percentage <= 100) return String(Number((percentage / 100).toPrecision(15)));
  throw new TemplateError(`a percentile must be between 0 and 100, not ${percentage}`, argIndex);
}

/**
 * Returns a percentile as an element of all percentiles of the same values: the engine keeps and sorts the values once for aggregates that
 * are written alike.
 */
function percentileSql({
  args: [value, asked],
  filter,
  call,
  percentages = [],
}: AggregateParts<readonly [SqlArg, SqlArg]>): string {
  const percentage = Number(asked.constant ?? 50);
  const own = fraction(percentage, 1);
  const all = percentages.filter(each => each >= 0 && each <= 100).map(each => fraction(each, 1));
  const isOne = all.length < 2 || all.some(each => each.length > longestFraction);
  const values = numbersOf(value);
  return asType(
    call,
    isOne
      ? `quantile_cont(${values}, ${own})${where(filter)}`
      : `quantile_cont(${values}, [${all.join(', ')}])${where(filter)}[${all.indexOf(own) + 1}]`,
  );
}

/** Length up to which fractions are the same decimals in a list with others, where they have as many digits as the longest. */
const longestFraction = 12;

/** The engine interpolates integers as doubles, and sorts them faster as they are. */
function numbersOf({ sql, type }: SqlArg): string {
  return type === 'long' || type === 'timespan' ? sql : `${sql}::DOUBLE`;
}

function percentilesSql({ args, filter, call }: AggregateParts<readonly [SqlArg, ...SqlArg[]]>): string {
  const fractions = call.args
    .slice(1)
    .flatMap((arg, index) => percentages(arg).map(value => fraction(value, index + 1)));
  const list = fractions.join(', ');
  const sql = `quantile_cont(${numbersOf(args[0])}, [${list}])${where(filter)}`;
  return args[0].type === 'timespan'
    ? `to_json(list_transform(${sql}, lambda x: apl_real_long(x)))`
    : `to_json(${sql})`;
}

/** Returns the numbers of a constant or constant array. */
function percentages(expr: Scalar): number[] {
  if (expr.kind === 'constant') return expr.value === null ? [] : [Number(expr.value)];
  if (expr.kind === 'array') return expr.items.flatMap(percentages);
  return expr.kind === 'convert' ? percentages(expr.value) : [];
}

const plainInJson: ReadonlySet<string> = new Set(['long', 'bool', 'string', 'timespan']);

/** Sets contain the values themselves, so numbers sort as numbers. */
function setValue(arg: SqlArg): string {
  return arg.type === 'dynamic' ? `${arg.sql}::VARCHAR` : arg.sql;
}

function notNull(arg: SqlArg): string {
  return `${arg.sql} IS NOT NULL`;
}

/** Returns a list as JSON that fails if too long; it is only measured if the values alone exceed the limit. */
function bounded(
  name: string,
  { value, rows }: { readonly value: SqlArg; readonly rows: string },
  json: string,
): string {
  const bytes =
    value.type === 'string' || value.type === 'dynamic' ? `strlen(${value.sql}::VARCHAR)` : `${plainBytes}`;
  const long = `strlen((${json})::VARCHAR) > ${longestValue}`;
  return failing(name, `CASE WHEN sum(${bytes})${rows} > ${longestValue} THEN ${long} ELSE false END`, json);
}

/** Upper bound on the size of a number, bool or time in an array. */
const plainBytes = 32;

/** Returns at most `limit` elements as JSON; an empty list is `[]`. */
function cut(list: string, limit: SqlArg | undefined, fallback: number, element?: SqlArg): string {
  const sliced = `coalesce((${list})[1:${atMost(limit, fallback)}], [])`;
  if (element === undefined || plainInJson.has(element.type)) return `to_json(${sliced})`;
  const converted = element.type === 'dynamic' ? 'x::JSON' : toDynamic(sqlArg('x', element.type));
  return `to_json(list_transform(${sliced}, lambda x: ${converted}))`;
}

/** Returns the maximum number of list elements with all digits, since a real may not represent them exactly. */
function atMost(limit: SqlArg | undefined, fallback: number): string {
  const { constant } = limit ?? {};
  return typeof constant !== 'bigint' ? String(fallback) : String(constant < 0n ? 0n : constant);
}

/** Returns the most frequent values, as an array of {value, count}. */
function topkSql({ args, filter, call }: AggregateParts<readonly [SqlArg, SqlArg]>): string {
  const [value, count] = args;
  const entries = `map_entries(histogram(${setValue(value)})${where(filter)})`;
  const key = value.type === 'dynamic' ? 'e.key::JSON' : 'e.key';
  const shaped = `list_transform(${entries}, lambda e: {'value': ${toDynamic(sqlArg(key, value.type))}, 'count': e.value})`;
  const ordered = `list_sort(list_transform(${shaped}, lambda x: {'count': -x.count::BIGINT, 'value': x.value}))`;
  const json = `to_json(list_transform(coalesce((${ordered})[1:${atMost(count, 10)}], []), lambda x: {'value': x.value, 'count': -x.count}))`;
  return bounded(call.name, { value, rows: where(filter) }, json);
}

/** Returns buckets of equal width between the smallest and largest values, as an array of {from, to, count}. */
function histogramSql({ args, filter }: AggregateParts<readonly [SqlArg, SqlArg]>): string {
  const [value, count] = args;
  const x = finite(value);
  const n = bucketCount(count);
  const rows = where(filter, `${x} IS NOT NULL`);
  return `apl_histogram(list(${x})${rows}, min(${x})${rows}, max(${x})${rows}, ${n})`;
}

const mostBuckets = 10_000;

/** Returns the number of buckets of a histogram. Throws TemplateError. */
export function bucketCount(count: SqlArg): string {
  const wanted = Number(count.constant ?? 10);
  if (wanted >= 1 && wanted <= mostBuckets) return String(wanted);
  throw new TemplateError(`a histogram must have 1 to ${mostBuckets} buckets, not ${wanted}`, 1);
}
