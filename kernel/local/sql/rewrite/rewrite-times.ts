import type { Relation, Scalar } from '../../../apl/plan/plan.js';
import { expressionsOf, partsOf, queriesIn, type RelationOf } from '../../../apl/plan/plan-walk.js';
import { constant, reference } from '../../../apl/plan/scalars.js';
import type { TimeRange } from './timed.js';

/** The first rows of a sort by time, whose times are read before the remaining columns. */
export interface RowTimes {
  /** The times of the first rows, in order; there may be fewer. */
  readonly times: Relation;
  /** Returns the sort restricted to rows in this time range. */
  readonly within: (range: TimeRange) => RelationOf<'sort'>;
}

/**
 * Returns how to read the first `rows` of a sort in two statements: their times, then all columns of the rows in that time range. With many
 * columns, the engine would copy those of all rows while sorting. Undefined if not sorted by time.
 */
export function timesFirst(sort: RelationOf<'sort'>, rows: number): RowTimes | undefined {
  const { input, keys } = sort;
  const [key] = keys;
  const value = key?.value;
  const time = value?.kind === 'column' ? input.columns.find(({ id }) => id === value.id) : undefined;
  if (key === undefined || time?.type !== 'datetime' || !isRepeatable(input)) return undefined;
  const only = {
    kind: 'project',
    input,
    items: [{ column: time, value: reference(time) }],
    columns: [time],
  } as const;
  const sorted = { kind: 'sort', input: only, keys: [key], columns: [time] } as const;
  return {
    times: { kind: 'limit', input: sorted, count: constant('long', BigInt(rows)), columns: [time] },
    within: ({ start, end }) => {
      const predicate: Scalar = {
        kind: 'between',
        value: reference(time),
        low: constant('datetime', start),
        high: constant('datetime', end - 1n),
        negated: false,
        type: 'bool',
      };
      return { ...sort, input: { kind: 'filter', input, predicate, columns: input.columns } };
    },
  };
}

/** Returns whether a relation has the same rows on every read: fields of a dataset, and values computed only from them. */
function isRepeatable(relation: Relation): boolean {
  if (relation.kind === 'scan') return true;
  if (relation.kind !== 'filter' && relation.kind !== 'project') return false;
  return expressionsOf(relation).every(isTheSame) && isRepeatable(relation.input);
}

function isTheSame(value: Scalar): boolean {
  if (value.kind === 'call' && value.name === 'rand') return false;
  return queriesIn(value).length === 0 && partsOf(value).every(isTheSame);
}
