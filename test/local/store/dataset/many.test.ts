import { cp, readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type TestService, temporaryDirectory, testService } from '../../service.js';

const names = Array.from({ length: 200 }, (_, n) => `d${String(n).padStart(3, '0')}`);

/** A service that starts on a directory of 200 datasets, of which it knows nothing. */
async function serviceOnMany(): Promise<TestService> {
  const dataDir = await temporaryDirectory();
  const before = await testService({ dataDir });
  const [first = '', ...others] = names;
  await before.json('POST', '/v2/datasets', { name: first });
  await before.json('POST', `/v1/datasets/${first}/ingest`, [{ n: 1 }, { n: 2 }]);
  await before.service.close();
  const directory = (name: string) => path.join(dataDir, 'datasets', name);
  for (const name of others) await cp(directory(first), directory(name), { recursive: true });
  return testService({ dataDir });
}

test('a service with many datasets answers from its start, and reads those that a query names', async () => {
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

test('and lists all of them, each with what it holds', async () => {
  const service = await serviceOnMany();
  const { status, body } = await service.json('GET', '/v1/local/datasets');
  expect([status, body.map((each: { name: string; rows: number }) => [each.name, each.rows])]).toEqual([
    200,
    names.map(name => [name, 2]),
  ]);
});
