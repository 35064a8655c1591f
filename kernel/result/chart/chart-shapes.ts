/** Which chart a result becomes: the first row with its shape. `docs/charts.md` shows these rows. */
import type { ChartKind } from '../../apl/operators/drawing.js';

/** The properties of a result that charts depend on. */
export interface Facts {
  readonly rows: number;
  /** Timestamps along which values are drawn; 0 without a column of times. */
  readonly timestamps: number;
  /** Numeric columns that measure something. */
  readonly measures: number;
  /** Columns that tell groups apart. */
  readonly keys: number;
  /** Contents of the lists of the result. */
  readonly lists: 'percentiles' | 'series' | 'histograms' | 'spotlight' | 'none';
  /** The key is a number in bins of one width. */
  readonly isBinned: boolean;
  /** The rows come from an aggregation; events get a chart only on request. */
  readonly isAggregate: boolean;
}

/** A shape, and the kind of its chart; the rows of the kinds list the others that can be requested. */
export interface ShapeRow {
  readonly shape: Shape;
  readonly kind: ChartKind;
  readonly drawn: string;
  readonly holds: (facts: Facts) => boolean;
}

/** Every shape that has a chart, most specific first. */
export const shapes = [
  {
    shape: 'a spotlight',
    kind: 'shares',
    drawn:
      'bars for each field, the most distinctive first: the share of the selected rows beside the share of the others',
    holds: ({ lists }) => lists === 'spotlight',
  },
  {
    shape: 'histograms over time',
    kind: 'heat',
    drawn: 'a heatmap: time across, buckets up, counts as color',
    holds: ({ lists, timestamps }) => lists === 'histograms' && timestamps > 1,
  },
  {
    shape: 'a histogram',
    kind: 'bar',
    drawn: 'bars as wide as its buckets, one plot for each group',
    holds: ({ lists, timestamps }) => lists === 'histograms' && timestamps < 2,
  },
  {
    shape: 'percentiles over time',
    kind: 'line',
    drawn: 'a line for each percentile, and the band between the lowest and the highest',
    holds: ({ lists, timestamps, measures }) => lists === 'percentiles' && timestamps > 1 && measures > 0,
  },
  {
    shape: 'series',
    kind: 'line',
    drawn: 'a line for each group of `make-series`; anomalies that the query found are red',
    holds: ({ lists, timestamps, measures }) => lists === 'series' && timestamps > 1 && measures > 0,
  },
  {
    shape: 'measures over time',
    kind: 'line',
    drawn:
      'bars for a single count, otherwise a line for each group; measures with other units or magnitudes get separate plots',
    holds: ({ timestamps, measures, isAggregate }) => isAggregate && timestamps > 1 && measures > 0,
  },
  {
    shape: 'bins of a number',
    kind: 'bar',
    drawn: 'bars along the number',
    holds: ({ isBinned, measures, keys, rows }) => isBinned && measures > 0 && keys === 1 && rows > 1,
  },
  {
    shape: 'numbers by name',
    kind: 'bar',
    drawn: 'bars, longest first or as the query sorts them; below the table if there are several figures',
    holds: ({ keys, measures, rows, isAggregate, timestamps }) =>
      isAggregate && timestamps === 0 && keys > 0 && measures > 0 && rows > 1,
  },
  {
    shape: 'one row of numbers',
    kind: 'stat',
    drawn: 'big numbers',
    holds: ({ rows, keys, measures, isAggregate, timestamps }) =>
      isAggregate && rows === 1 && keys === 0 && measures > 1 && timestamps === 0,
  },
  {
    shape: 'one number',
    kind: 'none',
    drawn: 'a big number, on request: the table shows the same',
    holds: ({ rows, measures, timestamps }) => rows === 1 && measures > 0 && timestamps === 0,
  },
  {
    shape: 'two numbers in each row',
    kind: 'none',
    drawn: 'dots, on request',
    holds: ({ measures, timestamps, rows }) => measures > 1 && timestamps === 0 && rows > 1,
  },
] as const satisfies readonly (Omit<ShapeRow, 'shape'> & { readonly shape: string })[];

/** The names of the shapes. */
export type Shape = (typeof shapes)[number]['shape'];

/** Returns the shape of a result; undefined if nothing can be drawn. */
export function shapeOf(facts: Facts): ShapeRow | undefined {
  return shapes.find(({ holds }) => holds(facts));
}
