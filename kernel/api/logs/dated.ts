import { monthWord, zoneWord } from '../../time.js';

const clock = '\\d{1,2}:\\d{2}:\\d{2}(?:[.,]\\d{1,9}|:\\d{3}\\b)?(?: [AP]M\\b)?';
/** The name of a month. */
export const month = `${monthWord}\\.?`;
const offset = `(?: ?(?:${zoneWord}\\b|[+-]\\d{2}:?\\d{2}))?`;

/** A day of the week, as times have it in front. */
export const weekday = '(?:Mon|Tue(?:s)?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?';

const isoTime = `\\d{4}(?:[-/.]\\d{2}[-/.]\\d{2}|-\\d{3})(?:T|\\t|_| {1,2})${clock}${offset}`;

/** Times with the name of a month. */
const wordedTimes = [
  `${weekday} ${month} {1,2}\\d{1,2} ${clock}(?: ${zoneWord})? \\d{4}`,
  `(?:${weekday}, )?\\d{1,2} ${month} \\d{4} ${clock}${offset}`,
  `\\d{1,2}/${month}/\\d{4}[: ]${clock}${offset}`,
  `\\d{1,2}-${month}-\\d{4} ${clock}(?: [A-Z][A-Za-z]+(?:/[A-Za-z_+-]+){1,2}|${offset})`,
  `${month} {1,2}\\d{1,2},? \\d{4} ${clock}${offset}`,
  `\\d{4} ${month} {1,2}\\d{1,2} ${clock}${offset}`,
];

/** Times that are nothing else wherever they stand in a line: a pattern for RE2 and JavaScript alike. */
export const datedTime = [isoTime, ...wordedTimes].join('|');

/** A time without its year, which is one at the beginning of a line only. */
export const yearlessTime = `(?:${month} {1,2}\\d{1,2}|\\d{1,2} ${month}) ${clock}`;

/** A time of day without its date: hours and minutes at least. */
export const clockTime = '\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,:]\\d{1,9})?)?(?: ?[AaPp][Mm])?';

/** A date of numbers whose order a line does not tell, and a time of day. */
const numbered = '\\d{1,2}[-/.]\\d{1,2}[-/.](?:\\d{4}|\\d{2})(?:, |[ T])\\d{1,2}:\\d{2}:\\d{2}';

/** As MySQL before 5.6 writes a time. */
const short = '\\d{6} [ \\d]\\d:\\d{2}:\\d{2} ';

/**
 * A line that begins with a time, or is one of an access log: the patterns of which it has one. No line of a stack trace or of a query is. As one
 * pattern they would take JavaScript three times as long to compile; the first ones are those of most lines.
 */
export const datedLines: readonly string[] = [
  ...[isoTime, yearlessTime, numbered, short, ...wordedTimes].map(
    time => `^(?:<\\d{1,3}>)?[\\["]?(?:${time})`,
  ),
  `^[^\\s\\[]+(?: \\S+){1,3} \\[\\d{1,2}/${month}/\\d{4}:`,
];
