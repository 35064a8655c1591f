/**
 * Counts by how large a number is: histograms, and bins of a number.
 */

import { DataType } from 'apache-arrow';
import type { ChartWish } from '../../../apl/operators/drawing.js';
import { cut, formatCount } from '../../../text.js';
import { shownText } from '../../display/text.js';
import type { ArrowTable } from '../../result.js';
import { distinctNames, keyTexts, nameOf, namesOf, rowsWithout } from '../columns.js';
import { largest, logFoot, smallest } from '../extent.js';
import { distinctLabels, LABEL_LENGTH } from '../labels.js';
import type { Cell, HeatChart, Plot, XyChart } from '../model.js';
import { FIRST_LOOK } from '../palette.js';
import type { Point } from '../thin.js';
import { scaled, titleOf, unitOf } from '../time/series.js';
import type { Bucket, Histograms } from '../unfold.js';
import { scaleFor } from '../units.js';
import { allRows, type ChartColumn, groupNumbers, numberAt, placesByGroup, timeAt } from '../values.js';
import type { NameRoles } from './names.js';

const MAX_PLOTS = 6;
const MAX_BARS = 400;
const MAX_CELLS = 4_000;

/** Returns one measure as bars along the number that the rows are bins of. */
export function toNumberBins(
  table: ArrowTable,
  { keys, measures, leftOut }: NameRoles,
  wish: ChartWish,
): XyChart | string {
  const key = keys[0] as ChartColumn;
  const size = sizeOf(table, key);
  const filled = measures.filter(measure => rowsOf(table).some(row => numberAt(measure, row) !== null));
  const drawn = filled.slice(0, MAX_PLOTS);
  const names = distinctNames(drawn);
  const rows = rowsOf(table).map(row => ({ row, from: numberAt(key, row) }));
  const known = rows
    .flatMap(({ row, from }) => (from === null ? [] : [{ row, from }]))
    .sort((a, b) => a.from - b.from);
  if (drawn.length === 0 || known.length === 0)
    return `No chart: ${namesOf(measures)} has no value in any row.`;
  const across = scaleFor(unitOf(key), largest(known.map(({ from }) => Math.abs(from) + size)));
  const plots = drawn.map((measure, index) => {
    const scale = scaleFor(
      unitOf(measure, wish),
      largest(known.map(({ row }) => Math.abs(numberAt(measure, row) ?? 0))),
    );
    const points = known.map(
      ({ row, from }): Point =>
        pointOf(from, from + size, numberAt(measure, row), [across.factor, scale.factor]),
    );
    return plotOf(
      { title: titleOf(names[index] ?? '', scale.unit), unit: scale.unit, measure },
      wish.kind === 'line' || wish.kind === 'area'
        ? withBreaks(points.slice(0, MAX_BARS))
        : points.slice(0, MAX_BARS),
      wish,
    );
  });
  return xyOf(plots, titleOf(nameOf(key), across.unit), names, wish, [
    ...rowsWithout(rows.length - known.length, nameOf(key)),
    ...(known.length > MAX_BARS ? [`the first ${MAX_BARS} of ${formatCount(known.length)} bins`] : []),
    ...(filled.length > drawn.length ? [`the first ${drawn.length} of ${filled.length} measures`] : []),
    ...(measures.length > filled.length
      ? [`no value in any row: ${namesOf(measures.filter(measure => !filled.includes(measure)))}`]
      : []),
    ...notDrawn(leftOut),
    ...gapRemark(
      known.map(({ from }) => from),
      size,
    ),
  ]);
}

