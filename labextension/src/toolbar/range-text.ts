/** A time range in words, for a toolbar and its tooltip. */
import type { SessionFacts } from '../../../kernel/apl/editor/link.js';
import { visible } from '../../../kernel/text.js';
import { clockName, timeIn, type Zone } from '../link/zone.js';

/** Returns a range short enough for a toolbar: the user's words, or `26 Jan 14:30\u201316:30 UTC`; the year only if it is another one. */
export function rangeText(
  { label, startTime, endTime, isFrozen }: SessionFacts['range'],
  zone: Zone = 'utc',
  now = new Date(),
): string {
  if (!isFrozen) return visible(label);
  const clock = clockName(endTime, zone);
  const [from, to] = [startTime, endTime].map(time => shortTime(timeIn(time, zone), now)) as [
    ShortTime,
    ShortTime,
  ];
  return from.day === to.day
    ? `${from.day} ${from.clock}\u2013${to.clock} ${clock}`
    : `${from.day} ${from.clock} \u2013 ${to.day} ${to.clock} ${clock}`;
}

interface ShortTime {
  readonly day: string;
  readonly clock: string;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The parts of an RFC 3339 time, without its seconds. */
function shortTime(time: string, now: Date): ShortTime {
  const [year = '', month, day] = time.slice(0, 10).split('-');
  const words = `${Number(day)} ${MONTHS[Number(month) - 1]}`;
  const isThisYear = Number(year) === now.getUTCFullYear();
  return { day: isThisYear ? words : `${words} ${year}`, clock: time.slice(11, 16) };
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
