import { closest, distance } from 'fastest-levenshtein';
import { AplKernelError } from '../errors.js';
import { cut } from '../text.js';
import {
  DAY,
  EARLIEST_TIME,
  formatTime,
  HOUR,
  LATEST_TIME,
  parseTime,
  parseTimespan,
  UNITS,
} from '../time.js';

/** One end of a range. Times and offsets are nanoseconds; days are UTC days. */
export type Bound =
  | { readonly kind: 'now'; readonly offset: bigint }
  /** Midnight of today plus the offset. */
  | { readonly kind: 'today'; readonly offset: bigint }
  | { readonly kind: 'at'; readonly time: bigint };

/** A half-open range [start, end) as it was asked for: relative ends stay relative. `label` is the user's words, tidied. */
export interface TimeRange {
  readonly start: Bound;
  readonly end: Bound;
  readonly label: string;
}

/** A range at one moment: RFC 3339 in UTC, with nanoseconds where there are any. */
export interface ResolvedRange {
  readonly startTime: string;
  readonly endTime: string;
}

/** A time range that cannot be read, or that holds no time. */
export class TimeRangeError extends AplKernelError {
  constructor(message: string, hint: string = spellings) {
    super('time-range', message, { hint });
  }
}

const spellings =
  'Write `last 1h`, `-1d12h`, `now-1d now-1h`, `today`, `yesterday`, `2026-01-31`, `2026-01-01..2026-01-02`, or two times such as `2026-01-01T10:00Z 2026-01-01T11:30Z`.';

/** What is used until the user says otherwise. */
export const defaultRange: TimeRange = {
  start: { kind: 'now', offset: -HOUR },
  end: { kind: 'now', offset: 0n },
  label: 'last 1h',
};

/** Returns the range that a text spells; throws TimeRangeError. */
export function parseRange(text: string): TimeRange {
  const source = tidy(text);
  if (source === '') throw new TimeRangeError('no time range is given');
  const range = wholeRange(source) ?? oneDay(source) ?? twoSides(source);
  if (range.start.kind === 'at' && range.end.kind === 'at') checkOrder(range.start.time, range.end.time);
  return range;
}

/** Returns the range at the moment `now` (nanoseconds since 1970); throws TimeRangeError when it holds no time. */
export function resolveRange(range: TimeRange, now: bigint): ResolvedRange {
  const start = timeOf(range.start, now);
  const end = timeOf(range.end, now);
  checkOrder(start, end);
  return { startTime: formatTime(start), endTime: formatTime(end) };
}

/** Returns the same range with both ends absolute, as of `now`. */
export function freezeRange(range: TimeRange, now: bigint): TimeRange {
  const { startTime, endTime } = resolveRange(range, now);
  return {
    start: { kind: 'at', time: timeOf(range.start, now) },
    end: { kind: 'at', time: timeOf(range.end, now) },
    label: `${startTime} .. ${endTime}`,
  };
}

/** True when the range reads the same window whenever it is used. */
export function isFrozen(range: TimeRange): boolean {
  return range.start.kind === 'at' && range.end.kind === 'at';
}

/** Returns the ends as a query stores them: `now-1h` where the range is relative to now, else RFC 3339 as of `now`. */
export function storedRange(range: TimeRange, now: bigint): ResolvedRange {
  const stored = (bound: Bound) => {
    if (bound.kind !== 'now') return formatTime(timeOf(bound, now));
    return bound.offset === 0n ? 'now' : `now${bound.offset < 0n ? '-' : '+'}${inLargestUnit(bound.offset)}`;
  };
  return { startTime: stored(range.start), endTime: stored(range.end) };
}

/** Returns `2026-01-31 10:30` in UTC for nanoseconds since 1970. */
export function formatMinute(time: bigint): string {
  return formatTime(time).slice(0, 16).replace('T', ' ');
}

/** Returns the range, as `%time` takes it, of the whole days around two times; `all` where a day is beyond what a time can hold. */
export function daysAround(first: bigint, last: bigint): string {
  const start = midnight(first);
  const end = midnight(last) + DAY;
  if (start < EARLIEST_TIME || end > LATEST_TIME) return 'all';
  const [from, to] = [start, end].map(time => formatTime(time).slice(0, 10));
  return end - start === DAY ? `${from}` : `${from}..${to}`;
}

/** Spaces that mean nothing are dropped, and a date followed by a time of day becomes one word. */
function tidy(text: string): string {
  return text
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
    .replace(/\s+/g, ' ')
    .replace(/(\d{4}-\d{2}-\d{2}) (\d{1,2}:\d{2})/g, '$1T$2')
    .replace(/\b(now|today|yesterday) ([+-]) ?(?=\d)/gi, '$1$2')
    .replace(/ ?\.\. ?| (?:to|until) /gi, '..');
}

/** `last 1h`, `past 2 days`, `last hour`, `today`, `yesterday`: one word for both ends. */
function wholeRange(source: string): TimeRange | undefined {
  const lower = source.toLowerCase();
  const last = /^(?:last|past) (.+)$/.exec(lower)?.[1];
  if (last !== undefined) {
    const length = duration(/^\d/.test(last) ? last : `1 ${last}`) ?? fail(last);
    return untilNow(length, `last ${last}`);
  }
  if (lower === 'today') return { start: { kind: 'today', offset: 0n }, end: now(0n), label: 'today (UTC)' };
  if (lower === 'yesterday') {
    return {
      start: { kind: 'today', offset: -DAY },
      end: { kind: 'today', offset: 0n },
      label: 'yesterday (UTC)',
    };
  }
  const ago = /^-?(\d.*?)(?: ago)?$/.exec(lower)?.[1];
  const length = ago === undefined ? undefined : duration(ago);
  if (length === undefined && calendarLength.test(lower)) fail(source);
  return length === undefined ? undefined : untilNow(length, `last ${ago}`);
}

