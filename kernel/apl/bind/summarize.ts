import { present } from '../../present.js';
import { aggregateNamed } from '../catalog/all-functions.js';
import type { Aggregated, Column, Computed, Scalar } from '../plan/plan.js';
import { call, constant, reference } from '../plan/scalars.js';
import type { Assignment, Expr, OperatorOf } from '../syntax/ast.js';
import { defaultName, fieldOf, givenName, inheritedName } from './bind-names.js';
import { columnFor, freshStage, keep, project, type Stage, uniqueNames } from './bind-stage.js';
import { type AggregateSink, type Binder, convertTo, scopeOf, unwrap } from './binder.js';
import { aggregateName, bindAggregateParts, describe, expandFields } from './expressions/aggregate.js';
import { bindCount, bindExpression } from './expressions/bind-expression.js';
import { withoutDeciding } from './expressions/bind-spotlight.js';
import type { CallExpr } from './expressions/call.js';
import { warnOfConstantKey } from './expressions/constants.js';

type Summarize = OperatorOf<'summarize'>;

/** Binds `summarize aggregates by keys`. */
export function bindSummarize(binder: Binder, operator: Summarize, before: Stage): Stage {
  const { keys, stage } = bindKeys(binder, operator.by, before);
  const only = operator.aggregates.length === 1 ? operator.aggregates[0] : undefined;
  const topk = only === undefined ? undefined : topkCall(only);
  if (only !== undefined && topk !== undefined)
    return finish(binder, operator, bindTopk(binder, only, topk, keys, stage), keys, []);
  const sink = sinkOver(stage, keys, operator.by);
  const beside = new Set<string>();
  const outputs = operator.aggregates.flatMap((item, index) => {
    const computed = bindAggregateItem(binder, item, index, sink, beside);
    for (const { column } of computed) beside.add(column.name);
    return computed;
  });
  const aggregates = sink.found.map(found =>
    withoutDeciding(addRate(binder, found, keys, operator.by), stage.relation),
  );
  const columns = [...keys.map(key => key.column), ...aggregates.map(found => found.column)];
  const aggregated = freshStage(
    { kind: 'aggregate', input: stage.relation, keys, aggregates, columns },
    false,
  );
  const items = [...keys.map(key => keep(key.column)), ...outputs];
  return finish(
    binder,
    operator,
    project(aggregated, items),
    keys,
    outputs.map(output => output.column),
  );
}

function sinkOver(stage: Stage, keys: readonly Computed[], by: readonly Assignment[]): AggregateSink {
  const written = keys.map(({ column }, index) => ({ column, span: by[index]?.value ?? { from: 0, to: 0 } }));
  return { input: scopeOf(stage), keys: written, found: [] };
}

/** Binds the keys; a histogram key is computed in an earlier stage, as it needs the whole column. */
export function bindKeys(
  binder: Binder,
  by: readonly Assignment[],
  stage: Stage,
): { keys: Computed[]; stage: Stage } {
  let input = stage;
  const keys = by.map((item, index): Computed => {
    const histogram = callOf(item.value, 'histogram');
    const name =
      givenName(binder, item) ??
      (histogram === undefined
        ? (inheritedName(item.value) ?? defaultName(binder, item.value, index))
        : (fieldOf(histogram.args[0]?.value ?? item.value) ?? 'histogram'));
    if (item.names.length === 0) warnOfConstantKey(binder, item.value, scopeOf(stage));
    const value =
      histogram === undefined
        ? bindExpression(binder, item.value, scopeOf(stage))
        : bindBucket(binder, histogram, stage);
    if (histogram === undefined)
      return { column: columnFor(binder, name, value, stage.relation.columns), value };
    const column = binder.column(name, value.type);
    input = project(input, [...input.relation.columns.map(keep), { column, value }]);
    return { column: { ...column, id: binder.column(name, value.type).id }, value: reference(column) };
  });
  const unique = uniqueNames(keys.map(key => key.column));
  return { keys: keys.map((key, index) => ({ ...key, column: unique[index] ?? key.column })), stage: input };
}

/** Returns the size of the time bin among the keys: nanoseconds for a time, a number otherwise. */
function bucketOf(
  binder: Binder,
  by: readonly Assignment[],
  keys: readonly Computed[],
): { column: Column; size: bigint | number } | undefined {
  for (const [index, item] of by.entries()) {
    const key = keys[index];
    if (key === undefined) continue;
    if (callOf(item.value, 'bin_auto') !== undefined)
      return { column: key.column, size: binder.environment.autoBin };
    const bin = callOf(item.value, 'bin');
    const size = bin === undefined || key.value.kind !== 'call' ? undefined : key.value.args[1];
    if (size?.kind === 'constant' && (typeof size.value === 'bigint' || typeof size.value === 'number'))
      return { column: key.column, size: size.value };
  }
  return undefined;
}

function callOf(expr: Expr, name: string): CallExpr | undefined {
  const inner = unwrap(expr);
  return inner.kind === 'call' && inner.callee.name === name ? inner : undefined;
}

/** Binds `by histogram(x, n)`: the lower end of the bucket. */
function bindBucket(binder: Binder, expr: CallExpr, stage: Stage): Scalar {
  const [value, count] = expr.args.map(argument => argument.value);
  if (value === undefined || count === undefined) {
    binder.error('argument-count', expr, `\`histogram\` takes 2 arguments, not ${expr.args.length}`);
    return constant('real', null);
  }
  const bound = convertTo(bindExpression(binder, value, scopeOf(stage)), 'real');
  return call('$histogram_bucket', [bound, bindCount(binder, count, 'the number of buckets')], 'real');
}

