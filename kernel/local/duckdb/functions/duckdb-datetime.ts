import type { datetime as catalog } from '../../../apl/catalog/functions/datetime-functions.js';
import {
  DAY,
  EARLIEST_TIME,
  HOUR,
  LATEST_TIME,
  MICROSECOND,
  MILLISECOND,
  SECOND,
  WEEK,
} from '../../../time.js';
import { addUnits, clockParts, fixedUnits, monthUnits, partName } from '../../sql/date-parts.js';
import type { SqlArg, SqlTemplates } from '../../sql/sql-template.js';
import { computeOnce } from '../duckdb-arguments.js';
import type { JsFunction } from '../duckdb-template.js';

/** SQL of the date and time functions. All arithmetic uses int64 nanoseconds; a time outside the timestamp range is null. */
export const datetime: SqlTemplates<typeof catalog> = {
  ago: ([span], { now }) => shiftedNow(now, span, -1n),
  datetime_add: args => datetimeAdd(args[0], args[1], args[2]),
  datetime_diff: args => datetimeDiff(args[0], args[1], args[2]),
  datetime_part: args => datetimePart(args[0], args[1]),
  dayofmonth: args => datePart('day', args[0]),
  dayofweek: args => datePart('dayofweek', args[0]),
  dayofyear: args => datePart('dayofyear', args[0]),
  endofday: args => endOf(args, nextDay),
  endofmonth: args => endOf(args, nextMonth),
  endofweek: args => endOf(args, nextWeek),
  endofyear: args => endOf(args, nextYear),
  getmonth: args => datePart('month', args[0]),
  getyear: args => datePart('year', args[0]),
  hourofday: args => clockPart(args[0], DAY, HOUR),
  monthofyear: args => datePart('month', args[0]),
  now: ([offset], { now }) => (offset === undefined ? nowSql(now) : shiftedNow(now, offset, 1n)),
  startofday: args => (args.length === 1 ? binTime(args[0], DAY) : startOf(args, sameDay)),
  startofmonth: args => startOf(args, sameMonth),
  startofweek: args => (args.length === 1 ? binTime(args[0], WEEK, sundayOrigin) : startOf(args, sameWeek)),
  startofyear: args => startOf(args, sameYear),
  unixtime_microseconds_todatetime: args => fromUnix(args[0], MICROSECOND),
  unixtime_milliseconds_todatetime: args => fromUnix(args[0], MILLISECOND),
  unixtime_nanoseconds_todatetime: args => fromUnix(args[0], 1n),
  unixtime_seconds_todatetime: args => fromUnix(args[0], SECOND),
  week_of_year: args => datePart('week', args[0]),
};

/** Days from 0001-01-01, a Monday, to 1970-01-01. */
const daysBefore1970 = 719_162n;
const yearOne = -daysBefore1970 * DAY;
/** Sunday 1970-01-04. */
const sundayOrigin = 3n * DAY;

/**
 * Macros: floor division and remainder of int64. `apl_time` converts nanoseconds of any integer type to a time, null if out of range.
 * Conversions to times only receive values in range: for a dictionary-encoded column, the engine computes all values, including those that
 * a `CASE` around it excludes. `apl_date` is the UTC day, also before 1970, when the engine's cast rounds the last microsecond of a day up.
 */
