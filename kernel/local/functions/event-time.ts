import { MILLISECOND, SECOND } from '../../time.js';
import { bareTime, isNumbered, orderedNs } from './date-order.js';
import { timeNs } from './time-text.js';

/**
 * Returns the nanoseconds since 1970 of the time of an event: as `todatetime` reads it, in brackets too, seconds with a
 * fraction, or the time of a line of syslog, klog or Snort, which has no year and lies in the twelve months before `nowNs`. A date
 * that does not say which number is the day is read in `order`. Null when it is none of these.
 */
export function eventTimeNs(text: string, nowNs: bigint, order: string): bigint | null {
  const bare = joinedTime(bareTime(text));
  if (isNumbered(bare)) return orderedNs(bare, order);
  return timeNs(bare) ?? fractionNs(bare) ?? yearlessNs(bare, nowNs);
}

/** How programs join the day and the time of day otherwise than {@link timeNs} reads them. */
const joined: readonly { readonly pattern: RegExp; readonly as: string }[] = [
  // The alerts of Suricata and Snort, the month first.
  { pattern: /^(\d{2})\/(\d{2})\/(\d{4})-(\d{2}:\d{2}:\d{2}\.\d{6})$/, as: '$3-$1-$2 $4' },
  { pattern: /^(\d{2})\/(\d{2})\/(\d{2})-(\d{2}:\d{2}:\d{2}\.\d{6})$/, as: '20$3-$1-$2 $4' },
  // Gin.
  { pattern: /^(\d{4})\/(\d{2})\/(\d{2}) - (\d{2}:\d{2}:\d{2})$/, as: '$1-$2-$3 $4' },
  // Cisco NX-OS.
  { pattern: /^(\d{4}) ([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\d{2}:\d{2}:\d{2})/, as: '$2 $3, $1 $4' },
];

function joinedTime(text: string): string {
  const found = joined.find(({ pattern }) => pattern.test(text));
  return found === undefined ? text : text.replace(found.pattern, found.as);
}

function fractionNs(text: string): bigint | null {
  const [, seconds, fraction = ''] = /^(\d{9,10})(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  if (seconds === undefined) return null;
  return BigInt(seconds) * SECOND + BigInt(fraction.padEnd(9, '0'));
}

/** How the lines of syslog, of klog and of Snort's alerts write a time. */
const yearless: readonly {
  readonly pattern: RegExp;
  readonly dated: (year: number, parts: Parts) => string;
}[] = [
  {
    pattern: /^(?<month>[a-z]{3,9})\s+(?<day>\d{1,2})\s+(?<clock>\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?)$/i,
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
];

type Parts = Readonly<Record<string, string>>;

function yearlessNs(text: string, nowNs: bigint): bigint | null {
  const year = new Date(Number(nowNs / MILLISECOND)).getUTCFullYear();
  for (const { pattern, dated } of yearless) {
    const parts = pattern.exec(text)?.groups;
    if (parts === undefined) continue;
    // A leap day may lie further back.
    for (let back = 0; back < 9; back++) {
      const ns = timeNs(dated(year - back, parts));
      if (ns !== null && ns <= nowNs) return ns;
    }
  }
  return null;
}
