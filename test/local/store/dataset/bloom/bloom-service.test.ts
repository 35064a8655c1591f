import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { sqlText } from '../../../../../kernel/local/duckdb/duckdb-literal.js';
import { Engine } from '../../../../../kernel/local/engine/duckdb.js';
import { compileRequest } from '../../../../../kernel/local/sql/compile.js';
import { temporaryDirectory, testService } from '../../../service.js';

const rows = 250_000;

test('an id is found before and after its filters are built, and in later events', async () => {
  const dataDir = await temporaryDirectory();
  const directory = path.join(dataDir, 'datasets', 'logs');
  await mkdir(directory, { recursive: true });
  const engine = await Engine.open({ dataDir });
  await engine.run(
    `COPY (SELECT make_timestamp_ns(1780000000000000000 + i * 1000000) AS _time, 'id ' || i // 2 AS id, i AS n FROM range(${rows}) t(i))
     TO ${sqlText(path.join(directory, 'a.parquet'))} (FORMAT parquet)`,
  );
  await engine.close();
  const { json, query, service } = await started(dataDir);
  const numbers = async (condition: string) => {
    const { status, body } = await query(`logs | where ${condition} | sort by n asc | project n`);
    return status === 200 ? body.tables[0].columns[0] : body;
  };
  const blooms = () => readdir(path.join(dataDir, '.cache', 'blooms', 'logs')).catch(() => []);
  const conditions = ['id == "id 100000"', 'id in ("id 0", "id 124999") and n < 200000', 'id == "none"'];
  const expected = [[200_000, 200_001], [0, 1], []];
  const all = () => Promise.all(conditions.map(numbers));
  expect(await all()).toEqual(expected);
  const examined = () =>
    Promise.all(
      conditions.map(async each => (await query(`logs | where ${each} | count`)).body.status.rowsExamined),
    );
  expect(await examined()).toEqual([rows, rows, rows]);
  await expect.poll(blooms, { timeout: 30_000 }).toHaveLength(1);
  expect(await all()).toEqual(expected);
  expect(await examined()).toEqual([122_880, 127_120, 0]);
  await json('POST', '/v1/datasets/logs/ingest', [{ _time: '2026-06-01T00:00:00Z', id: 'id 100000', n: -1 }]);
  expect(await all()).toEqual([[-1, 200_000, 200_001], [0, 1], []]);
  await service.close();
  const again = await started(dataDir);
  expect((await again.query('logs | where id == "id 7" | count')).body.tables[0].columns).toEqual([[2]]);
  expect((await again.json('DELETE', '/v2/datasets/logs')).status).toBe(204);
  await expect.poll(blooms).toEqual([]);
});

async function started(dataDir: string) {
  const service = await testService({ dataDir, compile: compileRequest });
  return {
    service: service.service,
    json: service.json.bind(service),
    query: (apl: string) =>
      service.query(apl, { startTime: '2026-01-01T00:00:00Z', endTime: '2027-01-01T00:00:00Z' }),
  };
}
