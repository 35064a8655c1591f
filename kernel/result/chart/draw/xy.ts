/**
 * Plots along a horizontal axis of time or of numbers.
 */
import { present } from '../../../present.js';
import type { Plot, XyChart } from '../model.js';
import { layersOf } from './lines.js';
import { RULE_LABELS_HEIGHT, ruleLayers } from './rules.js';
import {
  BESIDE_WIDTH,
  type Drawing,
  LABELS_WIDTH,
  PICTURE_WIDTH,
  seriesLabels,
  TICKS,
  titleAbove,
  titlePlace,
} from './style.js';
import { daysTitle } from './texts.js';

/** Returns one view for each plot; they share the horizontal axis. */
export function xyDrawing(chart: XyChart, interactive: boolean): Drawing {
  return {
    views: chart.plots.map((plot, index) => view(plot, index, chart, interactive)),
    labels: seriesLabels(chart.legend),
    titles: [...chart.plots.map(plot => plot.title), chart.across ?? ''],
    beside: String(BESIDE_WIDTH),
  };
}

const HEIGHT = 200;
const SMALL_HEIGHT = 120;

function view(plot: Plot, index: number, chart: XyChart, interactive: boolean): object {
  const isLast = index === chart.plots.length - 1;
  const isFirst = index === 0;
  const { axis, rules = [] } = chart;
  const { start, end } = axis;
  const { below, above } = ruleLayers(rules, axis, { isFirst, interactive });
  return {
    width: PICTURE_WIDTH - BESIDE_WIDTH,
    height: chart.plots.length === 1 ? HEIGHT : SMALL_HEIGHT,
    encoding: {
      x:
        chart.across === undefined
          ? { scale: { type: 'utc', nice: false }, axis: timeGuide(start, end, isLast) }
          : { scale: { domain: [start, end], nice: false, zero: false }, axis: numberGuide(chart, isLast) },
      y: {
        scale: valueScale(plot),
        axis: valueGuide(plot, index, rules.length > 0 && isFirst ? RULE_LABELS_HEIGHT : 0),
      },
    },
    layer: [...below, ...layersOf(plot, index, chart, interactive), ...above],
  };
}

function valueScale({ low, high, isLog }: Plot): object {
  if (isLog) return { type: 'log', domain: [low, high], nice: true };
  return { domain: [low, high], zero: false, nice: TICKS };
}

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
const FEW_TICKS = { expr: 'max(2, floor(width / 95))' };

/** One format of times along the whole axis, as fine as its span needs; the title names the days. */
export function timeGuide(start: number, end: number, isLast: boolean): object {
  const span = end - start;
  const format =
    span <= 1000
      ? '%H:%M:%S.%L'
      : span <= 8 * MINUTE
        ? '%H:%M:%S'
        : span <= 1.5 * DAY
          ? '%H:%M'
          : span <= 10 * DAY
            ? '%b %d, %H:%M'
            : '%Y-%m-%d';
  const title = isLast ? daysTitle(start, end) : null;
  return { title, grid: false, format, labelOverlap: true, tickCount: FEW_TICKS };
}

function numberGuide({ plots }: XyChart, isLast: boolean): object {
  return {
    title: isLast ? titlePlace(plots.length) : null,
    grid: false,
    labelOverlap: true,
    tickCount: FEW_TICKS,
  };
}

function valueGuide(plot: Plot, index: number, room: number): object {
  return {
    ...titleAbove(index, room),
    tickCount: TICKS,
    minExtent: LABELS_WIDTH,
    maxExtent: LABELS_WIDTH,
    ...present({ tickMinStep: plot.isIntegral ? 1 : undefined }),
  };
}
