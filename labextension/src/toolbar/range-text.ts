/** A time range in words, for a toolbar and its tooltip. */
import type { SessionFacts } from '../../../kernel/apl/editor/link.js';
import { visible } from '../../../kernel/text.js';

/** Returns a range short enough for a toolbar: the user's words, or `26 Jan 14:30\u201316:30 UTC`; the year only where it is another one. */
export function rangeText(
  { label, startTime, endTime, isFrozen }: SessionFacts['range'],
  now = new Date(),
): string {
  if (!isFrozen) return visible(label);
  const [from, to] = [startTime, endTime].map(time => shortTime(time, now)) as [ShortTime, ShortTime];
  return from.day === to.day
    ? `${from.day} ${from.clock}\u2013${to.clock} UTC`
    : `${from.day} ${from.clock} \u2013 ${to.day} ${to.clock} UTC`;
}

interface ShortTime {
  readonly day: string;
  readonly clock: string;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The parts of an RFC 3339 time in UTC, without its seconds. */
function shortTime(time: string, now: Date): ShortTime {
  const [year = '', month, day] = time.slice(0, 10).split('-');
  const words = `${Number(day)} ${MONTHS[Number(month) - 1]}`;
  const isThisYear = Number(year) === now.getUTCFullYear();
  return { day: isThisYear ? words : `${words} ${year}`, clock: time.slice(11, 16) };
}

/** Returns the range in full, for a tooltip. */
export function rangeTitle({ label, startTime, endTime, isFrozen }: SessionFacts['range']): string {
  const kind = isFrozen ? 'pinned: the same window on every run' : `now ${startTime} to ${endTime}`;
  return `Time range of the notebook: ${visible(label)} (${kind})`;
}
