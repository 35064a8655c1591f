import type { ChartOptions } from '../../../kernel/apl/operators/drawing.js';
import { type Chart, toChart } from '../../../kernel/result/chart/chart.js';
import { cells, type SampleColumn, type SampleTable, sampleResult } from '../sample.js';

/** A time after all bins of the samples. */
export const now = Date.UTC(2027, 0);

/** One-minute buckets. */
export const buckets = { field: '_time', size: 60_000_000_000 };

/** Returns the time `index` minutes after 9:00. */
export function minute(index: number): string {
  return new Date(Date.UTC(2026, 10, 20, 9, index)).toISOString();
}

/** Returns times a minute apart from 9:00 on, each repeated in `each` rows. */
export function time(count: number, each = 1): SampleColumn {
  return ['_time', 'datetime', cells(count, row => minute(Math.floor(row / each)))];
}

/** Returns the chart of a table; throws if it has none. */
export async function chartOf(table: SampleTable, options?: ChartOptions): Promise<Chart> {
  const chart = await toChart(sampleResult([table]), now, options);
  if (chart?.kind !== 'chart') throw new Error(`no chart: ${chart?.reason}`);
  return chart;
}

/** Returns the texts in an image. */
export function textsIn(svg: string): readonly string[] {
  return [...svg.matchAll(/<text[^>]*>([^<]*)/g)].map(([, text]) => text ?? '');
}
