import { clockTime, datedTime, weekday, yearlessTime } from '../../../../api/logs/dated.js';
import { LATEST_TIME } from '../../../../time.js';
import { sqlText } from '../../../duckdb/duckdb-literal.js';
import type { Connection } from '../../../engine/duckdb.js';

/** Format of the time in lines of plain text. */
export interface LineTime {
  /** SQL of the time of a line l as a string for the time parser; null if it has none. */
  readonly sql: string;
  readonly notes: readonly string[];
}

/** Returns the time format of the lines in the table `raw`, undefined if there is none. */
export async function findLineTime(connection: Connection): Promise<LineTime | undefined> {
  const found = await firstOf(connection, layouts);
  if (found !== undefined) return found;
  const [row = []] = await connection.run(
    `SELECT count(*) FILTER (${timeOfLine} <> ''), count(*) FILTER (${timeOfLine} = ''), count(*) FILTER (${timeOfLine} = '' AND ${timeInLine} <> '') FROM raw`,
  );
  const [leading, others, inside] = row.map(Number);
  // Lines with their time elsewhere are events too, unless they are a minority among stack trace lines.
  if (Number(inside) * 2 > Number(others)) return { sql: timeInLine, notes: [] };
  if (Number(leading) > 0) return { sql: timeOfLine, notes: [] };
  return firstOf(connection, innerLayouts);
}

