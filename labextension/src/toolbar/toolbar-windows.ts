/** Windows of time beside and around a window, as arguments of `%time`. */
import { formatTime, isBeyond, parseTime } from '../../../kernel/time.js';

/** Two times in RFC 3339. */
export interface TimeWindow {
  readonly startTime: string;
  readonly endTime: string;
}

/** A move of a window: its name, and the window after it. Times are in nanoseconds since 1970. */
export interface WindowMove {
  readonly name: 'previous' | 'next' | 'wider';
  readonly sign: string;
  readonly label: string;
  readonly move: (start: bigint, end: bigint, now: bigint) => readonly [bigint, bigint] | undefined;
}

/** Every move, in the order of its button. Nothing has happened after now, so no move begins there, and zooming out ends there. */
export const MOVES: readonly WindowMove[] = [
  {
    name: 'previous',
    sign: '\u2039',
    label: 'Previous window',
    move: (start, end) => [start - (end - start), start],
  },
  {
    name: 'next',
    sign: '\u203a',
    label: 'Next window',
    move: (start, end, now) => (end >= now ? undefined : [end, end + (end - start)]),
  },
  {
    name: 'wider',
    sign: '\u2212',
    label: 'Zoom out to twice the range',
    move: (start, end, now) => {
      const length = end - start;
      const late = end > now ? end : now;
      const to = end + length / 2n > late ? late : end + length / 2n;
      return [to - 2n * length, to];
    },
  },
];

/** Returns the range after a move, as an argument of `%time`; undefined if there is none. */
export function movedRange({ move }: WindowMove, window: TimeWindow, now: bigint): string | undefined {
  const [start, end] = [parseTime(window.startTime), parseTime(window.endTime)];
  if (start === undefined || end === undefined || end <= start) return undefined;
  const moved = move(start, end, now);
  if (moved === undefined || moved.some(isBeyond)) return undefined;
  return moved.map(time => formatTime(time)).join('..');
}
