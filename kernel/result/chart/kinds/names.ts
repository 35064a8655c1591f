/**
 * Numbers by name: bars, shares of a whole, and a grid of two keys.
 */

import type { ChartWish } from '../../../apl/operators/drawing.js';
import { formatCount } from '../../../text.js';
import type { ArrowTable } from '../../result.js';
import { aggregateOf, distinctNames, keyTexts, nameOf, namesOf } from '../columns.js';
import { greatestOf, largest, logFoot, smallest } from '../extent.js';
import { distinctLabels } from '../labels.js';
import type { Bar, BarChart, BarPlot, Cell, Entry, HeatChart, PieChart } from '../model.js';
import { FIRST_LOOK, type Look, looksFor } from '../palette.js';
import { scaled, titleOf, unitOf } from '../time/series.js';
import { scaleFor } from '../units.js';
import {
  allRows,
  type ChartColumn,
  type GroupNumbers,
  groupNumbers,
  numberAt,
  numbersOf,
} from '../values.js';

/** The columns of a table without times. */
export interface NameRoles {
  readonly keys: readonly ChartColumn[];
  readonly measures: readonly ChartColumn[];
  readonly leftOut: readonly ChartColumn[];
}

const MAX_BARS = 25;
const MAX_PARTS = 8;
const MAX_PLOTS = 4;
const MAX_SLICES = 8;
const MAX_CELLS = 30;

/** Returns bars of each measure, one below the other; with two keys and `@stack` the second divides the bars. */
export function toBars(table: ArrowTable, roles: NameRoles, wish: ChartWish): BarChart | string {
  const filled = withValues(table, roles.measures);
  const [first] = filled;
  if (first === undefined) return noValue(roles);
  const isDivided = wish.stack === true && roles.keys.length > 1 && !aggregateOf(first).isNever;
  const names = isDivided ? dividedRows(roles.keys, first) : rowsByName(roles.keys, first);
  const measures = isDivided ? [first] : filled.slice(0, MAX_PLOTS);
  const titles = distinctNames(measures);
  const plots = measures.map((measure, index) =>
    barPlot(names.rows, { measure, name: titles[index] ?? '' }, names.parts, wish),
  );
  const empty = roles.measures.filter(measure => !filled.includes(measure));
  return {
    kind: 'bars',
    plots,
    keys: namesOf(isDivided ? roles.keys.slice(0, -1) : roles.keys),
    legend: names.parts,
    names: titles,
    remarks: [
      ...cutNames(names, first),
      ...(names.cut > 0 ? [`parts beyond the ${MAX_PARTS - 1} greatest are drawn as one, ${OTHERS}`] : []),
      ...(filled.length > plots.length && !isDivided
        ? [`the first ${plots.length} of ${filled.length} measures`]
        : []),
      ...(isDivided && filled.length > 1 ? [`not drawn: ${namesOf(filled.slice(1))}`] : []),
      ...(empty.length > 0 ? [`no value in any row: ${namesOf(empty)}`] : []),
      ...(roles.leftOut.length > 0 ? [`not drawn: ${namesOf(roles.leftOut)}`] : []),
      ...(wish.log === true && plots.some(plot => !plot.isLog)
        ? [`no log axis: ${isDivided ? 'the bars are divided' : 'there are values of 0 or less'}`]
        : []),
      ...(wish.stack === true && !isDivided
        ? [
            roles.keys.length < 2
              ? 'nothing to stack: there is one key'
              : `not stacked: values of ${nameOf(first)} do not add up`,
          ]
        : []),
    ],
  };
}

/** Returns the shares of the first measure; a sentence where they are no shares of anything. */
export function toPie(table: ArrowTable, roles: NameRoles, wish: ChartWish): PieChart | string {
  const [measure] = withValues(table, roles.measures);
  if (measure === undefined) return noValue(roles);
  if (aggregateOf(measure).isNever) return `No pie chart: values of ${nameOf(measure)} do not add up.`;
  const sizes = numbersOf(measure);
  const known = sizes.filter(size => !Number.isNaN(size));
  if (known.some(size => size < 0)) return `No pie chart: ${nameOf(measure)} has values below 0.`;
  const sum = known.reduce((total, size) => total + size, 0);
  if (sum === 0) return `No pie chart: every ${nameOf(measure)} is 0.`;
  const greatest = greatestOf(
    sizes,
    known.length > MAX_SLICES ? MAX_SLICES - 1 : Math.min(MAX_SLICES, known.length),
  );
  const shown = labelled(greatest.map(row => ({ keys: keyTexts(roles.keys, row), v: sizes[row] ?? 0 })));
  const rest = known.length - shown.length;
  const scale = scaleFor(unitOf(measure, wish), sum);
  const isRest = (size: number, row: number) => !Number.isNaN(size) && !greatest.includes(row);
  const values = [
    ...shown.map(({ v }) => v),
    ...(rest > 0 ? [sizes.filter(isRest).reduce((total, size) => total + size, 0)] : []),
  ];
  const looks = looksFor(
    shown.map(({ keys }) => keys),
    { areSurfaces: true },
  );
  const without = sizes.length - known.length;
  return {
    kind: 'pie',
    unit: scale.unit,
    values: values.map(v => scaled(v, scale.factor) ?? 0),
    legend: entriesOf(
      shown.map(({ label }) => label),
      looks,
      rest,
    ),
    names: [nameOf(measure)],
    remarks: [
      ...(without > 0
        ? [`not drawn: ${formatCount(without)} of ${formatCount(sizes.length)} names, which have no value`]
        : []),
      ...(rest > 0
        ? [
            `the ${shown.length} of ${formatCount(known.length)} names with the greatest ${nameOf(measure)}; the others are one slice`,
          ]
        : []),
      ...notDrawn(roles, measure),
    ],
  };
}

