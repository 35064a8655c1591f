import { execFileSync } from 'node:child_process';
import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Engine } from '../../../../../kernel/local/engine/duckdb.js';
import { compileRequest } from '../../../../../kernel/local/sql/compile.js';
import { readBatch } from '../../../../../kernel/local/store/append/append-batch.js';
import { Buckets } from '../../../../../kernel/local/store/dataset/bucket/buckets.js';
import { publishToBucket } from '../../../../../kernel/local/store/dataset/bucket/publish.js';
import { nowMs, sharedService, temporaryDirectory } from '../../../service.js';
import { testStore } from '../stores.js';
import { eventsFile, sharedBucket } from './server.js';

const bucket = sharedBucket();
const service = sharedService({ compile: compileRequest });

const post = (route: string, body: object) => service().json('POST', `/v1/local/${route}`, body);
const publish = (dataset: string, place = dataset) =>
  post('publish', { dataset, path: `s3://logs/${place}` });

async function importRows(dataset: string, rows: readonly object[], more: object = {}): Promise<void> {
  const file = path.join(service().dataDir, `${dataset}.ndjson`);
  await writeFile(file, rows.map(row => JSON.stringify(row)).join('\n'));
  expect((await post('import', { path: file, dataset, ...more })).status).toBe(200);
}

async function columnsOf(apl: string) {
  const range = { startTime: '2026-05-01T00:00:00Z', endTime: '2026-07-01T00:00:00Z' };
  const { body } = await service().query(apl, range);
  return body.tables?.[0]?.columns ?? body;
}

const day = (number: number, n: number, more: object = {}) => ({
  _time: `2026-06-0${number}T10:00:00.00000000${n}Z`,
  n,
  ...more,
});

