import { monthWord, zoneWord } from '../../time.js';

const clock = '\\d{1,2}:\\d{2}:\\d{2}(?:[.,]\\d{1,9}|:\\d{3}\\b)?(?: [AP]M\\b)?';
/** The name of a month. */
export const month = `${monthWord}\\.?`;
const offset = `(?: ?(?:${zoneWord}\\b|[+-]\\d{2}:?\\d{2}))?`;

/** A weekday, as it precedes dates. */
export const weekday = '(?:Mon|Tue(?:s)?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?';

const isoTime = `\\d{4}(?:[-/.]\\d{2}[-/.]\\d{2}|-\\d{3})(?:T|\\t|_| {1,2})${clock}${offset}`;

/** Timestamps with the name of a month. */
const wordedTimes = [
  `${weekday} ${month} {1,2}\\d{1,2} ${clock}(?: ${zoneWord})? \\d{4}`,
  `(?:${weekday}, )?\\d{1,2} ${month} \\d{4} ${clock}${offset}`,
  `\\d{1,2}/${month}/\\d{4}[: ]${clock}${offset}`,
  `\\d{1,2}-${month}-\\d{4} ${clock}(?: [A-Z][A-Za-z]+(?:/[A-Za-z_+-]+){1,2}|${offset})`,
  `${month} {1,2}\\d{1,2},? \\d{4} ${clock}${offset}`,
  `\\d{4} ${month} {1,2}\\d{1,2} ${clock}${offset}`,
];

/** Unambiguous timestamps anywhere in a line: a pattern for both RE2 and JavaScript. */
export const datedTime = [isoTime, ...wordedTimes].join('|');

/** A timestamp without a year, recognized only at the beginning of a line. */
export const yearlessTime = `(?:${month} {1,2}\\d{1,2}|\\d{1,2} ${month}) ${clock}`;

/** A time of day without a date: at least hours and minutes. */
export const clockTime = '\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,:]\\d{1,9})?)?(?: ?[AaPp][Mm])?';

/** A numeric date of ambiguous order, and a time of day. */
const numbered = '\\d{1,2}[-/.]\\d{1,2}[-/.](?:\\d{4}|\\d{2})(?:, |[ T])\\d{1,2}:\\d{2}:\\d{2}';

/** Timestamps of MySQL before 5.6. */
const short = '\\d{6} [ \\d]\\d:\\d{2}:\\d{2} ';

/**
 * Lines that begin with a timestamp, and lines of access logs; no line of a stack trace or a query matches. As one pattern they
 * would take JavaScript three times as long to compile; the most frequent come first.
 */
export const datedLines: readonly string[] = [
  ...[isoTime, yearlessTime, numbered, short, ...wordedTimes].map(
    time => `^(?:<\\d{1,3}>)?[\\["]?(?:${time})`,
  ),
  `^[^\\s\\[]+(?: \\S+){1,3} \\[\\d{1,2}/${month}/\\d{4}:`,
];