/** Returns the first measure as colours over the first key and the others. */
export function toGrid(table: ArrowTable, roles: NameRoles, wish: ChartWish): HeatChart | string {
  const [measure] = withValues(table, roles.measures);
  if (measure === undefined) return noValue(roles);
  if (roles.keys.length < 2) return 'No heatmap: it needs two keys, or one over time.';
  const mixes = aggregateOf(measure).additive;
  const names = dividedRows(roles.keys, measure, { most: MAX_CELLS, mixes });
  const { rows: drawn, parts, cut } = names;
  const scale = scaleFor(
    unitOf(measure, wish),
    largest(drawn.flatMap(row => row.places.map(place => Math.abs(at(place, measure) ?? 0)))),
  );
  const cells = drawn.flatMap((row, y): Cell[] =>
    row.places.flatMap((place, x) => {
      const v = scaled(at(place, measure), scale.factor);
      return v === null ? [] : [{ x, width: 1, y, height: 1, v }];
    }),
  );
  const values = cells.map(({ v }) => v);
  const least = smallest(values);
  return {
    kind: 'heat',
    axis: parts.map(part => part.label),
    rows: drawn.map(row => row.label),
    cells,
    unit: scale.unit,
    most: largest(values),
    least: wish.log === true ? least : Math.min(0, least),
    isLog: wish.log === true && least > 0,
    legend: [],
    names: [nameOf(measure), nameOf(roles.keys.at(-1) as ChartColumn)],
    remarks: [
      ...cutNames(names, measure),
      ...(cut > 0 ? [beyondRemark(cut, mixes, roles, measure)] : []),
      ...(wish.log === true && least <= 0 ? ['no log colours: there are values of 0 or less'] : []),
      ...notDrawn(roles, measure),
    ],
  };
}

function beyondRemark(cut: number, mixes: boolean, { keys }: NameRoles, measure: ChartColumn): string {
  if (mixes) return `parts beyond the ${MAX_CELLS - 1} greatest are one, ${OTHERS}`;
  const all = formatCount(cut + MAX_CELLS);
  return `not drawn: ${formatCount(cut)} of ${all} ${namesOf(keys.slice(-1))}, those with the least ${nameOf(measure)}`;
}

const OTHERS = 'others';
const REST_LOOK = { color: '#868c96', dash: [1, 0] };

function notDrawn({ measures, leftOut }: NameRoles, measure: ChartColumn): readonly string[] {
  const others = [...measures.filter(each => each !== measure), ...leftOut];
  return others.length > 0 ? [`not drawn: ${namesOf(others)}`] : [];
}

function noValue({ measures }: NameRoles): string {
  return `No chart: ${namesOf(measures)} ${measures.length === 1 ? 'has' : 'have'} no value in any row.`;
}

function withValues(table: ArrowTable, measures: readonly ChartColumn[]): readonly ChartColumn[] {
  const rows = allRows(table.data.numRows);
  return measures.filter(measure => rows.some(row => numberAt(measure, row) !== null));
}

/** The rows of one part of a bar. */
type Place = readonly number[];

/** One bar before it is measured: its name, and the rows of each of its parts. */
interface NamedRow {
  readonly label: string;
  readonly places: readonly Place[];
}

/** The longest bars, and what is left out of them. */
interface NamedRows {
  readonly rows: readonly NamedRow[];
  /** Names that are drawn and names that are not. */
  readonly count: number;
  readonly parts: readonly Entry[];
  /** Parts that share the last place, or have none. */
  readonly cut: number;
}

function cutNames({ rows, count }: NamedRows, measure: ChartColumn): readonly string[] {
  if (count <= rows.length) return [];
  return [`the ${rows.length} of ${formatCount(count)} names with the greatest ${nameOf(measure)}`];
}

