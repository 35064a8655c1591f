/**
 * Which chart a result becomes: the first row whose shape it has. The README shows these rows.
 */
import type { ChartKind } from '../../apl/operators/drawing.js';

/** What a result holds, as far as charts depend on it. */
export interface Facts {
  readonly rows: number;
  /** Moments along which values are drawn; 0 without a column of times. */
  readonly moments: number;
  /** Columns of numbers that measure something. */
  readonly measures: number;
  /** Columns that tell groups apart. */
  readonly keys: number;
  /** What the lists of the result hold. */
  readonly lists: 'percentiles' | 'series' | 'histograms' | 'none';
  /** The key is a number in bins of one width. */
  readonly isBinned: boolean;
  /** The rows come from an aggregation; events have no chart unless one is asked for. */
  readonly isAggregate: boolean;
}

/** A shape, the kind of its chart, and the kinds that may be asked for instead. */
export interface ShapeRow {
  readonly shape: string;
  readonly kind: ChartKind;
  readonly drawn: string;
  readonly also: readonly ChartKind[];
  readonly holds: (facts: Facts) => boolean;
}

/** Every shape that has a chart, from the most particular on. */
export const shapes = [
  {
    shape: 'histograms over time',
    kind: 'heat',
    drawn: 'a heatmap: time across, buckets up, counts as colour',
    also: [],
    holds: ({ lists, moments }) => lists === 'histograms' && moments > 1,
  },
  {
    shape: 'a histogram',
    kind: 'bar',
    drawn: 'bars as wide as its buckets, one plot for each group',
    also: [],
    holds: ({ lists, moments }) => lists === 'histograms' && moments < 2,
  },
  {
    shape: 'percentiles over time',
    kind: 'line',
    drawn: 'a line for each percentile, and the band between the lowest and the highest',
    also: ['area', 'bar', 'scatter', 'heat'],
    holds: ({ lists, moments, measures }) => lists === 'percentiles' && moments > 1 && measures > 0,
  },
  {
    shape: 'series',
    kind: 'line',
    drawn: 'a line for each group of `make-series`; rings mark anomalies that the query found',
    also: ['area', 'bar', 'scatter', 'heat'],
    holds: ({ lists, moments, measures }) => lists === 'series' && moments > 1 && measures > 0,
  },
  {
    shape: 'measures over time',
    kind: 'line',
    drawn:
      'bars for one count, else a line for each group; measures of other units or sizes get plots of their own',
    also: ['area', 'bar', 'scatter', 'heat'],
    holds: ({ moments, measures, isAggregate }) => isAggregate && moments > 1 && measures > 0,
  },
  {
    shape: 'bins of a number',
    kind: 'bar',
    drawn: 'bars along the number',
    also: ['line', 'area'],
    holds: ({ isBinned, measures, keys, rows }) => isBinned && measures > 0 && keys === 1 && rows > 1,
  },
  {
    shape: 'numbers by name',
    kind: 'bar',
    drawn: 'bars, the longest first',
    also: ['pie', 'heat', 'scatter'],
    holds: ({ keys, measures, rows, isAggregate, moments }) =>
      isAggregate && moments === 0 && keys > 0 && measures > 0 && rows > 1,
  },
  {
    shape: 'one row of numbers',
    kind: 'stat',
    drawn: 'big numbers',
    also: [],
    holds: ({ rows, keys, measures, isAggregate, moments }) =>
      isAggregate && rows === 1 && keys === 0 && measures > 1 && moments === 0,
  },
  {
    shape: 'one number',
    kind: 'none',
    drawn: 'a big number, when asked for: the table says as much',
    also: ['stat'],
    holds: ({ rows, measures, moments }) => rows === 1 && measures > 0 && moments === 0,
  },
  {
    shape: 'two numbers in each row',
    kind: 'none',
    drawn: 'dots, when asked for',
    also: ['scatter'],
    holds: ({ measures, moments, rows }) => measures > 1 && moments === 0 && rows > 1,
  },
] as const satisfies readonly ShapeRow[];

/** The names of the shapes. */
export type Shape = (typeof shapes)[number]['shape'];

/** Returns the shape of a result; undefined where nothing can be drawn. */
export function shapeOf(facts: Facts): (ShapeRow & { readonly shape: Shape }) | undefined {
  return shapes.find(({ holds }) => holds(facts));
}

/** Returns a sentence that says why a result of a shape is not drawn as it was asked for, and what that needs. */
export function refusalOf(kind: ChartKind, row: ShapeRow | undefined): string {
  const { name, needs } = KINDS[kind];
  const wanted = `No ${name}: it needs ${needs}`;
  if (row === undefined) return `${wanted}, and the result has none.`;
  const kinds = [row.kind, ...row.also].filter(each => each !== 'none');
  const ways = kinds.map(each => `\`${each}\``).join(', ');
  return `${wanted}. The result is ${row.shape}, which can be drawn as ${ways}.`;
}

const KINDS: Readonly<Record<ChartKind, { readonly name: string; readonly needs: string }>> = {
  bar: { name: 'bar chart', needs: 'numbers by name or over time' },
  line: { name: 'line chart', needs: 'numbers over time' },
  area: { name: 'area chart', needs: 'numbers over time' },
  scatter: { name: 'scatter plot', needs: 'two numbers in each row, or numbers over time' },
  pie: { name: 'pie chart', needs: 'numbers by name' },
  heat: { name: 'heatmap', needs: 'numbers over time, or by two names' },
  stat: { name: 'big number', needs: 'a single row of numbers' },
  none: { name: 'chart', needs: 'numbers' },
};
