/**
 * A measure over time as colours, one row for each line that a line chart would have.
 */

import type { ChartWish } from '../../../apl/operators/drawing.js';
import type { Cell, HeatChart, XyChart } from '../model.js';

/** Returns the first plot of a chart over time as a heatmap; a sentence where it has no bins. */
export function toTimeHeat(chart: XyChart, wish: ChartWish): HeatChart | string {
  const { axis } = chart;
  const [plot] = chart.plots;
  if (plot === undefined || axis.grid === undefined) return 'No heatmap: the times have no common distance.';
  if (plot.mark === 'dots') return 'No heatmap: rows share a moment.';
  const { size } = axis.grid;
  const cells = plot.lines.flatMap(({ points }, y) =>
    points.flatMap(({ t, v, added }): Cell[] => {
      if (v === null || added === true) return [];
      const from = Math.max(t, axis.start);
      return [{ x: from, width: Math.min(t + size, axis.until) - from, y, height: 1, v }];
    }),
  );
  const values = cells.map(({ v }) => v);
  const least = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const isLog = wish.log === true && least > 0;
  return {
    kind: 'heat',
    axis,
    rows: plot.lines.map(({ label }) => label),
    cells,
    unit: plot.unit,
    most: values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY),
    least: isLog ? least : Math.min(0, least),
    isLog,
    legend: [],
    names: chart.plots.length > 1 ? chart.names.slice(0, 1) : chart.names,
    remarks: [
      ...chart.remarks.filter(remark => !OF_LINES.test(remark)),
      ...(wish.log === true && !isLog ? ['no log colours: there are values of 0 or less'] : []),
      ...(plot.flagged.length > 0 ? ['anomalies are not marked'] : []),
      'bins without rows are empty',
      ...(chart.plots.length > 1 ? [`the first of ${chart.plots.length} measures`] : []),
    ],
  };
}

/** What is said of lines and their axis alone. */
const OF_LINES = /^(?:bins |rings are anomalies|the axis does not begin at 0)/;
