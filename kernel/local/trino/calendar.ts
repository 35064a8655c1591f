import { DAY, HOUR, MICROSECOND, MILLISECOND, MINUTE, SECOND, WEEK } from '../../time.js';
import { type SqlArg, TemplateError } from '../sql/template.js';
import { constantText } from './literal.js';

/** A time, and how far it moves. */
type Moved = readonly [time: SqlArg, offset?: SqlArg];
type Period = 'days' | 'weeks' | 'months' | 'years';

/** Returns an integer that does not overflow in arithmetic. */
export function wide(sql: string): string {
  return `CAST(${sql} AS decimal(19, 0))`;
}

/** Returns the time of a decimal number of nanoseconds; null for one that 64 bits do not hold. */
export function timeOf(nanoseconds: string): string {
  return `apl_time(CAST(${nanoseconds} AS decimal(38, 0)))`;
}

/** Returns the first nanosecond of the period that a time is in, so many periods on. */
export function startOf(period: Period, [time, offset]: Moved): string {
  return `apl_midnight(apl_add_${period}(apl_date(${time.sql}), ${offset === undefined ? '0' : offset.sql}))`;
}

/** Returns the last tick, of 100 nanoseconds, of the period that a time is in, so many periods on. */
export function endOf(period: Period, [time, offset]: Moved): string {
  const next = offset === undefined ? '1' : `apl_offset(${offset.sql}) + 1`;
  return `(apl_midnight(apl_add_${period}(apl_date(${time.sql}), ${next})) - 100)`;
}

/** Returns a component of the date of a time. */
export function datePart(part: string, time: SqlArg): string {
  return `${part}(apl_date(${time.sql}))`;
}

/** Returns the whole `unit`s since the last multiple of `cycle`. */
export function clockPart(time: SqlArg, cycle: bigint, unit: bigint): string {
  return `(apl_floor_mod(${time.sql}, ${cycle}) / ${unit})`;
}

/** Units of a fixed length, in nanoseconds. */
const fixedUnits: Readonly<Record<string, bigint>> = {
  week: WEEK,
  day: DAY,
  hour: HOUR,
  minute: MINUTE,
  second: SECOND,
  millisecond: MILLISECOND,
  microsecond: MICROSECOND,
  nanosecond: 1n,
};

/** Units of the calendar, in months. */
const monthUnits: Readonly<Record<string, number>> = { year: 12, quarter: 3, month: 1 };
const addUnits = [...Object.keys(monthUnits), ...Object.keys(fixedUnits)];

/** Returns a time so many units of a part later. */
export function datetimeAdd(part: SqlArg, count: SqlArg, time: SqlArg): string {
  const unit = partName(part, addUnits);
  const months = monthUnits[unit];
  if (months !== undefined) return `apl_shift_months(${time.sql}, apl_offset(${count.sql}) * ${months})`;
  return timeOf(`${wide(time.sql)} + ${wide(count.sql)} * ${fixedUnits[unit]}`);
}

/** Returns how many boundaries of a unit lie between two times. */
export function datetimeDiff(part: SqlArg, later: SqlArg, earlier: SqlArg): string {
  const unit = partName(part, addUnits);
  if (unit === 'nanosecond') return `TRY(${later.sql} - ${earlier.sql})`;
  return `(${boundaries(unit, later)} - ${boundaries(unit, earlier)})`;
}

/** The number of boundaries of a unit between a fixed time and another. Weeks begin on Sunday. */
function boundaries(unit: string, { sql }: SqlArg): string {
  const date = `apl_date(${sql})`;
  switch (unit) {
    case 'year':
      return `year(${date})`;
    case 'quarter':
      return `(year(${date}) * 4 + quarter(${date}))`;
    case 'month':
      return `(year(${date}) * 12 + month(${date}))`;
    case 'week':
      return `apl_floor_div(apl_floor_div(${sql}, ${DAY}) + 4, 7)`;
    default:
      return `apl_floor_div(${sql}, ${fixedUnits[unit]})`;
  }
}

const dateParts: Readonly<Record<string, string>> = {
  year: 'year',
  quarter: 'quarter',
  month: 'month',
  week_of_year: 'week',
  day: 'day',
  dayOfYear: 'day_of_year',
};

const clockParts: Readonly<Record<string, readonly [cycle: bigint, unit: bigint]>> = {
  hour: [DAY, HOUR],
  minute: [HOUR, MINUTE],
  second: [MINUTE, SECOND],
  millisecond: [SECOND, MILLISECOND],
  microsecond: [SECOND, MICROSECOND],
  nanosecond: [SECOND, 1n],
};

/** Returns a component of a time. */
export function datetimePart(part: SqlArg, time: SqlArg): string {
  const name = partName(part, [...Object.keys(dateParts), ...Object.keys(clockParts)]);
  const clock = clockParts[name];
  return clock === undefined ? datePart(dateParts[name] ?? name, time) : clockPart(time, ...clock);
}

/** The part as listed in `allowed`, whatever its case and underscores: `weekOfYear` is `week_of_year`. */
function partName(part: SqlArg, allowed: readonly string[]): string {
  const plain = (name: string) => name.toLowerCase().replaceAll('_', '');
  const text = constantText(part);
  const hint = `Use one of ${allowed.join(', ')}.`;
  if (text === undefined) throw new TemplateError('the date part must be a constant text', 0, hint);
  const found = allowed.find(name => plain(name) === plain(text));
  if (found !== undefined) return found;
  throw new TemplateError(`\`${text}\` is not a date part`, 0, hint);
}
