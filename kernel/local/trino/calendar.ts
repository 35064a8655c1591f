import { DAY } from '../../time.js';
import { addUnits, clockParts, fixedUnits, monthUnits, partName } from '../sql/date-parts.js';
import type { SqlArg } from '../sql/sql-template.js';

/** A time and its offset. */
type Moved = readonly [time: SqlArg, offset?: SqlArg];
type Period = 'days' | 'weeks' | 'months' | 'years';

/** Returns an integer that does not overflow in arithmetic. */
export function wide(sql: string): string {
  return `CAST(${sql} AS decimal(19, 0))`;
}

/** Returns the time of a decimal number of nanoseconds; null if it does not fit 64 bits. */
export function timeOf(nanoseconds: string): string {
  return `apl_time(CAST(${nanoseconds} AS decimal(38, 0)))`;
}

/** Returns the first nanosecond of the period of a time, moved by a number of periods. */
export function startOf(period: Period, [time, offset]: Moved): string {
  return `apl_midnight(apl_add_${period}(apl_date(${time.sql}), ${offset === undefined ? '0' : offset.sql}))`;
}

/** Returns the last tick, of 100 nanoseconds, of the period of a time, moved by a number of periods. */
export function endOf(period: Period, [time, offset]: Moved): string {
  const next = offset === undefined ? '1' : `apl_offset(${offset.sql}) + 1`;
  return `(apl_midnight(apl_add_${period}(apl_date(${time.sql}), ${next})) - 100)`;
}

/** Returns a component of the date of a time. */
export function datePart(part: string, time: SqlArg): string {
  return `${part}(apl_date(${time.sql}))`;
}

/** Returns the number of whole `unit`s since the last multiple of `cycle`. */
export function clockPart(time: SqlArg, cycle: bigint, unit: bigint): string {
  return `(apl_floor_mod(${time.sql}, ${cycle}) / ${unit})`;
}

/** Returns a time moved by a number of units. */
export function datetimeAdd(part: SqlArg, count: SqlArg, time: SqlArg): string {
  const unit = partName(part, addUnits);
  const months = monthUnits[unit];
  if (months !== undefined) return `apl_shift_months(${time.sql}, apl_offset(${count.sql}) * ${months})`;
  return timeOf(`${wide(time.sql)} + ${wide(count.sql)} * ${fixedUnits[unit]}`);
}

/** Returns the number of unit boundaries between two times. */
export function datetimeDiff(part: SqlArg, later: SqlArg, earlier: SqlArg): string {
  const unit = partName(part, addUnits);
  if (unit === 'nanosecond') return `TRY(${later.sql} - ${earlier.sql})`;
  return `(${boundaries(unit, later)} - ${boundaries(unit, earlier)})`;
}

/** Returns the number of unit boundaries between a fixed time and the given one. Weeks begin on Sunday. */
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

/** Returns a component of a time. */
export function datetimePart(part: SqlArg, time: SqlArg): string {
  const name = partName(part, [...Object.keys(dateParts), ...Object.keys(clockParts)]);
  const clock = clockParts[name];
  return clock === undefined ? datePart(dateParts[name] ?? name, time) : clockPart(time, ...clock);
}
