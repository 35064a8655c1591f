import type { Annotation } from '../../../kernel/api/wire.js';

/** Counts in ten-minute bins. */
export const countsOverTime = {
  format: 'tabular',
  status: {},
  tables: [
    {
      name: '0',
      fields: [
        { name: '_time', type: 'datetime' },
        { name: 'n', type: 'integer', agg: { name: 'count' } },
      ],
      groups: [{ name: '_time' }],
      buckets: { field: '_time', size: 600_000_000_000 },
      range: { field: '_time', start: '2026-03-04T04:00:00Z', end: '2026-03-04T05:00:00Z' },
      columns: [
        ['2026-03-04T04:00:00Z', '2026-03-04T04:10:00Z', '2026-03-04T04:20:00Z'],
        [3, 1, 2],
      ],
    },
  ],
  datasetNames: ['web'],
  fieldsMetaMap: {},
};

/** Returns an annotation in the 4:10 bin. */
export function releaseOf(title: string): Annotation {
  return { id: 'ann_1', datasets: ['web'], time: '2026-03-04T04:15:00Z', title, type: 'deploy' };
}
