import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { DatasetCatalog } from '../../../kernel/local/sql/compiled-query.js';
import { importFile } from '../../../kernel/local/store/import.js';
import { now, openQueries } from '../queries.js';
import { sharedStore } from '../store/dataset/stores.js';

let catalog: DatasetCatalog | undefined;

const { run } = openQueries(() => {
  if (catalog === undefined) throw new RangeError('the file has not been imported');
  return catalog;
});

/** A stored dataset: the engine pushes join keys into scans of files, but not into constants. */
sharedStore(async ({ dataDir, store }) => {
  const file = path.join(dataDir, 'in.csv');
  const lines = Array.from(
    { length: 100 },
    (_, x) => `2026-03-04T05:00:${String(x % 60).padStart(2, '0')}Z,${x}.5`,
  );
  await writeFile(file, ['_time,x', ...lines].join('\n'));
  await importFile(store, dataDir, { path: file, dataset: 'stored' }, now);
  catalog = await store.snapshot('stored');
});

/** The smallest three values of x are 0.5, 1.5 and 2.5, none of which is on the other side of the joins. */
const others = 'let other = datatable(x: real)[50.5, 51.5];';

test.each([
  'stored | distinct x | sort by x asc | take 3 | join kind=leftsemi (other) on x',
  'stored | distinct x | sort by x asc | take 3 | join kind=inner (other) on x',
  'stored | distinct x | sort by x asc | take 3 | lookup kind=inner (other) on x',
  'stored | distinct x | sort by x asc | take 3 | where x in ((other))',
  'stored | distinct x | take 3 | extend y = x in ((other)) | where y',
  'stored | summarize n = count() by x | top 3 by x asc | join (other) on x',
  'other | join kind=rightsemi (stored | distinct x | sort by x asc | take 3) on x',
  'other | where x in ((stored | distinct x | sort by x asc | take 3))',
])('a limit is applied before the join above it: %s', async apl => {
  // The sides of a join are read in parallel, so their order varies between runs.
  for (let turn = 0; turn < 20; turn++) {
    const outcome = await run(`${others} ${apl}`);
    if (!outcome.ok) throw new Error(outcome.diagnostics.map(each => each.message).join('; '));
    expect(outcome.ran.rows).toEqual([]);
  }
});
