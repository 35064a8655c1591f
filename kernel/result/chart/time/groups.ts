/**
 * The rows of a result by the group that they belong to, the largest groups first.
 */

import { FIELD_KEY } from '../../field.js';
import { aggregateOf, keyTexts } from '../columns.js';
import { type ChartColumn, greatestOf, groupNumbers, numbersOf, sizesOf, valuesIn } from '../values.js';

/** One group: the texts of its keys, and its rows in order of time. */
export interface Group {
  readonly keys: readonly string[];
  readonly rows: Uint32Array;
}

/** The groups that are drawn, how many were chosen, and of how many, which `keys` tell apart: a chosen one may have a line for each period. */
export interface Groups {
  readonly drawn: readonly Group[];
  readonly chosen: number;
  readonly count: number;
  readonly keys: readonly ChartColumn[];
}

/** Returns the rows that have a time, in order of time. */
export function timedRows(time: ChartColumn): Uint32Array {
  const times = numbersOf(time);
  const rows = new Uint32Array(times.length);
  let count = 0;
  let isSorted = true;
  let before = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < times.length; row++) {
    const t = times[row] ?? Number.NaN;
    if (Number.isNaN(t)) continue;
    rows[count++] = row;
    isSorted &&= before <= t;
    before = t;
  }
  const timed = rows.subarray(0, count);
  const at = (row: number) => times[row] ?? 0;
  return isSorted ? timed : timed.sort((a, b) => at(a) - at(b) || a - b);
}

/**
 * Returns the largest groups, in `most` lines: by the sum of the measure where its values add up, otherwise by its greatest value, so
 * that a group that peaks once is among them. The periods of a comparison are chosen together.
 */
export function largestGroups(
  rows: Uint32Array,
  keys: readonly ChartColumn[],
  measure: ChartColumn,
  most: number,
): Groups {
  const periods = keys.filter(({ field }) => field.metadata.has(FIELD_KEY.period));
  const compared = keys.filter(key => !periods.includes(key));
  const { numbers, count } = groupNumbers(compared, rows);
  const linesEach = Math.max(1, groupNumbers(periods, rows).count);
  const sizes = sizesOf({ numbers, count }, valuesIn(measure, rows), aggregateOf(measure).additive, Math.abs);
  const greatest = greatestOf(sizes, Math.floor(most / linesEach));
  const members = rowsBy(rows, numbers, greatest).flatMap(own => split(own, periods));
  const drawn = members.map(own => ({ rows: own, keys: keyTexts(keys, own[0] ?? 0) }));
  return { drawn, chosen: greatest.length, count, keys: compared };
}

/** Rows apart by the values of some columns, in the order in which these appear. */
function split(rows: Uint32Array, keys: readonly ChartColumn[]): readonly Uint32Array[] {
  if (keys.length === 0) return [rows];
  const { numbers, count } = groupNumbers(keys, rows);
  return rowsBy(rows, numbers, [...Array(count).keys()]);
}

/** Whether two rows have the same time, so that no line can join them. */
export function hasTwins(rows: Uint32Array, time: ChartColumn): boolean {
  const times = numbersOf(time);
  return rows.some((row, at) => at > 0 && times[rows[at - 1] ?? 0] === times[row]);
}

/** The rows of some groups, in their order. */
function rowsBy(rows: Uint32Array, numbers: Uint32Array, groups: readonly number[]): readonly Uint32Array[] {
  const places = new Map(groups.map((group, place) => [group, place]));
  const found = groups.map(() => new Uint32Array(rows.length));
  const counts = groups.map(() => 0);
  for (let at = 0; at < rows.length; at++) {
    const place = places.get(numbers[at] ?? 0);
    const own = place === undefined ? undefined : found[place];
    if (place === undefined || own === undefined) continue;
    const count = counts[place] ?? 0;
    own[count] = rows[at] ?? 0;
    counts[place] = count + 1;
  }
  return found.map((own, place) => own.subarray(0, counts[place]));
}
