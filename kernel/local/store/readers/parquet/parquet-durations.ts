import { MICROSECOND, MILLISECOND, SECOND } from '../../../../time.js';

/** Durations in a column of a Parquet file, which has no type for them: only the Arrow schema that its writer left there tells. */
export interface ArrowDuration {
  /** The names that lead to the column; those of lists and maps are among them. */
  readonly path: readonly string[];
  readonly unit: keyof typeof nanoseconds;
}

/** How many nanoseconds a unit has. */
export const nanoseconds = {
  seconds: SECOND,
  milliseconds: MILLISECOND,
  microseconds: MICROSECOND,
  nanoseconds: 1n,
} as const;
