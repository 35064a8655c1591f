import { DAY, HOUR, MICROSECOND, MILLISECOND, MINUTE, SECOND, WEEK } from '../../time.js';
import { constantText, type SqlArg, TemplateError } from './sql-template.js';

/** Units of fixed length, in nanoseconds. */
export const fixedUnits: Readonly<Record<string, bigint>> = {
  week: WEEK,
  day: DAY,
  hour: HOUR,
  minute: MINUTE,
  second: SECOND,
  millisecond: MILLISECOND,
  microsecond: MICROSECOND,
  nanosecond: 1n,
};

/** Calendar units, in months. */
export const monthUnits: Readonly<Record<string, number>> = { year: 12, quarter: 3, month: 1 };

/** The units of `datetime_add` and `datetime_diff`. */
export const addUnits = [...Object.keys(monthUnits), ...Object.keys(fixedUnits)];

/** Parts of the time of day: the number of `unit`s since the last multiple of `cycle`, in nanoseconds. */
export const clockParts: Readonly<Record<string, readonly [cycle: bigint, unit: bigint]>> = {
  hour: [DAY, HOUR],
  minute: [HOUR, MINUTE],
  second: [MINUTE, SECOND],
  millisecond: [SECOND, MILLISECOND],
  microsecond: [SECOND, MICROSECOND],
  nanosecond: [SECOND, 1n],
};

/** Returns the part as listed in `allowed`, ignoring case and underscores: `weekOfYear` is `week_of_year`. */
export function partName(part: SqlArg, allowed: readonly string[]): string {
  const plain = (name: string) => name.toLowerCase().replaceAll('_', '');
  const text = constantText(part);
  const hint = `Use one of ${allowed.join(', ')}.`;
  if (text === undefined) throw new TemplateError('the date part must be a string constant', 0, hint);
  const found = allowed.find(name => plain(name) === plain(text));
  if (found !== undefined) return found;
  throw new TemplateError(`\`${text}\` is not a date part`, 0, hint);
}