describe('publishing a dataset', () => {
  test('gives the same rows and fields on import, except for unfinished days', async () => {
    const odd = {
      StatusCode: 1,
      statuscode: 'two',
      'a b': [1, { x: null }],
      deep: { 'k.j': 900719925474099 },
      day: "it's",
    };
    await importRows('app', [
      day(1, 1, odd),
      day(1, 2, { 'a b': 'text', real: 0.1, yes: true, at: '2026-06-01T00:00:00.123456789Z' }),
      day(3, 3, { StatusCode: -7, text: '\u0000 "quoted"' }),
      { _time: new Date().toISOString(), n: 4 },
    ]);
    const { body } = await publish('app');
    expect(body).toMatchObject({
      place: 's3://logs/app/',
      days: 2,
      rows: 3,
      daysThere: 2,
      notes: [
        'Fields whose names differ only in case are renamed: `statuscode` is `statuscode_2`, `day` is `day_2`.',
        expect.stringMatching(/^Only complete UTC days before \d{4}-\d\d-\d\d are published\.$/),
      ],
    });
    await post('import', { path: 's3://logs/app', dataset: 'back' });
    const fields = async (name: string) =>
      (await service().json('GET', `/v2/datasets/${name}/fields`)).body
        .map((field: { name: string; type: string }) => `${field.name}: ${field.type}`)
        .sort();
    expect(await fields('back')).toEqual(await fields('app'));
    const names = (await fields('app')).map((each: string) => `['${each.split(': ')[0]}']`);
    const query = `| sort by n asc | project ${names.map((each: string, index: number) => `f${index} = ${each}`).join(', ')}`;
    const [ours, theirs] = [await columnsOf(`app ${query}`), await columnsOf(`back ${query}`)];
    expect(theirs).toEqual(ours);
    expect(theirs.every((column: unknown[]) => column.length === 3)).toBe(true);
    expect((await publish('app')).body).toMatchObject({ days: 0, rows: 0, daysThere: 2 });
    expect(
      await bucket.text('app/_apl/table.sql'),
    ).toBe(`-- For Trino, in a catalog of the Hive connector with hive.timestamp-precision=NANOSECONDS and in the schema of the table.
-- The comments on columns are read by apl-kernel. When a day has been published, run the last statement again; when a field has
-- come, drop the table, which leaves the objects as they are, and run all.
CREATE TABLE "app" (
  "_time" timestamp(9) COMMENT 'APL: datetime _time',
  "_sysTime" timestamp(9) COMMENT 'APL: datetime _sysTime',
  "n" bigint COMMENT 'APL: long n',
  "StatusCode" bigint COMMENT 'APL: long StatusCode',
  "statuscode_2" varchar COMMENT 'APL: string statuscode',
  "a b" varchar COMMENT 'APL: dynamic a b',
  "deep.k.j" bigint COMMENT 'APL: long deep.k.j',
  "day_2" varchar COMMENT 'APL: string day',
  "real" double COMMENT 'APL: real real',
  "yes" boolean COMMENT 'APL: bool yes',
  "at" varchar COMMENT 'APL: string at',
  "text" varchar COMMENT 'APL: string text',
  "day" varchar COMMENT 'APL: day of _time'
) WITH (external_location = 's3://logs/app/', format = 'PARQUET', partitioned_by = ARRAY['day']);
CALL system.sync_partition_metadata(current_schema, 'app', 'FULL');
`);
  });

  test('replaces a day by more rows, and keeps a day that has fewer rows here', async () => {
    await importRows('more', [day(1, 1), day(1, 2), day(2, 3)]);
    await publish('more');
    await importRows('more', [day(2, 4)]);
    expect((await publish('more')).body).toMatchObject({
      days: 1,
      rows: 2,
      daysThere: 2,
      notes: ['2026-06-02 is replaced: it had 1 row in the bucket.', expect.anything()],
    });
    await importRows('more', [day(1, 5), day(2, 3), day(2, 4)], { replace: true });
    expect((await publish('more')).body).toMatchObject({
      days: 0,
      daysThere: 2,
      notes: ['2026-06-01 is unchanged: it has 2 rows in the bucket, but only 1 here.', expect.anything()],
    });
    await post('import', { path: 's3://logs/more', dataset: 'more_back' });
    expect(await columnsOf('more_back | sort by n asc | project n')).toEqual([[1, 2, 3, 4]]);
  });

  test('leaves only whole days if stopped at any request, and the next run finishes it', async () => {
    const rows = [1, 2, 3].flatMap(each => [day(each, each * 2), day(each, each * 2 + 1)]);
    await importRows('stopped', rows);
    // Two requests per day, and one for the table's SQL.
    for (let requests = 0; requests <= 7; requests++) {
      const place = `stopped_${requests}`;
      let left = requests;
      bucket.fault = ({ method }, response) => {
        if (method !== 'PUT' || left-- > 0) return false;
        response.writeHead(403, { 'content-type': 'application/xml' });
        response.end('<Error><Code>AccessDenied</Code></Error>');
        return true;
      };
      const { status, body } = await publish('stopped', place);
      bucket.fault = () => false;
      expect([status, String(body.message).includes('cannot be written')]).toEqual(
        requests === 7 ? [200, false] : [400, true],
      );
      const days = Math.min(3, Math.ceil(requests / 2));
      const imported = await post('import', { path: `s3://logs/${place}`, dataset: place });
      expect(imported.status).toBe(days === 0 ? 400 : 200);
      if (days > 0) expect(await columnsOf(`${place} | count`)).toEqual([[days * 2]]);
      const again = await publish('stopped', place);
      expect(again.body).toMatchObject({ days: 3 - Math.min(3, Math.floor(requests / 2)), daysThere: 3 });
      await post('import', { path: `s3://logs/${place}`, dataset: place });
      expect(await columnsOf(`${place} | count`)).toEqual([[6]]);
    }
  }, 120_000);

  test.skipIf(process.platform === 'win32')('is refused if a pipe replaces one of its files', async () => {
    const dataDir = await temporaryDirectory();
    const engine = await Engine.open({ dataDir, families: [] });
    onTestFinished(() => engine.close());
    const store = testStore(dataDir, engine);
    await store.create('piped');
    const batch = readBatch(JSON.stringify(day(1, 1)), undefined, 1n);
    if (batch === undefined) throw new Error('no batch');
    await store.append('piped', batch);
    await store.snapshot('piped');
    const directory = path.join(dataDir, 'datasets', 'piped');
    const name = (await readdir(directory)).find(each => each.endsWith('.parquet')) ?? '';
    const run = engine.run.bind(engine);
    engine.run = async (sql, signal) => {
      await rm(path.join(directory, name));
      execFileSync('mkfifo', [path.join(directory, name)]);
      return run(sql, signal);
    };
    const parts = { store, buckets: new Buckets(dataDir, engine), nowNs: BigInt(nowMs) * 1_000_000n };
    await expect(publishToBucket(parts, { dataset: 'piped', path: 's3://logs/piped' })).rejects.toThrow(
      `${name} was replaced by a named pipe while it was being read.`,
    );
    await store.close();
  });

  test.each([
    ['nothing', 'There is no dataset'],
    ['lookup', '`lookup` has rows without a timestamp, which belong to no day.'],
    ['in-bucket', '`in-bucket` is already in a bucket.'],
    ['taken', 's3://logs/taken/ contains other objects, such as a.parquet.'],
    ['twin', 'Another dataset named `twin` is published at s3://logs/twin/.'],
    ['damaged', 's3://logs/damaged/_apl/manifest.json is not a manifest of a published dataset.'],
  ])('is refused: %s', async (dataset, message) => {
    if (dataset === 'lookup') await importRows(dataset, [{ n: 1 }]);
    else if (dataset === 'in-bucket') {
      await bucket.put('lies/a.parquet', eventsFile([0]));
      await post('import', { path: 's3://logs/lies', dataset });
    } else if (dataset !== 'nothing') await importRows(dataset, [day(1, 1)]);
    if (dataset === 'taken') await bucket.put('taken/a.parquet', eventsFile([0]));
    if (dataset === 'damaged') await bucket.put('damaged/_apl/manifest.json', '{"version":1}');
    if (dataset === 'twin') {
      await publish(dataset);
      await service().json('DELETE', `/v2/datasets/${dataset}`);
      await importRows(dataset, [day(1, 1)]);
    }
    const { status, body } = await publish(dataset);
    expect([status >= 400, body.message]).toEqual([true, expect.stringContaining(message)]);
  });
});
