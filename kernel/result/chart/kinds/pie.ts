/** Shares of a whole; the numbers are in the legend. */
import type { ChartOptions } from '../../../apl/operators/drawing.js';
import { present } from '../../../present.js';
import { formatCount } from '../../../text.js';
import { aggregateOf, nameOf } from '../chart-columns.js';
import { notes, noValue } from '../chart-notes.js';
import { greatestOf, numbersOf } from '../chart-values.js';
import { tip } from '../draw/axes.js';
import {
  at,
  type Drawing,
  faded,
  LABELS_SIGNAL,
  mark,
  partFacts,
  plotGroup,
  SHORT_NAME,
  seriesGuide,
  seriesId,
  withShort,
} from '../draw/draw-style.js';
import { barsByName } from '../draw/draw-terminal.js';
import { forLegend, measureText, shortText } from '../draw/draw-texts.js';
import { distinctLabels } from '../labels.js';
import type { ChartModel } from '../model.js';
import { scaled, unitOf } from '../plots.js';
import { scaleFor } from '../units.js';
import type { ChartInput } from './input.js';
import type { ChartForm, KindRow } from './kind.js';
import { notDrawnBeside, surfaces, withValues } from './shared/bars-by-name.js';

/** Shares of a whole. */
export interface PieChart extends ChartModel {
  readonly kind: 'pie';
  readonly unit: string;
  /** Values in the order of the legend. */
  readonly values: readonly number[];
}

/** Returns the shares of the first measure; a sentence if they are not shares of a whole. */
function toPie({ table, roles }: ChartInput, options: ChartOptions): PieChart | string {
  const [measure] = withValues(table, roles.measures);
  if (measure === undefined) return noValue(roles.measures);
  if (aggregateOf(measure).isNever) return `No pie chart: values of ${nameOf(measure)} do not add up.`;
  const sizes = numbersOf(measure);
  const known = sizes.filter(size => !Number.isNaN(size));
  if (known.some(size => size < 0)) return `No pie chart: ${nameOf(measure)} has values below 0.`;
  const sum = known.reduce((total, size) => total + size, 0);
  if (sum === 0) return `No pie chart: every ${nameOf(measure)} is 0.`;
  const greatest = greatestOf(
    sizes,
    known.length > MAX_SLICES ? MAX_SLICES - 1 : Math.min(MAX_SLICES, known.length),
  );
  const rest = known.length - greatest.length;
  const scale = scaleFor(unitOf(measure, options), sum);
  const isRest = (size: number, row: number) => !Number.isNaN(size) && !greatest.includes(row);
  const values = [
    ...greatest.map(row => sizes[row] ?? 0),
    ...(rest > 0 ? [sizes.filter(isRest).reduce((total, size) => total + size, 0)] : []),
  ];
  const without = sizes.length - known.length;
  return {
    kind: 'pie',
    unit: scale.unit,
    values: values.map(v => scaled(v, scale.factor)),
    legend: surfaces(roles.keys, greatest, rest),
    names: [nameOf(measure)],
    notes: notes(
      without > 0 &&
        `not drawn: ${formatCount(without)} of ${formatCount(sizes.length)} names, which have no value`,
      rest > 0 &&
        `the ${greatest.length} of ${formatCount(known.length)} names with the highest ${nameOf(measure)}; the others are one slice`,
      notDrawnBeside(roles, measure),
    ),
  };
}

/** Formats a share in percent; a share above 0 is never written as 0. */
function shareText(share: number): string {
  return share > 0 && share < 0.0005 ? '<0.1 %' : `${(share * 100).toFixed(1)} %`;
}

/** Returns one plot, with slices clockwise from the top. */
function pieDrawing({ legend, values, unit }: PieChart): Drawing {
  const sum = values.reduce((a, b) => a + b, 0);
  const labels = legend.map(({ label }) => label);
  const withShare = (label: string, index: number) => {
    const value = values[index] ?? 0;
    return `${label}: ${shortText(value, unit)} (${shareText(value / sum)})`;
  };
  const texts = labels.map(withShare);
  const short = distinctLabels(labels, SHORT_NAME).map(withShare);
  const named = legend.map((entry, index) => ({ ...entry, label: texts[index] ?? entry.label }));
  const half = { signal: 'width / 2' };
  const height = 2 * RADIUS + 20;
  const arc = {
    ...{ x: half, y: { value: height / 2 }, fill: at('color', 's'), opacity: faded() },
    ...{ startAngle: { field: 'startAngle' }, endAngle: { field: 'endAngle' }, padAngle: { value: 0.008 } },
    ...{ innerRadius: { value: RADIUS / 2.2 }, outerRadius: { value: RADIUS } },
    tooltip: tip({ share: `${LABELS_SIGNAL}[datum.s]` }),
  };
  return {
    marks: [plotGroup(height, { marks: [mark('arc', 'slices', arc)] })],
    data: [
      {
        name: 'slices',
        values: values.map((v, index) => ({ s: seriesId(index), v })),
        transform: [{ type: 'pie', field: 'v' }],
      },
    ],
    ...seriesGuide(named, 'square'),
    labels: withShort(texts, seriesId, short),
    titles: [],
    beside: String(BESIDE),
    ...present({ facts: partFacts([[seriesId, legend]]) }),
  };
}

const MAX_SLICES = 8;
const RADIUS = 95;
const BESIDE = 30;

const form: ChartForm<PieChart> = {
  type: 'pie',
  title: () => 'Pie chart',
  groups: ({ legend }) => forLegend(legend),
  clauses: ({ legend, values, unit }) =>
    values.slice(0, 3).map((value, index) => `${legend[index]?.label}: ${measureText(value, unit)}`),
  draw: pieDrawing,
  print: ({ legend, values, unit }, width) =>
    barsByName(
      legend.map(({ label }, index) => ({ label, v: values[index] ?? null })),
      unit,
      width,
    ),
};

export const pie: KindRow = {
  label: 'Pie',
  title: 'pie chart',
  needs: 'numbers by name',
  draws: { 'numbers by name': toPie },
  form,
};
