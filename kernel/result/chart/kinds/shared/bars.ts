/**
 * Bars by name, one row below the other, each with its formatted value at its end. Parts of a bar are stacked; shares, each of a different
 * whole, are side by side.
 */
import { present } from '../../../../present.js';
import { cutToWidth } from '../../../display/aligned.js';
import { percent } from '../../../spotlight.js';
import { BELOW, exactly, numberLabels, tip } from '../../draw/axes.js';
import {
  at,
  type Drawing,
  faded,
  LABELS_SIGNAL,
  labeled,
  mark,
  namesBeside,
  partFacts,
  plotGroup,
  seriesGuide,
  seriesId,
  seriesLabels,
  TEXT_COLOR,
  titlePlace,
  widest,
} from '../../draw/draw-style.js';
import { barsByName } from '../../draw/draw-terminal.js';
import { forNames, measureText, shortText } from '../../draw/draw-texts.js';
import type { ChartModel } from '../../model.js';
import { FIRST_LOOK, type KeyValue } from '../../palette.js';
import type { ChartForm } from '../kind.js';

/** One row of bars: a name, and its parts in the order of the legend; a single part if there is no legend. */
export interface Bar {
  readonly label: string;
  readonly parts: readonly (number | null)[];
  /** Its groups of the result; absent if there are none. */
  readonly of?: readonly KeyValue[];
}

/** Bars of one measure on a shared axis, longest first or in the order of the query. */
export interface BarPlot {
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly Bar[];
  readonly low: number;
  readonly high: number;
  readonly isLog: boolean;
  /** Sentence of the description (default: the highest and the lowest bar). */
  readonly sentence?: string;
}

/** Bars by name. */
export interface BarChart extends ChartModel {
  readonly kind: 'bars';
  readonly plots: readonly BarPlot[];
  /** What the names identify. */
  readonly keys: string;
  readonly areShares?: true;
}

interface Sums {
  readonly up: number;
  readonly down: number;
  /** Null if no part has a value. */
  readonly total: number | null;
}

/** Returns the sums of the parts of a bar above zero, of those below it, and of all of them. */
export function sums({ parts }: Bar): Sums {
  const sum = (values: readonly (number | null)[]) => values.reduce<number>((all, v) => all + (v ?? 0), 0);
  const isEmpty = parts.every(part => part === null);
  return {
    up: sum(parts.filter(part => (part ?? 0) > 0)),
    down: sum(parts.filter(part => (part ?? 0) < 0)),
    total: isEmpty ? null : sum(parts),
  };
}

/** Returns a plot for each measure; the names are beside all of them. */
function barDrawing(chart: BarChart): Drawing {
  const { plots, legend } = chart;
  const all = plots.flatMap(({ bars }) => bars);
  const labels = [...new Set(all.map(({ label }) => label))];
  const names = namesBeside(labels, barId);
  const idOf = ({ label }: Bar) => barId(labels.indexOf(label));
  const room = 14 + widest(plots.flatMap(plot => ends(plot, chart, idOf).map(({ x }) => x)));
  return {
    marks: plots.map((plot, index) =>
      marksOf(plot, index, chart, { ids: plot.bars.map(idOf), guide: names.guide }),
    ),
    data: plots.flatMap((plot, index) => [
      { name: `bars_${index}`, values: pieces(plot, idOf), transform: [stackOf(chart)] },
      { name: `ends_${index}`, values: ends(plot, chart, idOf) },
    ]),
    ...seriesGuide(legend, 'square'),
    labels: { ...names.labels, ...seriesLabels(legend) },
    titles: plots.map(plot => plot.title),
    beside: `${names.width} + ${room}`,
    signals: [names.signal],
    ...present({
      facts: partFacts([
        [barId, labels.map(label => all.find(bar => bar.label === label) ?? {})],
        [seriesId, legend],
      ]),
    }),
  };
}

function barId(index: number): string {
  return `b${index}`;
}

/** Stacks the parts of a bar, those below zero on the other side of it. */
function stackOf({ areShares }: BarChart): object {
  return { type: 'stack', groupby: areShares ? ['r', 's'] : ['r'], field: 'v', as: ['b', 'y'] };
}

