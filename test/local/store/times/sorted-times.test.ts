import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Engine } from '../../../../kernel/local/engine/duckdb.js';
import { factsOf } from '../../../../kernel/local/store/dataset/draft-facts.js';
import { sortByTime } from '../../../../kernel/local/store/times/sorted-times.js';
import { temporaryDirectory } from '../../service.js';

const fields = ['_time', 'n', 'text'].map(name => ({ name, column: name, type: 'string' as const }));

test.each([
  ['are sorted by time', 1000, true],
  ['keep their order if there is not enough memory to sort them', 100, false],
])('rows out of time order %s', async (_, memoryMb, isSorted) => {
  const dataDir = await temporaryDirectory();
  const writer = await Engine.open({ dataDir, families: [] });
  const draft = path.join(dataDir, 'draft.parquet');
  // 8,192 rows of 16 KB in four row groups, whose times overlap.
  await writer.run(
    `COPY (SELECT make_timestamp_ns((i * 7919) % 8192) AS _time, i AS n, repeat(md5(i::VARCHAR), 512) AS text FROM range(8192) r(i))
     TO '${draft}' (ROW_GROUP_SIZE 2048)`,
  );
  await writer.close();
  const engine = await Engine.open({ dataDir, families: [], memoryBytes: memoryMb * 2 ** 20, threads: 1 });
  onTestFinished(() => engine.close());
  await engine.withConnection(async connection =>
    sortByTime(connection, draft, { fields }, await factsOf(connection, draft), 8192),
  );
  const rows = await engine.run(`SELECT n FROM read_parquet('${draft}')`);
  const expected = Array.from({ length: 8192 }, (_, n) => n);
  if (isSorted) expected.sort((a, b) => ((a * 7919) % 8192) - ((b * 7919) % 8192));
  expect(rows.map(([n]) => Number(n))).toEqual(expected);
  expect((await readdir(dataDir)).filter(name => name.startsWith('draft'))).toEqual(['draft.parquet']);
});
