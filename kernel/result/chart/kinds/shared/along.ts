/**
 * Charts along an axis that several kinds draw: series over time, histograms, and bins of a number.
 */

import { DataType } from 'apache-arrow';
import type { ChartWish } from '../../../../apl/operators/drawing.js';
import { present } from '../../../../present.js';
import { formatCount } from '../../../../text.js';
import { shownText } from '../../../display/text.js';
import type { ArrowTable } from '../../../result.js';
import { distinctNames, nameOf, namesOf, notDrawn, rowsWithout } from '../../columns.js';
import { largest, logFoot, smallest } from '../../extent.js';
import { distinctLabels } from '../../labels.js';
import type { Plot, XyChart } from '../../model.js';
import { FIRST_LOOK } from '../../palette.js';
import type { Point } from '../../thin.js';
import { scaled, titleOf, toSeries, unitOf } from '../../time/series.js';
import { scaleFor } from '../../units.js';
import { type ChartColumn, numberAt } from '../../values.js';
import type { Sight } from '../sight.js';

const MAX_PLOTS = 6;
const MAX_BARS = 400;

/** Returns measures over time, a line or bars for each group. */
export function drawSeries({ result, flat, now }: Sight, wish: ChartWish): XyChart | string | undefined {
  return toSeries(result, now, {
    ...wish,
    ...present({ together: flat?.kind === 'percentiles' ? flat.list : undefined }),
  });
}

/** Returns one measure as bars along the number that the rows are bins of. */
export function toNumberBins(
  { table, roles: { keys, measures, leftOut } }: Sight,
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
  { histograms, roles: { keys, measures, leftOut } }: Sight,
  wish: ChartWish,
): XyChart | string | undefined {
  if (histograms === undefined) return undefined;
  const { column, rows } = histograms;
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
