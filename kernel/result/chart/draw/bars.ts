/**
 * Bars by name: one below the other, each with its value at its end.
 */
import { present } from '../../../present.js';
import type { Bar, BarChart, BarPlot } from '../model.js';
import { FIRST_LOOK } from '../palette.js';
import {
  type Drawing,
  LABELS_SIGNAL,
  namesBeside,
  PICTURE_WIDTH,
  seriesChannels,
  seriesId,
  seriesLabels,
  TEXT_COLOR,
  titlePlace,
  widest,
} from './style.js';
import { shortText } from './texts.js';

/** Returns a view for each measure; the names stand beside all of them. */
export function barDrawing(chart: BarChart): Drawing {
  const names = namesBeside(chart.plots[0]?.bars.map(bar => bar.label) ?? [], barId);
  const values = chart.plots.flatMap(plot => plot.bars.map(bar => totalText(bar, plot)));
  const room = 14 + widest(values);
  return {
    views: chart.plots.map((plot, index) => view(plot, index, chart, names.guide)),
    labels: {
      ...names.labels,
      ...seriesLabels(chart.legend),
    },
    titles: chart.plots.map(plot => plot.title),
    beside: `${names.width} + ${room}`,
    signals: [names.signal],
  };
}

const BAR_HEIGHT = 22;

function barId(index: number): string {
  return `b${index}`;
}

function view(plot: BarPlot, index: number, { legend }: BarChart, guide: object): object {
  const ids = plot.bars.map((_, bar) => barId(bar));
  const color = legend.length > 0 ? { color: seriesChannels(legend, 'square').color } : {};
  const own = legend.length > 0 ? undefined : FIRST_LOOK.color;
  const mark = { type: 'bar', ...present({ color: own }) };
  const tooltip = [
    { field: 'n', type: 'nominal', title: 'name' },
    ...(legend.length > 0 ? [{ field: 'g', type: 'nominal', title: 'part' }] : []),
    { field: 'w', type: 'quantitative', title: 'value', format: ',.12~r' },
  ];
  const names = [
    { calculate: `${LABELS_SIGNAL}[datum.r]`, as: 'n' },
    ...(legend.length > 0 ? [{ calculate: `${LABELS_SIGNAL}[datum.s]`, as: 'g' }] : []),
  ];
  return {
    width: PICTURE_WIDTH / 2,
    height: Math.max(1, ids.length) * BAR_HEIGHT,
    encoding: {
      y: {
        field: 'r',
        type: 'nominal',
        sort: null,
        scale: { domain: ids, paddingInner: 0.25, paddingOuter: 0.15 },
        axis: guide,
      },
      x: { scale: scaleOf(plot), axis: valueAxis(index) },
    },
    layer: [
      {
        data: { values: pieces(plot) },
        transform: names,
        mark,
        encoding: {
          x: { field: 'v', type: 'quantitative', stack: null },
          x2: plot.isLog ? { value: 0 } : { field: 'b' },
          ...color,
          tooltip,
        },
      },
      ...['left', 'right'].map(align => ends(plot, align)),
    ],
  };
}

/** The least part of a plot that its bars have beside their values, in pixels. */
const LEAST_BARS = 40;

/** Values of bars that end at the left stand within the plot, whatever its width. */
function scaleOf(plot: BarPlot): object {
  const { low, high, isLog, bars } = plot;
  if (isLog) return { type: 'log', domain: [low, high], nice: false };
  if (low === high) return { domain: [0, 1], zero: false, nice: false };
  if (low >= 0) return { domain: [low, high], zero: false, nice: false };
  const below = bars.filter(bar => (sums(bar).total ?? 0) < 0);
  const room = 10 + widest(below.map(bar => totalText(bar, plot)));
  const width = `max(${LEAST_BARS}, width - ${room})`;
  const least = { expr: `${low} - ${room} * (${high} / ${width} - ${low} / ${width})` };
  return { domainMin: least, domainMax: high, zero: false, nice: false };
}

function valueAxis(index: number): object {
  return {
    orient: 'bottom',
    title: titlePlace(index),
    titleAlign: 'left',
    titleAnchor: 'start',
    labelOverlap: true,
    tickCount: { expr: 'max(2, floor(width / 95))' },
  };
}

/** The value of each bar in words, at its right end, or at its left where it is below zero. */
function ends(plot: BarPlot, align: string): object {
  const rows = plot.bars.flatMap((bar, index) => {
    const { up, down, total } = sums(bar);
    const isBelow = total !== null && total < 0;
    if (isBelow !== (align === 'right')) return [];
    const least = plot.isLog ? plot.low : 0;
    return [{ r: barId(index), v: isBelow ? down : Math.max(least, up), x: totalText(bar, plot) }];
  });
  return {
    data: { values: rows },
    mark: { type: 'text', align, dx: align === 'left' ? 5 : -5, color: TEXT_COLOR, fontSize: 11 },
    encoding: {
      x: { field: 'v', type: 'quantitative', stack: null },
      text: { field: 'x', type: 'nominal' },
    },
  };
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
  /** Null where no part has a value. */
  readonly total: number | null;
}

function sums({ parts }: Bar): Sums {
  const values = parts.filter(part => part !== null);
  const up = values.reduce((sum, value) => sum + Math.max(0, value), 0);
  const down = values.reduce((sum, value) => sum + Math.min(0, value), 0);
  return { up, down, total: values.length === 0 ? null : up + down };
}

function totalText(bar: Bar, { unit }: BarPlot): string {
  const { total } = sums(bar);
  return total === null ? 'null' : shortText(total, unit.length > 12 ? '' : unit);
}
