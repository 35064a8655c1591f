/**
 * A chart in one sentence, for those who do not see it and for the name of its picture.
 */

import { cut } from '../../text.js';
import { measureText, momentText } from './draw/texts.js';
import { largest, smallest } from './extent.js';
import type { BarChart, ChartModel, HeatChart, Plot, XyChart } from './model.js';
import { ruleCount } from './time/rules.js';

/** Returns the kind, the measures, the groups, the range and the extremes of a chart. */
export function describe(chart: ChartModel): string {
  return [
    `${kindOf(chart)} of ${chart.names.join(', ')}${groupsOf(chart)}`,
    ...rangeOf(chart),
    ...extremesOf(chart),
    ...rulesIn(chart),
  ].join('; ');
}

/** Returns what a chart is called. */
export function titleOfChart(chart: ChartModel): string {
  return chart.title ?? `${kindOf(chart)} of ${chart.names.join(', ')}`;
}

function kindOf(chart: ChartModel): string {
  switch (chart.kind) {
    case 'xy':
      return XY_NAMES[chart.plots[0]?.mark ?? 'lines'];
    case 'bars':
      return 'Bar chart';
    case 'heat':
      return 'Heatmap';
    case 'pie':
      return 'Pie chart';
    case 'stat':
      return 'Big numbers';
  }
}

const XY_NAMES: Readonly<Record<Plot['mark'], string>> = {
  bars: 'Bar chart',
  area: 'Area chart',
  lines: 'Line chart',
  dots: 'Scatter plot',
};

/** Groups beyond these are counted. */
const NAMED = 5;

function groupsOf(chart: ChartModel): string {
  const names =
    chart.kind === 'bars'
      ? (chart.plots[0]?.bars ?? []).map(bar => bar.label)
      : chart.legend.map(({ label }) => label);
  if (names.length === 0) return chart.kind === 'bars' ? ` by ${chart.keys}` : '';
  const shown = names.slice(0, NAMED).map(name => cut(name, 40));
  const more = names.length - shown.length;
  const by = chart.kind === 'bars' && chart.keys !== '' ? ` by ${chart.keys}` : '';
  return `${by} for ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function rangeOf(chart: ChartModel): readonly string[] {
  const axis =
    chart.kind === 'xy' || (chart.kind === 'heat' && !Array.isArray(chart.axis))
      ? (chart.axis as XyChart['axis'])
      : undefined;
  if (axis === undefined) return [];
  if (chart.kind === 'xy' && chart.across !== undefined)
    return [`over ${chart.across} from ${measureText(axis.start, '')} to ${measureText(axis.end, '')}`];
  return [`over time from ${momentText(axis.start)} to ${momentText(axis.end)} UTC`];
}

/** Annotations beyond these are counted. */
const LISTED = 20;

function rulesIn({ rules = [] }: ChartModel): readonly string[] {
  if (rules.length === 0) return [];
  const listed = rules
    .slice(0, LISTED)
    .map(
      ({ t, end, label }) =>
        `${label} (${momentText(t)}${end === undefined ? '' : ` to ${momentText(end)}`})`,
    );
  const more = rules.length - listed.length;
  return [`${ruleCount(rules, rules.length)}: ${listed.join(', ')}${more > 0 ? ` and ${more} more` : ''}`];
}

function extremesOf(chart: ChartModel): readonly string[] {
  switch (chart.kind) {
    case 'xy':
      return chart.plots.flatMap(plot => xyExtremes(chart, plot));
    case 'bars':
      return chart.plots.flatMap(plot => barExtremes(plot));
    case 'heat':
      return heatExtremes(chart);
    case 'pie':
      return chart.values
        .slice(0, 3)
        .map((value, index) => `${chart.legend[index]?.label}: ${measureText(value, chart.unit)}`);
    case 'stat':
      return chart.tiles.map(({ name, text }) => `${name}: ${text}`);
  }
}

function xyExtremes({ across }: XyChart, plot: Plot): readonly string[] {
  const points = plot.lines.flatMap(line =>
    line.points.flatMap(({ t, v, added }) => (v === null || added === true ? [] : [{ t, v }])),
  );
  const [first] = points;
  if (first === undefined) return [];
  const least = points.reduce((a, b) => (b.v < a.v ? b : a), first);
  const most = points.reduce((a, b) => (b.v > a.v ? b : a), first);
  const at = ({ t, v }: { readonly t: number; readonly v: number }) =>
    `${measureText(v, plot.unit)} at ${across === undefined ? momentText(t) : measureText(t, '')}`;
  return [`${plot.title === '' ? '' : `${plot.title}: `}lowest ${at(least)}, highest ${at(most)}`];
}

function barExtremes({ title, unit, bars }: BarChart['plots'][number]): readonly string[] {
  const sized = bars.flatMap(({ label, parts }) => {
    const values = parts.filter(part => part !== null);
    return values.length === 0 ? [] : [{ label, v: values.reduce((a, b) => a + b, 0) }];
  });
  const [first] = sized;
  if (first === undefined) return [];
  const most = sized.reduce((a, b) => (b.v > a.v ? b : a), first);
  const least = sized.reduce((a, b) => (b.v <= a.v ? b : a), first);
  return [
    `${title}: highest ${measureText(most.v, unit)} (${most.label}), lowest ${measureText(least.v, unit)} (${least.label})`,
  ];
}

function heatExtremes({ cells, unit }: HeatChart): readonly string[] {
  const values = cells.map(({ v }) => v);
  return values.length === 0
    ? []
    : [`values from ${measureText(smallest(values), unit)} to ${measureText(largest(values), unit)}`];
}
