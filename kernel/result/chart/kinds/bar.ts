/**
 * Bars: by name one below the other, each with its value at its end; else along an axis.
 */
import type { ChartOptions } from '../../../apl/operators/drawing.js';
import { present } from '../../../present.js';
import { cutToWidth } from '../../display/aligned.js';
import { aggregateOf, distinctNames } from '../columns.js';
import { exactly, numberLabels, plotByName, tip } from '../draw/axes.js';
import {
  at,
  type Drawing,
  faded,
  LABELS_SIGNAL,
  mark,
  namesBeside,
  seriesGuide,
  seriesId,
  seriesLabels,
  TEXT_COLOR,
  widest,
} from '../draw/style.js';
import { barsByName } from '../draw/terminal.js';
import { forNames, measureText, shortText } from '../draw/texts.js';
import { greatestSize, largest, logFoot, smallest } from '../extent.js';
import type { ChartModel } from '../model.js';
import { firstOf, NO_LOG, namesOf, notDrawn, notes, notStacked, noValue, withoutValues } from '../notes.js';
import { type Entry, FIRST_LOOK } from '../palette.js';
import { scaled, titleOf, unitOf } from '../time/series.js';
import { scaleFor } from '../units.js';
import type { ChartColumn } from '../values.js';
import type { ChartInput } from './input.js';
import type { ChartForm, KindRow } from './kind.js';
import { drawSeries, toHistograms, toNumberBins } from './shared/along.js';
import {
  cutNames,
  dividedRows,
  MAX_PARTS,
  type NamedRow,
  OTHERS,
  rowsByName,
  sumAt,
  withValues,
} from './shared/names.js';

/** One row of bars: a name, and its parts in the order of the legend; a single part if there is no legend. */
interface Bar {
  readonly label: string;
  readonly parts: readonly (number | null)[];
}

/** Bars of one measure, longest first or as the query sorts them, which share an axis. */
interface BarPlot {
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly Bar[];
  readonly low: number;
  readonly high: number;
  readonly isLog: boolean;
}

/** Bars by name. */
export interface BarChart extends ChartModel {
  readonly kind: 'bars';
  readonly plots: readonly BarPlot[];
  /** What the names are names of. */
  readonly keys: string;
}

/** Returns bars of each measure, one below the other; with two keys and `@stack` the second divides the bars. */
function toBars({ result, table, roles }: ChartInput, options: ChartOptions): BarChart | string {
  const filled = withValues(table, roles.measures);
  const [first] = filled;
  if (first === undefined) return noValue(roles.measures);
  const isDivided = options.stack === true && roles.keys.length > 1 && !aggregateOf(first).isNever;
  const isSorted = !isDivided && result.reading?.isSorted === true;
  const names = isDivided ? dividedRows(roles.keys, first) : rowsByName(roles.keys, first, isSorted);
  const measures = isDivided ? [first] : filled.slice(0, MAX_PLOTS);
  const titles = distinctNames(measures);
  const plots = measures.map((measure, index) =>
    barPlot(names.rows, { measure, name: titles[index] ?? '' }, names.parts, options),
  );
  return {
    kind: 'bars',
    ...present({ followsTable: plots.length > 1 ? (true as const) : undefined }),
    plots,
    keys: namesOf(isDivided ? roles.keys.slice(0, -1) : roles.keys),
    legend: names.parts,
    names: titles,
    notes: notes(
      cutNames(names, first, isSorted),
      names.cut > 0 && `parts beyond the ${MAX_PARTS - 1} greatest are drawn as one, ${OTHERS}`,
      !isDivided && firstOf(plots.length, filled.length, 'measures'),
      isDivided && notDrawn(filled.slice(1)),
      withoutValues(roles.measures.filter(measure => !filled.includes(measure))),
      notDrawn(roles.leftOut),
      options.log === true &&
        plots.some(plot => !plot.isLog) &&
        (isDivided ? 'no log axis: the bars are divided' : NO_LOG),
      options.stack === true && !isDivided && notStacked(roles.keys.length > 1, 'there is one key', [first]),
    ),
  };
}

