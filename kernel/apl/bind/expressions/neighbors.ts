import { functionNamed } from '../../catalog/all-functions.js';
import { isRowFunction } from '../../catalog/row-functions.js';
import type { NeighborItem, Relation, Scalar } from '../../plan/plan.js';
import { isInOrder, isWritten } from '../../plan/plan-order.js';
import { reference } from '../../plan/scalars.js';
import type { Operator, Span } from '../../syntax/ast.js';
import { visitOperator } from '../../syntax/syntax-walk.js';
import { keep, type Stage, withRelation } from '../bind-stage.js';
import { type Binder, scopeOf } from '../binder.js';
import { bindExpression } from './bind-expression.js';
import { alignArguments, type CallExpr, positional } from './call.js';

/**
 * Binds an operator that reads neighboring rows: their values become extra columns, which `bind` finds in the binder by call, and which are
 * removed from the result.
 */
export function withNeighbors(
  binder: Binder,
  operator: Operator,
  before: Stage,
  bind: (stage: Stage) => Stage,
): Stage {
  const calls = callsOf(operator);
  let stage = operator.kind === 'serialize' ? inOrder(binder, operator, before) : before;
  const [first] = calls;
  if (first === undefined) return bind(stage);
  for (const call of calls) binder.neighbors.set(call, undefined);
  if (!isInOrder(stage.relation)) refuseUnordered(binder, first);
  else stage = withRelation(stage, withItems(binder, calls, stage));
  const bound = bind(stage);
  for (const call of calls) binder.neighbors.delete(call);
  return withoutNeighbors(bound);
}

/** Returns the rows with a column for each call; nested calls are computed first. */
function withItems(binder: Binder, calls: readonly CallExpr[], stage: Stage): Relation {
  let { relation } = stage;
  for (let left = calls; left.length > 0; ) {
    const ready = left.filter(call => !left.some(other => other !== call && isWithin(other, call)));
    const items = ready.flatMap(call => {
      const item = bindItem(binder, call, stage);
      if (item !== undefined) binder.neighbors.set(call, item.column);
      return item ?? [];
    });
    relation = numbered(binder, relation, items);
    left = left.filter(call => !ready.includes(call));
  }
  return relation;
}

function isWithin(inner: Span, outer: Span): boolean {
  return inner.from >= outer.from && inner.to <= outer.to;
}

/** Returns the calls in an operator, without those in nested queries. */
function callsOf(operator: Operator): readonly CallExpr[] {
  const calls: CallExpr[] = [];
  let within = -1;
  visitOperator(operator, {
    pipeline: ({ to }) => {
      within = Math.max(within, to);
    },
    expr: expr => {
      if (expr.kind === 'call' && expr.from >= within && isRowFunction(expr.callee.name)) calls.push(expr);
    },
  });
  return calls;
}

function bindItem(binder: Binder, call: CallExpr, stage: Stage): NeighborItem | undefined {
  const { name } = call.callee;
  const entry = functionNamed(name);
  if (entry === undefined || !isRowFunction(name)) return undefined;
  const values = positional(binder, call).map(value => bindExpression(binder, value, scopeOf(stage)));
  const aligned = alignArguments(binder, call, entry, values);
  if (aligned === undefined || !isOffset(binder, call, aligned.args)) return undefined;
  const column = binder.column('', aligned.type, { role: 'neighbor' });
  return { column, name, args: aligned.args };
}

/** Returns false, with a report, if `prev` or `next` has an offset in the other direction. */
function isOffset(binder: Binder, call: CallExpr, [, offset]: readonly Scalar[]): boolean {
  const at = call.args[1];
  if (offset === undefined || at === undefined) return true;
  if (offset.kind === 'constant' && typeof offset.value === 'bigint' && offset.value >= 0n) return true;
  const other = call.callee.name === 'prev' ? 'next' : 'prev';
  const message = `the offset of \`${call.callee.name}\` must be a non-negative integer`;
  binder.error('bad-offset', at, message, `\`${other}\` reads in the other direction.`);
  return false;
}

/** Returns the rows in order, with their position and the values of neighboring rows. */
function numbered(binder: Binder, input: Relation, items: readonly NeighborItem[]): Relation {
  const place = binder.column('', 'long', { role: 'neighbor' });
  const columns = [...input.columns, place, ...items.map(({ column }) => column)];
  const neighbors: Relation = { kind: 'neighbors', input, place, items, columns };
  const keys = [{ value: reference(place), descending: false, nullsFirst: false }];
  return { kind: 'sort', input: neighbors, keys, columns };
}

function withoutNeighbors(stage: Stage): Stage {
  const shown = stage.relation.columns.filter(({ role }) => role !== 'neighbor');
  if (shown.length === stage.relation.columns.length) return stage;
  return withRelation(stage, {
    kind: 'project',
    input: stage.relation,
    items: shown.map(keep),
    columns: shown,
  });
}

function refuseUnordered(binder: Binder, { callee }: CallExpr): void {
  const message = `\`${callee.name}\` reads neighboring rows, but these are not sorted`;
  binder.error('no-order', callee, message, 'Write `| sort by …` before it.');
}

/** Returns the rows as written or sorted; other rows have no order for `serialize` to keep, which is reported. */
function inOrder(binder: Binder, operator: Operator, stage: Stage): Stage {
  if (isInOrder(stage.relation)) return stage;
  if (!isWritten(stage.relation)) {
    const message = '`serialize` keeps the row order, but these rows are not sorted';
    binder.error('no-order', operator.word, message, 'Write `| sort by …` instead.');
  }
  return withoutNeighbors(withRelation(stage, numbered(binder, stage.relation, [])));
}
