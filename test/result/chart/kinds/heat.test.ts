import { expect, test } from 'vitest';
import { cells } from '../../sample.js';
import { buckets, chartOf, minute, time } from '../fixtures.js';
import { isOf } from '../marks.js';

const thinned = 'too many points to draw: only the lowest and highest of neighboring points are shown';

test.each([
  [4_000, 4_000, []],
  [4_001, 2_001, [thinned]],
])(
  'a heatmap of %d bins has %d cells, and does not say that the others have no rows',
  async (bins, count, notes) => {
    const { model } = await chartOf(
      {
        columns: [time(bins), ['n', 'integer', cells(bins, row => row % 7)]],
        groups: ['_time'],
        aggs: { n: { name: 'count' } },
        buckets,
        range: { start: minute(0), end: minute(bins) },
      },
      { kind: 'heat' },
    );
    expect([isOf(model, 'heat') && model.cells.length, model.notes]).toEqual([count, notes]);
  },
);
