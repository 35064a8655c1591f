/** Times and durations: exact 64-bit nanoseconds, parsed and formatted. Imports nothing from Node.js or other folders. */

export const MICROSECOND = 1_000n;
export const MILLISECOND = 1_000_000n;
export const SECOND = 1_000_000_000n;
export const MINUTE = 60n * SECOND;
export const HOUR = 60n * MINUTE;
export const DAY = 24n * HOUR;
export const WEEK = 7n * DAY;

/** Earliest time, in nanoseconds since 1970, that every component can store and print: 1677-09-22T00:00:00Z. */
export const EARLIEST_TIME = -106_751n * DAY;
/** Latest such time: 2262-04-11T23:47:16.854775806Z. */
export const LATEST_TIME = 2n ** 63n - 2n;

/** Units in nanoseconds by Go's spellings (https://pkg.go.dev/time#ParseDuration), which the service also writes. */
const GO_UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ...named(MICROSECOND, 'us', '\u00b5s', '\u03bcs'),
  ['ms', MILLISECOND],
  ['s', SECOND],
  ['m', MINUTE],
  ['h', HOUR],
]);

/** Units of fixed length in nanoseconds, by every spelling accepted in the language and in time ranges. */
export const UNITS: ReadonlyMap<string, bigint> = new Map([
  ...GO_UNITS,
  ...named(1n, 'nanosecond', 'nanoseconds', 'nano', 'nanos'),
  ...named(100n, 'tick', 'ticks'),
  ...named(MICROSECOND, 'microsecond', 'microseconds', 'micro', 'micros'),
  ...named(MILLISECOND, 'millisecond', 'milliseconds', 'milli', 'millis'),
  ...named(SECOND, 'sec', 'secs', 'second', 'seconds'),
  ...named(MINUTE, 'min', 'mins', 'minute', 'minutes'),
  ...named(HOUR, 'hr', 'hrs', 'hour', 'hours'),
  ...named(DAY, 'd', 'day', 'days'),
  ...named(WEEK, 'w', 'week', 'weeks'),
]);

/**
 * Parses `1d`, `1.5h`, `1h30m`, `-10ms` or `d.hh:mm:ss.fffffffff` to nanoseconds; returns undefined for any other text or beyond int64.
 * Digits below a nanosecond are dropped.
 */
export function parseTimespan(text: string): bigint | undefined {
  const clock = CLOCK.exec(text);
  return clock === null ? signedSum(text, UNITS, 'drop') : parseClock(clock);
}

/**
 * Parses a Go duration (`1h2m3.5s`, `-1.5ms`, `0`) to nanoseconds; returns undefined for any other text or beyond int64. Digits below a
 * nanosecond are dropped, or make it undefined.
 */
export function parseGoDuration(text: string, belowNanosecond: Finer = 'drop'): bigint | undefined {
  return /^[-+]?0$/.test(text) ? 0n : signedSum(text, GO_UNITS, belowNanosecond);
}

