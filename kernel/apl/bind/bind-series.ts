import { present } from '../../present.js';
import type { Aggregated, Column, Relation, Scalar } from '../plan/plan.js';
import { constant } from '../plan/scalars.js';
import type { Expr, OperatorOf } from '../syntax/ast.js';
import { givenName } from './bind-names.js';
import { freshStage, type Stage, uniqueNames } from './bind-stage.js';
import { type AggregateSink, type Binder, scopeOf, unbound, unwrap } from './binder.js';
import { aggregateName } from './expressions/aggregate.js';
import { bindConstant, bindExpression } from './expressions/bind-expression.js';
import { constantInteger } from './expressions/constant.js';
import { warnOfBareStep } from './expressions/duration.js';
import { bindKeys } from './summarize.js';

type MakeSeries = OperatorOf<'make-series'>;
type SeriesAggregate = Extract<Relation, { kind: 'series' }>['aggregates'][number];

const maxPoints = 1_000_000n;

/** Binds `make-series`: one row per group, one array per aggregate, one value per step of the axis. */
export function bindSeries(binder: Binder, operator: MakeSeries, before: Stage): Stage {
  const { keys, stage } = bindKeys(binder, operator.by, before);
  const axis = bindExpression(binder, operator.on, scopeOf(stage));
  const sink: AggregateSink = { input: scopeOf(stage), keys: [], found: [] };
  const aggregates = operator.aggregates.flatMap(item => bindSeriesAggregate(binder, item, sink));
  const window = bindWindow(binder, operator, axis);
  const axisName = operator.on.kind === 'name' && operator.on.name !== '_time' ? operator.on.name : 'time';
  const time = binder.column(axisName, 'dynamic');
  const columns = uniqueNames([
    ...keys.map(key => key.column),
    ...aggregates.map(aggregate => aggregate.output),
    time,
  ]);
  const relation: Relation = {
    kind: 'series',
    input: stage.relation,
    axis,
    ...window,
    time,
    keys,
    aggregates,
    columns,
  };
  return { ...freshStage(relation, false), groups: keys.map(key => key.column.name), bounded: true };
}

function bindSeriesAggregate(
  binder: Binder,
  item: MakeSeries['aggregates'][number],
  sink: AggregateSink,
): SeriesAggregate[] {
  const call = unwrap(item.value);
  if (call.kind !== 'call') return refuseAggregate(binder, item.value);
  const value = bindExpression(binder, item.value, { columns: [], open: false, aggregates: sink });
  const found: Aggregated | undefined =
    value.kind === 'column' ? sink.found.find(candidate => candidate.column.id === value.id) : undefined;
  if (found?.call.name === 'spotlight') return refuseAggregate(binder, item.value);
  if (found === undefined) return value.kind === 'constant' ? [] : refuseAggregate(binder, item.value);
  const name = givenName(binder, item) ?? aggregateName(call, call.callee.name);
  const output: Column = binder.column(name, 'dynamic', present({ agg: found.column.agg }));
  const fallback =
    item.fallback === undefined ? undefined : bindConstant(binder, item.fallback, 'the default');
  return [{ ...found, fallback: fallback ?? defaultOf(found), output }];
}

function refuseAggregate(binder: Binder, value: Expr): [] {
  if (value.kind !== 'missing')
    binder.error(
      'series-aggregate',
      value,
      'each item of `make-series` must be a single aggregate, such as count() or avg(x)',
      'Use series functions on the resulting arrays: series_divide(a, b), …',
    );
  return [];
}

/** Returns the value of an empty step: 0 for counts and sums, else null. */
function defaultOf(found: Aggregated): Scalar {
  const counts = ['count', 'countif', 'dcount', 'sum', 'sumif', 'rate'].includes(found.call.name);
  return constant(counts ? 'long' : 'dynamic', counts ? 0n : null);
}

function bindWindow(
  binder: Binder,
  operator: MakeSeries,
  axis: Scalar,
): { start: Scalar; stop: Scalar; step: Scalar } {
  const { environment } = binder;
  const isTime = axis.type === 'datetime';
  if (!isTime && axis.type !== 'long' && axis !== unbound)
    binder.error(
      'series-axis',
      operator.on,
      'the axis of `make-series` must be a datetime or an integer',
      'Convert it first with `extend`.',
    );
  const [rangeStart, rangeStop, rangeStep] = operator.range;
  const stepExpr = rangeStep ?? operator.step;
  const step = constantAt(binder, stepExpr, 'the step') ?? (isTime ? environment.autoBin : 1n);
  const start = constantAt(binder, rangeStart ?? operator.start, 'the start') ?? environment.start;
  const end = constantAt(binder, rangeStop ?? operator.stop, 'the end') ?? environment.end;
  const stop = rangeStop === undefined || step <= 0n || end < start ? end : afterLast(start, end, step);
  if (!isTime && axis.type !== 'long') return { start: axis, stop: axis, step: axis };
  if (isTime && stepExpr?.kind === 'literal' && stepExpr.type === 'long')
    warnOfBareStep(binder, { expr: stepExpr, value: constant('long', step) }, 'datetime');
  if (step <= 0n) binder.error('series-step', stepExpr ?? operator, 'the step must be greater than zero');
  else if ((stop - start) / step > maxPoints) {
    binder.error(
      'series-too-long',
      stepExpr ?? operator,
      `the series would have ${(stop - start) / step} points, more than ${maxPoints}`,
      'Use a larger step or a shorter range.',
    );
  }
  const at = (value: bigint): Scalar => constant(isTime ? 'datetime' : 'long', value);
  return {
    start: at(start),
    stop: at(stop),
    step: constant(isTime ? 'timespan' : 'long', step),
  };
}

/** Returns where the last bin of `in range(start, end, step)` ends: as of `range()`, the end is one of the points. */
function afterLast(start: bigint, end: bigint, step: bigint): bigint {
  const after = end + step - ((end - start) % step);
  return after < greatest ? after : greatest;
}

const greatest = 2n ** 63n - 1n;

/** Returns a time or integer that is constant before the query runs: literals, now(), ago() and their sums. */
function constantAt(binder: Binder, expr: Expr | undefined, what: string): bigint | undefined {
  if (expr === undefined) return undefined;
  const errors = binder.diagnostics.length;
  const scope = { columns: [], open: false, constant: `${what} of \`make-series\`` };
  const value = constantInteger(binder, bindExpression(binder, expr, scope));
  if (value === undefined && expr.kind !== 'missing' && binder.diagnostics.length === errors)
    binder.error(
      'not-constant',
      expr,
      `${what} of \`make-series\` must be known before the query runs`,
      'For example: ago(2h), now(), datetime(2026-01-02), 5m.',
    );
  return value;
}
