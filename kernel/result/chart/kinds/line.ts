/** A line for each group or measure. */

import { xyForm } from '../draw/xy.js';
import { toSeries } from '../time/time-series.js';
import type { KindRow } from './kind.js';
import { toNumberBins } from './shared/along.js';

export const line: KindRow = {
  label: 'Lines',
  title: 'line chart',
  needs: 'numbers over time',
  draws: {
    'percentiles over time': toSeries,
    series: toSeries,
    'measures over time': toSeries,
    'bins of a number': toNumberBins,
  },
  form: xyForm,
};
