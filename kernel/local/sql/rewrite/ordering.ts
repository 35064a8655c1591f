import type { Order } from '../../../api/wire.js';
import {
  type Column,
  type Computed,
  decidingSort,
  isSorted,
  type OrderKey,
  type Plan,
  type Relation,
} from '../../../apl/plan/plan.js';
import { reference } from '../../../apl/plan/scalars.js';

/** A relation with the order of its rows; `unknown` lists fields in the request's order that the result does not have. */
export interface Ordered {
  readonly relation: Relation;
  readonly order: readonly Order[];
  readonly unknown: readonly string[];
}

/**
 * Orders a query that does not specify an order: by the request's order, or else groups by their keys (time bin first) and events by time,
 * newest first. A limit in the query then keeps the first rows in that order.
 */
export function orderRows(plan: Plan, wanted: readonly Order[]): Ordered {
  const { relation } = plan;
  const [known, unknown] = [
    wanted.filter(key => isIn(key, relation)),
    wanted.filter(key => !isIn(key, relation)),
  ];
  const missing = unknown.map(key => key.field);
  const implied = decidingSort(relation)?.implied === true;
  if (implied && known.length === 0) return { relation, order: plan.order, unknown: missing };
  if (!implied && (plan.order.length > 0 || isSorted(relation)))
    return { relation, order: plan.order, unknown: [] };
  const order = known.length > 0 ? known : defaultOrder(plan);
  const shown = order.findIndex(key => !isIn(key, relation));
  return {
    relation: sortedBy(relation, order) ?? relation,
    order: shown < 0 ? order : order.slice(0, shown),
    unknown: missing,
  };
}

/** Returns a sort key over a column; nulls are smallest. */
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

/** Returns the most frequent values of each group first. The last two columns are the value and its frequency. */
function topkOrder(topk: Relation): readonly Order[] {
  const names = topk.columns.map(column => column.name);
  const [value = '', frequency = ''] = names.slice(-2);
  return [...ascending(names.slice(0, -2)), { field: frequency, desc: true }, { field: value, desc: false }];
}

/** Returns the relation that produces the rows, below operators that only pass them on. */
function sourceOf(relation: Relation): Relation {
  switch (relation.kind) {
    case 'filter':
    case 'limit':
    case 'project':
      return sourceOf(relation.input);
    case 'scan':
    case 'values':
    case 'external':
    case 'sequence':
    case 'aggregate':
    case 'topk':
    case 'sort':
    case 'top-groups':
    case 'distinct':
    case 'sample':
    case 'join':
    case 'union':
    case 'expand':
    case 'neighbors':
    case 'series':
      return relation;
  }
}

function ascending(fields: readonly string[]): Order[] {
  return fields.map(field => ({ field, desc: false }));
}

/** Sorts below operators that limit the rows or drop a key; undefined if there is no key. */
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

/** The name for scanning stored groups as a dataset. No dataset can have it: control characters are not allowed in names. */
export const binnedName = '\u0000binned';

/**
 * Returns the keys plus tie-breakers, so a query returns the same rows in the same order each time. Sorts of events already have row
 * positions by now; without those, breaking ties would take reading all fields.
 */
export function withoutTies(keys: readonly OrderKey[], relation: Relation): readonly OrderKey[] {
  if (keys.length === 0) return keys;
  const sorted = new Set(keys.map(({ value }) => (value.kind === 'column' ? value.id : undefined)));
  const more = (identity(relation) ?? []).filter(column => !sorted.has(column.id));
  return [...keys, ...more.map(column => keyOf(column, false))];
}

/** Returns the columns that identify the rows of groups: the keys, or all columns once a key is dropped; undefined for events. */
function identity(relation: Relation): readonly Column[] | undefined {
  switch (relation.kind) {
    case 'aggregate':
    case 'series':
      return relation.keys.length === 0 ? relation.columns : shown(relation.keys.map(keyColumn), relation);
    case 'topk':
      return shown([...relation.keys, relation.value].map(keyColumn), relation);
    case 'filter':
    case 'sort':
    case 'limit':
    case 'top-groups':
    case 'project': {
      const columns = identity(relation.input);
      return columns && shown(columns, relation);
    }
    case 'join':
      return identity(relation.left) && identity(relation.right) && relation.columns;
    case 'union':
      return relation.inputs.every(input => identity(input.relation)) ? relation.columns : undefined;
    case 'scan':
      return relation.dataset === binnedName ? relation.columns : undefined;
    case 'distinct':
    case 'values':
      return relation.columns;
    case 'external':
    case 'sequence':
    case 'sample':
    case 'expand':
    case 'neighbors':
      return undefined;
  }
}

function keyColumn({ column }: Computed): Column {
  return column;
}

function shown(columns: readonly Column[], relation: Relation): readonly Column[] {
  const ids = new Set(relation.columns.map(({ id }) => id));
  return columns.every(({ id }) => ids.has(id)) ? columns : relation.columns;
}
