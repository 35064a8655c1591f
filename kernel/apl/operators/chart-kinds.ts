/** Chart kinds, from `result/chart/kinds/`; `npx tsx scripts/reference.ts` writes this file. */
export const drawnKinds = ['area', 'bar', 'heat', 'line', 'pie', 'scatter', 'shares', 'stat'] as const;

/** Menu labels of the chart kinds. */
export const kindLabels = {
  area: 'Areas',
  bar: 'Bars',
  heat: 'Heatmap',
  line: 'Lines',
  pie: 'Pie',
  scatter: 'Dots',
  shares: 'Shares',
  stat: 'Big numbers',
} as const;
