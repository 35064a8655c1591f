import { nearest } from '../apl/syntax/nearest.js';
import { AplKernelError } from '../errors.js';
import { cut } from '../text.js';
import {
  DAY,
  datesMeant,
  EARLIEST_TIME,
  formatTime,
  HOUR,
  isBeyond,
  isBeyondTime,
  LATEST_TIME,
  MILLISECOND,
  parseTime,
  parseTimespan,
  UNITS,
} from '../time.js';

/** One end of a range. Times and offsets are nanoseconds; days are UTC days. */
export type RangeEnd =
  | { readonly kind: 'now'; readonly offset: bigint }
  /** This many calendar months before now, at the same time of day. */
  | { readonly kind: 'months'; readonly count: number }
  /** The start of the current day, week, month or year, shifted by `shift` of these, plus the offset. Weeks begin on Monday. */
  | {
      readonly kind: 'calendar';
      readonly unit: CalendarUnit;
      readonly shift: number;
      readonly offset: bigint;
    }
  | { readonly kind: 'at'; readonly time: bigint };

type CalendarUnit = 'day' | 'week' | 'month' | 'year';

/** A half-open range [start, end); relative ends stay relative. `label` is the range as the user wrote it, normalized. */
export interface TimeRange {
  readonly start: RangeEnd;
  readonly end: RangeEnd;
  readonly label: string;
}

/** A range resolved to times: RFC 3339 in UTC, with nanoseconds if any. */
export interface ResolvedRange {
  readonly startTime: string;
  readonly endTime: string;
}

/** A time range that is empty or cannot be parsed. */
export class TimeRangeError extends AplKernelError {
  constructor(message: string, hint: string = spellings) {
    super('time-range', message, { hint });
  }
}

const LIMITS = '1677-09-22 to 2262-04-11, the range of 64-bit nanoseconds';

const spellings =
  'Write `last 1h`, `-1d12h`, `now-1d now-1h`, `today`, `this week`, `all`, `2026`, `2026-01`, `2026-01-31`, `2026-01-01..2026-01-02`, `yesterday 10:00..11:00`, or two times such as `2026-01-01T10:00Z 2026-01-01T11:30Z`.';

/** The range until the user sets another. */
export const defaultRange: TimeRange = {
  start: { kind: 'now', offset: -HOUR },
  end: { kind: 'now', offset: 0n },
  label: 'last 1h',
};

/** All times that fit into 64-bit nanoseconds. */
export const everything: TimeRange = {
  start: { kind: 'at', time: EARLIEST_TIME },
  end: { kind: 'at', time: LATEST_TIME },
  label: 'all',
};

/** Parses a range; throws TimeRangeError. */
export function parseRange(text: string): TimeRange {
  const source = tidy(text);
  if (source === '') throw new TimeRangeError('give a time range');
  const meant = meantRange(text.trim());
  if (meant !== undefined)
    throw new TimeRangeError(
      `${shown(text.trim())} is not a time range`,
      `Write ${meant}. Times are in UTC.`,
    );
  const range = wholeRange(source) ?? datedRange(source) ?? twoSides(source);
  if (range.start.kind === 'at' && range.end.kind === 'at') checkOrder(range.start.time, range.end.time);
  return range;
}

/** Parses one end of a range, such as `now-1h` or `yesterday 10:00`, to nanoseconds since 1970; throws TimeRangeError. */
export function parseInstant(text: string, now: bigint): bigint {
  return timeOf(bound(tidy(text)), now);
}

/** Resolves the range as of `now` (nanoseconds since 1970); throws TimeRangeError if it is empty or beyond the limits of a time. */
export function resolveRange(range: TimeRange, now: bigint): ResolvedRange {
  const { start, end } = endsOf(range, now);
  checkOrder(start, end);
  return { startTime: formatTime(start), endTime: formatTime(end) };
}

/** Throws TimeRangeError for a range beyond the limits of a time; one that is empty as of `now` may not be so tomorrow. */
export function checkLimits(range: TimeRange, now: bigint): void {
  endsOf(range, now);
}