/** A date alone is that whole day. */
function oneDay(source: string): TimeRange | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(source)) return undefined;
  const time = absoluteTime(source) ?? fail(source);
  return { start: { kind: 'at', time }, end: { kind: 'at', time: time + DAY }, label: `${source} (UTC)` };
}

/** `a..b`, `a b`, `a..`, `a`: what is missing on the right is now. */
function twoSides(source: string): TimeRange {
  const since = source.replace(/^(?:since|from) /i, '');
  const sides = since.includes('..') ? since.split('..') : since.split(' ');
  const [left = '', right = ''] = sides;
  if (sides.length > 2)
    throw new TimeRangeError(`a range has two ends; ${shown(source)} has ${sides.length} parts`);
  if (left === '') throw new TimeRangeError(`the range ${shown(source)} has no start`);
  const start = bound(left);
  const end = right === '' ? now(0n) : bound(right);
  const toNow = right === '' || right.toLowerCase() === 'now';
  const ago = /^(?:now)?-?(\d+[a-zµμ][a-zµμ\d]*)$/i.exec(left)?.[1];
  return { start, end, label: toNow && ago !== undefined ? `last ${ago}` : `${left} .. ${right || 'now'}` };
}

/** `now`, `now-1h`, `today+8h`, `-1h`, `1h`, a date, a time. */
function bound(text: string): Bound {
  const lower = text.toLowerCase();
  const anchored = /^(now|today|yesterday)(?:([+-])(.+))?$/.exec(lower);
  if (anchored !== null) {
    const [, anchor, sign, length] = anchored;
    const amount = length === undefined ? 0n : (duration(length) ?? fail(text));
    const offset = sign === '-' ? -amount : amount;
    if (anchor === 'now') return now(offset);
    return { kind: 'today', offset: anchor === 'today' ? offset : offset - DAY };
  }
  const ago = /^-?(\d.*)$/.exec(lower)?.[1];
  const length = ago === undefined ? undefined : duration(ago);
  if (length !== undefined) return now(-length);
  const time = absoluteTime(text);
  return time === undefined ? fail(text) : { kind: 'at', time };
}

/** Nanoseconds of `1d12h`, `90m`, `2 hours`; undefined when the text is no duration. */
function duration(text: string): bigint | undefined {
  if (!/^\d[^:]*$/.test(text)) return undefined;
  return parseTimespan(text.replaceAll(/(?<=\d) (?=[a-zµμ])/g, '')) || undefined;
}

const calendarLength = /^-?\d+ ?(mo|months?|y|years?)$/i;

/** Nanoseconds since 1970 of a date or a time; undefined when the text is neither. A time without an offset is UTC. */
function absoluteTime(text: string): bigint | undefined {
  const year = /^(\d{4})-\d{2}-\d{2}(?:t|$)/i.exec(text)?.[1];
  if (year === undefined) return undefined;
  const time = parseTime(text);
  if (time !== undefined) return time;
  const isOutside = year <= '1677' || year >= '2262';
  throw new TimeRangeError(
    isOutside
      ? `${shown(text)} is outside of 1677-09-22 to 2262-04-11, what nanoseconds in 64 bits can hold`
      : `there is no time ${shown(text)}`,
  );
}

function timeOf(end: Bound, now: bigint): bigint {
  switch (end.kind) {
    case 'now':
      return now + end.offset;
    case 'today':
      return midnight(now) + end.offset;
    case 'at':
      return end.time;
  }
}

/** The start of the UTC day of a time. */
function midnight(time: bigint): bigint {
  return time - (((time % DAY) + DAY) % DAY);
}

function checkOrder(start: bigint, end: bigint): void {
  if (start < end) return;
  const [from, to] = [formatTime(start), formatTime(end)];
  if (start === end)
    throw new TimeRangeError(`the range is empty: it starts and ends at ${from} (the end is exclusive)`);
  throw new TimeRangeError(
    `the range ends (${to}) before it starts (${from})`,
    `Swap its ends: ${to} .. ${from}.`,
  );
}

/** A length in its largest whole unit, `36h` rather than `1d12h`: one unit is what every reader takes. The sign is dropped. */
function inLargestUnit(length: bigint): string {
  const amount = length < 0n ? -length : length;
  const name = ['d', 'h', 'm', 's', 'ms', 'us'].find(each => amount % (UNITS.get(each) ?? 1n) === 0n) ?? 'ns';
  return `${amount / (UNITS.get(name) ?? 1n)}${name}`;
}

function untilNow(length: bigint, label: string): TimeRange {
  return { start: now(-length), end: now(0n), label };
}

function now(offset: bigint): Bound {
  return { kind: 'now', offset };
}

function fail(text: string): never {
  if (calendarLength.test(text))
    throw new TimeRangeError(
      `months and years have no fixed length: ${shown(text)}`,
      'Write days or weeks, such as `last 30d`, or two dates.',
    );
  const word = closest(text.toLowerCase(), ['now', 'today', 'yesterday', 'last']);
  const near = distance(word, text.toLowerCase()) <= 2 ? `Did you mean \`${word}\`? ` : '';
  throw new TimeRangeError(`${shown(text)} is not a time or a length of time`, near + spellings);
}

function shown(text: string): string {
  return `\`${cut(text, 60)}\``;
}
