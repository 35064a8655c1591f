/** Plots along a horizontal axis of time or of numbers: drawn, printed and described. */
import { present } from '../../../present.js';
import { cutToWidth } from '../../display/aligned.js';
import type { ChartForm } from '../kinds/kind.js';
import type { Plot, XyChart } from '../model.js';
import { largest, smallest } from '../plots.js';
import { BELOW, numberLabels, timeGuide, valueGuide } from './axes.js';
import { layersOf } from './draw-lines.js';
import { RULE_LABELS_HEIGHT, ruleBands, ruleData, ruleMarks } from './draw-rules.js';
import {
  BESIDE_WIDTH,
  type Drawing,
  partFacts,
  plotGroup,
  SHOWN,
  seriesGuide,
  seriesId,
  seriesLabels,
  TICKS,
  titlePlace,
} from './draw-style.js';
import {
  characterOf,
  columnsAlong,
  greatestIn,
  LEVELS,
  RULES_NAME,
  ruleLine,
  withNames,
} from './draw-terminal.js';
import { forLegend, measureText, overTime, shortText, timestampText } from './draw-texts.js';

const TITLES: Readonly<Record<Plot['mark'], string>> = {
  bars: 'Bar chart',
  area: 'Area chart',
  lines: 'Line chart',
  dots: 'Scatter plot',
};

/** Lines, areas, bars and dots along an axis. */
export const xyForm: ChartForm<XyChart> = {
  type: 'xy',
  title: ({ plots }) => TITLES[plots[0]?.mark ?? 'lines'],
  groups: ({ legend }) => forLegend(legend),
  clauses: chart => [rangeOf(chart), ...chart.plots.flatMap(plot => extremesOf(chart, plot))],
  timeAxis: ({ across, axis }) => (across === undefined ? axis : undefined),
  draw: xyDrawing,
  print: (chart, width) => chart.plots.flatMap(plot => plotLines(chart, plot, width)),
};

function rangeOf({ across, axis }: XyChart): string {
  if (across === undefined) return overTime(axis);
  return `over ${across} from ${measureText(axis.start, '')} to ${measureText(axis.end, '')}`;
}

function extremesOf({ across }: XyChart, plot: Plot): readonly string[] {
  const points = plot.lines.flatMap(line =>
    line.points.flatMap(({ t, v, added }) => (v === null || added === true ? [] : [{ t, v }])),
  );
  const [first] = points;
  if (first === undefined) return [];
  const least = points.reduce((a, b) => (b.v < a.v ? b : a), first);
  const most = points.reduce((a, b) => (b.v > a.v ? b : a), first);
  const at = ({ t, v }: { readonly t: number; readonly v: number }) =>
    `${measureText(v, plot.unit)} at ${across === undefined ? timestampText(t) : measureText(t, '')}`;
  return [`${plot.title === '' ? '' : `${plot.title}: `}lowest ${at(least)}, highest ${at(most)}`];
}

/** Returns one group for each plot; all share the horizontal axis. */
function xyDrawing(chart: XyChart, interactive: boolean): Drawing {
  const plots = chart.plots.map((plot, index) => plotOf(plot, index, chart, interactive));
  const symbol = SYMBOLS[chart.plots[0]?.mark ?? 'lines'];
  return {
    marks: plots.map(({ group }) => group),
    data: [...plots.flatMap(({ data }) => data), ...ruleData(chart.rules, chart.axis)],
    ...seriesGuide(chart.legend, symbol),
    labels: seriesLabels(chart.legend),
    titles: [...chart.plots.map(plot => plot.title), chart.across ?? ''],
    beside: String(BESIDE_WIDTH),
    facts: factsOf(chart),
  };
}

/** Legend symbols. */
const SYMBOLS = { bars: 'square', area: 'stroke', lines: 'stroke', dots: 'circle' } as const;