export const setup: readonly string[] = [
  `CREATE OR REPLACE MACRO apl_floor_div(n, d) AS n // d - CAST(n % d < 0 AS BIGINT)`,
  `CREATE OR REPLACE MACRO apl_floor_mod(n, d) AS (n % d + d) % d`,
  `CREATE OR REPLACE MACRO apl_clamp(n, low, high) AS CASE WHEN n IS NOT NULL THEN least(greatest(n, low), high) END`,
  `CREATE OR REPLACE MACRO apl_time(n) AS
     make_timestamp_ns(CASE WHEN n BETWEEN ${EARLIEST_TIME} AND ${LATEST_TIME} THEN CAST(n AS BIGINT) END)`,
  `CREATE OR REPLACE MACRO apl_date(t) AS CASE WHEN epoch_ns(t) >= 0 THEN CAST(t AS DATE)
     ELSE DATE '1970-01-01' + CAST(apl_floor_div(epoch_ns(t), ${DAY}) AS INTEGER) END`,
  `CREATE OR REPLACE MACRO apl_midnight(d) AS
     CASE WHEN d BETWEEN DATE '1677-09-22' AND DATE '2262-04-11' THEN CAST(d AS TIMESTAMP_NS) END`,
  `CREATE OR REPLACE MACRO apl_tick_before(d) AS
     make_timestamp_ns(CASE WHEN d BETWEEN DATE '1677-09-23' AND DATE '2262-04-11' THEN epoch_ns(d) - 100 END)`,
  // No two times are 250,000 days apart, so larger offsets may be clamped; the engine's dates cover as many years.
  `CREATE OR REPLACE MACRO apl_offset(n) AS CAST(apl_clamp(n, -250000, 250000) AS INTEGER)`,
  `CREATE OR REPLACE MACRO apl_add_days(d, n) AS d + apl_offset(n)`,
  `CREATE OR REPLACE MACRO apl_add_weeks(d, n) AS d - CAST(dayofweek(d) AS INTEGER) + apl_offset(n) * 7`,
  `CREATE OR REPLACE MACRO apl_month_start(m) AS make_date(apl_floor_div(m, 12), apl_floor_mod(m, 12) + 1, 1)`,
  `CREATE OR REPLACE MACRO apl_add_months(d, n) AS apl_month_start(year(d) * 12 + month(d) - 1 + apl_offset(n))`,
  `CREATE OR REPLACE MACRO apl_add_years(d, n) AS make_date(year(d) + apl_offset(n), 1, 1)`,
  `CREATE OR REPLACE MACRO apl_span_between(a, b) AS
     CASE WHEN epoch_ns(a) >= 0 AND epoch_ns(b) >= 0 THEN epoch_ns(a) - epoch_ns(b)
     ELSE TRY_CAST(epoch_ns(a)::HUGEINT - epoch_ns(b)::HUGEINT AS BIGINT) END`,
  // The engine adds months to a date by keeping the day of the month, clamped to the last day.
  `CREATE OR REPLACE MACRO apl_shift_months(t, n) AS apl_time(
     CAST(epoch_us(apl_date(t) + to_months(n)) AS HUGEINT) * 1000 + apl_floor_mod(epoch_ns(t), ${DAY}))`,
];

export const udfs: readonly JsFunction[] = [];

/**
 * Returns the largest time at or before `time` that is a whole number of widths (nanoseconds, positive) from the origin, by default
 * 0001-01-01. Times since 1970 take the first branch, which costs no more than the bare arithmetic.
 */
export function binTime(time: SqlArg, width: bigint, origin = yearOne): string {
  const phase = ((origin % width) + width) % width;
  return computeOnce([time], sql => {
    const n = `epoch_ns(${sql})`;
    const remainder = phase === 0n ? `${n} % ${width}` : `(${n} - ${phase}) % ${width}`;
    const floor = `make_timestamp_ns(${n} - ${remainder})`;
    const before = `apl_time(${n}::HUGEINT - apl_floor_mod(${n}::HUGEINT - ${phase}, ${width}))`;
    return `CASE WHEN ${n} >= ${phase} THEN ${floor} ELSE ${before} END`;
  });
}

/** Like {@link binTime}, with a width that varies by row; null unless positive. */
export function binTimeByColumn(time: SqlArg, width: SqlArg): string {
  return computeOnce([time, width], (t, w) => {
    const n = `epoch_ns(${t})::HUGEINT`;
    return `CASE WHEN ${w} > 0 THEN apl_time(${n} - apl_floor_mod(${n} + ${-yearOne}, ${w})) END`;
  });
}

// ---- calendar ----

/** A time and its offset. */
type Moved = readonly [time: SqlArg, offset?: SqlArg];
type ShiftDate = (date: string, offset: string) => string;

const sameDay: ShiftDate = (date, offset) => `apl_add_days(${date}, ${offset})`;
const sameWeek: ShiftDate = (date, offset) => `apl_add_weeks(${date}, ${offset})`;
const sameMonth: ShiftDate = (date, offset) => `apl_add_months(${date}, ${offset})`;
const sameYear: ShiftDate = (date, offset) => `apl_add_years(${date}, ${offset})`;
const nextDay: ShiftDate = (date, offset) => sameDay(date, `${offset} + 1`);
const nextWeek: ShiftDate = (date, offset) => sameWeek(date, `${offset} + 1`);
const nextMonth: ShiftDate = (date, offset) => sameMonth(date, `${offset} + 1`);
const nextYear: ShiftDate = (date, offset) => sameYear(date, `${offset} + 1`);

function startOf(args: Moved, shift: ShiftDate): string {
  return onDate(args, (date, offset) => `apl_midnight(${shift(date, offset)})`);
}

function endOf(args: Moved, shift: ShiftDate): string {
  return onDate(args, (date, offset) => `apl_tick_before(${shift(date, offset)})`);
}

function onDate([time, offset]: Moved, body: ShiftDate): string {
  return offset === undefined
    ? computeOnce([time], t => body(`apl_date(${t})`, '0'))
    : computeOnce([time, offset], (t, n) => body(`apl_date(${t})`, `apl_offset(${n})`));
}

