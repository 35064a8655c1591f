import type { Column, OrderKey, Plan, Relation, Scalar } from '../../../apl/plan/plan.js';
import type { RelationOf } from '../../../apl/plan/plan-walk.js';
import { condition, constant, reference } from '../../../apl/plan/scalars.js';
import { keyOf } from './ordering.js';
import { endsWithPlace } from './placed.js';

/**
 * A position in a result ordered by time: directly after the first `count` of the rows with time `time`, which are in dataset order, or if
 * that is unknown, ordered by all their fields. `whole`: no row of that time is left.
 */
export interface PageCursor {
  /** Nanoseconds since 1970. */
  readonly time: bigint;
  readonly count: number;
  readonly whole: boolean;
}

/** A query read page by page. */
export interface Page {
  /** The rows from the cursor on. */
  readonly rest: SortedRows;
  /** Returns the page whose last row has the time `last`; rows of equal times are in a fixed order. */
  readonly exact: (rows: number, last: bigint | undefined) => Relation;
  readonly descending: boolean;
  /** Whether the rows of `rest` are in that fixed order too. */
  readonly fixed: boolean;
  /** Rows before the page that have the same `time` as its first. */
  readonly skipped: { readonly time: bigint; readonly rows: number } | undefined;
}

/** The sort that determines the order of a result. */
export interface SortedRows {
  readonly sort: Sort;
  /** Restores the projections above the sort. */
  readonly wrap: (input: Relation) => Relation;
  /** The lowest limit above the sort. */
  readonly written?: number;
}

/** Returns the sort that determines the order of the rows, below projections and limits; undefined if there is none. */
export function sortOf(relation: Relation): SortedRows | undefined {
  if (relation.kind === 'sort') return { sort: relation, wrap: input => input };
  if (relation.kind !== 'project' && relation.kind !== 'limit') return undefined;
  const inner = sortOf(relation.input);
  if (inner === undefined) return undefined;
  if (relation.kind === 'project')
    return { ...inner, wrap: input => ({ ...relation, input: inner.wrap(input) }) };
  const { count } = relation;
  if (count.kind !== 'constant' || relation.skip !== undefined) return undefined;
  return { ...inner, written: Math.min(Number(count.value), inner.written ?? Number.POSITIVE_INFINITY) };
}

/** Returns the first `rows` of sorted rows, after `skip`. */
export function firstOf({ wrap }: SortedRows, sort: Sort, rows: number, skip = 0): Relation {
  const count = constant('long', BigInt(rows));
  return wrap({ kind: 'limit', input: sort, count, skip, columns: sort.columns });
}

/**
 * Returns the page of a result from `cursor` on, or undefined if its rows are not ordered by `_time`. With `include`, the row at the cursor
 * is repeated, if necessary with all rows of the same time.
 */
export function pageOf(
  found: SortedRows | undefined,
  plan: Plan,
  cursor: PageCursor | undefined,
  include: boolean,
): Page | undefined {
  const time = found && timeOf(found.sort, plan.relation);
  if (found === undefined || time === undefined || plan.groups.length > 0 || plan.bucket !== undefined)
    return undefined;
  const descending = found.sort.keys[0]?.descending ?? true;
  const after = cursor?.whole && !include;
  // If all rows of a time were returned, their order was arbitrary: the row at the cursor is among them, so all of them are repeated.
  const skip = cursor === undefined || cursor.whole ? 0 : Math.max(0, cursor.count - (include ? 1 : 0));
  const from = cursor && compare(time, descending ? '<' : '>', after ?? false, cursor.time);
  const rest = from === undefined ? found.sort.input : filtered(found.sort.input, from);
  return {
    rest: { ...found, sort: { ...found.sort, input: rest } },
    exact: (rows, last) => {
      const input =
        last === undefined ? rest : filtered(rest, compare(time, descending ? '>' : '<', false, last));
      return firstOf(found, { ...found.sort, input, keys: totalOrder(found.sort) }, rows, skip);
    },
    descending,
    fixed: endsWithPlace(found.sort),
    skipped: cursor === undefined || skip === 0 ? undefined : { time: cursor.time, rows: skip },
  };
}

type Sort = RelationOf<'sort'>;

/** Returns the time column that is the first sort key, if the result shows it. */
function timeOf(sort: Sort, result: Relation): Column | undefined {
  const first = sort.keys[0]?.value;
  const shown = result.columns.find(column => column.name === '_time' && column.type === 'datetime');
  return first?.kind === 'column' && first.id === shown?.id ? shown : undefined;
}

function compare(time: Column, operator: '<' | '>', strict: boolean, ns: bigint): Scalar {
  return condition(strict ? operator : `${operator}=`, reference(time), constant('datetime', ns));
}

function filtered(input: Relation, predicate: Scalar): Relation {
  return { kind: 'filter', input, predicate, columns: input.columns };
}

/** Returns sort keys over all fields: only rows equal in every field may swap places. */
function totalOrder({ keys, columns }: Sort): readonly OrderKey[] {
  return [...keys, ...columns.map(column => keyOf(column, false))];
}