function factsOf({ axis, across, plots, legend, rules = [] }: XyChart): object {
  return {
    across: across === undefined ? 'time' : 'numbers',
    start: axis.start,
    end: axis.end,
    bin: axis.grid?.size ?? 0,
    origin: axis.grid?.origin ?? 0,
    titles: plots.map(plot => plot.title),
    units: plots.map(plot => plot.unit),
    ...present({ rules: rules.length === 0 ? undefined : rules }),
    ...partFacts([[seriesId, legend]]),
    series: legend.map(({ label, look }, index) => ({ id: seriesId(index), label, color: look.color })),
  };
}

const HEIGHT = 200;
const SMALL_HEIGHT = 120;

function plotOf(
  plot: Plot,
  index: number,
  chart: XyChart,
  interactive: boolean,
): { readonly group: object; readonly data: readonly object[] } {
  const isLast = index === chart.plots.length - 1;
  const { axis, across, rules = [] } = chart;
  const height = chart.plots.length === 1 ? HEIGHT : SMALL_HEIGHT;
  const room = rules.length > 0 && index === 0 ? RULE_LABELS_HEIGHT : 0;
  const { marks, data } = layersOf(plot, index, chart, { interactive, height });
  const group = plotGroup(height, {
    scales: [
      {
        ...{ name: 'x', type: across === undefined ? 'utc' : 'linear', nice: false, zero: false },
        ...{ domain: [axis.start, axis.end], domainRaw: { signal: SHOWN }, range: [0, { signal: 'width' }] },
      },
      { name: 'y', ...valueScale(plot), range: [height, 0] },
    ],
    axes: [
      across === undefined ? timeGuide(axis, isLast) : numberGuide(chart, isLast),
      { ...valueGuide(plot, index, room), tickCount: ticksOf(plot) },
    ],
    marks: [
      ...ruleBands(rules, height),
      ...marks,
      ...ruleMarks(rules, height, { isLabeled: index === 0, interactive }),
    ],
  });
  return { group, data };
}

function valueScale(plot: Plot): object {
  const { low, high, isLog } = plot;
  if (isLog) return { type: 'log', domain: [low, high], nice: true };
  return { type: 'linear', domain: [low, high], zero: false, nice: ticksOf(plot) };
}

/** Returns the number of ticks. Integers have no ticks between them, since Vega's smallest step assumes at least two of them. */
function ticksOf({ isIntegral, low, high }: Plot): number {
  return isIntegral ? Math.max(1, Math.min(TICKS, high - low)) : TICKS;
}

function numberGuide({ plots, axis }: XyChart, isLast: boolean): object {
  return {
    ...BELOW,
    ...numberLabels(axis.start, axis.end),
    ...present({ title: isLast ? titlePlace(plots.length) : undefined }),
  };
}

/** Returns the lines of a plot. They share its axis: equal heights are equal values. */
function plotLines(chart: XyChart, plot: Plot, width: number): readonly string[] {
  const { axis, legend, across, rules = [] } = chart;
  const { low, high, unit, lines, isLog } = plot;
  const names = lines.map(({ label }) => (legend.length > 0 ? label : plot.title));
  const known = lines.flatMap(({ points }) => points.flatMap(({ v }) => v ?? []));
  const range =
    known.length === 0
      ? 'no values'
      : `${shortText(smallest(known), unit)} to ${shortText(largest(known), unit)}`;
  const head = legend.length > 0 && plot.title !== '' ? [cutToWidth(`${plot.title}: ${range}`, width)] : [];
  const scale = isLog ? Math.log : Number;
  const shares = (v: number) => (scale(v) - scale(low)) / (scale(high) - scale(low));
  const isMarked = across === undefined && rules.length > 0;
  const drawn = withNames(isMarked ? [...names, RULES_NAME] : names, width, room => {
    const columns = columnsAlong(axis, room, Math.max(...lines.map(line => line.points.length)));
    const rows = lines.map(({ points }) => greatestIn(columns, points, v => characterOf(LEVELS, shares(v))));
    return isMarked ? [...rows, ruleLine(rules, columns)] : rows;
  });
  return head.length > 0 ? [...head, ...drawn] : [...drawn, cutToWidth(range, width)];
}
