import { DAY, englishMonth, isZone, MILLISECOND, SECOND } from '../../time.js';
import { bareTime, isNumbered, orderedNs } from './function-date-order.js';
import { timeNs } from './time-text.js';

/**
 * Returns the time of an event in nanoseconds since 1970: anything that `todatetime` reads, also in brackets; seconds with a fraction; or
 * the timestamp of a syslog, klog or Snort line, which has no year and falls in the twelve months before `nowNs`. An ambiguous numeric date
 * is read in `order`. Null if it is none of these.
 */
export function eventTimeNs(text: string, nowNs: bigint, order: string): bigint | null {
  const bare = joinedTime(bareTime(text));
  if (isNumbered(bare)) return orderedNs(bare, order);
  const found = timeNs(bare) ?? fractionNs(bare) ?? yearlessNs(bare, nowNs) ?? zonedNs(bare) ?? taiNs(bare);
  if (found !== null) return found;
  const english = inEnglish(bare);
  return english === bare ? null : (timeNs(english) ?? yearlessNs(english, nowNs));
}

/** Beginnings of weekday names in German, French, Italian, Spanish, Portuguese, Dutch, Polish, Czech and Swedish. */
const weekdays =
  /^(?:mo|di|mi|do|fr|sa|so|lun|mar|mer|mié|gio|jeu|jue|ven|vie|sam|sáb|dim|dom|seg|ter|qua|qui|sex|ma|wo|vr|za|zo|pn|pon|wt|śr|czw|pt|pią|sob|nd|nie|út|st|čt|pá|ne|mån|tis|ons|tors|lör|sön)\p{L}*[.,]{0,2} (?=\p{L}|\d)/iu;

/** Returns a timestamp with the English name of its month, without a leading weekday and filler words. */
function inEnglish(text: string): string {
  return text
    .replace(weekdays, day => (englishMonth(day.replace(/\P{L}/gu, '')) === undefined ? '' : day))
    .replace(/\p{L}{3,}\.?/gu, word => englishMonth(word.replace('.', '')) ?? word)
    .replace(/(\d)(?:er|º|\.)? (?:de )?(\p{L}{3})\.? (?:de )?(?=\d{4}\b)/u, '$1 $2 ');
}

/**
 * Parses a TAI64 or TAI64N label, as written by multilog, from 1970 to 2106, since other hexadecimal numbers are ids. Its seconds are ten
 * ahead: https://cr.yp.to/daemontools/tai64n.html
 */
function taiNs(text: string): bigint | null {
  const [, seconds, nanos = '0'] = /^@40000000([0-9a-f]{8})([0-3][0-9a-f]{7})?$/.exec(text) ?? [];
  return seconds === undefined ? null : (BigInt(`0x${seconds}`) - 10n) * SECOND + BigInt(`0x${nanos}`);
}

/** Formats that join date and time of day in ways that {@link timeNs} does not read. */
const joined: readonly { readonly pattern: RegExp; readonly as: string }[] = [
  // Suricata and Snort alerts, month first.
  { pattern: /^(\d{2})\/(\d{2})\/(\d{4})-(\d{2}:\d{2}:\d{2}\.\d{6})$/, as: '$3-$1-$2 $4' },
  { pattern: /^(\d{2})\/(\d{2})\/(\d{2})-(\d{2}:\d{2}:\d{2}\.\d{6})$/, as: '20$3-$1-$2 $4' },
  // Gin.
  { pattern: /^(\d{4})\/(\d{2})\/(\d{2}) - (\d{2}:\d{2}:\d{2})$/, as: '$1-$2-$3 $4' },
  // glog, FIX, and ISO 8601 in its basic format.
  {
    pattern: /^(\d{4})(\d{2})(\d{2})[ T-](\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})?)$/,
    as: '$1-$2-$3 $4',
  },
  {
    pattern: /^(\d{4})(\d{2})(\d{2})[ T-](\d{2})(\d{2})(\d{2})((?:[.,]\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})?)$/,
    as: '$1-$2-$3 $4:$5:$6$7',
  },
  // A colon before milliseconds or microseconds.
  { pattern: /^(\d{4}[-/]\d{2}[-/]\d{2}[ T]{1,2}\d{1,2}:\d{2}:\d{2}):(\d{3}(?:\d{3})?)\b/, as: '$1.$2' },
  {
    pattern: /^([A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2}):(\d{6}) (\d{4})$/,
    as: '$1.$2 $3',
  },
  // laurel: the event's serial number follows its time.
  { pattern: /^(\d{9,10}\.\d{3}):\d+$/, as: '$1' },
  // svlogd and s6-log.
  { pattern: /^(\d{4}-\d{2}-\d{2})_(\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)$/, as: '$1 $2' },
  // Cisco NX-OS.
  { pattern: /^(\d{4}) ([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\d{2}:\d{2}:\d{2})/, as: '$2 $3, $1 $4' },
];

