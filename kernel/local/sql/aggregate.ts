import type { AggregateCall, Bound } from '../../apl/plan/plan.js';
import { toDynamic } from '../duckdb/functions/conversion.js';
import { located, sqlString, TemplateError } from '../duckdb/literal.js';
import type { SqlArg } from '../duckdb/template.js';
import { argument, type ExpressionContext, expressionSql } from './expression.js';

const maxListLength = 1_048_576;
const defaultSetLength = 128;

/** Returns an aggregate as SQL. `order` is the ORDER BY of the rows, for aggregates whose result depends on it. */
export function aggregateSql(call: AggregateCall, context: ExpressionContext, order: string): string {
  const filter =
    call.filter === undefined ? '' : ` FILTER (WHERE ${expressionSql(call.filter, context, true)})`;
  const args = call.args.map(item => argument(item, context));
  const template = Object.hasOwn(templates, call.name) ? templates[call.name] : undefined;
  if (template === undefined) throw new RangeError(`no SQL for the aggregate ${call.name}`);
  return located(call.at, () => template({ args, filter, order, call }));
}

interface Parts {
  readonly args: readonly SqlArg[];
  /** ` FILTER (WHERE …)` or nothing. */
  readonly filter: string;
  /** ` ORDER BY …` or nothing. */
  readonly order: string;
  readonly call: AggregateCall;
}

const templates: Readonly<Record<string, (parts: Parts) => string>> = {
  count: ({ filter }) => `count(*)${filter}`,
  $values: ({ args, filter }) => `count(${first(args)})${filter}`,
  dcount: ({ args, filter }) => `count(DISTINCT ${first(args)})${filter}`,
  sum: sumSql,
  avg: ({ args, filter, call }) => asType(call, `avg(${first(args)})${filter}`),
  min: ({ args, filter }) => `min(${first(args)})${filter}`,
  max: ({ args, filter }) => `max(${first(args)})${filter}`,
  stdev: ({ args, filter, call }) => asType(call, `stddev_samp(${finite(args[0])})${filter}`),
  variance: ({ args, filter }) => `var_samp(${finite(args[0])})${filter}`,
  percentile: ({ args, filter, call }) =>
    asType(
      call,
      `quantile_cont(${first(args)}::DOUBLE, ${fraction(Number(args[1]?.constant ?? 50), 1)})${filter}`,
    ),
  percentiles_array: percentilesSql,
  make_list: ({ args, filter, order }) =>
    cut(`list(${jsonValue(args[0])}${order})${notNull(args[0], filter)}`, args[1], maxListLength),
  make_set: ({ args, filter, call }) =>
    cut(
      `list_sort(list(DISTINCT ${setValue(args[0])})${notNull(args[0], filter)})`,
      args[1],
      call.filter === undefined ? defaultSetLength : maxListLength,
      args[0],
    ),
  rate: ({ args, filter }) => `(coalesce(sum(${first(args)})${filter}, 0)::DOUBLE / ${args[1]?.sql ?? '1'})`,
  arg_max: ({ args, filter }) => `arg_max_null(${first(args)}, ${args[1]?.sql ?? 'NULL'})${filter}`,
  arg_min: ({ args, filter }) => `arg_min_null(${first(args)}, ${args[1]?.sql ?? 'NULL'})${filter}`,
  take_first: ({ args }) => `first(${first(args)})`,
  take_any: ({ args, filter }) => `any_value(${first(args)})${filter}`,
  topk: topkSql,
  histogram: histogramSql,
  phrases: ({ args, filter }) =>
    `apl_phrases(to_json(histogram(${first(args)})${filter})::VARCHAR, ${args[1]?.sql ?? '10'})::JSON`,
  spotlight: spotlightSql,
};

function first(args: readonly SqlArg[]): string {
  return args[0]?.sql ?? '*';
}

/** A sum beyond 64 bits is null, and a sum over no rows is 0 as in Go and Kusto. */
function sumSql({ args, filter }: Parts): string {
  const sum = `sum(${first(args)})${filter}`;
  return args[0]?.type === 'real' ? `coalesce(${sum}, 0)` : `TRY_CAST(coalesce(${sum}, 0) AS BIGINT)`;
}

/** The mean of durations is a duration. */
function asType(call: AggregateCall, sql: string): string {
  return call.type === 'timespan' ? `apl_real_long(${sql})` : sql;
}

/** The engine refuses to take a deviation over infinities. */
function finite(arg: SqlArg | undefined): string {
  const sql = `${arg?.sql ?? 'NULL'}::DOUBLE`;
  return arg?.type === 'real' ? `CASE WHEN isfinite(${sql}) THEN ${sql} END` : sql;
}

/** A percentage as a fraction between 0 and 1. */
function fraction(percentage: number, argIndex: number): string {
  if (percentage >= 0 && percentage <= 100) return String(percentage / 100);
  throw new TemplateError(`a percentile lies between 0 and 100, not at ${percentage}`, argIndex);
}

