/** Lines whose surface is filled down to the axis, or to the line below. */

import { xyForm } from '../draw/xy.js';
import { toSeries } from '../time/series.js';
import type { KindRow } from './kind.js';
import { toNumberBins } from './shared/along.js';

export const area: KindRow = {
  label: 'Areas',
  title: 'area chart',
  needs: 'numbers over time',
  draws: {
    'percentiles over time': toSeries,
    series: toSeries,
    'measures over time': toSeries,
    'bins of a number': toNumberBins,
  },
  form: xyForm,
};
