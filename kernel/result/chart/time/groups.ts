/**
 * The rows of a result by the group that they belong to, the largest groups first.
 */
import { shownText } from '../../display/text.js';
import { aggregateOf, type ChartColumn, groupKey, numberAt, type Roles, timeAt } from '../columns.js';
import { distinctLabels } from '../labels.js';

/** A row of the result with its time in milliseconds since 1970. */
export interface Row {
  readonly row: number;
  readonly t: number;
}

/** One group: its label, the texts of its keys, and its rows in order of time. */
export interface Group {
  readonly label: string;
  readonly keys: readonly string[];
  readonly rows: readonly Row[];
}

/** The groups that are drawn, and how many there are. */
export interface Groups {
  readonly drawn: readonly Group[];
  readonly count: number;
}

/** Returns the rows that have a time, in order of time. */
export function timedRows(roles: Roles, rows: number): readonly Row[] {
  const timed: Row[] = [];
  for (let row = 0; row < rows; row++) {
    const t = timeAt(roles.time, row);
    if (t !== undefined) timed.push({ row, t });
  }
  const isSorted = timed.every((row, index) => index === 0 || (timed[index - 1]?.t ?? row.t) <= row.t);
  return isSorted ? timed : timed.sort((a, b) => a.t - b.t);
}

/**
 * Returns the `most` largest groups: by the sum of the measure where its values add up, otherwise by its greatest value, so
 * that a group that peaks once is among them.
 */
export function largestGroups(
  rows: readonly Row[],
  { keys }: Roles,
  measure: ChartColumn,
  most: number,
): Groups {
  const byKey = new Map<string, Row[]>();
  for (const row of rows) {
    const key = groupKey(keys, row.row);
    const group = byKey.get(key);
    if (group === undefined) byKey.set(key, [row]);
    else group.push(row);
  }
  const { additive } = aggregateOf(measure);
  const size = (group: readonly Row[]) => sizeOf(group, measure, additive);
  const ranked = [...byKey.values()].map(group => ({ group, size: size(group) }));
  const largest = ranked
    .sort((a, b) => (a.size === b.size ? 0 : b.size - a.size))
    .slice(0, most)
    .map(({ group }) => ({ rows: group, keys: keyTexts(keys, group[0]?.row ?? 0) }));
  const labels = distinctLabels(largest.map(group => group.keys.join(' \u00b7 ')));
  const drawn = largest.map((group, index) => ({ ...group, label: labels[index] ?? '' }));
  return { drawn, count: byKey.size };
}

/** Whether two rows have the same time, so that no line can join them. */
export function hasTwins(rows: readonly Row[]): boolean {
  return rows.some((row, index) => index > 0 && rows[index - 1]?.t === row.t);
}

function sizeOf(rows: readonly Row[], measure: ChartColumn, additive: boolean): number {
  const values = rows.map(({ row }) => numberAt(measure, row)).filter(value => value !== null);
  return additive
    ? values.reduce((sum, value) => sum + Math.abs(value), 0)
    : values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
}

function keyTexts(keys: readonly ChartColumn[], row: number): readonly string[] {
  return keys.map(({ field, vector }) => shownText(vector, row, field).text);
}