/** Returns a component of the date; since 1970 the engine's own function is exact and faster than a detour through the date. */
function datePart(part: string, time: SqlArg): string {
  return computeOnce(
    [time],
    sql => `CASE WHEN epoch_ns(${sql}) >= 0 THEN ${part}(${sql}) ELSE ${part}(apl_date(${sql})) END`,
  );
}

/** Returns the number of whole `unit`s since the last multiple of `cycle`. */
function clockPart(time: SqlArg, cycle: bigint, unit: bigint): string {
  return computeOnce([time], sql => {
    const n = `epoch_ns(${sql})`;
    return `CASE WHEN ${n} >= 0 THEN ${n} % ${cycle} // ${unit} ELSE apl_floor_mod(${n}, ${cycle}) // ${unit} END`;
  });
}

// ---- parts ----

function datetimeAdd(part: SqlArg, count: SqlArg, time: SqlArg): string {
  const unit = partName(part, addUnits);
  const months = monthUnits[unit];
  if (months !== undefined) {
    return computeOnce([count, time], (k, t) => `apl_shift_months(${t}, apl_offset(${k}) * ${months})`);
  }
  const ns = fixedUnits[unit] ?? 1n;
  if (typeof count.constant === 'bigint') return shiftTime(time, count.constant * ns);
  return computeOnce([count, time], (k, t) => `apl_time(epoch_ns(${t})::HUGEINT + ${k}::HUGEINT * ${ns})`);
}

function datetimeDiff(part: SqlArg, later: SqlArg, earlier: SqlArg): string {
  const unit = partName(part, addUnits);
  return computeOnce([later, earlier], (a, b) => {
    if (unit === 'nanosecond') return `apl_span_between(${a}, ${b})`;
    return `${boundaries(unit, a)} - ${boundaries(unit, b)}`;
  });
}

/** Returns the number of unit boundaries between a fixed time and the given one. Weeks begin on Sunday. */
function boundaries(unit: string, time: string): string {
  const date = `apl_date(${time})`;
  switch (unit) {
    case 'year':
      return `year(${date})`;
    case 'quarter':
      return `(year(${date}) * 4 + quarter(${date}))`;
    case 'month':
      return `(year(${date}) * 12 + month(${date}))`;
    case 'week':
      return `apl_floor_div(apl_floor_div(epoch_ns(${time}), ${DAY}) + 4, 7)`;
    default:
      return `apl_floor_div(epoch_ns(${time}), ${fixedUnits[unit]})`;
  }
}

const dateParts: Readonly<Record<string, string>> = {
  year: 'year',
  quarter: 'quarter',
  month: 'month',
  week_of_year: 'week',
  day: 'day',
  dayOfYear: 'dayofyear',
};

function datetimePart(part: SqlArg, time: SqlArg): string {
  const name = partName(part, [...Object.keys(dateParts), ...Object.keys(clockParts)]);
  const clock = clockParts[name];
  return clock === undefined ? datePart(dateParts[name] ?? name, time) : clockPart(time, ...clock);
}

// ---- shifts ----

function shiftTime(time: SqlArg, delta: bigint): string {
  const low = delta < 0n ? EARLIEST_TIME - delta : EARLIEST_TIME;
  const high = delta > 0n ? LATEST_TIME - delta : LATEST_TIME;
  if (low > high) return 'NULL::TIMESTAMP_NS';
  if (delta === 0n) return time.sql;
  return computeOnce([time], sql => {
    const inside = `epoch_ns(${sql}) BETWEEN ${low} AND ${high}`;
    return `make_timestamp_ns(CASE WHEN ${inside} THEN epoch_ns(${sql}) + ${delta} END)`;
  });
}

function nowSql(now: bigint): string {
  return now < EARLIEST_TIME || now > LATEST_TIME ? 'NULL::TIMESTAMP_NS' : `make_timestamp_ns(${now})`;
}

function shiftedNow(now: bigint, span: SqlArg, sign: 1n | -1n): string {
  if (typeof span.constant === 'bigint') return nowSql(now + sign * span.constant);
  return computeOnce([span], sql => `apl_time(${now}::HUGEINT ${sign < 0n ? '-' : '+'} ${sql})`);
}

function fromUnix(count: SqlArg, unit: bigint): string {
  return computeOnce([count], sql => {
    const inside = `${sql} BETWEEN ${EARLIEST_TIME / unit} AND ${LATEST_TIME / unit}`;
    return `make_timestamp_ns(CASE WHEN ${inside} THEN ${unit === 1n ? sql : `${sql} * ${unit}`} END)`;
  });
}