/** Returns each histogram as bars as wide as its buckets; `keys` name the plots where there are several. */
export function toHistograms(
  { column, rows }: Histograms,
  { keys, measures, leftOut }: NameRoles,
  wish: ChartWish,
): XyChart | string {
  const filled = rows.flatMap((buckets, row) =>
    buckets === null || buckets.length === 0 ? [] : [{ row, buckets }],
  );
  if (filled.length === 0) return `No chart: ${nameOf(column)} has no buckets.`;
  const shown = filled.slice(0, MAX_PLOTS);
  const across = scaleFor(
    unitOf(column, wish),
    largest(
      shown.flatMap(({ buckets }) => buckets.flatMap(({ from, to }) => [Math.abs(from), Math.abs(to)])),
    ),
  );
  const labels = distinctLabels(
    shown.map(({ row }) =>
      keys.map(({ field, vector }) => shownText(vector, row, field).text).join(' \u00b7 '),
    ),
  );
  const plots = shown.map(({ buckets }, index) => {
    const points = buckets
      .slice(0, MAX_BARS)
      .map(({ from, to, count }) => pointOf(from, to, count, [across.factor, 1]));
    const name = labels[index] ?? '';
    return plotOf({ title: name === '' ? 'count' : `count of ${name}`, unit: '' }, points, wish);
  });
  const { unit: _, ...rest } = wish;
  const most = largest(shown.map(({ buckets }) => buckets.length));
  return xyOf(plots, titleOf(nameOf(column), across.unit), [nameOf(column)], rest, [
    ...(filled.length > shown.length
      ? [`the first ${shown.length} of ${formatCount(filled.length)} histograms`]
      : []),
    ...(rows.length > filled.length ? [`${formatCount(rows.length - filled.length)} without buckets`] : []),
    ...(most > MAX_BARS ? [`the first ${MAX_BARS} of ${formatCount(most)} buckets`] : []),
    ...notDrawn([...measures, ...leftOut]),
  ]);
}

/** Returns histograms over time as a heatmap; each keeps the buckets that it has. Of several groups the largest is drawn. */
export function toHistogramHeat(
  { column, rows }: Histograms,
  { time, keys, measures, leftOut }: NameRoles & { readonly time: ChartColumn },
  axis: XyChart['axis'],
  wish: ChartWish,
): HeatChart | string {
  if (axis.grid === undefined) return 'No heatmap: the times have no common distance.';
  const group = largestGroup(rows, keys);
  const found = group.rows.flatMap(row => columnOf(rows[row] ?? [], timeAt(time, row), axis));
  if (found.length === 0) return `No chart: ${nameOf(column)} has no buckets.`;
  const shown = found.slice(0, MAX_CELLS);
  const size = largest(shown.flatMap(({ y, height }) => [Math.abs(y), Math.abs(y + height)]));
  const scale = scaleFor(unitOf(column, wish), size);
  const cells = shown.map(cell => ({
    ...cell,
    y: cell.y * scale.factor,
    height: cell.height * scale.factor,
  }));
  return {
    kind: 'heat',
    axis,
    rows: {
      title: titleOf(nameOf(column), scale.unit),
      low: Math.min(0, ...cells.map(({ y }) => y)),
      high: largest(cells.map(({ y, height }) => y + height)),
    },
    cells,
    unit: '',
    most: largest(cells.map(({ v }) => v)),
    least: wish.log === true ? smallest(cells.map(({ v }) => v)) : 0,
    isLog: wish.log === true,
    legend: [],
    names: [nameOf(column)],
    remarks: [
      'each bin of the time has buckets of its own; colours are counts',
      ...(found.length > shown.length
        ? [`the first ${formatCount(shown.length)} of ${formatCount(found.length)} buckets`]
        : []),
      ...(group.count > 1
        ? [
            `of the ${formatCount(group.count)} groups by ${namesOf(keys)} the one with the greatest count: ${group.label}`,
          ]
        : []),
      ...rowsWithout(group.rows.filter(row => timeAt(time, row) === undefined).length, 'a time'),
      ...notDrawn([...measures, ...leftOut]),
    ],
  };
}

/** The rows of the group whose histograms count the most, and how many groups there are. */
function largestGroup(
  rows: Histograms['rows'],
  keys: readonly ChartColumn[],
): { readonly rows: readonly number[]; readonly label: string; readonly count: number } {
  const groups = placesByGroup(groupNumbers(keys, allRows(rows.length)));
  const total = (group: readonly number[]) =>
    group.reduce((sum, row) => sum + (rows[row] ?? []).reduce((all, { count }) => all + count, 0), 0);
  const sized = groups.map(group => ({ group, size: total(group) }));
  const greatest = sized.reduce((a, b) => (b.size > a.size ? b : a), {
    group: [] as readonly number[],
    size: -1,
  });
  const names = keyTexts(keys, greatest.group[0] ?? 0);
  return { rows: greatest.group, label: cut(names.join(' \u00b7 '), LABEL_LENGTH), count: groups.length };
}

