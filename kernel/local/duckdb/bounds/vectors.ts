import type { FunctionFamily } from '../duckdb-template.js';
import { lengthTest } from './lengths.js';

/** What a process knows of its memory, in bytes. */
export interface VectorMemory {
  /** What it uses; undefined if the system does not say. */
  readonly used: () => number | undefined;
  /** What it may use. */
  readonly most: () => number;
}

/** Of the memory that the process may use: a call has it for the values of the rows at hand, of which each thread has up to 2,048. */
const vectorShare = 1 / 64;

/** Of the memory that the process may use, with what is about to be made. */
const mostShare = 0.75;

/** Where each value counts alone: a process that may end without harm to others. */
export const aloneLengths: FunctionFamily = {
  setup: [`CREATE MACRO ${lengthTest}(estimate, exact) AS exact`],
  udfs: [],
};

/**
 * Where the values of the rows at hand count together, as nothing can stop the engine before it has made all of them: a query that would
 * make too many long ones fails as if one were too long, and is to run in a process of its own.
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

/** The most calls in a statement that are tested by {@link sharedLengths}: together they are bounded by their number alone. */
const mostTests = 64;

/** Whether a statement has so many calls that may make long values that it is to run in a process of its own. */
export function hasManyLengths(sql: string): boolean {
  return sql.split(`${lengthTest}(`).length - 1 > mostTests;
}
