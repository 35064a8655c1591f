import type { Relation } from './plan.js';

/** True if the query has determined the order of the rows. */
export function isInOrder(relation: Relation): boolean {
  switch (relation.kind) {
    case 'sort':
      return relation.implied !== true;
    case 'sequence':
      return true;
    case 'filter':
    case 'project':
    case 'limit':
    case 'expand':
    case 'neighbors':
      return isInOrder(relation.input);
    case 'scan':
    case 'values':
    case 'external':
    case 'aggregate':
    case 'topk':
    case 'top-groups':
    case 'distinct':
    case 'sample':
    case 'join':
    case 'union':
    case 'series':
      return false;
  }
}

/** True if the rows are those of a literal table, in order. */
export function isWritten(relation: Relation): boolean {
  if (relation.kind === 'values') return true;
  const passes = relation.kind === 'filter' || relation.kind === 'project' || relation.kind === 'limit';
  return passes && isWritten(relation.input);
}
