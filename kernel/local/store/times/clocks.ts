import { clockTime } from '../../../api/logs/dated.js';
import { parseTime } from '../../../time.js';
import { sqlText } from '../../duckdb/duckdb-literal.js';
import { consequence } from './timeless.js';

/** Date of the first time of day in a file, such as `2026-06-01`, and its source. */
export interface DayOfFile {
  readonly text: string;
  readonly of: 'option' | 'name';
}

/** Pattern of a time of day without a date. */
export const clockPattern = clockTime;

const parts = '^(\\d{1,2}):(\\d{2})(?::(\\d{2})(?:[.,:](\\d{1,9}))?)?(?: ?([AaPp])[Mm])?$';

/** Returns the SQL of the nanoseconds since midnight for a text; null if it is not a time of day. */
export function clockNsSql(text: string): string {
  const number = (name: string) => `coalesce(TRY_CAST(c.${name} AS BIGINT), 0)`;
  const hour = `CASE WHEN c.p = '' THEN ${number('h')} ELSE ${number('h')} % 12 + CASE WHEN lower(c.p) = 'p' THEN 12 ELSE 0 END END`;
  const isClock = `c.h <> '' AND ${number('m')} < 60 AND ${number('s')} < 60 AND ${number('h')} BETWEEN if(c.p = '', 0, 1) AND if(c.p = '', 23, 12)`;
  const nanos = `(((${hour}) * 60 + ${number('m')}) * 60 + ${number('s')}) * 1000000000 + TRY_CAST(rpad(c.f, 9, '0') AS BIGINT)`;
  return `list_transform([regexp_extract(trim(${text}), ${sqlText(parts)}, ['h', 'm', 's', 'f', 'p'])], lambda c: CASE WHEN ${isClock} THEN ${nanos} END)[1]`;
}

/** Returns the day in a file name, such as `app-2026-06-01.log.gz`; undefined if there is none, or several. */
export function dayInName(name: string): DayOfFile | undefined {
  const found = [...name.matchAll(/(?<!\d)((?:19|20)\d\d)([-_.]?)(\d\d)\2(\d\d)(?!\d)/g)];
  const days = new Set(found.map(([, year, , month, day]) => `${year}-${month}-${day}`));
  const [text = ''] = days;
  return days.size === 1 && parseTime(text) !== undefined ? { text, of: 'name' } : undefined;
}

/** Returns a note on the dates of a field's times of day, or on the option that sets the first one. */
export function dayNote(field: string, day: DayOfFile | undefined): string {
  const next = 'a step back of more than an hour starts the next day';
  if (day === undefined)
    return `\`${field}\` has times without a date: ${consequence} Set the first day with \`--date 2026-06-01\`; ${next}.`;
  const why = day.of === 'name' ? ', from the file name' : '';
  return `\`${field}\` has times without a date: the first is on ${day.text}${why}, and ${next}.`;
}
