import { MILLISECOND, SECOND } from '../../time.js';
import { timeNs } from './time-text.js';

/**
 * Returns the nanoseconds since 1970 of the time of an event: as `todatetime` reads it, in brackets too, seconds with a
 * fraction, or the time of a syslog line, which has no year and lies in the twelve months before `nowNs`. Null when it is none of these.
 */
export function eventTimeNs(text: string, nowNs: bigint): bigint | null {
  const bare = text.trim().replace(/^\[(.*)\]$/, '$1');
  return timeNs(bare) ?? fractionNs(bare) ?? yearlessNs(bare, nowNs);
}

function fractionNs(text: string): bigint | null {
  const [, seconds, fraction = ''] = /^(\d{9,10})(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  if (seconds === undefined) return null;
  return BigInt(seconds) * SECOND + BigInt(fraction.padEnd(9, '0'));
}

function yearlessNs(text: string, nowNs: bigint): bigint | null {
  const [, month, day, clock] =
    /^([a-z]{3,9})\s+(\d{1,2})\s+(\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?)$/i.exec(text) ?? [];
  if (month === undefined) return null;
  const year = new Date(Number(nowNs / MILLISECOND)).getUTCFullYear();
  // A leap day may lie further back.
  for (let back = 0; back < 9; back++) {
    const ns = timeNs(`${month} ${day}, ${year - back} ${clock}`);
    if (ns !== null && ns <= nowNs) return ns;
  }
  return null;
}
