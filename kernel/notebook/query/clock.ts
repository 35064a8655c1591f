import type { QueryText } from '../../apl/syntax/parse.js';
import type { Notice } from '../../result/result.js';
import { parseTime } from '../../time.js';
import { isFrozen, type ResolvedRange, type TimeRange } from '../time-range.js';
import { readsClock } from './query-reading.js';

/** Meaning of `now()` and `ago()` in one query: the time to send to the service, and notices about it. */
export interface QueryClock {
  /** RFC 3339; absent if it is the time of the run. */
  readonly now?: string;
  readonly notices: readonly Notice[];
}

/** The time of the run, in nanoseconds since 1970, and whether the service is the local one, which accepts another time. */
interface ServiceClock {
  readonly now: bigint;
  readonly isLocal: boolean;
}

/**
 * Returns the clock of a query. In a frozen range that has ended, it stops at the end of the range, so that a run on another day
 * yields the same result; a hosted service uses its own clock, and a warning says so.
 */
export function clockOf(
  query: QueryText,
  range: TimeRange,
  window: ResolvedRange,
  { now, isLocal }: ServiceClock,
): QueryClock {
  const { endTime } = window;
  const end = parseTime(endTime);
  const isPast = end !== undefined && end <= now;
  if (!isFrozen(range) || !isPast || !readsClock(query)) return { notices: [] };
  if (isLocal)
    return { now: endTime, notices: [{ level: 'info', text: `${calls} ${endTime}, the end of the range.` }] };
  return {
    notices: [
      {
        level: 'warn',
        text: `${calls} the time of this run, as the service decides, not to ${endTime}, the end of the range. Write absolute times instead to get the same result again.`,
      },
    ],
  };
}

const calls = '`now()` and `ago()` are relative to';
