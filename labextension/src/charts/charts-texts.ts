import { clockName, timeIn, type Zone } from '../link/link-zone.js';

/** Formats a timestamp in a zone, with milliseconds if it has any. */
export function timestampText(t: number, zone: Zone): string {
  return timeIn(new Date(t).toISOString(), zone)
    .replace('T', ' ')
    .replace(/(?:\.000)?(?:Z|[+-]\d\d:\d\d)$/, '');
}

/** Like `timestampText`, with the name of the zone. */
export function fullTimestamp(t: number, zone: Zone): string {
  return `${timestampText(t, zone)} ${clockName(new Date(t).toISOString(), zone)}`;
}

/** Formats a number with separators between thousands and at most seven digits. */
export function numberText(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 7 });
}

/** Returns the argument of `%time` for the selection between two times, in milliseconds since 1970, with both included. */
export function timeRange(from: number, to: number): string {
  return [Math.floor(from), Math.ceil(to)]
    .map(t => new Date(t).toISOString().replace('.000Z', 'Z'))
    .join('..');
}
