import type { Relation, Scalar } from './plan.js';
import { inputsOf } from './plan-walk.js';

/** The most rows of `range`, as an operator, and the most elements of what the function returns. */
export const mostSequenceRows = 1_048_576;

/**
 * Returns an estimate of how many rows a plan makes itself, by `range` and tables of constants; those of datasets are the
 * catalog's to count.
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

/** Returns how many rows a plan has at most, given how many a table has; infinity if that is not known. */
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

/** Returns whether each row of a plan is a group of others. */
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

/** Returns the value of a constant number; NaN for what is known only when the query runs. */
function numberOf(scalar: Scalar): number {
  if (scalar.kind === 'convert') return numberOf(scalar.value);
  if (scalar.kind === 'negate') return -numberOf(scalar.operand);
  if (scalar.kind !== 'constant') return Number.NaN;
  return typeof scalar.value === 'bigint' || typeof scalar.value === 'number'
    ? Number(scalar.value)
    : Number.NaN;
}
