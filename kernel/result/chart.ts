/**
 * A time-binned aggregate as a chart: a Vega-Lite 5 specification for front ends that draw it, and the same as a static SVG.
 * Names and values of the data enter as data only; no expression, field path or URL is ever made of them.
 */
import type { TopLevelSpec } from 'vega-lite';
import { type ChartData, type Measure, toChartData } from './chart-data.js';
import type { QueryResult } from './result.js';

/** One chart in its forms. `description` says in a sentence what is drawn, and what of the result is not. */
export interface Chart {
  readonly spec: TopLevelSpec;
  readonly svg: string;
  readonly description: string;
}

/** The chart of an aggregate over time, or undefined when the result is none or has fewer than two moments. */
export async function toChart(result: QueryResult): Promise<Chart | undefined> {
  const table = result.tables[0];
  const chart = table && toChartData(table);
  if (chart === undefined) return undefined;
  const description = [
    `Chart of ${chart.measures.map(measure => measure.label).join(', ')} over time`,
    ...chart.remarks,
  ].join('; ');
  const svg = await toSvg(specification(chart, false));
  return { spec: specification(chart, true), svg, description: `${description}.` };
}

const WIDTH = 680;
const HEIGHT = 200;
const SMALL_HEIGHT = 120;
/** With fewer moments each gets a dot: a line alone hides how few there are. */
const DOTTED_BELOW = 40;

/** Told apart by people who see fewer colours, and on white as well as on near-black; after them dashes begin. */
const COLORS = ['#2a85c7', '#d98a00', '#119a76', '#c5679b', '#d9622b', '#7f79c6'];
const DASHES = [
  [1, 0],
  [5, 3],
];
/** Greys with at least 4:1 against both backgrounds. */
const TEXT_COLOR = '#7b818c';
const LINE_COLOR = '#8a909a';

function specification(chart: ChartData, interactive: boolean): TopLevelSpec {
  const views = chart.overlaid ? [chart.measures] : chart.measures.map(measure => [measure]);
  const height = views.length === 1 ? HEIGHT : SMALL_HEIGHT;
  const charts = views.map((measures, index) =>
    view(chart, measures, height, interactive, index === views.length - 1),
  );
  const head = {
    $schema: 'https://vega.github.io/schema/vega-lite/v5.json',
    background: 'transparent',
    config: CONFIG,
    data: { values: chart.rows },
    ...(chart.remarks.length > 0
      ? { title: { text: chart.remarks.map(sentence), fontSize: 11, fontWeight: 'normal', offset: 8 } }
      : {}),
  };
  const body =
    charts.length === 1
      ? { ...charts[0] }
      : { vconcat: charts, spacing: 14, resolve: { legend: { color: 'shared' } } };
  return { ...head, ...body } as TopLevelSpec;
}

const CONFIG = {
  mark: { aria: false },
  font: 'system-ui, -apple-system, "Segoe UI", sans-serif',
  view: { stroke: null },
  title: { color: TEXT_COLOR, subtitleColor: TEXT_COLOR, anchor: 'start' },
  axis: {
    labelColor: TEXT_COLOR,
    titleColor: TEXT_COLOR,
    domainColor: LINE_COLOR,
    tickColor: LINE_COLOR,
    gridColor: LINE_COLOR,
    gridOpacity: 0.25,
    labelFontSize: 11,
    titleFontSize: 11,
    titleFontWeight: 'normal',
  },
  legend: {
    labelColor: TEXT_COLOR,
    titleColor: TEXT_COLOR,
    labelFontSize: 11,
    labelLimit: 200,
    symbolType: 'stroke',
    symbolStrokeWidth: 3,
  },
};

