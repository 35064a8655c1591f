import type { FunctionFamily } from '../duckdb-template.js';
import { lengthTest } from './lengths.js';

/** Memory of a process, in bytes. */
export interface VectorMemory {
  /** Current use; undefined if the system does not report it. */
  readonly used: () => number | undefined;
  /** Maximum use. */
  readonly most: () => number;
}

/** Share of the process's memory limit for the values of one call: the rows at hand, up to 2,048 per thread. */
const vectorShare = 1 / 64;

/** Maximum share of the process's memory limit, including the values about to be computed. */
const mostShare = 0.75;

/** Tests each value alone, for processes that may die without harm to others. */
export const aloneLengths: FunctionFamily = {
  setup: [`CREATE MACRO ${lengthTest}(estimate, exact) AS exact`],
  udfs: [],
};

/**
 * Returns tests that add up the values of the rows at hand, since the engine cannot be stopped before it has computed all of them. A query
 * with too many long values fails as if one were too long, and has to run in a separate process.
 */
export function sharedLengths({ used, most }: VectorMemory): FunctionFamily {
  const isTooMuch = (sizes: readonly bigint[]) => {
    const sum = Number(sizes.reduce((total, size) => total + size, 0n));
    return sum > most() * vectorShare || (used() ?? 0) + sum > most() * mostShare;
  };
  return {
    setup: [
      `CREATE MACRO ${lengthTest}(estimate, exact) AS CASE WHEN apl_all_too_long(estimate::BIGINT) THEN true ELSE exact END`,
    ],
    udfs: [],
    vectorTests: [{ name: 'apl_all_too_long', test: isTooMuch }],
  };
}

/** Maximum number of calls per statement tested by {@link sharedLengths}, which cannot bound more of them together. */
const mostTests = 64;

/** Returns whether a statement has so many calls with potentially long values that it has to run in a separate process. */
export function hasManyLengths(sql: string): boolean {
  return sql.split(`${lengthTest}(`).length - 1 > mostTests;
}
