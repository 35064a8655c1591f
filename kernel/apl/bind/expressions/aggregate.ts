import { present } from '../../../present.js';
import type { FunctionEntry, TypeName } from '../../catalog/entry.js';
import type { AggregateCall, Column, Scalar } from '../../plan/plan.js';
import { constant, reference } from '../../plan/scalars.js';
import type { Argument, Expr } from '../../syntax/ast.js';
import { identifier, nameExpr } from '../../syntax/nodes.js';
import { fieldOf } from '../bind-names.js';
import { type AggregateSink, type Binder, convertTo } from '../binder.js';
import { bindExpression } from './bind-expression.js';
import { eventTimes, timeNote } from './bind-spotlight.js';
import { alignArguments, argumentSpans, type CallExpr, positional } from './call.js';

/** Binds an aggregate's arguments over the input, records it in the sink, and returns its column. */
export function bindAggregate(
  binder: Binder,
  expr: CallExpr,
  entry: FunctionEntry,
  sink: AggregateSink,
): Scalar {
  const bound = bindAggregateParts(binder, expr, entry, sink);
  if (bound === undefined) return constant('dynamic', null);
  const column = binder.column(aggregateName(expr, entry.name), bound.type, {
    agg: describe(expr, entry.name),
  });
  sink.found.push({ column, call: bound });
  return reference(column);
}

/** Splits the predicate off the `…if` forms and resolves types; returns undefined, with a report, if the arguments do not fit. */
export function bindAggregateParts(
  binder: Binder,
  expr: CallExpr,
  entry: FunctionEntry,
  sink: AggregateSink,
): AggregateCall | undefined {
  const exprs = argumentsOf(binder, expr, entry, sink);
  if (exprs === undefined) return undefined;
  const inside = { ...sink.input, inside: entry.name };
  const values = exprs.map(value => bindExpression(binder, value, inside));
  const aligned = alignArguments(binder, expr, entry, values);
  if (aligned === undefined) return undefined;
  if (entry.name.startsWith('percentile')) warnOfShares(binder, exprs, aligned.args);
  const at = entry.params.findIndex(param => param.name === 'predicate');
  const filter = at > 0 || entry.name === 'countif' ? aligned.args[at] : undefined;
  const args = filter === undefined ? aligned.args : aligned.args.filter((_, index) => index !== at);
  const spans = argumentSpans(expr);
  const name = filter === undefined ? entry.name : entry.name.replace(/_?if$/, '');
  const fields = entry.params.findIndex(param => param.name === 'field');
  const labels =
    fields < 0 ? undefined : exprs.slice(fields).map(value => fieldOf(value) ?? binder.text(value));
  const type = resultType(name, aligned.type, args);
  return {
    name,
    args,
    type,
    at: filter === undefined ? spans : spans.filter((_, index) => index !== at),
    ...present({
      filter: filter === undefined ? undefined : convertTo(filter, 'bool'),
      labels,
      omitted: entry.name === 'spotlight' ? starredTimes(expr, sink) : undefined,
    }),
  };
}

/** Warns about `percentile(x, 0.99)`, which probably means 99 percent. */
function warnOfShares(binder: Binder, exprs: readonly Expr[], args: readonly Scalar[]): void {
  const numbers = args.map(arg => (arg.kind === 'constant' ? Number(arg.value) : Number.NaN));
  if (numbers.slice(1).some(number => number === 0 || number >= 1)) return;
  for (const [index, expr] of exprs.entries()) {
    const share = numbers[index] ?? Number.NaN;
    if (index === 0 || !(share > 0)) continue;
    const meant = Number((share * 100).toPrecision(12));
    binder.report(
      'warning',
      'small-percentile',
      expr,
      `${binder.text(expr)} is less than one percent, close to the minimum`,
      `Write ${meant} if you mean ${meant} percent.`,
    );
  }
}

/** Aggregates whose first argument does not name the result. */
const fieldless: ReadonlySet<string> = new Set(['countif', 'presence', 'spotlight']);

