import type { TypeName } from '../catalog/entry.js';

/** The types a user may write, and the aliases that mean the same. */
const typeNames: Readonly<Record<string, TypeName>> = {
  bool: 'bool',
  boolean: 'bool',
  int: 'long',
  long: 'long',
  integer: 'long',
  real: 'real',
  double: 'real',
  float: 'real',
  decimal: 'real',
  string: 'string',
  datetime: 'datetime',
  date: 'datetime',
  timespan: 'timespan',
  time: 'timespan',
  duration: 'timespan',
  dynamic: 'dynamic',
  array: 'dynamic',
  map: 'dynamic',
  guid: 'string',
};

/** The type that `name` stands for, or undefined. */
export function typeNamed(name: string): TypeName | undefined {
  return Object.hasOwn(typeNames, name.toLowerCase()) ? typeNames[name.toLowerCase()] : undefined;
}

/** The spellings of types, for messages and completion. */
export const typeSpellings: readonly string[] = Object.keys(typeNames);

const nanoseconds: Readonly<Record<string, bigint>> = {
  ns: 1n,
  nanosecond: 1n,
  nanoseconds: 1n,
  nano: 1n,
  nanos: 1n,
  tick: 100n,
  ticks: 100n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  microsecond: 1_000n,
  microseconds: 1_000n,
  micro: 1_000n,
  micros: 1_000n,
  ms: 1_000_000n,
  millisecond: 1_000_000n,
  milliseconds: 1_000_000n,
  milli: 1_000_000n,
  millis: 1_000_000n,
  s: 1_000_000_000n,
  sec: 1_000_000_000n,
  secs: 1_000_000_000n,
  second: 1_000_000_000n,
  seconds: 1_000_000_000n,
  m: 60_000_000_000n,
  min: 60_000_000_000n,
  mins: 60_000_000_000n,
  minute: 60_000_000_000n,
  minutes: 60_000_000_000n,
  h: 3_600_000_000_000n,
  hr: 3_600_000_000_000n,
  hrs: 3_600_000_000_000n,
  hour: 3_600_000_000_000n,
  hours: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
  day: 86_400_000_000_000n,
  days: 86_400_000_000_000n,
  w: 604_800_000_000_000n,
  week: 604_800_000_000_000n,
  weeks: 604_800_000_000_000n,
};

const int64Max = 2n ** 63n - 1n;

/** Nanoseconds of `1d`, `1.5h`, `1h30m`, `-10ms` or `d.hh:mm:ss.fffffffff`; undefined when it is none of these or beyond int64. */
export function parseTimespan(text: string): bigint | undefined {
  const clock = /^([-+]?)(?:(\d+)\.)?(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?$/.exec(text);
  if (clock !== null) return parseClock(clock);
  const sign = text.startsWith('-') ? -1n : 1n;
  const body = text.replace(/^[-+]/, '');
  if (!/^(?:\d+(?:\.\d+)?[a-zµμ]+)+$/.test(body)) return undefined;
  let total = 0n;
  for (const [, whole, fraction, unit] of body.matchAll(/(\d+)(?:\.(\d+))?([a-zµμ]+)/g)) {
    const size = nanoseconds[unit as string];
    if (size === undefined) return undefined;
    total += BigInt(whole as string) * size + fractionOf(fraction, size);
  }
  return total > int64Max ? undefined : sign * total;
}

function parseClock(match: RegExpExecArray): bigint | undefined {
  const [, sign, days = '0', hours = '0', minutes = '0', seconds = '0', fraction = ''] = match;
  const whole = ((BigInt(days) * 24n + BigInt(hours)) * 60n + BigInt(minutes)) * 60n + BigInt(seconds);
  const total = whole * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'));
  if (total > int64Max) return undefined;
  return sign === '-' ? -total : total;
}

function fractionOf(digits: string | undefined, size: bigint): bigint {
  return digits === undefined ? 0n : (BigInt(digits) * size) / 10n ** BigInt(digits.length);
}

const dateTime =
  /^(\d{4})-(\d{1,2})(?:-(\d{1,2}))?(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9})\d*)?)?)?\s*(Z|UTC|[-+]\d{2}:?\d{2})?$/i;

/** Nanoseconds since 1970 of an ISO 8601 date or time (UTC unless an offset is given), or undefined; 1677 to 2262. */
export function parseDatetime(text: string): bigint | undefined {
  const match = dateTime.exec(text.trim());
  if (match === null) return undefined;
  const [, year, month, day = '1', hour = '0', minute = '0', second = '0', fraction = '', zone] = match;
  const at = utc(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second));
  if (at === undefined) return undefined;
  const total = (BigInt(at) - offsetMs(zone)) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
  return total > int64Max || total < -int64Max ? undefined : total;
}

/** Milliseconds since 1970, or undefined for a date that does not exist. */
function utc(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number | undefined {
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  return date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
    ? date.getTime()
    : undefined;
}

function offsetMs(zone: string | undefined): bigint {
  const match = /^([-+])(\d{2}):?(\d{2})$/.exec(zone ?? '');
  if (match === null) return 0n;
  const minutes = BigInt(match[2] as string) * 60n + BigInt(match[3] as string);
  return (match[1] === '-' ? -minutes : minutes) * 60_000n;
}
