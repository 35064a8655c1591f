/** Times of a column, without the part that all of its rows share: that is in the header, and the exact time in the tooltip. */

import { timeIn, type Zone } from '../link/link-zone.js';

/** The part that the first rows of a column share, in each zone. */
export type TimeFormat = Readonly<Record<Zone, Shared>>;

interface Shared {
  /** The common day, `2026-11-20`; undefined if there are several. */
  readonly day: string | undefined;
  /** Maximum digits after the point of the seconds. */
  readonly digits: number;
  /** The offset from UTC, `+05:30`; empty for UTC. */
  readonly offset: string;
  /** True if all of them are midnight, as for daily bins. */
  readonly isDays: boolean;
}

interface Parts {
  readonly day: string;
  readonly clock: string;
  readonly fraction: string;
  readonly offset: string;
}

/** Returns the format for exact times, RFC 3339 in UTC; there may be none. */
export function timeFormat(exact: readonly string[]): TimeFormat {
  const shared = (zone: Zone): Shared => {
    const times = exact.flatMap(time => partsOf(timeIn(time, zone)) ?? []);
    const days = new Set(times.map(({ day }) => day));
    const isDays = times.length > 0 && times.every(isMidnight);
    return {
      day: days.size === 1 && !isDays ? times[0]?.day : undefined,
      digits: Math.max(0, ...times.map(({ fraction }) => fraction.length)),
      offset: times[0]?.offset ?? '',
      isDays,
    };
  };
  return { utc: shared('utc'), local: shared('local') };
}

/** Returns a time as its cell shows it; a time that does not fit the format is written in full. */
export function shownTime(exact: string, zone: Zone, format: TimeFormat): string {
  const parts = partsOf(timeIn(exact, zone));
  if (parts === undefined) return exact;
  const { day, digits, offset, isDays } = format[zone];
  const fraction = parts.fraction.padEnd(digits, '0');
  const clock = isDays && isMidnight(parts) ? [] : [parts.clock + (fraction === '' ? '' : `.${fraction}`)];
  return [
    ...(parts.day === day ? [] : [parts.day]),
    ...clock,
    ...(parts.offset === offset ? [] : [parts.offset || 'UTC']),
  ].join(' ');
}

/** Returns the shared part of all times for the column header: `UTC · 2026-11-20`. */
export function sharedText(zone: Zone, format: TimeFormat): string {
  const { day, offset } = format[zone];
  return [`UTC${zone === 'utc' ? '' : offset}`, ...(day === undefined ? [] : [day])].join(' \u00b7 ');
}

const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/;

function partsOf(time: string): Parts | undefined {
  const [, day, clock, fraction = '', offset] = TIME.exec(time) ?? [];
  if (day === undefined || clock === undefined) return undefined;
  return { day, clock, fraction, offset: offset === undefined || offset === 'Z' ? '' : offset };
}

function isMidnight({ clock, fraction }: Parts): boolean {
  return clock === '00:00:00' && fraction === '';
}
