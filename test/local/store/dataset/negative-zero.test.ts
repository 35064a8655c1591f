import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { sqlText } from '../../../../kernel/local/duckdb/duckdb-literal.js';
import type { DatasetCatalog } from '../../../../kernel/local/sql/compiled-query.js';
import { importFile } from '../../../../kernel/local/store/import.js';
import { now, openQueries } from '../../queries.js';
import { sharedStore } from './stores.js';

let catalog: DatasetCatalog | undefined;

const { run } = openQueries(() => {
  if (catalog === undefined) throw new RangeError('nothing has been imported');
  return catalog;
});

/** Every zero is negative, so that a filter on the column does not know about positive zeros. */
const values = "CASE WHEN i % 20 = 0 THEN '-0.0'::DOUBLE ELSE 0.5 - i % 2 END";

sharedStore(async ({ dataDir, engine, store }) => {
  const parquet = path.join(dataDir, 'in.parquet');
  await engine.run(
    `COPY (SELECT ${values} AS v FROM range(60) r(i)) TO ${sqlText(parquet)} (FORMAT parquet)`,
  );
  const json = path.join(dataDir, 'in.ndjson');
  const lines = Array.from({ length: 60 }, (_, i) => `{"v":${i % 20 === 0 ? '-0.0' : 0.5 - (i % 2)}}\n`);
  await writeFile(json, lines.join(''));
  await importFile(store, dataDir, { path: parquet, dataset: 'parquet' }, now);
  await importFile(store, dataDir, { path: json, dataset: 'json' }, now);
  const both = path.join(dataDir, 'both.ndjson');
  await writeFile(
    both,
    lines.map((line, i) => (i % 40 === 20 ? line.replace('-0.0', '0.0') : line)).join(''),
  );
  await importFile(store, dataDir, { path: both, dataset: 'both' }, now);
  catalog = await store.snapshot('parquet', 'json', 'both');
});

const zero = 'datatable(z:real)[0.0]';

const searches = [
  'where v == 0',
  'where 0.0 == v',
  'where v in (0.0)',
  'where v in (0.0, 7.0)',
  'where not(v != 0)',
  'where not(tobool(v))',
  'where v between (0.0 .. 0.0)',
  'where v * 1 == 0',
  'extend z = iff(v > 9, 1.0, 0.0) | where v == z',
  'extend w = v | where v == w and w == 0',
  `where v in (${zero})`,
  `where v == toscalar(${zero})`,
  `join kind=inner (${zero} | project v = z) on v`,
  `join kind=leftsemi (${zero}) on $left.v == $right.z`,
  `lookup (${zero} | extend known = true) on $left.v == $right.z | where known`,
];

describe.each(['parquet', 'json'])('negative zeros in a %s file', dataset => {
  test('keep their sign, and match zero in searches', async () => {
    for (const search of searches) {
      const outcome = await run(
        `${dataset} | ${search} | summarize n = count() by s = tostring(1 / v), zero = v == 0`,
      );
      expect([search, outcome.ok ? outcome.ran.rows : outcome.diagnostics]).toEqual([
        search,
        [['"-Inf"', 'true', '3']],
      ]);
    }
  });
});

test('zeros of both signs are found by either, whichever sign they keep', async () => {
  for (const search of searches) {
    const outcome = await run(`both | ${search} | summarize n = count() by zero = v == 0`);
    expect([search, outcome.ok ? outcome.ran.rows : outcome.diagnostics]).toEqual([search, [['true', '3']]]);
  }
});
