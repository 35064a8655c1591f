/** A time range in words, for a toolbar and its tooltip. */
import type { SessionFacts } from '../../../kernel/apl/editor/editor-link.js';
import { visible } from '../../../kernel/text.js';
import { clockName, timeIn, type Zone } from '../link/link-zone.js';

/**
 * Returns a range short enough for a toolbar: the user's words, or `26 Jan 14:30\u201316:30 UTC`; whole days without hours, and
 * the year only once, and only if it is not the current one.
 */
export function rangeText(
  { label, startTime, endTime, isFrozen }: SessionFacts['range'],
  zone: Zone = 'utc',
  now = new Date(),
): string {
  if (!isFrozen) return visible(label);
  const clock = clockName(endTime, zone);
  const [from, to] = [startTime, endTime].map(time => shortTime(timeIn(time, zone))) as [
    ShortTime,
    ShortTime,
  ];
  const { year } = shortTime(timeIn(now.toISOString(), zone));
  if (from.isMidnight && to.isMidnight && startTime !== endTime) {
    // The range ends just before its last day would begin.
    const last = shortTime(timeIn(new Date(Date.parse(endTime) - 1).toISOString(), zone));
    const [first, end] = dayTexts(from, last, year);
    return from.day === last.day && from.year === last.year
      ? `${end} ${clock}`
      : `${first} \u2013 ${end} ${clock}`;
  }
  const [first, end] = dayTexts(from, to, year);
  return from.day === to.day && from.year === to.year
    ? `${end} ${from.clock}\u2013${to.clock} ${clock}`
    : `${first} ${from.clock} \u2013 ${end} ${to.clock} ${clock}`;
}

interface ShortTime {
  readonly year: number;
  readonly day: string;
  readonly clock: string;
  readonly isMidnight: boolean;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Returns the parts of an RFC 3339 time, without its seconds. */
function shortTime(time: string): ShortTime {
  const [year, month, day] = time.slice(0, 10).split('-');
  return {
    year: Number(year),
    day: `${Number(day)} ${MONTHS[Number(month) - 1]}`,
    clock: time.slice(11, 16),
    isMidnight: /^00:00:00(?:\.0+)?(?:Z|[+-]|$)/.test(time.slice(11)),
  };
}

/** Returns both days, with years other than the current one; a shared year is given only once. */
function dayTexts(from: ShortTime, to: ShortTime, current: number): readonly [string, string] {
  const text = ({ day, year }: ShortTime): string => (year === current ? day : `${day} ${year}`);
  return [from.year === to.year ? from.day : text(from), text(to)];
}

/** Returns the range in full, for a tooltip. */
export function rangeTitle(
  { label, startTime, endTime, isFrozen }: SessionFacts['range'],
  zone: Zone,
): string {
  const window = [startTime, endTime].map(time => timeIn(time, zone)).join(' to ');
  const kind = isFrozen ? 'pinned: the same window on every run' : `now ${window}`;
  return `Time range of the notebook: ${visible(label)} (${kind})`;
}
