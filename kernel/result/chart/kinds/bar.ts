/** Bars: by name, one below the other, each with its value at its end; otherwise along an axis. */
import type { ChartOptions } from '../../../apl/operators/drawing.js';
import { present } from '../../../present.js';
import { aggregateOf, distinctNames } from '../chart-columns.js';
import {
  firstOf,
  NO_LOG,
  namesOf,
  notDrawn,
  notes,
  notStacked,
  noValue,
  withoutValues,
} from '../chart-notes.js';
import type { ChartColumn } from '../chart-values.js';
import type { Entry } from '../palette.js';
import { endsFor, isLogFor, scaled, titleOf, unitOf } from '../plots.js';
import { toSeries } from '../time/time-series.js';
import { greatestSize, scaleFor } from '../units.js';
import type { ChartInput } from './input.js';
import type { KindRow } from './kind.js';
import { toHistograms, toNumberBins } from './shared/along.js';
import { type Bar, type BarChart, type BarPlot, barForm, sums } from './shared/bars.js';
import {
  cutNames,
  dividedRows,
  MAX_PARTS,
  type NamedRow,
  OTHERS,
  rowsByName,
  sumAt,
  withValues,
} from './shared/bars-by-name.js';

const MAX_PLOTS = 4;

/** Returns bars of each measure, one below the other; with two keys and `@stack`, the second divides the bars. */
function toBars({ result, table, roles }: ChartInput, options: ChartOptions): BarChart | string {
  const filled = withValues(table, roles.measures);
  const [first] = filled;
  if (first === undefined) return noValue(roles.measures);
  const isDivided = options.stack === true && roles.keys.length > 1 && !aggregateOf(first).isNever;
  const isSorted = !isDivided && result.reading?.isSorted === true;
  const names = isDivided ? dividedRows(roles.keys, first) : rowsByName(roles.keys, first, isSorted);
  const measures = isDivided ? [first] : filled.slice(0, MAX_PLOTS);
  const titles = distinctNames(measures);
  const plots = measures.map((measure, index) =>
    barPlot(names.rows, { measure, name: titles[index] ?? '' }, names.parts, options),
  );
  return {
    kind: 'bars',
    ...present({ followsTable: plots.length > 1 ? (true as const) : undefined }),
    plots,
    keys: namesOf(isDivided ? roles.keys.slice(0, -1) : roles.keys),
    legend: names.parts,
    names: titles,
    notes: notes(
      cutNames(names, first, isSorted),
      names.cut > 0 && `parts beyond the ${MAX_PARTS - 1} largest are combined into ${OTHERS}`,
      !isDivided && firstOf(plots.length, filled.length, 'measures'),
      isDivided && notDrawn(filled.slice(1)),
      withoutValues(roles.measures.filter(measure => !filled.includes(measure))),
      notDrawn(roles.leftOut),
      options.log === true &&
        plots.some(plot => !plot.isLog) &&
        (isDivided ? 'no log axis: the bars are divided' : NO_LOG),
      options.stack === true &&
        !isDivided &&
        notStacked(roles.keys.length > 1, 'there is only one key', [first]),
    ),
  };
}

function barPlot(
  rows: readonly NamedRow[],
  { measure, name }: { readonly measure: ChartColumn; readonly name: string },
  parts: readonly Entry[],
  options: ChartOptions,
): BarPlot {
  const values = rows.flatMap(row => row.places.flatMap(place => sumAt(place, measure) ?? []));
  const scale = scaleFor(unitOf(measure, options), greatestSize(values));
  const bars = rows.map(
    (row): Bar => ({
      label: row.label,
      ...present({ of: row.of }),
      parts: row.places.map(place => scaled(sumAt(place, measure), scale.factor)),
    }),
  );
  const ends = bars.map(sums).flatMap(({ up, down }) => [up, down]);
  const isLog = parts.length === 0 && isLogFor(values, options);
  return {
    title: titleOf(name, scale.unit),
    unit: scale.unit,
    bars,
    ...endsFor(
      ends.filter(end => !isLog || end > 0),
      { mark: 'bars', isLog },
    ),
    isLog,
  };
}

export const bar: KindRow = {
  label: 'Bars',
  title: 'bar chart',
  needs: 'numbers by name or over time',
  draws: {
    'a histogram': toHistograms,
    'percentiles over time': toSeries,
    series: toSeries,
    'measures over time': toSeries,
    'bins of a number': toNumberBins,
    'numbers by name': toBars,
  },
  form: barForm,
};