function bindAggregateItem(
  binder: Binder,
  item: Assignment,
  index: number,
  sink: AggregateSink,
  beside: ReadonlySet<string>,
): Computed[] {
  const inner = unwrap(item.value);
  if (inner.kind === 'call' && (inner.callee.name === 'arg_max' || inner.callee.name === 'arg_min'))
    return bindArgExtreme(binder, item, inner, sink);
  const scope = { columns: sink.keys.map(key => key.column), open: false, aggregates: sink, beside };
  const value = bindExpression(binder, item.value, scope);
  const direct = value.kind === 'column' ? sink.found.find(found => found.column.id === value.id) : undefined;
  const name = givenName(binder, item) ?? direct?.column.name ?? defaultName(binder, item.value, index);
  if (direct !== undefined) return [{ column: { ...direct.column, name }, value }];
  return [{ column: columnFor(binder, name, value, scope.columns), value }];
}

/** Binds `arg_max(e, a, b)`: the largest `e`, with `a` and `b` from its row. */
function bindArgExtreme(binder: Binder, item: Assignment, call: CallExpr, sink: AggregateSink): Computed[] {
  const [extreme, ...rest] = call.args;
  if (extreme === undefined) {
    binder.error(
      'argument-count',
      call,
      `\`${call.callee.name}\` takes an expression and the fields to return`,
      `${call.callee.name}(duration, trace_id) or ${call.callee.name}(duration, *)`,
    );
    return [];
  }
  const by = bindExpression(binder, extreme.value, sink.input);
  const star = rest.some(argument => argument.value.kind === 'star');
  const listed = expandFields(rest, sink);
  // If the fields of the table are unknown, `*` can expand to any.
  const unlisted = star && sink.input.open ? item.names.slice(listed.length + 1) : [];
  const fields = [...listed, ...unlisted.map(({ name }) => ({ name, value: extreme.value }))];
  const name =
    givenName(binder, item, 1 + fields.length) ??
    extreme.name?.name ??
    inheritedName(extreme.value) ??
    binder.written(extreme.value);
  const agg = describe(call, call.callee.name);
  const first: Aggregated = {
    column: binder.column(name, by.type, { agg }),
    call: { name: call.callee.name === 'arg_max' ? 'max' : 'min', args: [by], type: by.type },
  };
  const others = fields.map((field, index): Aggregated => {
    const value = bindExpression(binder, field.value, sink.input);
    const named = item.names[index + 1]?.name ?? field.name ?? binder.written(field.value);
    const column = binder.column(named, value.type, { agg });
    return { column, call: { name: call.callee.name, args: [value, by], type: value.type } };
  });
  const taken = new Set([name, ...sink.keys.map(key => key.column.name)]);
  const kept = star ? others.filter(other => !taken.has(other.column.name)) : others;
  sink.found.push(first, ...kept);
  return [first, ...kept].map(found => keep(found.column));
}

function topkCall(item: Assignment): CallExpr | undefined {
  return callOf(item.value, 'topk') ?? callOf(item.value, 'topkif');
}

/** Binds `topk(field, n)` as the only aggregate: one row per value and group. */
function bindTopk(
  binder: Binder,
  item: Assignment,
  call: CallExpr,
  keys: readonly Computed[],
  stage: Stage,
): Stage {
  const entry = aggregateNamed(call.callee.name);
  const sink = sinkOver(stage, keys, []);
  const bound = entry === undefined ? undefined : bindAggregateParts(binder, call, entry, sink);
  const [value, count] = bound?.args ?? [];
  if (bound === undefined || value === undefined || count === undefined) return stage;
  const agg = describe(call, call.callee.name);
  const name =
    givenName(binder, item) ?? fieldOf(call.args[0]?.value ?? item.value) ?? aggregateName(call, 'topk');
  const column = binder.column(name, value.type, { agg });
  const frequency = binder.column('count_', 'long', { agg });
  const columns = uniqueNames([...keys.map(key => key.column), column, frequency]);
  const filter = present({ filter: bound.filter });
  return freshStage(
    {
      kind: 'topk',
      input: stage.relation,
      keys,
      value: { column, value },
      frequency,
      count,
      columns,
      ...filter,
    },
    false,
  );
}

const nanosecondsPerSecond = 1_000_000_000;

/** Divides a rate by the width of the time bin, or of the whole range, in seconds. */
function addRate(
  binder: Binder,
  found: Aggregated,
  keys: readonly Computed[],
  by: readonly Assignment[],
): Aggregated {
  if (found.call.name !== 'rate') return found;
  const bucket = bucketOf(binder, by, keys);
  const { start, end } = binder.environment;
  const width = bucket?.column.type === 'datetime' ? BigInt(bucket.size) : end - start;
  const seconds: Scalar = constant('real', Number(width) / nanosecondsPerSecond);
  return { ...found, call: { ...found.call, args: [...found.call.args, seconds] } };
}

function finish(
  binder: Binder,
  operator: Summarize,
  stage: Stage,
  keys: readonly Computed[],
  aggregates: readonly Column[],
): Stage {
  const bucket = bucketOf(binder, operator.by, keys);
  const columns = keys.map(key => key.column);
  const timed = columns.find(column => column.id === bucket?.column.id && column.type === 'datetime');
  const bin = columns[0] === timed ? timed : undefined;
  return {
    ...stage,
    groups: columns.filter(column => column !== timed).map(column => column.name),
    ...present({
      bucket: bucket === undefined ? undefined : { field: bucket.column.name, size: bucket.size },
    }),
    summary: {
      ...present({ bin }),
      groups: columns.filter(column => column !== bin),
      aggregates,
    },
    bounded: true,
  };
}
