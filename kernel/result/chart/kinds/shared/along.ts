/** Charts along a number, for several kinds: histograms, and bins of a number. */
import { DataType } from 'apache-arrow';
import type { ChartOptions } from '../../../../apl/operators/drawing.js';
import { formatCount } from '../../../../text.js';
import { distinctNames, keyTexts, nameOf } from '../../chart-columns.js';
import { firstOf, NO_LOG, notDrawn, notes, noValue, rowsWithout, withoutValues } from '../../chart-notes.js';
import { type ChartColumn, numberAt } from '../../chart-values.js';
import { distinctLabels } from '../../labels.js';
import type { Plot, XyChart } from '../../model.js';
import { FIRST_LOOK } from '../../palette.js';
import { isLogFor, largest, plotOf, scaled, smallest, titleOf, unitOf, valuesOf } from '../../plots.js';
import type { Point } from '../../thin.js';
import { greatestSize, type Scale, scaleFor } from '../../units.js';
import type { ChartInput } from '../input.js';
import { withValues } from './bars-by-name.js';

const MAX_PLOTS = 6;
const MAX_BARS = 400;

/** One bar: its start and end along the axis, and its height. */
type Bin = readonly [from: number, to: number, v: number | null];

/** Returns one measure as bars along the number by which the rows are binned. */
export function toNumberBins(
  { table, roles: { keys, measures, leftOut } }: ChartInput,
  options: ChartOptions,
): XyChart | string {
  const key = keys[0] as ChartColumn;
  const stated = table.info.buckets?.size ?? 0;
  // Durations are read in seconds, but the service counts their bins in nanoseconds.
  const size = DataType.isDuration(key.field.type) ? stated / 1e9 : stated;
  const filled = withValues(table, measures);
  const drawn = filled.slice(0, MAX_PLOTS);
  const names = distinctNames(drawn);
  const known = Array.from({ length: table.data.numRows }, (_, row) => ({ row, from: numberAt(key, row) }))
    .flatMap(({ row, from }) => (from === null ? [] : [{ row, from }]))
    .sort((a, b) => a.from - b.from);
  if (drawn.length === 0 || known.length === 0) return noValue(measures);
  const across = scaleFor(unitOf(key), largest(known.map(({ from }) => Math.abs(from) + size)));
  const isJoined = options.kind === 'line' || options.kind === 'area';
  const plots = drawn.map((measure, index) => {
    const bins = known.map(({ row, from }): Bin => [from, from + size, numberAt(measure, row)]);
    const points = pointsOf(bins, across);
    const isIntegral = DataType.isInt(measure.field.type);
    const unit = unitOf(measure, options);
    return barsOf(names[index] ?? '', isJoined ? withBreaks(points) : points, { unit, isIntegral }, options);
  });
  const hasGap = known.some(({ from }, index) => from - (known[index - 1]?.from ?? from) > size * 1.5);
  return numbersChart(plots, {
    across: titleOf(nameOf(key), across.unit),
    names,
    notes: notes(
      options.log === true && plots.some(plot => !plot.isLog) && NO_LOG,
      rowsWithout(table.data.numRows - known.length, nameOf(key)),
      firstOf(Math.min(MAX_BARS, known.length), known.length, 'bins'),
      firstOf(drawn.length, filled.length, 'measures'),
      withoutValues(measures.filter(measure => !filled.includes(measure))),
      notDrawn(leftOut),
      hasGap && 'bins without rows are empty',
    ),
  });
}

/** Returns each histogram as bars as wide as its buckets; if there are several, the keys name the plots. */
export function toHistograms(
  { histograms, roles: { keys, measures, leftOut } }: ChartInput,
  options: ChartOptions,
): XyChart | string | undefined {
  if (histograms === undefined) return undefined;
  const { column, rows } = histograms;
  const filled = rows.flatMap((buckets, row) => (buckets.length === 0 ? [] : [{ row, buckets }]));
  if (filled.length === 0) return `No chart: ${nameOf(column)} has no buckets.`;
  const shown = filled.slice(0, MAX_PLOTS);
  const ends = shown.flatMap(({ buckets }) => buckets.flatMap(({ from, to }) => [from, to]));
  const across = scaleFor(unitOf(column, options), greatestSize(ends));
  const labels = distinctLabels(shown.map(({ row }) => keyTexts(keys, row).join(' \u00b7 ')));
  const plots = shown.map(({ buckets }, index) => {
    const bins = buckets.map(({ from, to, count }): Bin => [from, to, count]);
    const name = labels[index] === '' ? 'count' : `count of ${labels[index]}`;
    return barsOf(name, pointsOf(bins, across), { unit: '', isIntegral: true }, options);
  });
  const most = largest(shown.map(({ buckets }) => buckets.length));
  return numbersChart(plots, {
    across: titleOf(nameOf(column), across.unit),
    names: [nameOf(column)],
    notes: notes(
      options.log === true && plots.some(plot => !plot.isLog) && NO_LOG,
      firstOf(shown.length, filled.length, 'histograms'),
      rows.length > filled.length && `${formatCount(rows.length - filled.length)} without buckets`,
      firstOf(Math.min(MAX_BARS, most), most, 'buckets'),
      notDrawn([...measures, ...leftOut]),
    ),
  });
}

function pointsOf(bins: readonly Bin[], { factor }: Scale): readonly Point[] {
  return bins.slice(0, MAX_BARS).map(([from, to, v]) => ({
    t: scaled(from, factor),
    end: scaled(to, factor),
    v,
    partial: false,
  }));
}

/** Returns the points with a break for missing bins, which no line may bridge. */
function withBreaks(points: readonly Point[]): readonly Point[] {
  return points.flatMap((point, index): readonly Point[] => {
    const before = points[index - 1];
    if (before?.end === undefined || point.end === undefined) return [point];
    const isNext = point.t - before.end < (point.end - point.t) / 2;
    return isNext ? [point] : [{ t: before.end, v: null, partial: false, added: true }, point];
  });
}

function barsOf(
  name: string,
  points: readonly Point[],
  style: { readonly unit: string; readonly isIntegral: boolean },
  options: ChartOptions,
): Plot {
  const lines = [{ label: name, look: FIRST_LOOK, points }];
  const mark = options.kind === 'line' ? 'lines' : options.kind === 'area' ? 'area' : 'bars';
  return plotOf(name, lines, { ...style, mark, isLog: isLogFor(valuesOf(lines), options) });
}

/** Returns a chart along a number, with an axis from the first point to the end of the last. */
export function numbersChart(
  plots: readonly Plot[],
  parts: Pick<XyChart, 'names' | 'notes'> & { readonly across: string } & Partial<Pick<XyChart, 'legend'>>,
): XyChart {
  const points = plots.flatMap(plot => plot.lines.flatMap(line => line.points));
  const start = smallest(points.map(({ t }) => t));
  const end = largest(points.map(({ t, end: own }) => own ?? t));
  const axis = { start, end: end > start ? end : start + 1, until: end, isSearched: false };
  return { kind: 'xy', axis, plots, legend: [], ...parts };
}
