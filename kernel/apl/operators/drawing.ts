import { drawnKinds } from './chart-kinds.js';
import type { OperatorRow } from './grammar.js';

/** A kind that draws something. */
export type DrawnKind = (typeof drawnKinds)[number];

/** A kind of chart; `none` is not a chart. */
export type ChartKind = DrawnKind | 'none';

/** Chart kinds accepted by `// @viz` and `%viz`. */
export const chartKinds: readonly ChartKind[] = [...drawnKinds, 'none'];

/** Options of a chart; without `kind`, the shape of the result decides. */
export interface ChartOptions {
  readonly kind?: ChartKind;
  readonly stack?: boolean;
  readonly log?: boolean;
  /** Unit of the measures, in place of their fields' unit. */
  readonly unit?: string;
  readonly title?: string;
  /** Whether a chart over time shows the service's annotations (default: a setting decides). */
  readonly annotations?: boolean;
  /** False to hide the legend. */
  readonly legend?: boolean;
  /** Whether the results of the cell are side by side, or a single query's result beside its chart. */
  readonly beside?: boolean;
}

/** Chart kinds by their names in other dialects. */
export const renderings: Readonly<Record<string, { readonly kind: ChartKind; readonly stack?: true }>> = {
  timechart: { kind: 'line' },
  linechart: { kind: 'line' },
  anomalychart: { kind: 'line' },
  areachart: { kind: 'area' },
  stackedareachart: { kind: 'area', stack: true },
  barchart: { kind: 'bar' },
  columnchart: { kind: 'bar' },
  piechart: { kind: 'pie' },
  scatterchart: { kind: 'scatter' },
  card: { kind: 'stat' },
  table: { kind: 'none' },
};

/** Axis title, an option of Kusto's charts. */
const axisTitle = {
  takes: 'text',
  doc: 'Has no effect: an axis is labeled with its field name.',
  unused: 'An axis is labeled with its field name: write `| project-rename requests = count_`.',
} as const;

/** The operator that sets how a result is displayed; services do not compute it. */
export const drawing = {
  render: {
    usage: ['T | render kind [with (title="text", kind=stacked, yaxis=log, legend=hidden)]'],
    doc: `Sets how the result is displayed, at the end of a query. Kinds are ${chartKinds.slice(0, -1).join(', ')} or none, and timechart, areachart, barchart, columnchart, piechart, scatterchart, card and table; the rows do not change, and the operator is not sent to the service.`,
    example: {
      apl: "datatable(name:string, n:long)['a', 2, 'b', 3] | where n > 2 | render bar",
      result: '["b", 3]',
    },
    clauses: [
      { name: 'chart', takes: 'word', words: [...chartKinds, ...Object.keys(renderings)] },
      {
        name: 'options',
        takes: 'options in parentheses',
        word: 'with',
        optional: true,
        options: {
          title: { takes: 'text', doc: 'Chart title.' },
          kind: {
            takes: 'word',
            values: ['stacked', 'unstacked', 'default'],
            doc: 'Whether to stack groups.',
          },
          yaxis: {
            takes: 'word',
            values: ['linear', 'log'],
            doc: 'Scale of the value axis.',
          },
          legend: { takes: 'word', values: ['visible', 'hidden'], doc: 'Whether to show the legend.' },
          xtitle: axisTitle,
          ytitle: axisTitle,
        },
        startsLine: true,
      },
    ],
  },
} as const satisfies Readonly<Record<string, OperatorRow>>;