function joinedTime(text: string): string {
  const found = joined.find(({ pattern }) => pattern.test(text));
  return found === undefined ? text : text.replace(found.pattern, found.as);
}

/** A time of day with a zone name, as PHP writes it. */
const inNamedZone = /^(.*\d:\d{2}(?:[.,]\d{1,9})?) ([A-Z][A-Za-z]+(?:\/[A-Za-z_+-]+){1,2})$/;

/** Returns a time in a named zone: null if skipped by a clock change, and the first one if repeated. */
function zonedNs(text: string): bigint | null {
  const [, written = '', zone = ''] = inNamedZone.exec(text) ?? [];
  const local = isZone(zone) ? timeNs(written) : null;
  if (local === null) return null;
  const around = [local - DAY, local + DAY].map(near => local - offsetNs(zone, near));
  return around.find(ns => ns + offsetNs(zone, ns) === local) ?? null;
}

/** Returns the UTC offset of a zone. */
function offsetNs(zone: string, ns: bigint): bigint {
  const seconds = Number(ns / SECOND);
  const shown = clockOf(zone).formatToParts(seconds * 1000);
  const part = (name: string) => Number(shown.find(({ type }) => type === name)?.value);
  const [year, month, day] = [part('year'), part('month'), part('day')];
  const local = Date.UTC(year, month - 1, day, part('hour'), part('minute'), part('second'));
  return BigInt(local / 1000 - seconds) * SECOND;
}

const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone);
  if (known) return known;
  const numeric = 'numeric';
  const clock = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  });
  clocks.set(timeZone, clock);
  return clock;
}

function fractionNs(text: string): bigint | null {
  const [, seconds, fraction = ''] = /^(\d{9,10})(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  if (seconds === undefined) return null;
  return BigInt(seconds) * SECOND + BigInt(fraction.padEnd(9, '0'));
}

/** Timestamps without a year: syslog, klog, Snort alerts, Redis, monit and logcat. */
const yearless: readonly {
  readonly pattern: RegExp;
  readonly dated: (year: number, parts: Parts) => string;
}[] = [
  {
    pattern:
      /^(?<month>[a-z]{3,9})\s+(?<day>\d{1,2})\s+(?<clock>\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?: [AP]M)?)$/i,
    dated: (year, { month, day, clock }) => `${month} ${day}, ${year} ${clock}`,
  },
  {
    pattern: /^(?<month>\d{2})(?<day>\d{2}) (?<clock>\d{2}:\d{2}:\d{2}\.\d{6})$/,
    dated: (year, { month, day, clock }) => `${year}-${month}-${day} ${clock}`,
  },
  {
    pattern: /^(?<month>\d{2})\/(?<day>\d{2})-(?<clock>\d{2}:\d{2}:\d{2}\.\d{6})$/,
    dated: (year, { month, day, clock }) => `${year}-${month}-${day} ${clock}`,
  },
  {
    pattern:
      /^(?<day>\d{1,2}) (?<month>[a-z]{3,9}) (?<clock>\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?: [AP]M)?)$/i,
    dated: (year, { month, day, clock }) => `${month} ${day}, ${year} ${clock}`,
  },
  {
    pattern: /^(?<zone>[A-Z]{3,5}) (?<month>[A-Z][a-z]{2}) {1,2}(?<day>\d{1,2}) (?<clock>\d{2}:\d{2}:\d{2})$/,
    dated: (year, { zone, month, day, clock }) => `${month} ${day}, ${year} ${clock} ${zone}`,
  },
  {
    pattern: /^(?<month>\d{2})-(?<day>\d{2}) (?<clock>\d{2}:\d{2}:\d{2}\.\d{3})$/,
    dated: (year, { month, day, clock }) => `${year}-${month}-${day} ${clock}`,
  },
];

type Parts = Readonly<Record<string, string>>;

function yearlessNs(text: string, nowNs: bigint): bigint | null {
  const year = new Date(Number(nowNs / MILLISECOND)).getUTCFullYear();
  for (const { pattern, dated } of yearless) {
    const parts = pattern.exec(text)?.groups;
    if (parts === undefined) continue;
    // A leap day may lie several years back.
    for (let back = 0; back < 9; back++) {
      const ns = timeNs(dated(year - back, parts));
      if (ns !== null && ns <= nowNs) return ns;
    }
  }
  return null;
}
