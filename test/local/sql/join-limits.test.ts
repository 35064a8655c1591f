import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Engine } from '../../../kernel/local/engine/duckdb.js';
import type { DatasetCatalog } from '../../../kernel/local/sql/compiled-query.js';
import { DatasetStore } from '../../../kernel/local/store/datasets.js';
import { importFile } from '../../../kernel/local/store/import.js';
import { now, openQueries } from '../queries.js';

let catalog: DatasetCatalog | undefined;
let engine: Engine | undefined;
let dataDir = '';

const { run } = openQueries(() => {
  if (catalog === undefined) throw new RangeError('the file has not been imported');
  return catalog;
});

/** A stored dataset: the engine pushes join keys into scans of files, but not into constants. */
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'apl-kernel-test-'));
  engine = await Engine.open({ dataDir });
  const file = path.join(dataDir, 'in.csv');
  const lines = Array.from(
    { length: 100 },
    (_, x) => `2026-03-04T05:00:${String(x % 60).padStart(2, '0')}Z,${x}.5`,
  );
  await writeFile(file, ['_time,x', ...lines].join('\n'));
  const store = new DatasetStore(dataDir, engine);
  await importFile(store, dataDir, { path: file, dataset: 'stored' }, now);
  catalog = await store.snapshot('stored');
});

afterAll(async () => {
  await engine?.close();
  await rm(dataDir, { recursive: true, force: true });
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
])('the rows of a limit are counted before the join above it: %s', async apl => {
  // The sides of a join are read in parallel, so their order varies between runs.
  for (let turn = 0; turn < 20; turn++) {
    const outcome = await run(`${others} ${apl}`);
    if (!outcome.ok) throw new Error(outcome.diagnostics.map(each => each.message).join('; '));
    expect(outcome.ran.rows).toEqual([]);
  }
});
