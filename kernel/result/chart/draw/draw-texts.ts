/** Numbers and timestamps as a chart formats them beside its marks and in its description. */

import { cut } from '../../../text.js';
import { formatNumber, fraction } from '../../display/display-format.js';
import type { Entry } from '../palette.js';
import type { TimeAxis } from '../time/bins.js';

/** Formats a number with separators between thousands and at most seven digits. */
function numberText(value: number): string {
  const short = Number(value.toPrecision(7));
  return formatNumber(String(short), { kind: 'real', decimals: Math.min(fraction(short), 12) });
}

/** Formats a number with its unit for a quick look: four digits if it is not an integer. */
export function shortText(value: number, unit: string): string {
  return measureText(Number.isInteger(value) ? value : Number(value.toPrecision(4)), unit);
}

/** Formats a number with its unit. */
export function measureText(value: number, unit: string): string {
  return unit === '' ? numberText(value) : `${numberText(value)} ${unit}`;
}

/** Formats a timestamp in UTC, with milliseconds if it has any. */
export function timestampText(t: number): string {
  return new Date(t)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.000Z$|Z$/, '');
}

/** Returns the days that a range touches, for the title of its axis. */
export function daysTitle(start: number, end: number): string {
  const [from, to] = [start, Math.max(start, end - 1)].map(t => new Date(t).toISOString().slice(0, 10));
  return from === to ? `${from}, UTC` : `${from} to ${to}, UTC`;
}

/** Maximum number of groups named; the remaining ones are counted. */
const NAMED = 5;

/** Returns ` for a, b, c and 7 more`; empty without names. */
export function forNames(names: readonly string[]): string {
  if (names.length === 0) return '';
  const shown = names.slice(0, NAMED).map(name => cut(name, 40));
  const more = names.length - shown.length;
  return ` for ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Returns the names of a legend as formatted by `forNames`. */
export function forLegend(legend: readonly Entry[]): string {
  return forNames(legend.map(({ label }) => label));
}

/** Returns the range of an axis of time. */
export function overTime({ start, end }: TimeAxis): string {
  return `over time from ${timestampText(start)} to ${timestampText(end)} UTC`;
}
