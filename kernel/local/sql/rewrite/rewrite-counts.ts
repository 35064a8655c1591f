import type { Relation } from '../../../apl/plan/plan.js';
import { mapInputs } from '../../../apl/plan/plan-walk.js';
import { constant } from '../../../apl/plan/scalars.js';
import type { RowCountOf } from '../compiled-query.js';

/** Replaces row counts of datasets with the number if the catalog knows it, so no file is opened. */
export function counted(relation: Relation, rowCount: RowCountOf): Relation {
  const rows = isCount(relation) ? rowsOf(relation.input, rowCount) : undefined;
  if (rows === undefined) return mapInputs(relation, input => counted(input, rowCount));
  const { columns } = relation;
  return { kind: 'values', rows: [columns.map(() => constant('long', BigInt(rows)))], columns };
}

type Aggregate = Extract<Relation, { kind: 'aggregate' }>;

/** Returns whether a relation returns only the number of rows of its input. */
function isCount(relation: Relation): relation is Aggregate {
  return (
    relation.kind === 'aggregate' &&
    relation.keys.length === 0 &&
    relation.columns.length > 0 &&
    relation.aggregates.every(
      ({ call }) => call.name === 'count' && call.args.length === 0 && call.filter === undefined,
    )
  );
}

/** Returns the number of rows of a relation; undefined if unknown or dependent on values. */
function rowsOf(relation: Relation, rowCount: RowCountOf): number | undefined {
  switch (relation.kind) {
    case 'scan':
      return rowCount(relation.dataset, relation.start, relation.end);
    case 'project':
    case 'sort':
      return rowsOf(relation.input, rowCount);
    case 'values':
    case 'external':
    case 'sequence':
    case 'filter':
    case 'aggregate':
    case 'topk':
    case 'limit':
    case 'top-groups':
    case 'distinct':
    case 'sample':
    case 'join':
    case 'union':
    case 'expand':
    case 'neighbors':
    case 'series':
      return undefined;
  }
}
