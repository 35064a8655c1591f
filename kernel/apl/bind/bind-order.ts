import { withTime } from '../plan/lineage.js';
import { isSorted, type OrderKey, type Relation, type Scalar } from '../plan/plan.js';
import { reference } from '../plan/scalars.js';
import type { SortKey } from '../syntax/ast.js';
import { dottedName, findColumn } from './bind-names.js';
import { type Stage, withRelation } from './bind-stage.js';
import { type Binder, scopeOf, unwrap } from './binder.js';
import { bindExpression } from './expressions/bind-expression.js';

/** Sorts the rows, by default descending and with nulls as the smallest values. */
export function sort(binder: Binder, keys: readonly SortKey[], stage: Stage): Stage {
  const bound = keys.map((key): OrderKey => {
    const value = bindExpression(binder, key.value, scopeOf(stage));
    const descending = key.descending ?? true;
    return { value, descending, nullsFirst: key.nulls === undefined ? !descending : key.nulls === 'first' };
  });
  const order = keys.flatMap((key, index) => {
    const name = dottedName(unwrap(key.value));
    return name === undefined || findColumn(stage.relation.columns, name) === undefined
      ? []
      : [{ field: name, desc: bound[index]?.descending ?? true }];
  });
  const sorted: Relation = {
    kind: 'sort',
    input: stage.relation,
    keys: bound,
    columns: stage.relation.columns,
  };
  return { ...withRelation(stage, sorted), order };
}

/** Limits to the first rows, or to the newest rows of an unsorted dataset. */
export function limitRows(stage: Stage, count: Scalar): Stage {
  const { relation, order } = newestFirst(stage);
  const { columns } = stage.relation;
  const limit: Relation = { kind: 'limit', input: relation, count, columns: relation.columns };
  const items = columns.map(column => ({ column, value: reference(column) }));
  const shown: Relation =
    relation.columns.length === columns.length ? limit : { kind: 'project', input: limit, items, columns };
  return { ...withoutRanking({ ...withRelation(stage, shown), order }), bounded: true };
}

/** Limits groups, each with all of its bins, right after a summarize with a leading time bin and further keys; otherwise limits rows. */
export function limitGroups(stage: Stage, count: Scalar): Stage {
  const { summary, relation } = stage;
  if (summary?.bin === undefined || summary.groups.length === 0) return limitRows(stage, count);
  const first = summary.aggregates.find(
    column => column.type === 'long' || column.type === 'real' || column.type === 'timespan',
  );
  const rank: OrderKey[] =
    first === undefined ? [] : [{ value: reference(first), descending: true, nullsFirst: false }];
  return withRelation(stage, {
    kind: 'top-groups',
    input: relation,
    groups: summary.groups,
    rank,
    count,
    columns: relation.columns,
  });
}

/**
 * Sorts a dataset's events newest first unless the query sorts them, so a limit always keeps the same rows. Adds the time as a hidden
 * column if the query has dropped it.
 */
export function newestFirst(stage: Stage): Pick<Stage, 'relation' | 'order'> {
  const timed = stage.bounded || isSorted(stage.relation) ? undefined : withTime(stage.relation);
  if (timed === undefined) return stage;
  const { relation, time } = timed;
  const keys = [{ value: reference(time), descending: true, nullsFirst: false }];
  const isShown = stage.relation.columns.includes(time);
  return {
    relation: { kind: 'sort', input: relation, keys, columns: relation.columns, implied: true },
    order: isShown ? [{ field: '_time', desc: true }] : [],
  };
}

/** Drops the time bin if the rows are sorted by something other than time: they are then a ranking, not a series. */
function withoutRanking(stage: Stage): Stage {
  const { bucket, ...rest } = stage;
  const ranked =
    bucket !== undefined && stage.order[0] !== undefined && stage.order[0].field !== bucket.field;
  return ranked ? rest : stage;
}