/** Returns the name of an unnamed aggregate: `count_`, `avg_duration`, `percentiles_req_duration_ms`. */
export function aggregateName(expr: CallExpr, name: string): string {
  const first = expr.args[0]?.value;
  const field = first === undefined ? undefined : fieldOf(first);
  const prefix = name.startsWith('percentiles_array') ? 'percentiles' : name;
  return `${prefix}_${fieldless.has(name) || field === undefined ? '' : field}`;
}

export function describe(expr: CallExpr, name: string): NonNullable<Column['agg']> {
  const fields = expr.args.map(argument => fieldOf(argument.value)).filter(field => field !== undefined);
  const args = expr.args
    .map(argument => argument.value)
    .flatMap(value => (value.kind === 'literal' ? [literalArgument(value.value)] : []));
  return { name, args, fields };
}

function literalArgument(value: unknown): unknown {
  return typeof value === 'bigint'
    ? Number.isSafeInteger(Number(value))
      ? Number(value)
      : String(value)
    : value;
}

/**
 * Returns the arguments of a call; `*`, as in `spotlight(p, *)`, expands to every field. Returns undefined, with a report, if the aggregate
 * does not accept that many.
 */
function argumentsOf(
  binder: Binder,
  expr: CallExpr,
  { name, params, doc }: FunctionEntry,
  sink: AggregateSink,
): readonly Expr[] | undefined {
  const values = positional(binder, expr);
  const star = values.find(value => value.kind === 'star');
  if (star !== undefined && params.at(-1)?.rest !== true) {
    const [hint, instead] = params.length === 0 ? [`Write \`${name}()\`.`, ''] : [doc, undefined];
    binder.error('misplaced-star', star, `\`${name}\` does not take \`*\``, hint, instead);
    return undefined;
  }
  const named = starred(name, sink);
  // An editor does not know the fields of every dataset.
  if (star !== undefined && named.length === 0 && sink.input.open) return undefined;
  return values.flatMap(value =>
    value.kind === 'star' ? named.map(column => fieldName(column, value)) : [value],
  );
}

/** Returns the fields that `*` expands to: for a `spotlight`, those other than the event's times, if any. */
function starred(name: string, { input: { columns } }: AggregateSink): readonly Column[] {
  const others = name === 'spotlight' ? columns.filter(each => !eventTimes.includes(each.name)) : columns;
  return others.length > 0 ? others : columns;
}

/** Returns the times that `*` leaves out of a `spotlight`. */
function starredTimes(expr: CallExpr, sink: AggregateSink): NonNullable<AggregateCall['omitted']> {
  if (!expr.args.some(argument => argument.value.kind === 'star')) return [];
  const named = starred('spotlight', sink);
  const times = sink.input.columns.filter(column => !named.includes(column));
  return times.map(({ name }) => ({ name, note: timeNote }));
}

/** Returns the arguments of arg_max and arg_min, with `*` expanded to every field, and the name of each result. */
export function expandFields(
  args: readonly Argument[],
  sink: AggregateSink,
): { name: string | undefined; value: Expr }[] {
  return args.flatMap((argument): { name: string | undefined; value: Expr }[] => {
    if (argument.value.kind === 'star')
      return sink.input.columns.map(column => ({
        name: column.name,
        value: fieldName(column, argument.value),
      }));
    return [{ name: argument.name?.name ?? fieldOf(argument.value), value: argument.value }];
  });
}

function fieldName(column: Column, at: Expr): Expr {
  return nameExpr(identifier(column.name, true, at));
}

/** Returns the type of a result: the mean of durations is a duration, and so on; counts and lists have their own types. */
function resultType(name: string, declared: TypeName, args: readonly Scalar[]): TypeName {
  if (name === 'topk') return 'dynamic';
  const first = args[0]?.type;
  if (first === 'timespan' && ['avg', 'percentile', 'stdev'].includes(name)) return 'timespan';
  return declared;
}
