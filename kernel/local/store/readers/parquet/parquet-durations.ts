import { MICROSECOND, MILLISECOND, SECOND } from '../../../../time.js';

/** Durations in a Parquet column. The format has no type for them, so they are known only from the Arrow schema embedded by the writer. */
export interface ArrowDuration {
  /** Path of names to the column, including lists and maps. */
  readonly path: readonly string[];
  readonly unit: keyof typeof nanoseconds;
}

/** Nanoseconds per unit. */
export const nanoseconds = {
  seconds: SECOND,
  milliseconds: MILLISECOND,
  microseconds: MICROSECOND,
  nanoseconds: 1n,
} as const;