function marksOf(
  plot: BarPlot,
  index: number,
  { legend, areShares }: BarChart,
  { ids, guide }: { readonly ids: readonly string[]; readonly guide: object },
): object {
  const isDivided = legend.length > 0;
  const side = areShares ? legend.length : 1;
  const top = areShares
    ? `scale('y', datum.r) + bandwidth('y') / ${side} * indexof(domain('color'), datum.s)`
    : `scale('y', datum.r)`;
  const part = isDivided ? { part: `${LABELS_SIGNAL}[datum.s]` } : {};
  const box = {
    ...{ x: at('x', 'y'), x2: plot.isLog ? { value: 0 } : at('x', 'b') },
    ...{ y: { signal: top }, height: { scale: 'y', band: 1 / side } },
    fill: isDivided ? at('color', 's') : { value: FIRST_LOOK.color },
    opacity: isDivided ? faded() : { value: 1 },
    tooltip: tip({ name: `${LABELS_SIGNAL}[datum.r]`, ...part, value: exactly('v') }),
  };
  const end = {
    ...{ x: at('x', 'v'), y: { signal: `${top} + bandwidth('y') / ${2 * side}` }, text: { field: 'x' } },
    ...{ align: { field: 'a' }, dx: { field: 'dx' }, baseline: { value: 'middle' } },
    ...{ fontSize: { value: areShares ? 9 : 11 }, fill: { value: TEXT_COLOR } },
    opacity: areShares ? faded() : { value: 1 },
  };
  const height = Math.max(1, ids.length) * ROW_HEIGHT;
  return plotGroup(height, {
    scales: [
      { name: 'x', ...scaleOf(plot), range: [0, { signal: 'width' }], nice: false },
      {
        ...{ name: 'y', type: 'band', domain: ids, range: [0, height] },
        ...{ paddingInner: 0.25, paddingOuter: 0.15 },
      },
    ],
    axes: [
      {
        ...BELOW,
        ...(areShares ? labeled("format(datum.value, '.3~%')") : numberLabels(plot.low, plot.high)),
        ...{ grid: true, title: titlePlace(index), titleAlign: 'left', titleAnchor: 'start' },
      },
      { scale: 'y', ...guide },
    ],
    marks: [mark('rect', `bars_${index}`, box), mark('text', `ends_${index}`, end)],
  });
}

/** Height of a row of bars, in pixels. */
const ROW_HEIGHT = 22;

/** Minimum width of the bars beside their values, in pixels. */
const LEAST_BARS = 40;

/** Returns a scale that keeps the values left of negative bars within the plot, whatever its width. */
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

function pieces({ bars }: BarPlot, idOf: (bar: Bar) => string): readonly object[] {
  return bars.flatMap(bar =>
    bar.parts.flatMap((v, place) => (v === null ? [] : [{ r: idOf(bar), s: seriesId(place), v }])),
  );
}

/** A formatted value at the end of a bar or share. */
interface End {
  readonly r: string;
  readonly s?: string;
  readonly v: number | null;
  readonly x: string;
  readonly a: 'left' | 'right';
  readonly dx: number;
}

const RIGHT = { a: 'left', dx: 5 } as const;

/** Returns the value of each bar, at its right end, or at its left if negative; for shares, the value of each. */
function ends(plot: BarPlot, { areShares }: BarChart, idOf: (bar: Bar) => string): readonly End[] {
  return plot.bars.flatMap((bar): readonly End[] => {
    const r = idOf(bar);
    if (areShares)
      return bar.parts.map((v, place) => ({ r, s: seriesId(place), v, x: percent(v ?? 0), ...RIGHT }));
    const { up, down, total } = sums(bar);
    const x = totalText(bar, plot);
    if (total !== null && total < 0) return [{ r, v: down, x, a: 'right', dx: -5 }];
    return [{ r, v: Math.max(plot.isLog ? plot.low : 0, up), x, ...RIGHT }];
  });
}

function totalText(bar: Bar, { unit }: BarPlot): string {
  const { total } = sums(bar);
  return total === null ? 'null' : shortText(total, unit.length > 12 ? '' : unit);
}

/** Returns each bar with its size, the sum of its parts. */
function sizes({ bars }: BarPlot): readonly { readonly label: string; readonly v: number | null }[] {
  return bars.map(bar => ({ label: bar.label, v: sums(bar).total }));
}

/** Returns the lines of bars; each share has a line of its own. */
function barLines(plot: BarPlot, { areShares, legend }: BarChart, width: number): readonly string[] {
  const percents = plot.bars.flatMap(({ label, parts }) =>
    parts.map((v, place) => ({
      label: place === 0 ? label : `  ${legend[place]?.label}`,
      v: Number(((v ?? 0) * 100).toPrecision(3)),
    })),
  );
  const sizeOf = plot.isLog ? (v: number) => Math.log(v / plot.low) : Math.abs;
  const lines = areShares
    ? barsByName(percents, '%', width)
    : barsByName(sizes(plot), plot.unit, width, sizeOf);
  return [cutToWidth(plot.title, width), ...lines];
}

function extremesOf(plot: BarPlot): readonly string[] {
  const { title, unit } = plot;
  const sized = sizes(plot).flatMap(({ label, v }) => (v === null ? [] : [{ label, v }]));
  const [first] = sized;
  if (first === undefined) return [];
  const most = sized.reduce((a, b) => (b.v > a.v ? b : a), first);
  const least = sized.reduce((a, b) => (b.v <= a.v ? b : a), first);
  const named = ({ label, v }: typeof first) => `${measureText(v, unit)} (${label})`;
  return [`${title}: highest ${named(most)}, lowest ${named(least)}`];
}

/** Bars and shares by name. */
export const barForm: ChartForm<BarChart> = {
  type: 'bars',
  title: ({ areShares }) => (areShares ? 'Shares' : 'Bar chart'),
  groups: ({ plots, keys, areShares }) => {
    if (areShares) return '';
    const names = forNames((plots[0]?.bars ?? []).map(({ label }) => label));
    return `${names === '' || keys !== '' ? ` by ${keys}` : ''}${names}`;
  },
  clauses: ({ plots }) => plots.flatMap(plot => plot.sentence ?? extremesOf(plot)),
  draw: barDrawing,
  print: (chart, width) => chart.plots.flatMap(plot => barLines(plot, chart, width)),
};
