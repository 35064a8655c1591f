import type { Column, Relation, Scalar } from './plan.js';
import { idsIn, inputsOf } from './plan-walk.js';
import { reference } from './scalars.js';

/** Returns the dataset that a column of a relation comes from unchanged. */
export function originOf(relation: Relation, id: number): string | undefined {
  switch (relation.kind) {
    case 'scan':
      return relation.columns.some(column => column.id === id) ? relation.dataset : undefined;
    case 'project': {
      const item = relation.items.find(candidate => candidate.column.id === id);
      return item?.value.kind === 'column' ? originOf(relation.input, item.value.id) : undefined;
    }
    case 'filter':
    case 'sort':
    case 'limit':
    case 'top-groups':
    case 'distinct':
    case 'sample':
    case 'expand':
    case 'neighbors':
      return originOf(relation.input, id);
    case 'join':
      return originOf(relation.left, id) ?? originOf(relation.right, id);
    case 'values':
    case 'external':
    case 'sequence':
    case 'aggregate':
    case 'topk':
    case 'union':
    case 'series':
      return undefined;
  }
}

/** A relation that has the time of its events. */
interface Timed {
  readonly relation: Relation;
  readonly time: Column;
}

/** Returns a relation with the time of its events among its columns; undefined if it has none. */
export function withTime(relation: Relation): Timed | undefined {
  const own = relation.columns.find(column => column.name === '_time');
  if (own?.type === 'datetime') return { relation, time: own };
  switch (relation.kind) {
    case 'filter':
    case 'sample':
    case 'expand':
    case 'project': {
      const below = withTime(relation.input);
      if (below === undefined) return undefined;
      const { relation: input, time } = below;
      const columns = [...relation.columns, time];
      const carried =
        relation.kind === 'project'
          ? { ...relation, items: [...relation.items, { column: time, value: reference(time) }] }
          : relation;
      return { relation: { ...carried, input, columns }, time };
    }
    case 'scan':
    case 'values':
    case 'external':
    case 'sequence':
    case 'aggregate':
    case 'topk':
    case 'sort':
    case 'limit':
    case 'top-groups':
    case 'distinct':
    case 'join':
    case 'union':
    case 'neighbors':
    case 'series':
      return undefined;
  }
}

/** Returns the ids of the columns that an expression over a relation reads, and of the columns that they are computed from. */
export function basisOf(value: Scalar, relation: Relation): ReadonlySet<number> {
  const ids = idsIn(value);
  addBasis(ids, relation);
  return ids;
}

function addBasis(ids: Set<number>, relation: Relation): void {
  if (relation.kind === 'project') {
    const read = relation.items.filter(item => ids.has(item.column.id)).map(item => item.value);
    for (const id of idsIn(...read)) ids.add(id);
  }
  for (const input of inputsOf(relation)) addBasis(ids, input);
}