function endsOf(range: TimeRange, now: bigint): { readonly start: bigint; readonly end: bigint } {
  const start = timeOf(range.start, now);
  const end = timeOf(range.end, now);
  if (isBeyond(start) || isBeyond(end))
    throw new TimeRangeError(`the range ${shown(range.label)} goes beyond ${LIMITS}`);
  return { start, end };
}

/** Like `resolveRange`, but never throws: a range that is empty as of `now`, such as `today 10:00..` at night, ends as it starts. */
export function resolveForDisplay(range: TimeRange, now: bigint): ResolvedRange {
  const [start, end] = [range.start, range.end].map(each => withinLimits(timeOf(each, now))) as [
    bigint,
    bigint,
  ];
  return { startTime: formatTime(start), endTime: formatTime(start < end ? end : start) };
}

function withinLimits(time: bigint): bigint {
  if (time < EARLIEST_TIME) return EARLIEST_TIME;
  return time > LATEST_TIME ? LATEST_TIME : time;
}

/**
 * Returns the range with both ends absolute, as of `now`; throws TimeRangeError for `all`, whose ends depend on the datasets of each
 * query.
 */
export function freezeRange(range: TimeRange, now: bigint): TimeRange {
  if (range === everything)
    throw new TimeRangeError(
      '`all` cannot be frozen: its window depends on the datasets of each query',
      'Use the range shown with the results, such as `%time 2026-01-01..2026-02-01`.',
    );
  const { startTime, endTime } = resolveRange(range, now);
  return {
    start: { kind: 'at', time: timeOf(range.start, now) },
    end: { kind: 'at', time: timeOf(range.end, now) },
    label: `${startTime} .. ${endTime}`,
  };
}

/** Returns the `%time` line (`%%time` for one cell) of the range as of `now`. */
export function rangeLine(range: TimeRange, now: bigint, forCell: boolean): string {
  const { startTime, endTime } = resolveRange(range, now);
  return `${forCell ? '%%' : '%'}time ${startTime}..${endTime}`;
}

/** Returns whether the range always has the same window. */
export function isFrozen(range: TimeRange): boolean {
  return range !== everything && range.start.kind === 'at' && range.end.kind === 'at';
}

/** `all` as stored in a query and sent to the hosted service, which has no equivalent. */
export const storedEverything: ResolvedRange = { startTime: '1970-01-01T00:00:00Z', endTime: 'now' };

/** Returns the ends as stored in a query: `now-1h` if relative to now, else RFC 3339 as of `now`. */
export function storedRange(range: TimeRange, now: bigint): ResolvedRange {
  if (range === everything) return storedEverything;
  const stored = (bound: RangeEnd) => {
    if (bound.kind === 'at' || bound.kind === 'calendar') return formatTime(timeOf(bound, now));
    const offset = timeOf(bound, now) - now;
    return offset === 0n ? 'now' : `now${offset < 0n ? '-' : '+'}${inLargestUnit(offset)}`;
  };
  return { startTime: stored(range.start), endTime: stored(range.end) };
}

/** Returns stored ends in the syntax of `%time`. */
export function storedText({ startTime, endTime }: ResolvedRange): string {
  const isAll = startTime === storedEverything.startTime && endTime === storedEverything.endTime;
  return isAll ? 'all' : `${startTime}..${endTime}`;
}

/** Formats nanoseconds since 1970 as `2026-01-31 10:30`, in UTC. */
export function formatMinute(time: bigint): string {
  return formatTime(time).slice(0, 16).replace('T', ' ');
}

/** Returns the range, in the syntax of `%time`, of the whole days around two times; `all` if a day is beyond the limits of a time. */
export function daysAround(first: bigint, last: bigint): string {
  const start = midnight(first);
  const end = midnight(last) + DAY;
  if (start < EARLIEST_TIME || end > LATEST_TIME) return 'all';
  const [from, to] = [start, end].map(time => formatTime(time).slice(0, 10));
  return end - start === DAY ? `${from}` : `${from}..${to}`;
}

