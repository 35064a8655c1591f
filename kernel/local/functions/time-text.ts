import {
  EARLIEST_TIME,
  LATEST_TIME,
  MICROSECOND,
  MILLISECOND,
  parseOffset,
  SECOND,
  timeOf,
  zoneOffsets,
} from '../../time.js';

/**
 * Parses a time in any of many common formats (RFC 3339, 1123, 850, ANSI C, Apache, month names, month/day/year, epoch numbers by length)
 * to nanoseconds since 1970; UTC unless it has a zone. Null if it fits none of them.
 */
export function timeNs(text: string): bigint | null {
  const trimmed = text.trim();
  if (/^\d+$/.test(trimmed)) return digitsNs(trimmed);
  for (const pattern of patterns) {
    const groups = pattern.exec(trimmed)?.groups;
    if (groups !== undefined) return fieldsNs(groups);
  }
  return null;
}

type Fields = Readonly<Record<string, string | undefined>>;

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const month =
  '(?<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)[.]?';
const weekday = '(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,?\\s+)?';
const day = '(?<day>\\d{1,2})(?:st|nd|rd|th)?';
const year = '(?<year>\\d{4})';
const shortYear = '(?<year>\\d{4}|\\d{2})';
const clock =
  '(?<hour>\\d{1,2}):(?<minute>\\d{2})(?::(?<second>\\d{2})(?:[.,:](?<fraction>\\d+))?)?(?:\\s*(?<half>[ap]m))?';
const offset = '[+-]\\d{2}(?::?\\d{2})?';
// The text after the zone repeats it; `m=` is a monotonic clock, as printed by Go.
const zone = `(?:\\s*(?<zone>[a-z]{1,4}(?![a-z:+-])|[a-z]{0,4}${offset}))?(?:\\s+(?:[a-z]{3,4}|\\([a-z0-9+: -]+\\)|${offset}))?(?:\\s+m=[+-][\\d.]+)?`;
const time = `(?:(?:\\s*,\\s*|\\s+at\\s+|\\s+|t|:)${clock}${zone})?`;

const patterns: readonly RegExp[] = [
  `${year}(?<sep>[-/.:])(?<month>\\d{1,2})\\k<sep>${day}${time}`,
  `${year}[-.](?<month>\\d{2})`,
  `${year}-?w(?<week>\\d{2})(?:-?(?<weekday>[1-7]))?${time}`,
  `${year}-(?<yearDay>\\d{3})${time}`,
  `${year}-(?<month>\\d{2})-${day}(?<zone>[+-]\\d{2}:\\d{2})`,
  `(?<year>\\d{2})(?<month>\\d{2})(?<day>\\d{2})\\s+${clock}`,
  `${year}-${month}-${day}${time}`,
  `${year}年(?<month>\\d{1,2})月${day}日${time}`,
  `(?<month>\\d{1,2})(?<sep>[/.])${day}\\k<sep>${shortYear}${time}`,
  `${weekday}${month}\\s+${day}(?:\\s*,\\s*|\\s+)${year}${time}`,
  `${weekday}${month}\\s+${day}\\s*,\\s*'?(?<year>\\d{2})${time}`,
  `${weekday}${day}(?:[-/]|\\s+)${month}(?:[-/]|\\s*,\\s*|\\s+)${shortYear}${time}`,
  `${weekday}${month}\\s+${day}\\s+${clock}${zone}\\s+${year}`,
].map(source => new RegExp(`^${source}$`, 'i'));

/** Parses a bare number by its length. */
function digitsNs(digits: string): bigint | null {
  const part = (from: number, to: number) => digits.slice(from, to) || undefined;
  switch (digits.length) {
    case 4:
    case 6:
    case 8:
    case 12:
    case 14:
    case 17:
      return fieldsNs({
        year: part(0, 4),
        month: part(4, 6),
        day: part(6, 8),
        hour: part(8, 10),
        minute: part(10, 12),
        second: part(12, 14),
        fraction: part(14, 17),
      });
    case 10:
      return BigInt(digits) * SECOND;
    case 13:
      return BigInt(digits) * MILLISECOND;
    case 16:
      return BigInt(digits) * MICROSECOND;
    case 19:
      return inRange(BigInt(digits));
    default:
      return null;
  }
}

function fieldsNs(fields: Fields): bigint | null {
  const hour = hourOfDay(Number(fields.hour ?? 0), fields.half?.toLowerCase());
  const offset = zoneMinutes(fields.zone);
  if (hour === null || offset === null) return null;
  const time = timeOf({
    ...dayOf(fields),
    hour,
    minute: Number(fields.minute ?? 0),
    second: Number(fields.second ?? 0),
    fraction: fields.fraction ?? '',
    offset,
  });
  return time ?? null;
}

interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** Returns a date. The month is 0 for a week or day that the year does not have. */
function dayOf({ year: written, month, day, yearDay, week, weekday }: Fields): Day {
  const year = fullYear(written);
  if (yearDay !== undefined) return numberedDay(year, Number(yearDay), Number(yearDay));
  if (week === undefined) return { year, month: monthNumber(month), day: Number(day ?? 1) };
  // ISO 8601: a week begins on Monday, and belongs to the year of its Thursday.
  const fourth = new Date(Date.UTC(year, 0, 4)).getUTCDay() || 7;
  const monday = 5 - fourth + (Number(week) - 1) * 7;
  return numberedDay(year, monday + Number(weekday ?? 1) - 1, monday + 3);
}

/** Returns a day by its number in a year, from 1. */
function numberedDay(year: number, number: number, within: number): Day {
  const isOfYear = within > 0 && new Date(Date.UTC(year, 0, within)).getUTCFullYear() === year;
  const date = new Date(Date.UTC(year, 0, number));
  return {
    year: date.getUTCFullYear(),
    month: isOfYear ? date.getUTCMonth() + 1 : 0,
    day: date.getUTCDate(),
  };
}

/** Expands two digits as in POSIX: 69 to 99 are 19xx. */
function fullYear(text: string | undefined): number {
  const year = Number(text);
  if (text?.length === 4) return year;
  return year < 69 ? 2000 + year : 1900 + year;
}

function monthNumber(text: string | undefined): number {
  const named = months.indexOf((text ?? '').slice(0, 3).toLowerCase());
  return named === -1 ? Number(text ?? 1) : named + 1;
}

function hourOfDay(hour: number, half: string | undefined): number | null {
  if (half === undefined) return hour;
  if (hour < 1 || hour > 12) return null;
  return (hour % 12) + (half === 'pm' ? 12 : 0);
}

function zoneMinutes(text: string | undefined): number | null {
  if (text === undefined) return 0;
  const offset = parseOffset(text.replace(/^[a-z]+(?=[+-])/i, ''));
  return offset ?? zoneOffsets[text.toLowerCase()] ?? null;
}

function inRange(ns: bigint): bigint | null {
  return ns >= EARLIEST_TIME && ns <= LATEST_TIME ? ns : null;
}
