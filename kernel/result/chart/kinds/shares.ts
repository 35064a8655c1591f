/**
 * What `spotlight` found: for each field the share of its values among the selected rows beside that among the others.
 */
import { cutToWidth } from '../../display/aligned.js';
import { safeWords } from '../../display/summary.js';
import { percent, type SpotlightEntry, spotlightSentence, strongest } from '../../spotlight.js';
import { exactly, plotByName, tip } from '../draw/axes.js';
import {
  at,
  type Drawing,
  faded,
  LABELS_SIGNAL,
  labeled,
  mark,
  namesBeside,
  seriesGuide,
  seriesId,
  seriesLabels,
  TEXT_COLOR,
  widest,
} from '../draw/style.js';
import { barsByName } from '../draw/terminal.js';
import { distinctLabels } from '../labels.js';
import type { ChartModel } from '../model.js';
import { firstOf, notes } from '../notes.js';
import type { ChartInput } from './input.js';
import type { ChartForm, KindRow } from './kind.js';

interface SharesPlot {
  readonly title: string;
  readonly rows: readonly { readonly label: string; readonly shares: readonly [number, number] }[];
  /** What tells most of the field. */
  readonly sentence: string;
}

/** Shares of the selected and of the other rows, a plot for each field. */
interface SharesChart extends ChartModel {
  readonly kind: 'shares';
  readonly plots: readonly SharesPlot[];
  /** The end of the axis that all plots have. */
  readonly high: number;
}

const MAX_PLOTS = 5;
/** The values of a field that are drawn; of ranges all are, as they are a distribution. */
const MAX_VALUES = 6;

const LEGEND = [
  { label: 'selected', look: { color: '#c98200', dash: [1, 0] } },
  { label: 'others', look: { color: '#868c96', dash: [1, 0] } },
] as const;

function toShares({ spotlight = [] }: ChartInput): SharesChart | string {
  const telling = spotlight.filter(({ score }) => score > 0);
  const shown = telling.slice(0, MAX_PLOTS);
  if (shown.length === 0) return nothingTold(spotlight);
  const names = distinctLabels(shown.map(({ field }) => safeWords(field)));
  const plots = shown.map((entry, index) => plotOf(entry, names[index] ?? ''));
  const [first] = plots;
  return {
    kind: 'shares',
    plots,
    high: Math.max(...plots.flatMap(({ rows }) => rows.flatMap(({ shares }) => shares))),
    legend: LEGEND,
    names,
    title: `${first?.sentence}.`,
    notes: notes(
      firstOf(shown.length, telling.length, 'fields'),
      shown.some(({ values }) => values.filter(({ isRange }) => !isRange).length > MAX_VALUES) &&
        `the ${MAX_VALUES} values of a field whose shares differ most`,
    ),
  };
}

/** Either nothing could be compared, which the note of every field says, or chance alone is in it. */
function nothingTold(entries: readonly SpotlightEntry[]): string {
  const compared = entries.some(({ values }) => values.length > 0);
  const note = entries
    .map(each => each.note)
    .find(each => each !== undefined && !each.startsWith('left out'));
  if (!compared && note !== undefined) return `Nothing to compare: ${note}.`;
  return 'No field tells the selected events from the others better than chance.';
}

function plotOf(entry: SpotlightEntry, name: string): SharesPlot {
  const values = entry.values.filter(({ isRange }, index) => isRange || index < MAX_VALUES);
  const labels = distinctLabels(values.map(({ text }) => safeWords(text) || '""'));
  const best = strongest(entry);
  return {
    title: `${name} \u00b7 score ${entry.score.toFixed(2)}`,
    rows: values.map(({ selected, others }, index) => ({
      label: labels[index] ?? '',
      shares: [selected, others],
    })),
    sentence: best === undefined ? name : spotlightSentence(best),
  };
}

function sharesDrawing(chart: SharesChart): Drawing {
  const rows = chart.plots.flatMap((plot, place) => plot.rows.map(row => ({ ...row, place })));
  const names = namesBeside(
    rows.map(({ label }) => label),
    rowId,
  );
  const bars = rows.map(({ place, shares }, index) => ({
    place,
    values: shares.map((share, side) => ({
      ...{ r: rowId(index), s: seriesId(side), v: share },
      ...{ x: percent(share), t: LEGEND[side === 0 ? 0 : 1].label },
    })),
    id: rowId(index),
  }));
  const room = 14 + widest(bars.flatMap(({ values }) => values.map(({ x }) => x)));
  return {
    marks: chart.plots.map((_, place) =>
      plotMarks(
        bars.filter(bar => bar.place === place).map(({ id }) => id),
        place,
        chart.high,
        names.guide,
      ),
    ),
    data: chart.plots.map((_, place) => ({
      name: `shares_${place}`,
      values: bars.filter(bar => bar.place === place).flatMap(({ values }) => values),
    })),
    ...seriesGuide(chart.legend, 'square'),
    labels: { ...names.labels, ...seriesLabels(chart.legend) },
    titles: chart.plots.map(({ title }) => title),
    beside: `${names.width} + ${room}`,
    signals: [names.signal],
  };
}

function rowId(index: number): string {
  return `b${index}`;
}

/** Two bars in each row, the selected one above. */
function plotMarks(ids: readonly string[], place: number, high: number, guide: object): object {
  const y = { signal: `scale('y', datum.r) + (datum.s === '${seriesId(0)}' ? 0 : bandwidth('y') / 2)` };
  const middle = { signal: `${y.signal} + bandwidth('y') / 4` };
  const box = {
    ...{ x: { scale: 'x', value: 0 }, x2: at('x', 'v'), y, height: { scale: 'y', band: 0.5 } },
    ...{ fill: at('color', 's'), opacity: faded() },
    tooltip: tip({ value: `${LABELS_SIGNAL}[datum.r]`, of: 'datum.t', share: exactly('v') }),
  };
  const end = {
    ...{ x: at('x', 'v'), y: middle, text: { field: 'x' }, dx: { value: 5 } },
    ...{ baseline: { value: 'middle' }, fontSize: { value: 9 }, fill: { value: TEXT_COLOR } },
    opacity: faded(),
  };
  return plotByName(ids, place, {
    scale: { type: 'linear', domain: [0, high] },
    values: labeled("format(datum.value, '.3~%')"),
    names: guide,
    marks: [mark('rect', `shares_${place}`, box), mark('text', `shares_${place}`, end)],
  });
}

function plotLines({ title, rows }: SharesPlot, width: number): readonly string[] {
  const bars = barsByName(
    rows.flatMap(({ label }) => [label, '  others']),
    rows.flatMap(({ shares }) => shares.map(share => Number((share * 100).toPrecision(3)))),
    '%',
    width,
  );
  return [cutToWidth(title, width), ...bars];
}

const form: ChartForm<SharesChart> = {
  type: 'shares',
  title: () => 'Shares',
  groups: () => '',
  clauses: ({ plots }) => plots.map(({ sentence }) => sentence),
  timeAxis: () => undefined,
  draw: sharesDrawing,
  print: ({ plots }, width) => plots.flatMap(plot => plotLines(plot, width)),
};

export const shares: KindRow = {
  label: 'Shares',
  title: 'chart of shares',
  needs: 'a row with a value of `spotlight`',
  draws: { 'a spotlight': toShares },
  form,
};