/** The width of the bins in the unit in which their starts are read: seconds for spans, which the service counts in nanoseconds. */
function sizeOf({ info }: ArrowTable, { field }: ChartColumn): number {
  const size = info.buckets?.size ?? 0;
  return DataType.isDuration(field.type) ? size / 1e9 : size;
}

/** The points with a break where bins are missing, which no line may bridge. */
function withBreaks(points: readonly Point[]): readonly Point[] {
  return points.flatMap((point, index): readonly Point[] => {
    const before = points[index - 1];
    if (before?.end === undefined || point.end === undefined) return [point];
    const isNext = point.t - before.end < (point.end - point.t) / 2;
    return isNext ? [point] : [{ t: before.end, v: null, partial: false, added: true }, point];
  });
}

function notDrawn(columns: readonly ChartColumn[]): readonly string[] {
  return columns.length > 0 ? [`not drawn: ${namesOf(columns)}`] : [];
}

function columnOf(
  buckets: readonly Bucket[],
  t: number | undefined,
  { grid, start, until }: XyChart['axis'],
): readonly Cell[] {
  if (t === undefined || grid === undefined) return [];
  const from = Math.max(t, start);
  const width = Math.min(t + grid.size, until) - from;
  return buckets
    .filter(({ count }) => count > 0)
    .map(bucket => ({ x: from, width, y: bucket.from, height: bucket.to - bucket.from, v: bucket.count }));
}

function rowsOf({ data }: ArrowTable): readonly number[] {
  return Array.from({ length: data.numRows }, (_, row) => row);
}

function pointOf(from: number, to: number, v: number | null, [across, up]: readonly [number, number]): Point {
  return { t: scaled(from, across) ?? from, end: scaled(to, across) ?? to, v: scaled(v, up), partial: false };
}

function plotOf(
  { title, unit, measure }: { readonly title: string; readonly unit: string; readonly measure?: ChartColumn },
  points: readonly Point[],
  wish: ChartWish,
): Plot {
  const values = points.flatMap(({ v }) => v ?? []);
  const isLog = wish.log === true && values.every(v => v > 0);
  const mark = wish.kind === 'line' ? 'lines' : wish.kind === 'area' ? 'area' : 'bars';
  const low = !isLog
    ? smallest([0, ...values])
    : mark === 'lines'
      ? smallest(values)
      : logFoot(smallest(values));
  return {
    title,
    unit,
    mark,
    arrangement: 'apart',
    lines: [{ label: title, look: FIRST_LOOK, points }],
    flagged: [],
    low,
    high: largest([values.every(v => v === 0) ? 1 : 0, ...values]),
    isLog,
    isIntegral: unit === '' && (measure === undefined || DataType.isInt(measure.field.type)),
  };
}

function xyOf(
  plots: readonly Plot[],
  across: string,
  names: readonly string[],
  wish: ChartWish,
  remarks: readonly string[],
): XyChart {
  const points = plots.flatMap(plot => plot.lines.flatMap(line => line.points));
  const start = smallest(points.map(({ t }) => t));
  const end = largest(points.map(({ t, end: own }) => own ?? t));
  return {
    kind: 'xy',
    axis: { start, end: end > start ? end : start + 1, until: end, isSearched: false },
    across,
    plots,
    legend: [],
    names,
    remarks: [
      ...(wish.log === true && plots.some(plot => !plot.isLog)
        ? ['no log axis: there are values of 0 or less']
        : []),
      ...remarks,
    ],
  };
}

function gapRemark(starts: readonly number[], size: number): readonly string[] {
  const hasGap = starts.some((from, index) => index > 0 && from - (starts[index - 1] ?? from) > size * 1.5);
  return hasGap ? ['bins without rows are empty'] : [];
}