const DAY_WORD = String.raw`(?:(today|yesterday|\d{4}-\d{2}-\d{2})[ T]?)?`;
const CLOCK = String.raw`(\d{1,2})(?::(\d{2}))? ?([ap]m)?`;
/** `9-10`, `yesterday 9:00-10:30`, `between 9am and 10am`. */
const CLOCK_RANGE = new RegExp(
  `^(?:from |between )?${DAY_WORD}${CLOCK} ?(-|\\.\\.| to | until | and ) ?${CLOCK}$`,
  'i',
);
const CLOCK_TIME = new RegExp(`^(?:since |from )?${DAY_WORD}${CLOCK}$`, 'i');

/** Suggests the syntax of \`%time\` for a range in another notation, in backticks; undefined for valid and for unrecognizable input. */
function meantRange(text: string): string | undefined {
  const [, day = 'today', hour, minute, half, sign = '', nextHour, nextMinute, nextHalf] =
    CLOCK_RANGE.exec(text) ?? [];
  const isTaken =
    sign === '..' &&
    minute !== undefined &&
    nextMinute !== undefined &&
    CLOCK_RANGE.exec(text)?.[1] !== undefined;
  if (hour !== undefined && nextHour !== undefined && !isTaken) {
    const ends = [clockOf(hour, minute, half ?? nextHalf), clockOf(nextHour, nextMinute, nextHalf)];
    return ends.includes(undefined) ? undefined : `\`${day.toLowerCase()} ${ends.join('..')}\``;
  }
  const [, since = 'today', at, past, part] = CLOCK_TIME.exec(text) ?? [];
  const start =
    at === undefined || (past === undefined && part === undefined) ? undefined : clockOf(at, past, part);
  if (start !== undefined && (part !== undefined || CLOCK_TIME.exec(text)?.[1] === undefined))
    return `\`${since.toLowerCase()} ${start}..\``;
  const dates = datesMeant(text);
  return dates.length === 0 ? undefined : dates.map(date => `\`${date}\``).join(' or ');
}

/** Formats a time of day as `09:30`; undefined if it is invalid. */
function clockOf(hour: string, minute = '00', half?: string): string | undefined {
  const past =
    half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
  return past > 23 || Number(minute) > 59 || (half !== undefined && Number(hour) > 12)
    ? undefined
    : `${String(past).padStart(2, '0')}:${minute}`;
}

/** Removes insignificant spaces, and joins a date and its time of day into one word. */
function tidy(text: string): string {
  return text
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
    .replace(/\s+/g, ' ')
    .replace(/(\d{4}-\d{2}-\d{2}|today|yesterday) (\d{1,2}:\d{2})/gi, '$1T$2')
    .replace(/\b(now|today|yesterday) ([+-]) ?(?=\d)/gi, '$1$2')
    .replace(/ ?\.\. ?| (?:to|until) /gi, '..');
}

/**
 * Parses one word for both ends: `last 1h`, `past 2 days`, `last hour`, `last 1y`, `today`, `this week`, `last week`, `yesterday`,
 * `all`.
 */
function wholeRange(source: string): TimeRange | undefined {
  const lower = source.toLowerCase();
  if (lower === 'all') return everything;
  const previous = /^last (day|week|month|year)$/.exec(lower)?.[1];
  if (previous !== undefined) return wholeUnit(previous as CalendarUnit, lower);
  const [, word, last] = /^(last|past) (.+)$/.exec(lower) ?? [];
  if (last !== undefined)
    return untilNow(before(/^\d/.test(last) ? last : `1 ${last}`) ?? fail(last), `${word} ${last}`);
  if (lower === 'yesterday') return wholeUnit('day', lower);
  const unit = lower === 'today' ? 'day' : /^this (day|week|month|year)$/.exec(lower)?.[1];
  if (unit !== undefined) return untilNow(calendar(unit as CalendarUnit, 0), `${lower} (UTC)`);
  const ago = /^-?(\d.*?)(?: ago)?$/.exec(lower)?.[1];
  const start = ago === undefined ? undefined : before(ago);
  return start === undefined ? undefined : untilNow(start, `last ${ago}`);
}

