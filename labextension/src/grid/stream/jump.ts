/** Finds the row of a time among rows sorted by time. */
import { parseTime } from '../../../../kernel/time.js';
import { timeIn, type Zone } from '../../link/link-zone.js';
import type { Rows } from '../data/grid-rows.js';
import { nameOf } from '../grid-cells.js';
import { rolesOf } from './stream-roles.js';

const CLOCK = /^(?:(\d{4}-\d\d-\d\d)(?:[T ]|$))?\s*(?:(\d\d?):(\d\d)(?::(\d\d)(\.\d{1,9})?)?)?$/;

/**
 * Parses a time typed by a reader, in nanoseconds since 1970: RFC 3339, or a day, a time of day or both in a zone. A time of day
 * alone is on the day of `near`, RFC 3339 in UTC. Undefined for other strings.
 */
export function namedTime(text: string, zone: Zone, near: string): bigint | undefined {
  const trimmed = text.trim();
  const [whole, day, hour = '0', minute = '00', second = '00', fraction = ''] = CLOCK.exec(trimmed) ?? [];
  if (whole === undefined || whole === '') return trimmed === '' ? undefined : parseTime(trimmed);
  const clock = `${day ?? timeIn(near, zone).slice(0, 10)}T${hour.padStart(2, '0')}:${minute}:${second}`;
  if (zone === 'utc') return parseTime(`${clock}${fraction}Z`);
  const at = new Date(clock);
  return Number.isNaN(at.getTime())
    ? undefined
    : parseTime(at.toISOString().replace(/\.\d+Z$/, `${fraction}Z`));
}

/** Resolves with the row of a typed time, or with a sentence if there is none. Rejects if rows cannot be read. */
export async function rowOfTime(
  rows: Rows,
  text: string,
  zone: Zone,
  firstVisible: number,
): Promise<number | string> {
  const { time: column } = rolesOf(rows.columns);
  if (column === undefined || rows.count === 0) return 'No row has a time.';
  const read = async (row: number): Promise<string> => {
    await rows.load(row, row + 1);
    return rows.exact(row, column) ?? '';
  };
  const timed = { count: rows.count, time: async (row: number) => parseTime(await read(row)) ?? null };
  const span = await timedRows(timed);
  if (span === undefined) return `The first and the last row have no time. Sort by ${nameOf(column)} first.`;
  const [first, last] = span;
  const near = (await read(Math.min(Math.max(firstVisible, first), last))) || (await read(first));
  const time = namedTime(text, zone, near);
  if (time === undefined) return 'Enter a time such as 10:30, 10:30:15.5 or 2026-01-26 10:30.';
  const found = await rowAt(timed, time);
  return found ?? `The rows are not sorted by ${nameOf(column)}. Sort by it first.`;
}

/** The rows to search, with the time of each in nanoseconds; null if it has none. */
export interface TimedRows {
  readonly count: number;
  time(row: number): Promise<bigint | null>;
}

/**
 * Returns the first and the last row that have a time, if the rows are sorted: rows without one are all before or all after them.
 * Undefined if neither the first nor the last row of all has one.
 */
async function timedRows(rows: TimedRows): Promise<readonly [first: number, last: number] | undefined> {
  const end = rows.count - 1;
  const has = async (row: number) => (await rows.time(row)) !== null;
  const [isFirst, isLast] = [await has(0), await has(end)];
  if (isFirst && isLast) return [0, end];
  if (!isFirst && !isLast) return undefined;
  let [low, high] = [0, end];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if ((await has(middle)) === isFirst) low = middle;
    else high = middle;
  }
  return isFirst ? [0, low] : [high, end];
}

/**
 * Returns the first row at or after a time, or at or before it if times descend; the last row with a time if there is
 * none. Undefined if the rows read are not sorted by time.
 */
export async function rowAt(rows: TimedRows, time: bigint): Promise<number | undefined> {
  if (rows.count === 0) return undefined;
  const seen = new Map<number, bigint>();
  const read = async (row: number): Promise<bigint | undefined> => {
    const at = await rows.time(row);
    if (at !== null) seen.set(row, at);
    return at ?? undefined;
  };
  const span = await timedRows(rows);
  if (span === undefined) return undefined;
  let [low, high] = span;
  const [first, last] = [await read(low), await read(high)];
  if (first === undefined || last === undefined) return undefined;
  const sign = first <= last ? 1n : -1n;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const at = await read(middle);
    if (at === undefined) return undefined;
    if (sign * at >= sign * time) high = middle;
    else low = middle + 1;
  }
  const inOrder = [...seen].sort(([a], [b]) => a - b).map(([, at]) => sign * at);
  return inOrder.every((at, index) => index === 0 || (inOrder[index - 1] as bigint) <= at) ? low : undefined;
}
