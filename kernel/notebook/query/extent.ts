import type { DatasetInfo } from '../../api/wire.js';
import { plural } from '../../text.js';
import { parseTime } from '../../time.js';
import { daysAround, formatMinute } from '../time-range.js';

/** Describes the extent of a dataset: `500 events, 2015-10-30 23:58 to 2015-10-31 00:40: %time 2015-10-30..2015-11-01`. */
export function extentText({
  rows = 0,
  firstTime,
  lastTime,
}: Pick<DatasetInfo, 'rows' | 'firstTime' | 'lastTime'>): string {
  const [first, last] = [parseTime(firstTime ?? ''), parseTime(lastTime ?? '')];
  const events = plural(rows, 'event');
  if (first !== undefined && last !== undefined) return `${events}, ${spanText(first, last)}`;
  return rows === 0 ? `${events}.` : `${events} without a time, included in every time range.`;
}

/** Formats two times in UTC, and the magic line that reads the days around them. */
export function spanText(first: bigint, last: bigint): string {
  const [from, to] = [formatMinute(first), formatMinute(last)];
  return `${from === to ? from : `${from} to ${to}`}: \`%time ${daysAround(first, last)}\``;
}
