import { clockName, timeIn, type Zone } from '../link/link-zone.js';

/** A timestamp in a zone, to the millisecond if it has any. */
export function timestampText(t: number, zone: Zone): string {
  return timeIn(new Date(t).toISOString(), zone)
    .replace('T', ' ')
    .replace(/(?:\.000)?(?:Z|[+-]\d\d:\d\d)$/, '');
}

/** As `timestampText`, with the name of the clock. */
export function fullTimestamp(t: number, zone: Zone): string {
  return `${timestampText(t, zone)} ${clockName(new Date(t).toISOString(), zone)}`;
}

/** A number: thousands apart, seven digits at most. */
export function numberText(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 7 });
}

/** What `%time` takes for the selection between two times, in milliseconds since 1970, which it holds whole. */
export function timeRange(from: number, to: number): string {
  return [Math.floor(from), Math.ceil(to)]
    .map(t => new Date(t).toISOString().replace('.000Z', 'Z'))
    .join('..');
}
