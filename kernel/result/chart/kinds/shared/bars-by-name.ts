/** Numbers by name: the names with the greatest values, and what is left out. */

import { present } from '../../../../present.js';
import { formatCount } from '../../../../text.js';
import type { ArrowTable } from '../../../result.js';
import { aggregateOf, keyTexts, keyValues, nameOf, type Roles } from '../../chart-columns.js';
import { notDrawn } from '../../chart-notes.js';
import {
  allRows,
  type ChartColumn,
  greatestOf,
  groupNumbers,
  numberAt,
  numbersOf,
  sizesOf,
} from '../../chart-values.js';
import { distinctLabels } from '../../labels.js';
import { type Entry, entriesFor, type KeyValue } from '../../palette.js';

const MAX_BARS = 25;
export const MAX_PARTS = 8;
export const MAX_CELLS = 30;

export const OTHERS = 'others';
const REST_LOOK = { color: '#868c96', dash: [1, 0] };

/** Returns a note that names the columns beside a measure, which are not drawn; false if there are none. */
export function notDrawnBeside({ measures, leftOut }: Roles, measure: ChartColumn): string | false {
  return notDrawn([...measures.filter(each => each !== measure), ...leftOut]);
}

/** Returns the measures that have a value in some row. */
export function withValues(table: ArrowTable, measures: readonly ChartColumn[]): readonly ChartColumn[] {
  return measures.filter(measure => table.data.numRows > 0 && numbersOf(measure).some(v => !Number.isNaN(v)));
}

/** Rows of one part of a bar. */
type Place = readonly number[];

/** One bar before it is measured: its name, and the rows of each part. */
export interface NamedRow {
  readonly label: string;
  readonly places: readonly Place[];
  /** Its groups of the result; absent if they are too long to include. */
  readonly of?: readonly KeyValue[];
}

/** The longest bars, or the first ones of a sorted result, and what is left out. */
interface NamedRows {
  readonly rows: readonly NamedRow[];
  /** Total number of names, drawn or not. */
  readonly count: number;
  readonly parts: readonly Entry[];
  /** Parts that are merged into the last one, or left out. */
  readonly cut: number;
}

/** Returns a note on which names are drawn; false if all are. */
export function cutNames({ rows, count }: NamedRows, measure: ChartColumn, isSorted = false): string | false {
  if (count <= rows.length) return false;
  if (isSorted) return `the first ${rows.length} of ${formatCount(count)} names, in the order of the query`;
  return `the ${rows.length} of ${formatCount(count)} names with the highest ${nameOf(measure)}`;
}

/** Returns the rows with the greatest values, or the first ones of a sorted result, each with its name. */
export function rowsByName(keys: readonly ChartColumn[], measure: ChartColumn, isSorted: boolean): NamedRows {
  const sizes = numbersOf(measure);
  const places = isSorted ? [...sizes.keys()].slice(0, MAX_BARS) : greatestOf(sizes, MAX_BARS);
  const rows = places.map(row => ({ ...namedBy(keys, row), places: [[row]] }));
  return { rows: labeled(rows), count: sizes.length, parts: [], cut: 0 };
}

/**
 * Returns rows by all keys but the last, divided by the last: the greatest parts first, at most `most` of them. With `mixes`, the last one
 * holds all remaining parts.
 */
export function dividedRows(
  keys: readonly ChartColumn[],
  measure: ChartColumn,
  { most, mixes } = { most: MAX_PARTS, mixes: true },
): NamedRows {
  const rows = allRows(measure.vector.length);
  const bars = groupNumbers(keys.slice(0, -1), rows);
  const parts = groupNumbers(keys.slice(-1), rows);
  const [values, adds] = [numbersOf(measure), !aggregateOf(measure).isNever];
  const drawn = greatestOf(sizesOf(bars, values, adds), MAX_BARS);
  const shown = greatestOf(
    sizesOf(parts, values, adds, Math.abs),
    mixes && parts.count > most ? most - 1 : most,
  );
  const rest = parts.count - shown.length;
  const width = shown.length + (mixes ? Math.sign(rest) : 0);
  const places = drawn.map(() => Array.from({ length: width }, (): number[] => []));
  const barPlaces = placesOf(drawn);
  const partPlaces = placesOf(shown);
  for (const row of rows) {
    const bar = barPlaces.get(bars.numbers[row] ?? 0);
    const part = partPlaces.get(parts.numbers[row] ?? 0) ?? shown.length;
    if (bar !== undefined) places[bar]?.[part]?.push(row);
  }
  const named = drawn.map((bar, index) => ({
    ...namedBy(keys.slice(0, -1), bars.numbers.indexOf(bar)),
    places: places[index] ?? [],
  }));
  const firsts = shown.map(part => parts.numbers.indexOf(part));
  return {
    ...{ rows: labeled(named), count: bars.count, cut: rest },
    parts: surfaces(keys.slice(-1), firsts, mixes ? rest : 0),
  };
}

/** Returns the keys of a row, as displayed and as exact values. */
function namedBy(
  keys: readonly ChartColumn[],
  row: number,
): { readonly keys: readonly string[]; readonly of?: readonly KeyValue[] } {
  return { keys: keyTexts(keys, row), ...present({ of: keyValues(keys, row) }) };
}

function placesOf(groups: readonly number[]): ReadonlyMap<number, number> {
  return new Map(groups.map((group, place) => [group, place]));
}

/** Returns legend entries of surfaces, each by the keys of one of its rows; the last aggregates the remaining `others` names. */
export function surfaces(
  keys: readonly ChartColumn[],
  rows: readonly number[],
  others: number,
): readonly Entry[] {
  const names = rows.map(row => keyTexts(keys, row));
  const all = entriesFor(others === 0 ? names : [...names, [`${OTHERS} (${formatCount(others)})`]], {
    areSurfaces: true,
    groups: rows.map(row => keyValues(keys, row)),
  });
  return all.map((entry, index) => (index < rows.length ? entry : { ...entry, look: REST_LOOK }));
}

/** Adds labels to rows by their displayed keys, no two the same. */
function labeled<T extends { readonly keys: readonly string[] }>(
  rows: readonly T[],
): readonly (T & { readonly label: string })[] {
  const labels = distinctLabels(rows.map(({ keys }) => keys.join(' \u00b7 ')));
  return rows.map((row, index) => ({ ...row, label: labels[index] ?? '' }));
}

/** Returns the sum over the rows of a part; null if none has a value. */
export function sumAt(place: Place, measure: ChartColumn): number | null {
  const values = place.map(row => numberAt(measure, row)).filter(value => value !== null);
  return values.length === 0 ? null : values.reduce((a, b) => a + b, 0);
}