function percentilesSql({ args, filter, call }: Parts): string {
  const fractions = call.args
    .slice(1)
    .flatMap((arg, index) => percentages(arg).map(value => fraction(value, index + 1)));
  const list = fractions.join(', ');
  const sql = `quantile_cont(${first(args)}::DOUBLE, [${list}])${filter}`;
  return args[0]?.type === 'timespan'
    ? `to_json(list_transform(${sql}, lambda x: apl_real_long(x)))`
    : `to_json(${sql})`;
}

/** The numbers of a constant or of a constant array. */
function percentages(expr: Bound): number[] {
  if (expr.kind === 'constant') return expr.value === null ? [] : [Number(expr.value)];
  if (expr.kind === 'array') return expr.items.flatMap(percentages);
  return expr.kind === 'convert' ? percentages(expr.value) : [];
}

/** A value as an element of a JSON array. */
function jsonValue(arg: SqlArg | undefined): string {
  return arg === undefined ? 'NULL' : plainInJson.has(arg.type) ? arg.sql : toDynamic(arg);
}

const plainInJson: ReadonlySet<string> = new Set(['long', 'bool', 'string', 'timespan']);

/** Sets keep the values themselves, so that numbers sort as numbers. */
function setValue(arg: SqlArg | undefined): string {
  return arg === undefined ? 'NULL' : arg.type === 'dynamic' ? `${arg.sql}::VARCHAR` : arg.sql;
}

function notNull(arg: SqlArg | undefined, filter: string): string {
  const test = `${arg?.sql ?? 'NULL'} IS NOT NULL`;
  return filter === '' ? ` FILTER (WHERE ${test})` : filter.replace(/\)$/, ` AND ${test})`);
}

/** At most `limit` elements, as JSON; an empty list is `[]`. */
function cut(list: string, limit: SqlArg | undefined, fallback: number, element?: SqlArg): string {
  const length = Math.max(0, Number(limit?.constant ?? fallback));
  const sliced = `coalesce((${list})[1:${length}], [])`;
  if (element === undefined || plainInJson.has(element.type)) return `to_json(${sliced})`;
  const converted = element.type === 'dynamic' ? 'x::JSON' : toDynamic({ sql: 'x', type: element.type });
  return `to_json(list_transform(${sliced}, lambda x: ${converted}))`;
}

/** The most frequent values, as an array of {value, count}. */
function topkSql({ args, filter }: Parts): string {
  const [value, count] = args;
  const entries = `map_entries(histogram(${value === undefined ? 'NULL' : value.type === 'dynamic' ? `${value.sql}::VARCHAR` : value.sql})${filter})`;
  const shaped = `list_transform(${entries}, lambda e: {'value': ${value === undefined ? 'e.key' : toDynamic({ sql: 'e.key', type: value.type })}, 'count': e.value})`;
  const ordered = `list_sort(list_transform(${shaped}, lambda x: {'count': -x.count::BIGINT, 'value': x.value}))`;
  const wanted = Math.max(0, Number(count?.constant ?? 10));
  return `to_json(list_transform(coalesce((${ordered})[1:${wanted}], []), lambda x: {'value': x.value, 'count': -x.count}))`;
}

/** Buckets of equal width between the smallest and the largest value, as an array of {from, to, count}. */
function histogramSql({ args, filter }: Parts): string {
  const [value, count] = args;
  const x = finite(value);
  const n = buckets(count);
  const rows =
    filter === '' ? ` FILTER (WHERE ${x} IS NOT NULL)` : filter.replace(/\)$/, ` AND ${x} IS NOT NULL)`);
  return `apl_histogram(list(${x})${rows}, min(${x})${rows}, max(${x})${rows}, ${n})`;
}

const mostBuckets = 10_000;

function buckets(count: SqlArg | undefined): string {
  const wanted = Number(count?.constant ?? 10);
  if (wanted >= 1 && wanted <= mostBuckets) return String(wanted);
  throw new TemplateError(`a histogram has 1 to ${mostBuckets} buckets, not ${wanted}`, 1);
}

/** For each field the counts of its values, in the selected rows and in the others. */
function spotlightSql({ args, call }: Parts): string {
  const [selected, ...fields] = args;
  const names = (call.labels ?? []).slice(1);
  const counts = fields.map(field => {
    const text = field.type === 'string' ? field.sql : `(${toDynamic(field)})::VARCHAR`;
    return `{'selected': histogram(${text}) FILTER (WHERE ${selected?.sql ?? 'false'}), 'baseline': histogram(${text}) FILTER (WHERE NOT coalesce(${selected?.sql ?? 'false'}, false))}`;
  });
  const entries = counts.map(
    (sql, index) =>
      `json_object('field', ${sqlString(names[index] ?? `field${index + 1}`)}, 'counts', to_json(${sql}))`,
  );
  return `apl_spotlight(json_array(${entries.join(', ')})::VARCHAR)::JSON`;
}