/** Formats a duration as Go does: `1.5s`, `5m0.004487127s`, `250ms`, `0s`. */
export function formatDuration(nanos: bigint): string {
  const sign = nanos < 0n ? '-' : '';
  const size = nanos < 0n ? -nanos : nanos;
  if (size === 0n) return '0s';
  if (size < MICROSECOND) return `${sign}${size}ns`;
  if (size < MILLISECOND) return `${sign}${decimal(size, 3)}\u00b5s`;
  if (size < SECOND) return `${sign}${decimal(size, 6)}ms`;
  const minutes = size / MINUTE;
  const seconds = `${decimal(size % MINUTE, 9)}s`;
  if (minutes === 0n) return sign + seconds;
  return minutes < 60n
    ? `${sign}${minutes}m${seconds}`
    : `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/**
 * Parses an ISO 8601 date or time to nanoseconds since 1970, in UTC unless it has an offset; returns undefined if it is not a time, does
 * not exist, or is out of range. A month without a day is allowed. Digits below a nanosecond are dropped.
 */
export function parseTime(text: string): bigint | undefined {
  const at = readTime(text);
  return at === undefined ? undefined : timeOf(at);
}

const SLASHED = /^(\d{4})\/(\d{1,2})\/(\d{1,2})$|^(\d{1,2})[/.](\d{1,2})[/.](\d{4})$/;

/** Returns the dates, such as `2026-11-23`, that a date in another order may mean: both if day and month are ambiguous. */
export function datesMeant(text: string): readonly string[] {
  const [, year, month = '', day = '', first = '', second = '', last] = SLASHED.exec(text) ?? [];
  const dates =
    year !== undefined
      ? [[year, month, day]]
      : last === undefined
        ? []
        : text.includes('.')
          ? [[last, second, first]]
          : [
              [last, first, second],
              [last, second, first],
            ];
  const written = dates.map(parts => parts.map(part => part.padStart(2, '0')).join('-'));
  return [...new Set(written.filter(date => parseTime(date) !== undefined))];
}

/** True for a time earlier or later than 64 bits of nanoseconds can hold. */
export function isBeyondTime(text: string): boolean {
  const at = readTime(text);
  const time = at === undefined ? undefined : instantOf(at);
  return time !== undefined && isBeyond(time);
}

/** True for nanoseconds since 1970 before the earliest or after the latest time. */
export function isBeyond(time: bigint): boolean {
  return time < EARLIEST_TIME || time > LATEST_TIME;
}

function readTime(text: string): CivilTime | undefined {
  const match = ISO_TIME.exec(text.trim());
  if (match === null) return undefined;
  const [, year, month, day = '1', hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] = match;
  const offset = /^[-+]/.test(zone) ? parseOffset(zone) : 0;
  if (offset === undefined) return undefined;
  return {
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
    fraction,
    offset,
  };
}

/** Parses `+02:00`, `-0530` or `+02` to minutes east of UTC; returns undefined for any other text or from 24 hours on. */
export function parseOffset(text: string): number | undefined {
  const [, sign, hours, minutes = '0'] = /^([-+])(\d{2})(?::?(\d{2}))?$/.exec(text) ?? [];
  if (hours === undefined || Number(hours) > 23 || Number(minutes) > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

/** A calendar date and time of day. */
export interface CivilTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** Digits below the second. */
  readonly fraction: string;
  /** Minutes east of UTC. */
  readonly offset: number;
}

/** Returns nanoseconds since 1970, or undefined for a date or time that does not exist (such as 24:00:00) or is out of range. */
export function timeOf(at: CivilTime): bigint | undefined {
  const time = instantOf(at);
  return time === undefined || isBeyond(time) ? undefined : time;
}

function instantOf(at: CivilTime): bigint | undefined {
  if (at.hour > 23 || at.minute > 59 || at.second > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(at.year, at.month - 1, at.day);
  if (date.getUTCMonth() !== at.month - 1 || date.getUTCDate() !== at.day) return undefined;
  const seconds = date.getTime() / 1000 + at.hour * 3600 + (at.minute - at.offset) * 60 + at.second;
  return BigInt(seconds) * SECOND + BigInt(at.fraction.slice(0, 9).padEnd(9, '0'));
}

/**
 * Formats nanoseconds since 1970 as RFC 3339 in UTC (https://www.rfc-editor.org/rfc/rfc3339). The fraction has 0, 3, 6 or 9 digits, which
 * are easier to read, or the fewest that are exact, as the API writes them.
 */
export function formatTime(nanos: bigint, digits: 'in threes' | 'fewest' = 'in threes'): string {
  const fraction = ((nanos % SECOND) + SECOND) % SECOND;
  const whole = new Date(Number((nanos - fraction) / MILLISECOND)).toISOString().slice(0, 19);
  const shown = fraction
    .toString()
    .padStart(9, '0')
    .replace(digits === 'fewest' ? /0+$/ : /(?:000)+$/, '');
  return shown === '' ? `${whole}Z` : `${whole}.${shown}Z`;
}

/** Handling of digits below a nanosecond. */
type Finer = 'drop' | 'refuse';

const CLOCK = /^([-+]?)(?:(\d+)\.)?(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?$/;

const ISO_TIME =
  /^(\d{4})-(\d{1,2})(?:-(\d{1,2}))?(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?)?\s*(Z|UTC|[-+]\d{2}:?\d{2})?$/i;

/** No unit can hold more fractional digits. */
const MOST_DIGITS = 18;

function named(size: bigint, ...names: readonly string[]): [string, bigint][] {
  return names.map(name => [name, size]);
}

/** Returns the sum of `1h30m`; every part is a number with its unit, with nothing between them. */
function signedSum(text: string, units: ReadonlyMap<string, bigint>, finer: Finer): bigint | undefined {
  const unsigned = text.replace(/^[-+]/, '');
  let total = 0n;
  let end = 0;
  for (const [part, whole = '', fraction = '', unit = ''] of unsigned.matchAll(
    /(\d*)(?:\.(\d*))?([a-z\u00b5\u03bc]+)/gy,
  )) {
    const size = units.get(unit);
    const digits = whole + fraction.slice(0, MOST_DIGITS);
    if (size === undefined || digits === '') return undefined;
    const scale = 10n ** BigInt(digits.length - whole.length);
    const scaled = BigInt(digits) * size;
    const isFiner = scaled % scale !== 0n || /[1-9]/.test(fraction.slice(MOST_DIGITS));
    if (finer === 'refuse' && isFiner) return undefined;
    total += scaled / scale;
    end += part.length;
  }
  if (end === 0 || end !== unsigned.length) return undefined;
  return withinInt64(text.startsWith('-') ? -total : total);
}

function parseClock(match: RegExpExecArray): bigint | undefined {
  const [, sign, days = '0', hours = '0', minutes = '0', seconds = '0', fraction = ''] = match;
  const total =
    BigInt(days) * DAY +
    BigInt(hours) * HOUR +
    BigInt(minutes) * MINUTE +
    BigInt(seconds) * SECOND +
    BigInt(fraction.padEnd(9, '0'));
  return withinInt64(sign === '-' ? -total : total);
}

function withinInt64(value: bigint): bigint | undefined {
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** Formats `value / 10^places` without trailing zeros. */
function decimal(value: bigint, places: number): string {
  const digits = value.toString().padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  const whole = digits.slice(0, -places);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** Orders of day, month and year in a numeric date: `05/11/2026`, `05.11.26`. */
export const dateOrders = ['dmy', 'mdy', 'ymd'] as const;

export type DateOrder = (typeof dateOrders)[number];

/** Month names in languages other than English, short and long, in lower case: a row per month. */
const monthNames: readonly (readonly string[])[] = [
  [
    'januar',
    'jänner',
    'janv',
    'janvier',
    'gen',
    'gennaio',
    'januari',
    'ene',
    'enero',
    'janeiro',
    'sty',
    'stycznia',
    'ledna',
  ],
  [
    'februar',
    'fév',
    'févr',
    'février',
    'febbraio',
    'februari',
    'febrero',
    'fev',
    'fevereiro',
    'lut',
    'lutego',
    'února',
  ],
  ['mär', 'märz', 'mars', 'marzo', 'mrt', 'maart', 'março', 'marts', 'marca', 'března'],
  ['avr', 'avril', 'aprile', 'abr', 'abril', 'kwi', 'kwietnia', 'dubna'],
  ['mai', 'mag', 'maggio', 'mei', 'mayo', 'maio', 'maj', 'maja', 'května'],
  ['juni', 'juin', 'giu', 'giugno', 'junio', 'junho', 'cze', 'czerwca', 'června'],
  ['juli', 'juil', 'juillet', 'lug', 'luglio', 'julio', 'julho', 'lip', 'lipca', 'července'],
  ['août', 'ago', 'agosto', 'augusti', 'augustus', 'sie', 'sierpnia', 'srpna'],
  ['septembre', 'set', 'settembre', 'septiembre', 'setembro', 'wrz', 'września', 'září'],
  [
    'okt',
    'oktober',
    'octobre',
    'ott',
    'ottobre',
    'octubre',
    'out',
    'outubro',
    'paź',
    'października',
    'října',
  ],
  ['novembre', 'noviembre', 'novembro', 'lis', 'listopada', 'listopadu'],
  [
    'dez',
    'dezember',
    'déc',
    'décembre',
    'dic',
    'dicembre',
    'diciembre',
    'dezembro',
    'des',
    'desember',
    'gru',
    'grudnia',
    'prosince',
  ],
];

const englishMonths = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const fullMonths = [
  ...['january', 'february', 'march', 'april', 'june', 'july', 'august'],
  ...['september', 'october', 'november', 'december'],
];

const monthsInEnglish = new Map(
  monthNames.flatMap((names, index) => names.map(name => [name, englishMonths[index]] as const)),
);

/** Returns the English name of a month in another language; undefined for any other word. */
export function englishMonth(name: string): string | undefined {
  return monthsInEnglish.get(name.toLowerCase());
}

/**
 * Pattern for month names in logs, in English and in the languages of {@link englishMonth}; no letter may follow. Names share prefixes, as
 * engines compile the pattern several times in each import.
 */
export const monthWord = (() => {
  const names = [...fullMonths, ...monthsInEnglish.keys()];
  const initials = [...new Set(names.map(name => name[0] ?? ''))];
  const cased = initials.map(initial => {
    const rests = names.filter(name => name.startsWith(initial)).map(name => name.slice(initial.length));
    return `[${initial}${initial.toUpperCase()}]${anyEnd(rests)}`;
  });
  return `(?:${[...englishMonths, ...cased].join('|')})`;
})();

/** Returns a pattern for one of these word endings; the longer one if two match. */
function anyEnd(ends: readonly string[]): string {
  const initials = [...new Set(ends.flatMap(end => end[0] ?? []))];
  const branches = initials.map(initial => {
    const rests = ends.filter(end => end.startsWith(initial)).map(end => end.slice(initial.length));
    return initial + anyEnd(rests);
  });
  const needsGroup = branches.length > 1 || (ends.includes('') && branches.join('').length > 1);
  const all = needsGroup ? `(?:${branches.join('|')})` : branches.join('');
  return ends.includes('') && all !== '' ? `${all}?` : all;
}

/** True if IANA has a time zone with this name. */
export function isZone(name: string): boolean {
  // An offset is not an IANA name.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Zone abbreviations that mean a single offset, in minutes from UTC: those of RFC 2822, and those used consistently everywhere. */
export const zoneOffsets: Readonly<Record<string, number>> = {
  z: 0,
  ut: 0,
  utc: 0,
  gmt: 0,
  est: -300,
  edt: -240,
  cst: -360,
  cdt: -300,
  mst: -420,
  mdt: -360,
  pst: -480,
  pdt: -420,
  akst: -540,
  akdt: -480,
  hst: -600,
  wet: 0,
  west: 60,
  cet: 60,
  cest: 120,
  eet: 120,
  eest: 180,
  sast: 120,
  hkt: 480,
  jst: 540,
  kst: 540,
  awst: 480,
  acst: 570,
  acdt: 630,
  aest: 600,
  aedt: 660,
  nzst: 720,
  nzdt: 780,
};

/** Zone abbreviations that mean several offsets, as IST does in India, Israel and Ireland. */
const unclearZones = [
  'ist',
  'bst',
  'msk',
  'msd',
  'ast',
  'adt',
  'nst',
  'ndt',
  'brt',
  'clt',
  'pkt',
  'sgt',
  'pht',
  'ict',
  'trt',
];

/** Pattern for zone abbreviations in logs. */
export const zoneWord = `(?:${[...Object.keys(zoneOffsets), ...unclearZones].join('|').toUpperCase()})`;