function barPlot(
  rows: readonly NamedRow[],
  { measure, name }: { readonly measure: ChartColumn; readonly name: string },
  parts: readonly Entry[],
  options: ChartOptions,
): BarPlot {
  const values = rows.flatMap(row => row.places.flatMap(place => sumAt(place, measure) ?? []));
  const scale = scaleFor(unitOf(measure, options), greatestSize(values));
  const bars = rows.map(
    (row): Bar => ({
      label: row.label,
      parts: row.places.map(place => scaled(sumAt(place, measure), scale.factor)),
    }),
  );
  const ends = bars.map(sums).flatMap(({ up, down }) => [up, down]);
  const isLog = options.log === true && parts.length === 0 && values.every(value => value > 0);
  return {
    title: titleOf(name, scale.unit),
    unit: scale.unit,
    bars,
    low: isLog ? logFoot(smallest(ends.filter(end => end > 0))) : smallest([0, ...ends]),
    high: largest([0, ...ends]),
    isLog,
  };
}

/** Returns a plot for each measure; the names stand beside all of them. */
function barDrawing(chart: BarChart): Drawing {
  const names = namesBeside(chart.plots[0]?.bars.map(bar => bar.label) ?? [], barId);
  const values = chart.plots.flatMap(plot => plot.bars.map(bar => totalText(bar, plot)));
  const room = 14 + widest(values);
  return {
    marks: chart.plots.map((plot, index) => plotOf(plot, index, chart, names.guide)),
    data: chart.plots.flatMap((plot, index) => [
      { name: `bars_${index}`, values: pieces(plot) },
      { name: `ends_${index}`, values: ends(plot) },
    ]),
    ...seriesGuide(chart.legend, 'square'),
    labels: { ...names.labels, ...seriesLabels(chart.legend) },
    titles: chart.plots.map(plot => plot.title),
    beside: `${names.width} + ${room}`,
    signals: [names.signal],
  };
}

const MAX_PLOTS = 4;

function barId(index: number): string {
  return `b${index}`;
}

function plotOf(plot: BarPlot, index: number, { legend }: BarChart, guide: object): object {
  const ids = plot.bars.map((_, bar) => barId(bar));
  const isDivided = legend.length > 0;
  const part = isDivided ? { part: `${LABELS_SIGNAL}[datum.s]` } : {};
  const box = {
    ...{ x: at('x', 'v'), x2: plot.isLog ? { value: 0 } : at('x', 'b') },
    ...{ y: at('y', 'r'), height: { scale: 'y', band: 1 } },
    fill: isDivided ? at('color', 's') : { value: FIRST_LOOK.color },
    opacity: isDivided ? faded() : { value: 1 },
    tooltip: tip({ name: `${LABELS_SIGNAL}[datum.r]`, ...part, value: exactly('w') }),
  };
  const end = {
    ...{ x: at('x', 'v'), y: { ...at('y', 'r'), band: 0.5 }, text: { field: 'x' } },
    ...{ align: { field: 'a' }, dx: { field: 'dx' }, baseline: { value: 'middle' } },
    ...{ fontSize: { value: 11 }, fill: { value: TEXT_COLOR } },
  };
  return plotByName(ids, index, {
    scale: scaleOf(plot),
    values: numberLabels(plot.low, plot.high),
    names: guide,
    marks: [mark('rect', `bars_${index}`, box), mark('text', `ends_${index}`, end)],
  });
}

/** The least part of a plot that its bars have beside their values, in pixels. */
const LEAST_BARS = 40;

/** Values of bars that end at the left stand within the plot, whatever its width. */
function scaleOf(plot: BarPlot): object {
  const { low, high, isLog, bars } = plot;
  if (isLog) return { type: 'log', domain: [low, high] };
  const linear = { type: 'linear', zero: false };
  if (low === high) return { ...linear, domain: [0, 1] };
  if (low >= 0) return { ...linear, domain: [low, high] };
  const below = bars.filter(bar => (sums(bar).total ?? 0) < 0);
  const room = 10 + widest(below.map(bar => totalText(bar, plot)));
  const width = `max(${LEAST_BARS}, width - ${room})`;
  const least = `${low} - ${room} * (${high} / ${width} - ${low} / ${width})`;
  return { ...linear, domain: { signal: `[${least}, ${high}]` } };
}

