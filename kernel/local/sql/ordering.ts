import type { Order } from '../../api/wire.js';
import { type Column, isSorted, type OrderKey, type Plan, type Relation } from '../../apl/plan/plan.js';
import { reference } from '../../apl/plan/scalars.js';

/** A relation with the order of its rows; `unknown` are the fields of the request's order that the result does not have. */
export interface Ordered {
  readonly relation: Relation;
  readonly order: readonly Order[];
  readonly unknown: readonly string[];
}

/**
 * Orders a query that writes no order itself: by the request's order, else groups by their keys (the time bin first) and
 * events by time, newest first. A written limit then keeps the first rows of that order.
 */
export function orderRows(plan: Plan, wanted: readonly Order[]): Ordered {
  const { relation } = plan;
  if (plan.order.length > 0 || isSorted(relation)) return { relation, order: plan.order, unknown: [] };
  const [known, unknown] = [
    wanted.filter(key => isIn(key, relation)),
    wanted.filter(key => !isIn(key, relation)),
  ];
  const order = known.length > 0 ? known : defaultOrder(plan);
  const shown = order.findIndex(key => !isIn(key, relation));
  return {
    relation: sortedBy(relation, order) ?? relation,
    order: shown < 0 ? order : order.slice(0, shown),
    unknown: unknown.map(key => key.field),
  };
}

/** A sort key over a column; nulls are smallest. */
export function keyOf(column: Column, descending: boolean): OrderKey {
  return { value: reference(column), descending, nullsFirst: !descending };
}

function defaultOrder({ relation, bucket, groups, bounded }: Plan): readonly Order[] {
  const source = sourceOf(relation);
  if (source.kind === 'topk') return topkOrder(source);
  if (source.kind === 'distinct') return ascending(source.columns.map(column => column.name));
  const keys = [...(bucket === undefined ? [] : [bucket.field]), ...groups];
  if (keys.length > 0) return ascending([...new Set(keys)]);
  return bounded ? [] : [{ field: '_time', desc: true }];
}

/** The most frequent values of each group first. The last two columns are the value and how often it occurs. */
function topkOrder(topk: Relation): readonly Order[] {
  const names = topk.columns.map(column => column.name);
  const [value = '', frequency = ''] = names.slice(-2);
  return [...ascending(names.slice(0, -2)), { field: frequency, desc: true }, { field: value, desc: false }];
}

/** The relation that makes the rows, below the operators that only pass them on. */
function sourceOf(relation: Relation): Relation {
  switch (relation.kind) {
    case 'filter':
    case 'limit':
    case 'project':
      return sourceOf(relation.input);
    default:
      return relation;
  }
}

function ascending(fields: readonly string[]): Order[] {
  return fields.map(field => ({ field, desc: false }));
}

/** Sorts below operators that limit the rows or leave a key out; undefined where there is no key. */
function sortedBy(relation: Relation, order: readonly Order[]): Relation | undefined {
  if (
    relation.kind === 'limit' ||
    ((relation.kind === 'project' || relation.kind === 'filter') && isBelow(relation, order))
  ) {
    const input = sortedBy(relation.input, order);
    if (input !== undefined || relation.kind === 'limit') return input && { ...relation, input };
  }
  const keys = order.flatMap(({ field, desc }) => {
    const column = relation.columns.find(each => each.name === field);
    return column === undefined || (field === '_time' && column.type !== 'datetime')
      ? []
      : [keyOf(column, desc)];
  });
  return keys.length === 0 ? undefined : { kind: 'sort', input: relation, keys, columns: relation.columns };
}

function isBelow(
  relation: Extract<Relation, { kind: 'project' | 'filter' }>,
  order: readonly Order[],
): boolean {
  return isLimited(relation.input) || !order.every(key => isIn(key, relation));
}

function isLimited(relation: Relation): boolean {
  if (relation.kind === 'limit') return true;
  return (relation.kind === 'project' || relation.kind === 'filter') && isLimited(relation.input);
}

function isIn({ field }: Order, relation: Relation): boolean {
  return relation.columns.some(column => column.name === field);
}