function rowsByName(keys: readonly ChartColumn[], measure: ChartColumn): NamedRows {
  const sizes = numbersOf(measure);
  const rows = greatestOf(sizes, MAX_BARS).map(row => ({ keys: keyTexts(keys, row), places: [[row]] }));
  return { rows: labelled(rows), count: sizes.length, parts: [], cut: 0 };
}

/**
 * Rows by all keys but the last, divided by the last: the greatest parts first, of which at most `most` have a place. One that
 * `mixes` holds all others.
 */
function dividedRows(
  keys: readonly ChartColumn[],
  measure: ChartColumn,
  { most, mixes } = { most: MAX_PARTS, mixes: true },
): NamedRows {
  const rows = allRows(measure.vector.length);
  const bars = groupNumbers(keys.slice(0, -1), rows);
  const parts = groupNumbers(keys.slice(-1), rows);
  const drawn = greatestOf(sizesOf(bars, measure, Number), MAX_BARS);
  const shown = greatestOf(sizesOf(parts, measure, Math.abs), mixes && parts.count > most ? most - 1 : most);
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
    keys: keyTexts(keys.slice(0, -1), bars.numbers.indexOf(bar)),
    places: places[index] ?? [],
  }));
  const texts = shown.map(part => keyTexts(keys.slice(-1), parts.numbers.indexOf(part)));
  const looks = looksFor(texts, { areSurfaces: true });
  const labels = texts.map(each => each.join());
  return {
    rows: labelled(named),
    count: bars.count,
    parts: entriesOf(labels, looks, mixes ? rest : 0),
    cut: rest,
  };
}

function placesOf(groups: readonly number[]): ReadonlyMap<number, number> {
  return new Map(groups.map((group, place) => [group, place]));
}

/**
 * The size of each group: the sum of its values, each by `of`, or the greatest value of a measure that does not add up; NaN for a
 * group without values.
 */
function sizesOf(
  { numbers, count }: GroupNumbers,
  measure: ChartColumn,
  of: (value: number) => number,
): Float64Array {
  const { isNever } = aggregateOf(measure);
  const sizes = new Float64Array(count).fill(Number.NaN);
  for (const [row, value] of numbersOf(measure).entries()) {
    if (Number.isNaN(value)) continue;
    const group = numbers[row] ?? 0;
    const before = sizes[group] ?? Number.NaN;
    if (isNever) sizes[group] = Number.isNaN(before) ? value : Math.max(before, value);
    else sizes[group] = of(value) + (Number.isNaN(before) ? 0 : before);
  }
  return sizes;
}

/** The entries of a legend, the last of which stands for `others` names. */
function entriesOf(names: readonly string[], looks: readonly Look[], others: number): readonly Entry[] {
  const labels = distinctLabels(others > 0 ? [...names, `${OTHERS} (${formatCount(others)})`] : names);
  return labels.map((label, index) => ({
    label,
    look: index < names.length ? (looks[index] ?? FIRST_LOOK) : REST_LOOK,
  }));
}

function labelled<T extends { readonly keys: readonly string[] }>(
  rows: readonly T[],
): readonly (T & { readonly label: string })[] {
  const labels = distinctLabels(rows.map(({ keys }) => keys.join(' \u00b7 ')));
  return rows.map((row, index) => ({ ...row, label: labels[index] ?? '' }));
}

/** The sum over the rows of a place; null where none has a value. */
function at(place: Place, measure: ChartColumn): number | null {
  const values = place.map(row => numberAt(measure, row)).filter(value => value !== null);
  return values.length === 0 ? null : values.reduce((a, b) => a + b, 0);
}

function barPlot(
  rows: readonly NamedRow[],
  { measure, name }: { readonly measure: ChartColumn; readonly name: string },
  parts: readonly Entry[],
  wish: ChartWish,
): BarPlot {
  const values = rows.flatMap(row => row.places.flatMap(place => at(place, measure) ?? []));
  const size = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const scale = scaleFor(unitOf(measure, wish), size);
  const bars = rows.map(
    (row): Bar => ({
      label: row.label,
      parts: row.places.map(place => scaled(at(place, measure), scale.factor)),
    }),
  );
  const sums = bars.flatMap(bar => [sumOf(bar, Math.max), sumOf(bar, Math.min)]);
  const isLog = wish.log === true && parts.length === 0 && values.every(value => value > 0);
  return {
    title: titleOf(name, scale.unit),
    unit: scale.unit,
    bars,
    low: isLog ? logFoot(smallest(sums.filter(sum => sum > 0))) : smallest([0, ...sums]),
    high: largest([0, ...sums]),
    isLog,
  };
}

/** The sum of the parts on one side of zero: of the greater ones by `Math.max`, of the lesser by `Math.min`. */
function sumOf({ parts }: Bar, side: (a: number, b: number) => number): number {
  return parts.reduce<number>((sum, part) => sum + side(0, part ?? 0), 0);
}
