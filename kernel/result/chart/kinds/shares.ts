/** Findings of `spotlight`: for each field, the share of its values among the selected rows beside the share among the remaining ones. */

import { distinctText } from '../../display/display-text.js';
import { safeWords } from '../../display/summary.js';
import { type SpotlightEntry, sampledNotes, spotlightSentence, strongest } from '../../spotlight.js';
import { firstOf, notes } from '../chart-notes.js';
import { distinctLabels } from '../labels.js';
import { largest } from '../plots.js';
import type { ChartInput } from './input.js';
import type { KindRow } from './kind.js';
import { type BarChart, type BarPlot, barForm } from './shared/bars.js';

const MAX_PLOTS = 5;
/** Maximum number of values drawn for a field; ranges are a distribution and all drawn. */
const MAX_VALUES = 6;

const LEGEND = [
  { label: 'selected', look: { color: '#c98200', dash: [1, 0] } },
  { label: 'others', look: { color: '#868c96', dash: [1, 0] } },
];

/** Returns a plot for each field, all with the same axis; a sentence if nothing tells the rows apart. */
function toShares({ spotlight = [] }: ChartInput): BarChart | string {
  const telling = spotlight.filter(({ score }) => score > 0);
  const shown = telling.slice(0, MAX_PLOTS);
  if (shown.length === 0) return nothingTold(spotlight);
  const names = distinctLabels(shown.map(({ field }) => safeWords(field)));
  const all = shown.flatMap(entry =>
    shownValues(entry).flatMap(({ selected, others }) => [selected, others]),
  );
  const plots = shown.map((entry, index) => plotOf(entry, names[index] ?? '', largest(all)));
  return {
    kind: 'bars',
    areShares: true,
    plots,
    keys: '',
    legend: LEGEND,
    names,
    title: `${plots[0]?.sentence}.`,
    notes: notes(
      firstOf(shown.length, telling.length, 'fields'),
      ...sampledNotes(shown),
      shown.some(({ values }) => values.filter(({ isRange }) => !isRange).length > MAX_VALUES) &&
        `the ${MAX_VALUES} values of a field whose shares differ most`,
    ),
  };
}

/** Returns why there is nothing to draw: nothing could be compared, which the note of every field says, or all differences are chance. */
function nothingTold(entries: readonly SpotlightEntry[]): string {
  const compared = entries.some(({ values }) => values.length > 0);
  const note = entries
    .map(each => each.note)
    .find(each => each !== undefined && !each.startsWith('left out'));
  if (!compared && note !== undefined) return `Nothing to compare: ${note}.`;
  return 'No field distinguishes the selected events from the others better than chance.';
}

function shownValues({ values }: SpotlightEntry): SpotlightEntry['values'] {
  const drawn = new Set(values.filter(({ isRange }) => !isRange).slice(0, MAX_VALUES));
  return values.filter(value => value.isRange || drawn.has(value));
}

function plotOf(entry: SpotlightEntry, name: string, high: number): BarPlot {
  const values = shownValues(entry);
  const labels = distinctLabels(
    values.map(({ text }) => (text === null ? 'null' : safeWords(distinctText(text)))),
  );
  const best = strongest(entry);
  return {
    title: `${name} \u00b7 score ${entry.score.toFixed(2)}`,
    unit: '',
    bars: values.map(({ selected, others }, index) => ({
      label: labels[index] ?? '',
      parts: [selected, others],
    })),
    ...{ low: 0, high, isLog: false },
    sentence: best === undefined ? name : spotlightSentence(best),
  };
}

export const shares: KindRow = {
  label: 'Shares',
  title: 'chart of shares',
  needs: 'a row with a value of `spotlight`',
  draws: { 'a spotlight': toShares },
  form: barForm,
};
