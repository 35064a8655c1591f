import type { Column, Relation } from '../../../apl/plan/plan.js';
import { idsIn } from '../../../apl/plan/plan-walk.js';
import { reference } from '../../../apl/plan/scalars.js';

/**
 * Returns a relation whose sort keys are among its columns, for engines whose stages have no order, so the statement has to sort at the
 * end.
 */
export function withSortKeys(relation: Relation): Relation {
  switch (relation.kind) {
    case 'project': {
      const input = withSortKeys(relation.input);
      const missing = missingKeys(input, relation.columns);
      const items = [...relation.items, ...missing.map(column => ({ column, value: reference(column) }))];
      return { ...relation, input, items, columns: [...relation.columns, ...missing] };
    }
    case 'filter':
    case 'limit':
    case 'top-groups': {
      const input = withSortKeys(relation.input);
      return { ...relation, input, columns: input.columns };
    }
    case 'sort':
    case 'scan':
    case 'values':
    case 'external':
    case 'sequence':
    case 'aggregate':
    case 'topk':
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

/** Returns the columns of a relation that its sort needs and that are missing. */
function missingKeys(relation: Relation, columns: readonly Column[]): readonly Column[] {
  const there = new Set(columns.map(({ id }) => id));
  const needed = idsOfSort(relation);
  return relation.columns.filter(({ id }) => needed.has(id) && !there.has(id));
}

function idsOfSort(relation: Relation): ReadonlySet<number> {
  switch (relation.kind) {
    case 'sort':
      return new Set(relation.keys.flatMap(({ value }) => [...idsIn(value)]));
    case 'filter':
    case 'project':
    case 'limit':
    case 'top-groups':
      return idsOfSort(relation.input);
    case 'scan':
    case 'values':
    case 'external':
    case 'sequence':
    case 'aggregate':
    case 'topk':
    case 'distinct':
    case 'sample':
    case 'join':
    case 'union':
    case 'expand':
    case 'neighbors':
    case 'series':
      return new Set();
  }
}
