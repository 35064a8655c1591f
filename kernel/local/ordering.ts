import type { Order } from '../api/wire.js';
import type { Bound, Column, OrderKey, Plan, Relation } from '../apl/plan.js';

/** A relation with the order of its rows; `unknown` are the fields of the request's order that the result does not have. */
export interface Ordered {
  readonly relation: Relation;
  readonly order: readonly Order[];
  readonly unknown: readonly string[];
}

/**
 * Orders a query that writes no order itself: by the request's order, else groups by their keys (the time bin first) and
 * events by time, newest first. Right below a written limit, so that the limit keeps the first rows of that order.
 */
export function orderRows(plan: Plan, wanted: readonly Order[]): Ordered {
  const { relation } = plan;
  if (plan.order.length > 0 || isSorted(relation)) return { relation, order: plan.order, unknown: [] };
  const known = wanted.filter(({ field }) => columnNamed(relation, field) !== undefined);
  const unknown = wanted.flatMap(key => (known.includes(key) ? [] : [key.field]));
  const order = known.length > 0 ? known : defaultOrder(plan);
  const keys = order.flatMap(({ field, desc }) => {
    const column = columnNamed(relation, field);
    return column === undefined ? [] : [keyOf(column, desc)];
  });
  if (keys.length > 0) return { relation: sortBelowLimit(relation, keys), order, unknown };
  return { relation: (plan.bounded ? undefined : newestFirst(relation)) ?? relation, order, unknown };
}

/** Sorts events where the time still is, below what leaves it out; undefined where it never was. */
function newestFirst(relation: Relation): Relation | undefined {
  const time = columnNamed(relation, '_time');
  if (time?.type === 'datetime')
    return { kind: 'sort', input: relation, keys: [keyOf(time, true)], columns: relation.columns };
  if (relation.kind !== 'project' && relation.kind !== 'filter') return undefined;
  const input = newestFirst(relation.input);
  return input === undefined ? undefined : { ...relation, input };
}

/** A sort key over a column; nulls are smallest. */
export function keyOf(column: Column, descending: boolean): OrderKey {
  return { value: { kind: 'column', id: column.id, type: column.type }, descending, nullsFirst: !descending };
}

/** True when an operator wrote the order of the rows. */
function isSorted(relation: Relation): boolean {
  switch (relation.kind) {
    case 'sort':
      return true;
    case 'filter':
    case 'project':
    case 'limit':
    case 'top-groups':
    case 'sample':
    case 'expand':
      return isSorted(relation.input);
    default:
      return false;
  }
}

function defaultOrder(plan: Plan): readonly Order[] {
  const { relation, bucket, groups } = plan;
  const topk = sourceOf(relation);
  if (topk.kind === 'topk') return topkOrder(topk, relation.columns);
  if (topk.kind === 'distinct') return ascending(topk.columns.map(column => column.name));
  const time = columnNamed(relation, '_time');
  const keys = [...(bucket === undefined ? [] : [bucket.field]), ...groups];
  if (keys.length > 0) return ascending(unique(keys.filter(key => columnNamed(relation, key) !== undefined)));
  return time?.type === 'datetime' && !plan.bounded ? [{ field: '_time', desc: true }] : [];
}

/** The most frequent values of each group first. The last two columns are the value and how often it occurs. */
function topkOrder(topk: Relation, columns: readonly Column[]): readonly Order[] {
  const names = topk.columns.map(column => column.name);
  const [value = '', frequency = ''] = names.slice(-2);
  const order = [
    ...ascending(names.slice(0, -2)),
    { field: frequency, desc: true },
    { field: value, desc: false },
  ];
  return order.filter(({ field }) => columns.some(column => column.name === field));
}

/** What the rows are made by, below the operators that only pass them on. */
function sourceOf(relation: Relation): Relation {
  switch (relation.kind) {
    case 'filter':
    case 'limit':
      return sourceOf(relation.input);
    default:
      return relation;
  }
}

function ascending(fields: readonly string[]): Order[] {
  return fields.map(field => ({ field, desc: false }));
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}

function columnNamed(relation: Relation, name: string): Column | undefined {
  return relation.columns.find(column => column.name === name);
}

function sortBelowLimit(relation: Relation, keys: readonly OrderKey[]): Relation {
  if (relation.kind === 'limit') return { ...relation, input: sortBelowLimit(relation.input, keys) };
  if (
    relation.kind === 'project' &&
    isLimited(relation.input) &&
    keys.every(key => isIn(key.value, relation.input))
  )
    return { ...relation, input: sortBelowLimit(relation.input, keys) };
  return { kind: 'sort', input: relation, keys, columns: relation.columns };
}

function isLimited(relation: Relation): boolean {
  return relation.kind === 'limit' || (relation.kind === 'project' && isLimited(relation.input));
}

function isIn(value: Bound, relation: Relation): boolean {
  return value.kind === 'column' && relation.columns.some(column => column.id === value.id);
}