async function firstOf(connection: Connection, of: readonly Layout[]): Promise<LineTime | undefined> {
  for (const layout of of) {
    const found = await linesOf(connection, layout);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * A layout whose times could be something else: it must match more than half of the lines that are not indented, and every match must be a
 * valid time.
 */
interface Layout {
  /** Pattern of the beginning of a line, with the time as its group. */
  readonly pattern: string;
  /** Returns the SQL of the converted time; null if it is not valid. */
  readonly text: (time: string) => string;
  /** Condition on all times of the sample, over the column t and the converted column `text`. */
  readonly holds?: string;
  /** Whether the year has two digits, so that the report shows how it was read. */
  readonly short?: true;
}

const level =
  '(?i:trace|debug|info|information|notice|warn|warning|error|err|critical|crit|fatal|severe|alert|emerg)';

/** Terminal escape sequences, which programs use to color logs. */
const colors = '(?:\\x1b\\[[\\d;]*m)*';

/** Level of the event, which may precede a time. */
const lead = `${colors}(?:[\\[(<]?${level} *[\\])>]?${colors}:?\\s+(?:[-|] )?${colors})?`;

/**
 * Characters allowed around a timestamp: an opening bracket or quote before it; punctuation, a closing bracket or quote, or white space
 * after it.
 */
const [opening, closing] = ['[\\["(<]?', '(?:[\\]:;,|")>]|\\s|$)'];

/** Characters allowed after minutes: a colon alone could precede seconds. */
const closingMinutes = '(?:[\\]:;,|")>]?(?:\\s|$))';

const logLevel = '(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)';
const parsed = (format: string) => (time: string) => `try_strptime(${time}, ${sqlText(format)})::VARCHAR`;

/** Converts a klog time, which has no year; only if it is a calendar day. */
const yearless = (time: string) =>
  `CASE WHEN try_strptime('2024-' || left(${time}, 2) || '-' || substr(${time}, 4, 2), '%Y-%m-%d') IS NOT NULL
    THEN left(${time}, 2) || substr(${time}, 4, 11) || '.' || rpad(regexp_extract(${time}, '[.,](\\d+)$', 1), 6, '0') END`;

/** A year, month and day with separators. */
const signedDay = '(?:19|20)\\d{2}[-_./]\\d{2}[-_./]\\d{2}';

/** SQL of whether all texts are times. For those without a year, any later reference time will do. */
const areTimes = `bool_and(apl_event_time(t, ${LATEST_TIME}::BIGINT, '') IS NOT NULL) FILTER (t IS NOT NULL)`;

/** A numeric date with a time of day. */
const numberedTime =
  '\\d{1,2}[-/.]\\d{1,2}[-/.](?:\\d{4}|\\d{2})(?:,? |\\t|T)\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,]\\d{1,9})?)?(?: ?[AP]M)?';

/** Layout of such dates, whose order is determined from the whole column. */
const numberedLayout = {
  text: (time: string) => `regexp_replace(${time}, ',? |\\t|T', ' ')`,
  holds: 'bool_and(apl_date_orders(text) > 0)',
};

const layouts: readonly Layout[] = [
  {
    // TAI64 and TAI64N.
    pattern: '^(@40000000[0-9a-f]{8}(?:[0-3][0-9a-f]{7})?)(?:\\s|$)',
    text: time => time,
  },
  {
    // Spark and Hadoop, per their log4j.properties. If the day came first, it would change more often than the year.
    pattern: `^(\\d{2}/\\d{2}/\\d{2} \\d{2}:\\d{2}:\\d{2}) ${logLevel} `,
    text: parsed('%y/%m/%d %H:%M:%S'),
    holds:
      "count(DISTINCT split_part(t, '/', 1)) <= count(DISTINCT split_part(split_part(t, '/', 3), ' ', 1))",
    short: true,
  },
  {
    // HDFS.
    pattern: `^(\\d{6} \\d{6}) \\d+ ${logLevel} `,
    text: parsed('%y%m%d %H%M%S'),
    short: true,
  },
  {
    // MySQL before 5.6.
    pattern: '^(\\d{6} [ \\d]\\d:\\d{2}:\\d{2}) ',
    text: parsed('%y%m%d %H:%M:%S'),
    short: true,
  },
  {
    // ASSP.
    pattern: '^([A-Z][a-z]{2}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}) ',
    text: parsed('%b-%d-%y %H:%M:%S'),
    short: true,
  },
  {
    // DirectAdmin, and firewalls of Sophos.
    pattern: '^(\\d{4}:\\d{2}:\\d{2}-\\d{2}:\\d{2}:\\d{2})(?:[: ]|$)',
    text: parsed('%Y:%m:%d-%H:%M:%S'),
  },
  {
    // Nextflow.
    pattern: '^([A-Z][a-z]{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}\\.\\d{3}) ',
    text: time =>
      `CASE WHEN try_strptime(left(${time}, 6) || '-2024', '%b-%d-%Y') IS NOT NULL THEN replace(${time}, '-', ' ') END`,
  },
  {
    // Bacula.
    pattern: '^(\\d{2}-[A-Z][a-z]{2} \\d{2}:\\d{2}) \\S+ JobId \\d+: ',
    text: time =>
      `CASE WHEN try_strptime(left(${time}, 6) || '-2024', '%d-%b-%Y') IS NOT NULL THEN substr(${time}, 4, 3) || ' ' || left(${time}, 2) || substr(${time}, 7) || ':00' END`,
  },
  {
    // Android: https://developer.android.com/tools/logcat#outputFormat
    pattern: '^(\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}\\.\\d{3})(?: +\\d+ +\\d+)? +[VDIWEFA][ /]',
    text: yearless,
  },
  {
    // Without leading zeros in the time of day.
    pattern: '^(\\d{8}-\\d{1,2}:\\d{1,2}:\\d{1,2}:\\d{1,3})\\|',
    text: time =>
      parsed('%Y%m%d-%H:%M:%S:%g')(
        `regexp_replace(regexp_replace(${time}, ':(\\d)$', ':0\\1'), ':(\\d\\d)$', ':0\\1')`,
      ),
  },
  {
    // Proxifier. A number above 12 must be the day, not the month.
    pattern: '^\\[(\\d{2}\\.\\d{2} \\d{2}:\\d{2}:\\d{2})\\] ',
    text: yearless,
    holds: 'max(TRY_CAST(substr(t, 4, 2) AS INTEGER)) > 12',
  },
  {
    // ZoneMinder.
    pattern: '^(\\d{2}/\\d{2}/\\d{2} \\d{2}:\\d{2}:\\d{2}\\.\\d{6}) ',
    text: parsed('%m/%d/%y %H:%M:%S.%f'),
    short: true,
  },
  {
    // NetScaler, and game servers.
    pattern: '^(?:<\\d{1,3}> ?|L )?(\\d{2}/\\d{2}/\\d{4}(?::| - )\\d{2}:\\d{2}:\\d{2})(?: GMT |: )',
    text: time => `regexp_replace(${time}, '^(.{10})(:| - )', '\\1 ')`,
    holds: "bool_and(apl_date_orders(regexp_replace(t, '^(.{10})(:| - )', '\\1 ')) > 0)",
  },
  {
    // Eight-digit days, fourteen-digit times, and both with separators other than those of ISO 8601.
    pattern: `^${lead}${opening}((?:(?:19|20)\\d{6}(?:[ T-]?\\d{6}|[ T-]\\d{2}:\\d{2}:\\d{2})|${signedDay}(?:[ T_-]\\d{6}|[ T_-]\\d{2}\\.\\d{2}\\.\\d{2}|[_-]\\d{2}:\\d{2}:\\d{2})|\\d{4}_\\d{2}_\\d{2} \\d{2}:\\d{2}:\\d{2})(?:[.,]\\d{1,9})?(?:Z|[+-]\\d{2}:?\\d{2})?)${closing}`,
    text: time =>
      `CASE WHEN try_strptime(left(regexp_replace(${time}, '[-_./]', '', 'g'), 8), '%Y%m%d') IS NOT NULL THEN regexp_replace(${time}, '^(\\d{4})[-_./]?(\\d\\d)[-_./]?(\\d\\d)[ T_-]?(\\d\\d)[.:]?(\\d\\d)[.:]?(\\d\\d)', '\\1-\\2-\\3 \\4:\\5:\\6') END`,
  },
  {
    // Without seconds.
    pattern: `^${lead}${opening}((?:19|20)\\d{2}[-/.]\\d{2}[-/.]\\d{2}[ T]\\d{2}:\\d{2}(?: [AP]M)?(?:Z|[+-]\\d{2}:?\\d{2})?)${closingMinutes}`,
    text: time => time,
    holds: areTimes,
  },
  {
    // Oracle.
    pattern: `^${lead}${opening}(\\d{1,2}-[A-Za-z]{3}-\\d{2} \\d{1,2}[.:]\\d{2}[.:]\\d{2}(?:[.,]\\d{1,9})?(?: [AP]M)?)${closing}`,
    text: time =>
      `make_timestamp_ns(apl_event_time(regexp_replace(${time}, ' (\\d+)[.:](\\d\\d)[.:]', ' \\1:\\2:'), 0::BIGINT, ''))::VARCHAR`,
    short: true,
  },
  {
    // glog, without the thread number.
    pattern: '^[DIWEF](\\d{4} \\d{2}:\\d{2}:\\d{2}\\.\\d{6}) ',
    text: time => `CASE WHEN try_strptime('2024' || left(${time}, 4), '%Y%m%d') IS NOT NULL THEN ${time} END`,
  },
  {
    // A month, a day and a time of day; only if each is a calendar day, and a day above 12 shows the order.
    pattern: `^${lead}${opening}(\\d{2}[-/]\\d{2} \\d{2}:\\d{2}:\\d{2}(?:[.,]\\d{3}(?:\\d{3})?)?)${closing}`,
    text: yearless,
    holds: 'max(TRY_CAST(substr(t, 4, 2) AS INTEGER)) > 12',
  },
  {
    // OpenStack, after the name of the log file.
    pattern: `^\\S+ (\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}[.,]\\d{3}) \\d+ ${logLevel} `,
    text: time => time,
  },
  {
    // Clusters: a number, node, component and event, then seconds since 1970.
    pattern: '^\\d+ \\S+ \\S+ \\S+ (\\d{10}) -?\\d ',
    text: time => time,
  },
  {
    // Seconds, milliseconds, microseconds or nanoseconds since 1970, optionally after a process id, as in strace.
    pattern: `^${lead}(?:\\d{1,7} )?#?\\+?${opening}(1\\d{9}(?:\\.\\d{1,9})?|1\\d{12}|1\\d{15}|1\\d{18})${closing}`,
    text: time => time,
  },
  {
    // Optionally after a thread in brackets, as in Domino.
    pattern: `^${lead}(?:\\[[\\da-fA-F:-]+\\] {1,2})?${opening}(${numberedTime})${closing}`,
    ...numberedLayout,
  },
  {
    // Supercomputers: an alert or `-`, seconds since 1970, and their date.
    pattern: '^[\\w-]+ (\\d{10}) \\d{4}\\.\\d{2}\\.\\d{2} ',
    text: time => time,
  },
];

/** Layouts of times within lines, for files without lines that begin with a time. */
const innerLayouts: readonly Layout[] = [
  { pattern: `(?:^|[^\\w./:-])(${numberedTime})${closing}`, ...numberedLayout },
  {
    pattern: `(?:^|[^\\w./:-])(${yearlessTime})${closing}`,
    text: time => time,
    holds: areTimes,
  },
];

/** Returns the SQL of a time of day without a date that most lines begin with, undefined if they do not. */
export async function findLineClock(connection: Connection): Promise<string | undefined> {
  return (await linesOf(connection, clockLayout))?.sql;
}

const clockLayout: Layout = {
  pattern: `^${lead}${opening}(${clockTime})${closingMinutes}`,
  text: time => time,
};

async function linesOf(connection: Connection, layout: Layout): Promise<LineTime | undefined> {
  const { pattern, text, holds = 'true', short } = layout;
  const time = `nullif(regexp_extract(l, ${sqlText(pattern)}, 1), '')`;
  const [row = []] = await connection.run(
    `WITH times AS (SELECT ${time} AS t, regexp_matches(l, '^\\s') AS below FROM raw), read AS (SELECT *, ${text('t')} AS text FROM times)
     SELECT count(t) * 2 > count(*) FILTER (NOT below) AND count(text) = count(t) AND ${holds}, min(t), arg_min(text, t) FROM read`,
  );
  const [fits, written, read] = row;
  if (fits !== true) return undefined;
  const notes = short ? [`Timestamps have a two-digit year: ${written} is read as ${read}.`] : [];
  return { sql: text(time), notes };
}

/** Prefix of times in Cisco logs: a sequence number, and a mark if the clock is not synchronized. */
const numbered = '(?:\\d{1,9}: )?[*.]?';

/** A time at the beginning of a line, optionally in brackets or after the level. */
const leadingTime = `^${lead}${numbered}${opening}(?:${weekday},? )??(${datedTime}|${yearlessTime})`;

/** Returns the SQL of an unambiguous time at the beginning of a text; empty if there is none. */
export function timeAtStart(text: string): string {
  return `regexp_extract(${text}, ${sqlText(leadingTime)}, 1)`;
}

export const timeOfLine = timeAtStart('l');

const innerTime = `(?:^|[^\\w./-]|\\x1b\\[[\\d;]*m)(${datedTime})`;

/** SQL of the time of an event line: at its beginning, otherwise the first one in it; empty if there is none. */
export const timeInLine = `coalesce(nullif(${timeOfLine}, ''), regexp_extract(l, ${sqlText(innerTime)}, 1))`;
