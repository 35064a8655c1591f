/**
 * The axis of time, which several kinds of charts have.
 */
import { daysTitle } from './texts.js';

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
export const FEW_TICKS = { expr: 'max(2, floor(width / 95))' };

/** One format of times along the whole axis, as fine as its span needs; the title names the days. */
export function timeGuide(start: number, end: number, isLast: boolean): object {
  const span = end - start;
  const format =
    span <= 1000
      ? '%H:%M:%S.%L'
      : span <= 8 * MINUTE
        ? '%H:%M:%S'
        : span <= 1.5 * DAY
          ? '%H:%M'
          : span <= 10 * DAY
            ? '%b %d, %H:%M'
            : '%Y-%m-%d';
  const title = isLast ? daysTitle(start, end) : null;
  return { title, grid: false, format, labelOverlap: true, tickCount: FEW_TICKS };
}
