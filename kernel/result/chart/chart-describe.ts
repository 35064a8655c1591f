/** A chart without its image: one sentence, which also names the image, and plain characters. */
import { plural } from '../../text.js';
import { cutToWidth } from '../display/aligned.js';
import { timestampText } from './draw/draw-texts.js';
import { formOf } from './kinds/kind-table.js';
import type { ChartModel } from './model.js';

/** Returns the kind, the measures, the groups, the range and the extremes of a chart. */
export function describe(chart: ChartModel): string {
  const form = formOf(chart);
  const head = `${kindAndMeasures(chart)}${form.groups?.(chart) ?? ''}`;
  return [head, ...form.clauses(chart), ...rulesIn(chart)].join('; ');
}

/** Returns the name of a chart. */
export function titleOfChart(chart: ChartModel): string {
  return chart.title ?? kindAndMeasures(chart);
}

function kindAndMeasures(chart: ChartModel): string {
  return `${formOf(chart).title(chart)} of ${chart.names.join(', ')}`;
}

/** Maximum number of annotations listed; the remaining ones are counted. */
const LISTED = 20;

function rulesIn({ rules = [] }: ChartModel): readonly string[] {
  if (rules.length === 0) return [];
  const listed = rules
    .slice(0, LISTED)
    .map(
      ({ t, end, label }) =>
        `${label} (${timestampText(t)}${end === undefined ? '' : ` to ${timestampText(end)}`})`,
    );
  const more = rules.length - listed.length;
  return [
    `${plural(rules.length, 'annotation')}: ${listed.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
  ];
}

/** Returns the lines of a chart, none wider than `width` characters; the description goes below them. */
export function toTerminal(chart: ChartModel, width: number): string {
  const lines = formOf(chart)
    .print(chart, width)
    .map(line => line.trimEnd());
  const title = chart.title === undefined ? [] : [cutToWidth(chart.title, width)];
  return [...title, ...lines].join('\n');
}
