/**
 * Counts by how large a number is: histograms, and bins of a number.
 */

import { DataType } from 'apache-arrow';
import type { ChartWish } from '../../../apl/operators/drawing.js';
import { formatCount } from '../../../text.js';
import { shownText } from '../../display/text.js';
import type { ArrowTable } from '../../result.js';
import { nameOf, namesOf } from '../columns.js';
import { largest, smallest } from '../extent.js';
import { distinctLabels } from '../labels.js';
import type { Cell, HeatChart, Plot, XyChart } from '../model.js';
import { FIRST_LOOK } from '../palette.js';
import type { Point } from '../thin.js';
import { scaled, titleOf, unitOf } from '../time/series.js';
import type { Bucket, Histograms } from '../unfold.js';
import { scaleFor } from '../units.js';
import { type ChartColumn, numberAt, timeAt } from '../values.js';

const MAX_PLOTS = 6;
const MAX_BARS = 400;
const MAX_CELLS = 4_000;

/** Returns one measure as bars along the number that the rows are bins of. */
export function toNumberBins(
  table: ArrowTable,
  {
    key,
    measures,
    size,
  }: { readonly key: ChartColumn; readonly measures: readonly ChartColumn[]; readonly size: number },
  wish: ChartWish,
): XyChart | string {
  const drawn = measures
    .filter(measure => rowsOf(table).some(row => numberAt(measure, row) !== null))
    .slice(0, MAX_PLOTS);
  const rows = rowsOf(table).map(row => ({ row, from: numberAt(key, row) }));
  const known = rows
    .flatMap(({ row, from }) => (from === null ? [] : [{ row, from }]))
    .sort((a, b) => a.from - b.from);
  if (drawn.length === 0 || known.length === 0)
    return `No chart: ${namesOf(measures)} has no value in any row.`;
  const across = scaleFor(unitOf(key), largest(known.map(({ from }) => Math.abs(from) + size)));
  const plots = drawn.map(measure => {
    const scale = scaleFor(
      unitOf(measure, wish),
      largest(known.map(({ row }) => Math.abs(numberAt(measure, row) ?? 0))),
    );
    const points = known.map(
      ({ row, from }): Point =>
        pointOf(from, from + size, numberAt(measure, row), [across.factor, scale.factor]),
    );
    return plotOf(
      { title: titleOf(nameOf(measure), scale.unit), unit: scale.unit, measure },
      points.slice(0, MAX_BARS),
      wish,
    );
  });
  const without = rows.length - known.length;
  return xyOf(plots, titleOf(nameOf(key), across.unit), drawn.map(nameOf), wish, [
    ...(without > 0
      ? [`not drawn: ${formatCount(without)} ${without === 1 ? 'row' : 'rows'} without ${nameOf(key)}`]
      : []),
    ...(known.length > MAX_BARS ? [`the first ${MAX_BARS} of ${formatCount(known.length)} bins`] : []),
    ...(measures.length > drawn.length ? [`${drawn.length} of ${measures.length} measures`] : []),
    ...gapRemark(
      known.map(({ from }) => from),
      size,
    ),
  ]);
}

/** Returns each histogram as bars as wide as its buckets; `keys` name the plots where there are several. */
export function toHistograms(
  { column, rows }: Histograms,
  keys: readonly ChartColumn[],
  wish: ChartWish,
): XyChart | string {
  const filled = rows.flatMap((buckets, row) =>
    buckets === null || buckets.length === 0 ? [] : [{ row, buckets }],
  );
  if (filled.length === 0) return `No chart: ${nameOf(column)} has no buckets.`;
  const shown = filled.slice(0, MAX_PLOTS);
  const across = scaleFor(
    unitOf(column, wish),
    Math.max(
      ...shown.flatMap(({ buckets }) => buckets.flatMap(({ from, to }) => [Math.abs(from), Math.abs(to)])),
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
  ]);
}

/** Returns histograms over time as a heatmap; each keeps the buckets that it has. */
export function toHistogramHeat(
  { column, rows }: Histograms,
  time: ChartColumn,
  axis: XyChart['axis'],
  wish: ChartWish,
): HeatChart | string {
  const found = rows.flatMap((buckets, row) => columnOf(buckets ?? [], timeAt(time, row), axis));
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
    ],
  };
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
  return {
    title,
    unit,
    mark: wish.kind === 'line' ? 'lines' : wish.kind === 'area' ? 'area' : 'bars',
    arrangement: 'apart',
    lines: [{ label: title, look: FIRST_LOOK, points }],
    flagged: [],
    low: Math.min(isLog ? Number.POSITIVE_INFINITY : 0, ...values),
    high: Math.max(isLog ? 0 : values.every(v => v === 0) ? 1 : 0, ...values),
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
