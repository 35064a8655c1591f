import type { Relation, Scalar } from './plan.js';
import { inputsOf } from './plan-walk.js';

/** Maximum number of rows of the `range` operator, and of elements returned by the function. */
export const mostSequenceRows = 1_048_576;

/**
 * Returns an estimate of the number of rows a plan generates itself, by `range` and constant tables; the catalog counts those of datasets.
 */
export function madeRows(relation: Relation): number {
  if (relation.kind === 'values') return relation.rows.length;
  if (relation.kind === 'sequence')
    return sequenceRows(numberOf(relation.start), numberOf(relation.end), numberOf(relation.step));
  return inputsOf(relation).reduce((total, input) => total + madeRows(input), 0);
}

function sequenceRows(start: number, end: number, step: number): number {
  const rows = Math.floor((end - start) / step) + 1;
  return Number.isFinite(rows) ? Math.max(0, rows) : 0;
}

/** Returns the maximum number of rows of a plan, given the number in each table; infinity if unknown. */
export function mostRows(relation: Relation, rowsOf: (table: string) => number | undefined): number {
  switch (relation.kind) {
    case 'scan':
      return rowsOf(relation.dataset) ?? Number.POSITIVE_INFINITY;
    case 'values':
      return relation.rows.length;
    case 'filter':
    case 'project':
    case 'sort':
    case 'neighbors':
      return mostRows(relation.input, rowsOf);
    case 'limit':
      return least(mostRows(relation.input, rowsOf), numberOf(relation.count));
    case 'external':
    case 'sequence':
    case 'aggregate':
    case 'topk':
    case 'top-groups':
    case 'distinct':
    case 'sample':
    case 'join':
    case 'union':
    case 'expand':
    case 'series':
      return Number.POSITIVE_INFINITY;
  }
}

function least(most: number, count: number): number {
  return Number.isNaN(count) ? most : Math.min(most, count);
}

/** True if each row of a plan is a group of rows. */
export function isGrouped(relation: Relation): boolean {
  switch (relation.kind) {
    case 'aggregate':
    case 'topk':
    case 'series':
      return true;
    case 'filter':
    case 'project':
    case 'sort':
    case 'limit':
    case 'top-groups':
    case 'neighbors':
      return isGrouped(relation.input);
    case 'scan':
    case 'values':
    case 'external':
    case 'sequence':
    case 'distinct':
    case 'sample':
    case 'join':
    case 'union':
    case 'expand':
      return false;
  }
}

/** Returns the value of a constant number; NaN if it is known only when the query runs. */
function numberOf(scalar: Scalar): number {
  if (scalar.kind === 'convert') return numberOf(scalar.value);
  if (scalar.kind === 'negate') return -numberOf(scalar.operand);
  if (scalar.kind !== 'constant') return Number.NaN;
  return typeof scalar.value === 'bigint' || typeof scalar.value === 'number'
    ? Number(scalar.value)
    : Number.NaN;
}
