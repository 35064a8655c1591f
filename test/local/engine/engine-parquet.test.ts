import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Engine } from '../../../kernel/local/engine/duckdb.js';
import { copyToParquet } from '../../../kernel/local/engine/engine-parquet.js';
import { temporaryDirectory } from '../service.js';

test.each([
  [2, 130_000, [122_880n, 7_120n]],
  [200, 130_000, [122_880n, 7_120n]],
  [2000, 13_000, [12_288n, 712n]],
])('a row group of %i fields has as many rows as fit in memory', async (count, rows, groups) => {
  const dataDir = await temporaryDirectory();
  const engine = await Engine.open({ dataDir, families: [], threads: 1 });
  onTestFinished(() => engine.close());
  const file = path.join(dataDir, 'out.parquet');
  const fields = Array.from({ length: count }, (_, field) => ({
    name: `f${field}`,
    column: `f${field}`,
    type: 'bool' as const,
  }));
  const select = `SELECT ${fields.map(({ column }) => `true AS ${column}`).join(', ')} FROM range(${rows})`;
  await engine.run(copyToParquet(select, file, { fields }));
  const found = await engine.run(
    `SELECT DISTINCT row_group_id, row_group_num_rows FROM parquet_metadata('${file}') ORDER BY ALL`,
  );
  expect(found.map(([, size]) => size)).toEqual(groups);
});

test('strings in 5,000 fields are written within the memory of an import', async () => {
  const dataDir = await temporaryDirectory();
  const engine = await Engine.open({ dataDir, families: [], threads: 1, memoryBytes: 2 ** 31 });
  onTestFinished(() => engine.close());
  const file = path.join(dataDir, 'out.parquet');
  const fields = Array.from({ length: 5000 }, (_, field) => ({
    name: `f${field}`,
    column: `f${field}`,
    type: 'string' as const,
  }));
  const values = fields.map(({ column }, field) => `'v' || ((i + ${field}) % 97) AS ${column}`);
  await engine.run(copyToParquet(`SELECT ${values.join(', ')} FROM range(500) r(i)`, file, { fields }));
  const found = await engine.run(`SELECT count(*), min(f0), max(f4999) FROM read_parquet('${file}')`);
  expect(found).toEqual([[500n, 'v0', 'v96']]);
});
