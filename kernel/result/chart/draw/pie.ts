/**
 * Shares of a whole; the legend has the figures.
 */

import { distinctLabels } from '../labels.js';
import type { PieChart } from '../model.js';
import {
  type Drawing,
  LABELS_SIGNAL,
  PICTURE_WIDTH,
  SHORT_NAME,
  seriesChannels,
  seriesId,
  withShort,
} from './style.js';
import { shortText } from './texts.js';

/** Returns one view, slices from noon on. */
export function pieDrawing({ legend, values, unit }: PieChart): Drawing {
  const sum = values.reduce((a, b) => a + b, 0);
  const labels = legend.map(({ label }) => label);
  const withShare = (label: string, index: number) => {
    const value = values[index] ?? 0;
    return `${label}: ${shortText(value, unit)} (${((value / sum) * 100).toFixed(1)} %)`;
  };
  const texts = labels.map(withShare);
  const short = distinctLabels(labels, SHORT_NAME).map(withShare);
  const named = legend.map((entry, index) => ({ ...entry, label: texts[index] ?? entry.label }));
  return {
    views: [
      {
        width: PICTURE_WIDTH - BESIDE,
        height: 2 * RADIUS + 20,
        data: { values: values.map((v, index) => ({ s: seriesId(index), i: index, v })) },
        transform: [{ calculate: `${LABELS_SIGNAL}[datum.s]`, as: 'n' }],
        mark: { type: 'arc', outerRadius: RADIUS, innerRadius: RADIUS / 2.2, padAngle: 0.008 },
        encoding: {
          theta: { field: 'v', type: 'quantitative', stack: true },
          order: { field: 'i', type: 'quantitative' },
          color: seriesChannels(named, 'square').color,
          tooltip: [{ field: 'n', type: 'nominal', title: 'share' }],
        },
      },
    ],
    labels: withShort(texts, seriesId, short),
    titles: [],
    beside: String(BESIDE),
  };
}

const RADIUS = 95;
const BESIDE = 30;
