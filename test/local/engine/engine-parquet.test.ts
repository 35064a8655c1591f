import path from 'node:path';
import { expect, test } from 'vitest';
import { Engine } from '../../../kernel/local/engine/duckdb.js';
import { copyToParquet } from '../../../kernel/local/engine/engine-parquet.js';
import { temporaryDirectory } from '../service.js';

test('ids that three rows of a row group have are told to be elsewhere by a bloom filter', async () => {
  const engine = await Engine.open({ dataDir: await temporaryDirectory(), families: [], connections: 1 });
  try {
    const file = path.join(engine.workDir, 'ids.parquet');
    const rows =
      "SELECT i // 122880 * 122880 + i % 40960 AS number, 'request ' || number AS id, 'event ' || i AS own FROM range(368640) t(i)";
    await engine.run(copyToParquet(rows, file, { fields: [] }));
    const excluded = (column: string, value: string) =>
      engine.run(
        `SELECT bloom_filter_excludes FROM parquet_bloom_probe('${file}', '${column}', ${value}) ORDER BY row_group_id`,
      );
    expect(await excluded('number', '122881')).toEqual([[true], [false], [true]]);
    expect(await excluded('id', "'request 122881'")).toEqual([[true], [false], [true]]);
    // A dictionary of all values would cost the processor as much as all else.
    expect(await excluded('own', "'event 122881'")).toEqual([[false], [false], [false]]);
  } finally {
    await engine.close();
  }
});
