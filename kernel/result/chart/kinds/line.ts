/** A line for each group or measure. */

import { xyForm } from '../draw/xy.js';
import type { KindRow } from './kind.js';
import { drawSeries, toNumberBins } from './shared/along.js';

export const line: KindRow = {
  label: 'Lines',
  title: 'line chart',
  needs: 'numbers over time',
  draws: {
    'percentiles over time': drawSeries,
    series: drawSeries,
    'measures over time': drawSeries,
    'bins of a number': toNumberBins,
  },
  form: xyForm,
};
