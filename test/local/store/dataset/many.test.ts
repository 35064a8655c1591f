import { cp, readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { ServiceLimits } from '../../../../kernel/local/http/http-options.js';
import { compileRequest } from '../../../../kernel/local/sql/compile.js';
import { zeroUnseen } from '../../../faults/damages/damages.js';
import { type TestService, temporaryDirectory, testService } from '../../service.js';

const names = Array.from({ length: 200 }, (_, n) => `d${String(n).padStart(3, '0')}`);

/** Starts a service on a directory of 200 datasets, without cached metadata. */
async function serviceOnMany(limits: ServiceLimits = {}): Promise<TestService> {
  const dataDir = await temporaryDirectory();
  const before = await testService({ dataDir });
  const [first = '', ...others] = names;
  await before.json('POST', '/v2/datasets', { name: first });
  await before.json('POST', `/v1/datasets/${first}/ingest`, [{ n: 1 }, { n: 2 }]);
  await before.service.close();
  const directory = (name: string) => path.join(dataDir, 'datasets', name);
  for (const name of others) await cp(directory(first), directory(name), { recursive: true });
  return testService({ dataDir, limits });
}

test('a service with many datasets answers at once, and reads only those that a query names', async () => {
  const service = await serviceOnMany();
  const queries = ['n:long\nSELECT 1::BIGINT', ...names.slice(0, 3).map(name => `dataset ${name}: n:long`)];
  const answers = await Promise.all(queries.map(query => service.query(query)));
  expect(answers.map(({ status, body }) => [status, body.tables?.[0].columns])).toEqual([
    [200, [[1]]],
    [200, [[1, 2]]],
    [200, [[1, 2]]],
    [200, [[1, 2]]],
  ]);
  expect((await service.json('GET', '/v2/datasets')).body).toHaveLength(200);
  await service.service.close();
  expect(await readdir(path.join(service.dataDir, '.cache', 'files'))).toEqual(
    names.slice(0, 3).map(name => `${name}.json`),
  );
});

test('all datasets are listed with their contents, even if queries take every slot', async () => {
  const service = await serviceOnMany({ connections: 1, queue: 0 });
  const abort = new AbortController();
  const endless =
    'a:long\nSELECT count(*) FROM range(10000000000) a(i), range(1000) b(j) WHERE hash(i + j) = 1';
  const running = service
    .send('POST', '/v1/datasets/_apl?format=tabular', { apl: endless }, {}, abort.signal)
    .catch(() => undefined);
  await expect.poll(async () => (await service.query('n:long\nSELECT 1::BIGINT')).status).toBe(429);
  const { status, body } = await service.json('GET', '/v1/local/datasets');
  expect([status, body.map((each: { name: string; rows: number }) => [each.name, each.rows])]).toEqual([
    200,
    names.map(name => [name, 2]),
  ]);
  abort.abort();
  await running;
});

/** Creates a dataset of three files, with one, two and three events at 10, 20 and 30 minutes past the hour. */
async function serviceOnMinutes(): Promise<TestService> {
  const service = await testService({ compile: compileRequest });
  await service.json('POST', '/v2/datasets', { name: 'd' });
  for (const n of [1, 2, 3]) {
    const events = Array.from({ length: n }, () => ({ _time: `2026-06-15T11:${n}0:00Z`, n }));
    await service.json('POST', '/v1/datasets/d/ingest', events);
    // Flushes the events to a separate file.
    await service.json('GET', '/v2/datasets/d/fields');
  }
  return service;
}

const counts: readonly (readonly [window: string, apl: string, count: number, examined: number])[] = [
  ['11:00 12:00', 'd | count', 6, 6],
  ['11:00 12:00', 'd | extend m = n + 1 | sort by m asc | summarize rows = count()', 6, 6],
  ['11:15 11:25', 'd | count', 2, 2],
  ['11:20 11:30', 'd | count', 2, 2],
  ['11:40 12:00', 'd | count', 0, 0],
];

test.each(counts)('counting from %s, `%s` opens no file', async (window, apl, count, examined) => {
  const service = await serviceOnMinutes();
  const [startTime, endTime] = window.split(' ').map(time => `2026-06-15T${time}:00Z`);
  const directory = path.join(service.dataDir, 'datasets', 'd');
  // The engine would fail to read the zeroed files.
  for (const name of await readdir(directory))
    if (name.endsWith('.parquet')) zeroUnseen(path.join(directory, name));
  const { status, body } = await service.query(apl, { startTime, endTime });
  expect([status, body.tables?.[0].columns]).toEqual([200, [[count]]]);
  expect([body.status.rowsExamined, body.status.rowsMatched]).toEqual([examined, examined]);
  expect((await service.query('d | summarize max(n)')).status).toBe(400);
});

test('small files from before the service started are merged after a query reads them', async () => {
  const dataDir = await temporaryDirectory();
  const before = await testService({ dataDir });
  await before.json('POST', '/v2/datasets', { name: 'd' });
  await before.json('POST', '/v1/datasets/d/ingest', [{ _time: '2026-06-15T11:30:00Z', n: 1 }]);
  await before.service.close();
  const directory = path.join(dataDir, 'datasets', 'd');
  const [file = ''] = (await readdir(directory)).filter(name => name.endsWith('.parquet'));
  const [, end = ''] = /^[^.]+(\..*)$/.exec(file) ?? [];
  for (let at = 1; at < 600; at++)
    await cp(path.join(directory, file), path.join(directory, `${at}-${crypto.randomUUID()}${end}`));
  const service = await testService({ dataDir, compile: compileRequest });
  const examined = async () => {
    const { status, tables } = (await service.query('d | summarize count(), sum(n)')).body;
    return [tables[0].columns, status.rowsExamined, status.blocksExamined];
  };
  expect(await examined()).toEqual([[[600], [600]], 600, 600]);
  await expect.poll(examined).toEqual([[[600], [600]], 600, 1]);
});
