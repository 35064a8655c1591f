/** The time and number axes that several kinds of charts share. */
import { present } from '../../../present.js';
import type { TimeAxis } from '../time/bins.js';
import { LABELS_WIDTH, labeled, TICKS, titlePlace } from './draw-style.js';
import { daysTitle } from './draw-texts.js';

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

/** A horizontal axis with as many ticks as fit. */
export const BELOW = {
  ...{ scale: 'x', orient: 'bottom', labelOverlap: true, labelFlush: true },
  tickCount: { signal: 'max(2, floor(width / 95))' },
};

/** Returns the guide of a time axis: one format along the whole axis, as fine as its span needs; the title names the days. */
export function timeGuide({ start, end, grid }: TimeAxis, isLast: boolean): object {
  const span = end - start;
  const guide = { ...BELOW, ...present({ title: isLast ? daysTitle(start, end) : undefined }) };
  if (span > 10 * DAY) return { ...guide, format: '%Y-%m-%d' };
  // A bin of a day has a date and not an hour.
  if (grid !== undefined && grid.size % DAY === 0)
    return { ...guide, format: '%b %d', tickCount: { interval: 'day', step: grid.size / DAY } };
  if (span > 1.5 * DAY) {
    const isMidnight = "utcFormat(datum.value, '%H:%M') === '00:00'";
    return { ...guide, ...labeled(`utcFormat(datum.value, ${isMidnight} ? '%b %d' : '%b %d, %H:%M')`) };
  }
  const format = span <= 1000 ? '%H:%M:%S.%L' : span <= 8 * MINUTE ? '%H:%M:%S' : '%H:%M';
  return { ...guide, format };
}

/** From here on, an axis counts in thousands, millions and so on. */
const LARGE = 1e6;
/** Numbers below this are written as powers of ten. */
const SMALL = 1e-3;
/** Numbers from here on are too. */
const HUGE = 1e18;

/** Returns the format of the numbers of an axis: plain, `1.5M` if the axis reaches a million, `5e-6` below a thousandth, `1e300`. */
export function numberLabels(low: number, high: number): object {
  const largest = Math.max(Math.abs(low), Math.abs(high));
  if (largest >= HUGE)
    return labeled(`datum.value === 0 ? '0' : replace(format(datum.value, '.4~e'), '+', '')`);
  const isLarge = largest >= LARGE;
  const small = `datum.value !== 0 && abs(datum.value) < ${SMALL} ? format(datum.value, '.4~e')`;
  const large = isLarge ? ` : abs(datum.value) >= 1000 ? format(datum.value, '.6~s')` : '';
  return labeled(`${small}${large} : format(datum.value, ',.7~r')`);
}

/** Returns a vertical axis of numbers, with a title above it as wide as the plot; `room` is the space above it, in pixels. */
export function valueGuide(
  { low, high }: { readonly low: number; readonly high: number },
  index: number,
  room: number,
): object {
  return {
    ...{ scale: 'y', orient: 'left', grid: true, labelOverlap: true, tickCount: TICKS },
    ...{ title: titlePlace(index), titleAngle: 0, titleAlign: 'left', titleAnchor: 'end' },
    ...{ titleX: 2, titleY: -8 - room, minExtent: LABELS_WIDTH, maxExtent: LABELS_WIDTH },
    ...numberLabels(low, high),
  };
}

/** An expression that formats a value for a tooltip: integers in full, without the noise of a computed fraction. */
export const exactly = (field: string) =>
  `format(datum.${field}, abs(datum.${field}) < 1e12 ? ',.12~r' : ',.16~r')`;

/** An expression that formats a time in UTC, for a tooltip. */
export const utcTime = (field: string) => `utcFormat(datum.${field}, '%Y-%m-%d %H:%M:%S')`;

/** Returns the tooltip of a mark: expressions by name. */
export function tip(rows: Readonly<Record<string, string>>): object {
  const members = Object.entries(rows).map(([name, expression]) => `'${name}': ${expression}`);
  return { signal: `{${members.join(', ')}}` };
}