/** Parses a year, a month or a date alone, which is the whole of it. */
function datedRange(source: string): TimeRange | undefined {
  const [, year, month, day] = /^(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?$/.exec(source) ?? [];
  if (year === undefined) return undefined;
  const time = absoluteTime(source) ?? fail(source);
  const unit = day !== undefined ? 'day' : month !== undefined ? 'month' : 'year';
  return {
    start: { kind: 'at', time },
    end: { kind: 'at', time: startOf(unit, 1, time) },
    label: `${source} (UTC)`,
  };
}

/** Parses `a..b`, `a b`, `a..`, `a`: a missing right end is now, and a time of day there belongs to the day on the left. */
function twoSides(source: string): TimeRange {
  const since = source.replace(/^(?:since|from) /i, '');
  const sides = since.includes('..') ? since.split('..') : since.split(' ');
  const [left = '', right = ''] = sides;
  if (sides.length > 2)
    throw new TimeRangeError(`a range has two ends; ${shown(source)} has ${sides.length} parts`);
  if (left === '') throw new TimeRangeError(`the range ${shown(source)} has no start`);
  const start = bound(left);
  const leftDay = dayAndTime.exec(left)?.[1];
  const end =
    right === '' ? now(0n) : bound(leftDay && timeOfDay.test(right) ? `${leftDay}T${right}` : right);
  const toNow = right === '' || right.toLowerCase() === 'now';
  const ago = /^(?:now)?-?(\d+[a-z\u00b5\u03bc][a-z\u00b5\u03bc\d]*)$/i.exec(left)?.[1];
  const label = toNow && ago !== undefined ? `last ${ago}` : `${spaced(left)} .. ${spaced(right || 'now')}`;
  return { start, end, label };
}

const dayAndTime = /^(today|yesterday|\d{4}-\d{2}-\d{2})t(.+)$/i;
const timeOfDay = /^\d{1,2}:\d{2}/;

/** Parses `now`, `now-1h`, `today+8h`, `yesterdayT10:00`, `this week`, `-1h`, `1y`, a date or a time. */
function bound(text: string): RangeEnd {
  const lower = text.toLowerCase();
  if (lower === 'now') return now(0n);
  const week = /^this (day|week|month|year)$/.exec(lower)?.[1];
  if (week !== undefined) return calendar(week as CalendarUnit, 0);
  return anchored(lower, text) ?? before(lower.replace(/^(?:now)?-/, '')) ?? absolute(text);
}

/** Parses `now+1h`, `today`, `yesterday-1h`, `todayT10:00`. */
function anchored(lower: string, text: string): RangeEnd | undefined {
  const [, anchor, sign, length, clock] =
    /^(now|today|yesterday)(?:([+-])(.+)|t(\d{1,2}:\d{2}.*))?$/.exec(lower) ?? [];
  if (anchor === undefined || (anchor === 'now' && (sign === '-' || clock !== undefined))) return undefined;
  const amount = length === undefined ? clockTime(clock, text) : (duration(length) ?? fail(text));
  const offset = sign === '-' ? -amount : amount;
  return anchor === 'now' ? now(offset) : { ...calendar('day', anchor === 'today' ? 0 : -1), offset };
}

/** Returns the time of day as nanoseconds after midnight. */
function clockTime(clock: string | undefined, text: string): bigint {
  return clock === undefined ? 0n : (parseTime(`1970-01-01T${clock}`) ?? fail(text));
}

function absolute(text: string): RangeEnd {
  const time = absoluteTime(text);
  return time === undefined ? fail(text) : { kind: 'at', time };
}

/** Returns the start of a range that ends now, from its duration; undefined if the text is not a duration. */
function before(text: string): RangeEnd | undefined {
  const length = duration(text);
  if (length !== undefined) return now(-length);
  const [, count, unit = ''] = /^([1-9]\d{0,4}) ?(mo|months?|y|yrs?|years?)$/.exec(text) ?? [];
  if (count === undefined) return undefined;
  return { kind: 'months', count: Number(count) * (unit.startsWith('y') ? 12 : 1) };
}

/** Parses `1d12h`, `90m` or `2 hours` to nanoseconds; returns undefined if the text is not a duration. */
function duration(text: string): bigint | undefined {
  if (!/^\d[^:]*$/.test(text)) return undefined;
  return parseTimespan(text.replaceAll(/(?<=\d) (?=[a-z\u00b5\u03bc])/g, '')) || undefined;
}

/** Parses a date or a time to nanoseconds since 1970; returns undefined if the text is neither. A time without an offset is UTC. */
function absoluteTime(text: string): bigint | undefined {
  const [, year, month] = /^(\d{4})(-\d{2}(?:-\d{2}(?:t.*)?)?)?$/i.exec(text) ?? [];
  if (year === undefined) return undefined;
  const whole = month === undefined ? `${text}-01` : text;
  const time = parseTime(whole);
  if (time !== undefined) return time;
  throw new TimeRangeError(
    isBeyondTime(whole) ? `${shown(text)} is outside ${LIMITS}` : `${shown(text)} is not a valid time`,
  );
}

function timeOf(end: RangeEnd, now: bigint): bigint {
  switch (end.kind) {
    case 'now':
      return now + end.offset;
    case 'months':
      return monthsBefore(end.count, now);
    case 'calendar':
      return startOf(end.unit, end.shift, now) + end.offset;
    case 'at':
      return end.time;
  }
}

/** Returns the start of the UTC day of a time. */
function midnight(time: bigint): bigint {
  return time - (((time % DAY) + DAY) % DAY);
}

/** Returns the start of the UTC day, week, month or year of a time, shifted by `shift` of these. */
function startOf(unit: CalendarUnit, shift: number, time: bigint): bigint {
  const today = midnight(time);
  const date = new Date(Number(today / MILLISECOND));
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  switch (unit) {
    case 'day':
      return today + BigInt(shift) * DAY;
    case 'week':
      return today + BigInt(7 * shift - ((date.getUTCDay() + 6) % 7)) * DAY;
    case 'month':
      return BigInt(Date.UTC(year, month + shift)) * MILLISECOND;
    case 'year':
      return BigInt(Date.UTC(year + shift, 0)) * MILLISECOND;
  }
}

/** Returns the same day and time `count` months before; the last day of a month that lacks the day. */
function monthsBefore(count: number, time: bigint): bigint {
  const today = midnight(time);
  const date = new Date(Number(today / MILLISECOND));
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() - count];
  const days = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const day = Date.UTC(year, month, Math.min(date.getUTCDate(), days));
  return BigInt(day) * MILLISECOND + (time - today);
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

/** Formats the absolute value of a duration in its largest whole unit, `36h` rather than `1d12h`, as every parser accepts a single unit. */
function inLargestUnit(length: bigint): string {
  const amount = length < 0n ? -length : length;
  const name = ['d', 'h', 'm', 's', 'ms', 'us'].find(each => amount % (UNITS.get(each) ?? 1n) === 0n) ?? 'ns';
  return `${amount / (UNITS.get(name) ?? 1n)}${name}`;
}

/** Returns the whole day, week, month or year before the current one. */
function wholeUnit(unit: CalendarUnit, words: string): TimeRange {
  return { start: calendar(unit, -1), end: calendar(unit, 0), label: `${words} (UTC)` };
}

function untilNow(start: RangeEnd, label: string): TimeRange {
  return { start, end: now(0n), label };
}

function calendar(unit: CalendarUnit, shift: number): Extract<RangeEnd, { kind: 'calendar' }> {
  return { kind: 'calendar', unit, shift, offset: 0n };
}

function now(offset: bigint): RangeEnd {
  return { kind: 'now', offset };
}

function fail(text: string): never {
  const word = nearest(text, ['now', 'today', 'yesterday', 'last', 'this week', 'all']);
  const near = word === undefined ? '' : `Did you mean \`${word}\`? `;
  throw new TimeRangeError(`${shown(text)} is not a time or a duration`, near + spellings);
}

function shown(text: string): string {
  return `\`${cut(spaced(text), 60)}\``;
}

/** Returns `yesterday 10:00` as it was written, before it became one word. */
function spaced(text: string): string {
  return text.replace(/^(today|yesterday)t/i, '$1 ');
}