/** The value of each bar in words, at its right end, or at its left where it is below zero. */
function ends(plot: BarPlot): readonly object[] {
  return plot.bars.map((bar, index) => {
    const { up, down, total } = sums(bar);
    const isBelow = total !== null && total < 0;
    const v = isBelow ? down : Math.max(plot.isLog ? plot.low : 0, up);
    const place = isBelow ? { a: 'right', dx: -5 } : { a: 'left', dx: 5 };
    return { r: barId(index), v, x: totalText(bar, plot), ...place };
  });
}

/** The parts of each bar, those below zero on the other side of it. */
function pieces({ bars }: BarPlot): readonly object[] {
  return bars.flatMap((bar, index) => {
    let [up, down] = [0, 0];
    return bar.parts.flatMap((part, place) => {
      if (part === null) return [];
      const b = part < 0 ? down : up;
      if (part < 0) down += part;
      else up += part;
      return [{ r: barId(index), s: seriesId(place), b, v: b + part, w: part }];
    });
  });
}

interface Sums {
  readonly up: number;
  readonly down: number;
  /** Null if no part has a value. */
  readonly total: number | null;
}

/** The parts of a bar above zero, those below it, and all of them. */
function sums({ parts }: Bar): Sums {
  const sum = (values: readonly (number | null)[]) => values.reduce<number>((all, v) => all + (v ?? 0), 0);
  const isEmpty = parts.every(part => part === null);
  return {
    up: sum(parts.filter(part => (part ?? 0) > 0)),
    down: sum(parts.filter(part => (part ?? 0) < 0)),
    total: isEmpty ? null : sum(parts),
  };
}

function totalText(bar: Bar, { unit }: BarPlot): string {
  const { total } = sums(bar);
  return total === null ? 'null' : shortText(total, unit.length > 12 ? '' : unit);
}

/** The longest bar takes the line; a bar of several parts is their sum. */
function barLines({ title, unit, bars }: BarPlot, width: number): readonly string[] {
  const names = bars.map(({ label }) => label);
  const sizes = bars.map(bar => sums(bar).total);
  return [cutToWidth(title, width), ...barsByName(names, sizes, unit, width)];
}

function extremesOf({ title, unit, bars }: BarPlot): readonly string[] {
  const sized = bars.flatMap(bar => {
    const v = sums(bar).total;
    return v === null ? [] : [{ label: bar.label, v }];
  });
  const [first] = sized;
  if (first === undefined) return [];
  const most = sized.reduce((a, b) => (b.v > a.v ? b : a), first);
  const least = sized.reduce((a, b) => (b.v <= a.v ? b : a), first);
  const named = ({ label, v }: typeof first) => `${measureText(v, unit)} (${label})`;
  return [`${title}: highest ${named(most)}, lowest ${named(least)}`];
}

const form: ChartForm<BarChart> = {
  type: 'bars',
  title: () => 'Bar chart',
  groups: ({ plots, keys }) => {
    const names = forNames((plots[0]?.bars ?? []).map(({ label }) => label));
    return `${names === '' || keys !== '' ? ` by ${keys}` : ''}${names}`;
  },
  clauses: ({ plots }) => plots.flatMap(extremesOf),
  timeAxis: () => undefined,
  draw: barDrawing,
  print: ({ plots }, width) => plots.flatMap(plot => barLines(plot, width)),
};

export const bar: KindRow = {
  label: 'Bars',
  title: 'bar chart',
  needs: 'numbers by name or over time',
  draws: {
    'a histogram': toHistograms,
    'percentiles over time': drawSeries,
    series: drawSeries,
    'measures over time': drawSeries,
    'bins of a number': toNumberBins,
    'numbers by name': toBars,
  },
  form,
};
