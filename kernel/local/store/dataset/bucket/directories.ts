import { DAY, HOUR, timeOf } from '../../../../time.js';

/** Time span named by a directory, in nanoseconds since 1970. */
export interface Span {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

/** Times named by directories so far: the year, then the month, and so on. */
export type Calendar = readonly number[];

/** Returns the calendar below a directory, from the calendar above and the directory name; undefined if the name is not a time. */
export function belowDirectory(above: Calendar, name: string): Calendar | undefined {
  const [, key, value = ''] = /^(?:([\w.-]+)=)?(.+)$/.exec(name) ?? [];
  if (key === undefined || wholeKeys.test(key)) {
    const [, ...parts] = /^(\d{4})-?(\d{2})-?(\d{2})(?:[-T_ ]?(\d{2}))?$/.exec(value) ?? [];
    const whole = parts.filter(part => part !== undefined).map(Number);
    if (whole.length > 0 && above.length === 0) return checked(whole);
  }
  const part = parts[above.length];
  if (part === undefined || !part.value.test(value)) return undefined;
  return key === undefined || part.key.test(key) ? checked([...above, Number(value)]) : undefined;
}

/** Common names of partitions by day, or by day and hour. */
const wholeKeys = /^(?:day|dt|date|ds|d|datehour|event_?date|event_?day|log_?date|partition_?date|p_date)$/i;

/** Names of partitions by year, month, day and hour, and their values, which may appear without a name. */
const parts: readonly { readonly key: RegExp; readonly value: RegExp }[] = [
  { key: /^(?:year|yyyy|y)$/i, value: /^(?:19|20)\d\d$/ },
  { key: /^(?:month|mon|mm|m)$/i, value: /^\d{1,2}$/ },
  { key: /^(?:day|dd|d)$/i, value: /^\d{1,2}$/ },
  { key: /^(?:hour|hr|hh|h)$/i, value: /^\d{1,2}$/ },
];

function checked(calendar: Calendar): Calendar | undefined {
  return spanOf(calendar) === undefined ? undefined : calendar;
}

/** Returns the time span of a calendar, in UTC; undefined if it is empty or not a valid date. */
export function spanOf([year, month, day, hour]: Calendar): Span | undefined {
  if (year === undefined) return undefined;
  const startNs = at(year, month ?? 1, day ?? 1, hour ?? 0);
  if (startNs === undefined) return undefined;
  if (hour !== undefined) return { startNs, endNs: startNs + HOUR };
  if (day !== undefined) return { startNs, endNs: startNs + DAY };
  const [nextYear, nextMonth] =
    month === undefined || month === 12 ? [year + 1, 1] : ([year, month + 1] as const);
  const endNs = at(nextYear, nextMonth, 1, 0);
  return endNs === undefined ? undefined : { startNs, endNs };
}

function at(year: number, month: number, day: number, hour: number): bigint | undefined {
  return timeOf({ year, month, day, hour, minute: 0, second: 0, fraction: '', offset: 0 });
}