/** One plot: its measures share the vertical axis, each group or measure is a line. */
function view(
  chart: ChartData,
  measures: readonly Measure[],
  height: number,
  interactive: boolean,
  isLast: boolean,
): object {
  const names = measures.length > 1 ? measures.map(measure => measure.label) : chart.groups;
  const folded = measures.length > 1;
  const value = folded ? 'v' : (measures[0] as Measure).key;
  const title = folded ? '' : (measures[0] as Measure).label;
  const unit = measures[0]?.unit ?? '';
  const fromZero = measures.some(measure => measure.fromZero);
  return {
    width: WIDTH,
    height,
    ...(folded ? { transform: foldMeasures(measures) } : {}),
    mark: mark(chart, names.length === 0 && fromZero, interactive),
    encoding: {
      x: {
        field: 't',
        type: 'temporal',
        scale: { type: 'utc' },
        axis: timeAxis(chart.spanMs, isLast),
      },
      y: {
        field: value,
        type: 'quantitative',
        axis: valueAxis(title || unit, measures),
        scale: { zero: fromZero, nice: true },
      },
      ...(names.length > 0 ? seriesChannels(names) : {}),
      ...(interactive ? { tooltip: tooltip(names, value, title || 'value') } : {}),
    },
  };
}

/** Several measures in one plot: one row each, named by the measure's label. */
function foldMeasures(measures: readonly Measure[]): object[] {
  const labels = Object.fromEntries(measures.map(({ key, label }) => [key, label]));
  const rows = Object.entries(labels).map(([key, label]) => ({ key, g: label }));
  return [
    { fold: measures.map(measure => measure.key), as: ['key', 'v'] },
    { lookup: 'key', from: { data: { values: rows }, key: 'key', fields: ['g'] } },
  ];
}

function mark(chart: ChartData, filled: boolean, interactive: boolean): object {
  const dots = chart.moments < DOTTED_BELOW;
  const points = dots ? { size: 22, filled: true } : interactive ? 'transparent' : false;
  const line = { strokeWidth: 1.8, strokeJoin: 'round' };
  if (!filled) return { type: 'line', color: COLORS[0], point: points, ...line };
  return {
    type: 'area',
    color: COLORS[0],
    fillOpacity: 0.16,
    line: { color: COLORS[0], ...line },
    point: points,
  };
}

/** One way to write a time along the whole axis, as fine as its span asks for. */
function timeAxis(spanMs: number, isLast: boolean): object {
  const minute = 60_000;
  const format =
    spanMs <= 8 * minute
      ? '%H:%M:%S'
      : spanMs <= 2160 * minute
        ? '%H:%M'
        : spanMs <= 14400 * minute
          ? '%b %d, %H:%M'
          : '%Y-%m-%d';
  return { title: isLast ? 'UTC' : null, grid: false, format, labelOverlap: true, tickCount: 7 };
}

function valueAxis(title: string, measures: readonly Measure[]): object {
  const integral = measures.every(measure => measure.integral);
  return {
    title,
    titleAngle: 0,
    titleAlign: 'left',
    titleAnchor: 'end',
    titleX: 2,
    titleY: -8,
    tickCount: 5,
    format: '~s',
    ...(integral ? { tickMinStep: 1 } : {}),
  };
}

function seriesChannels(names: readonly string[]): object {
  const colors = names.map((_, index) => COLORS[index % COLORS.length]);
  const dashes = names.map((_, index) => DASHES[Math.floor(index / COLORS.length) % DASHES.length]);
  const legend = { title: null, orient: 'bottom', direction: 'horizontal', columns: 4 };
  const dashed = names.length > COLORS.length;
  return {
    color: { field: 'g', type: 'nominal', scale: { domain: names, range: colors }, legend },
    ...(dashed
      ? { strokeDash: { field: 'g', type: 'nominal', scale: { domain: names, range: dashes }, legend } }
      : {}),
  };
}

function tooltip(names: readonly string[], value: string, title: string): object[] {
  return [
    {
      field: 't',
      type: 'temporal',
      title: 'time (UTC)',
      timeUnit: 'utcyearmonthdatehoursminutesseconds',
      format: '%Y-%m-%d %H:%M:%S',
    },
    ...(names.length > 0 ? [{ field: 'g', type: 'nominal', title: 'series' }] : []),
    { field: value, type: 'quantitative', title, format: ',' },
  ];
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Vega is large: it is loaded by the first chart, not by the kernel's start. It marks the rows it is given: they are copies. */
async function toSvg(spec: TopLevelSpec): Promise<string> {
  const [vega, { compile }] = await Promise.all([import('vega'), import('vega-lite')]);
  const view = new vega.View(vega.parse(compile(structuredClone(spec)).spec), { renderer: 'none' });
  try {
    return await view.toSVG();
  } finally {
    view.finalize();
  }
}
