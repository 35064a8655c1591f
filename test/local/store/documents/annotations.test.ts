import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type TestService, testService } from '../../service.js';

const route = '/v2/annotations';

const example = {
  datasets: ['logs'],
  time: '2026-06-15T10:00:00Z',
  endTime: '2026-06-15T10:30:00Z',
  title: 'Release 1.2',
  description: 'The new form',
  url: 'https://example.org/releases/1.2',
  type: 'deploy',
};

/** Starts a service with the datasets logs and traces. */
async function service(): Promise<TestService> {
  const own = await testService();
  for (const name of ['logs', 'traces']) await own.json('POST', '/v2/datasets', { name });
  return own;
}

test('an annotation is created, read, changed, listed and deleted', async () => {
  const own = await service();
  const created = await own.json('POST', route, example);
  const { id } = created.body;
  expect(id).toMatch(/^ann_[0-9a-f]{32}$/);
  expect(created).toEqual({ status: 201, body: { ...example, id } });
  expect(await own.json('GET', `${route}/${id}`)).toEqual({ status: 200, body: { ...example, id } });
  const change = { datasets: ['traces'], title: 'Release 1.3', endTime: null };
  const { endTime: _, ...rest } = example;
  const changed = { ...rest, datasets: ['traces'], title: 'Release 1.3', id };
  expect(await own.json('PUT', `${route}/${id}`, change)).toEqual({ status: 200, body: changed });
  expect((await own.json('GET', route)).body).toEqual([changed]);
  expect(await own.json('DELETE', `${route}/${id}`)).toEqual({ status: 204, body: undefined });
  for (const method of ['GET', 'DELETE', 'PUT'])
    expect(
      (await own.json(method, `${route}/${id}`, method === 'PUT' ? { title: 'x' } : undefined)).status,
    ).toBe(404);
});

test('an annotation without a time gets the current time, and the zero time of Go counts as none', async () => {
  const own = await service();
  const zero = '0001-01-01T00:00:00Z';
  const body = { datasets: ['logs'], type: 'deploy', time: zero, endTime: zero, title: '', url: '' };
  const { id, ...created } = (await own.json('POST', route, body)).body;
  expect(created).toEqual({ datasets: ['logs'], time: '2026-06-15T12:00:00Z', type: 'deploy' });
});

const times: Readonly<Record<string, object>> = {
  a: { time: '2026-06-15T08:00:00Z', endTime: '2026-06-15T09:00:00Z' },
  b: { time: '2026-06-15T10:00:00.000000001Z', datasets: ['traces'] },
  c: { time: '2026-06-15T12:00:00+02:00', datasets: ['logs', 'traces'] },
  d: { time: '2026-06-15T11:00:00Z' },
};

const filters: readonly (readonly [parameters: string, found: string])[] = [
  ['', 'acbd'],
  ['?datasets=logs', 'acd'],
  ['?datasets=traces,nothing', 'cb'],
  ['?datasets=logs%2Ctraces', 'acbd'],
  ['?datasets=traces&datasets=nothing', 'cb'],
  ['?datasets=nothing', ''],
  ['?start=2026-06-15T09:00:00Z', 'acbd'],
  ['?start=2026-06-15T09:00:00.000000001Z', 'cbd'],
  ['?start=2026-06-15T10:00:00.000000001Z&end=2026-06-15T11:00:00Z', 'b'],
  ['?end=2026-06-15T08:00:00Z', ''],
  ['?end=2026-06-15T08:00:00.000000001Z', 'a'],
  ['?datasets=&start=&end=', 'acbd'],
];

test('the list is ordered by time and filtered by dataset and range', async () => {
  const own = await service();
  for (const [title, more] of Object.entries(times)) {
    const body = { datasets: ['logs'], type: 'deploy', title, ...more };
    expect((await own.json('POST', route, body)).status).toBe(201);
  }
  for (const [parameters, found] of filters) {
    const { body } = await own.json('GET', route + parameters);
    expect([parameters, body.map((each: { title: string }) => each.title).join('')]).toEqual([
      parameters,
      found,
    ]);
  }
  const wrong = await own.json('GET', `${route}?start=yesterday`);
  expect([wrong.status, wrong.body.message]).toEqual([
    400,
    '`start` should be a time, such as 2026-01-31T10:00:00Z.',
  ]);
});

const { datasets: _datasets, ...noDatasets } = example;
const { type: _type, ...noType } = example;

const refused: readonly (readonly [body: unknown, status: number, message: string])[] = [
  [noDatasets, 400, '`datasets` is missing: list the datasets whose charts should show the annotation.'],
  [{ ...example, datasets: [] }, 400, '`datasets` should be a list of at least one name.'],
  [{ ...example, datasets: 'logs' }, 400, '`datasets` should be a list of at least one name.'],
  [{ ...example, datasets: ['logs', 'lgos'] }, 404, 'Not found: There is no dataset `lgos`.'],
  [noType, 400, '`type` is missing, such as "deploy".'],
  [
    { ...example, type: 'Big Deploy' },
    400,
    '`type` should be 1 to 64 lowercase letters, digits and hyphens, such as "deploy".',
  ],
  [{ ...example, time: 'noon' }, 400, '`time` should be a time, such as 2026-01-31T10:00:00Z.'],
  [{ ...example, endTime: 5 }, 400, '`endTime` should be a time, such as 2026-01-31T10:00:00Z.'],
  [
    { ...example, endTime: example.time },
    400,
    '`endTime` (2026-06-15T10:00:00Z) should be after `time` (2026-06-15T10:00:00Z).',
  ],
  [{ ...example, title: 5 }, 400, '`title` should be a string.'],
  [{ ...example, description: 'x'.repeat(4097) }, 400, '`description` should have at most 4,096 characters.'],
  [
    { ...example, url: 'javascript:alert(1)' },
    400,
    '`url` should be a URL that begins with https:// or http://.',
  ],
  ...['javascript:x', ' javascript:x', 'java\nscript:x', 'x y', '"'].map(
    url => [{ ...example, url }, 400, '`url` should be a URL that begins with https:// or http://.'] as const,
  ),
  [{ ...example, titel: 'x' }, 400, '`titel` is not a known property of an annotation.'],
  [[], 400, 'The body should be a JSON object.'],
];

test.each(refused)('an invalid annotation is refused: %j', async (body, status, message) => {
  const own = await service();
  const answer = await own.json('POST', route, body);
  expect([answer.status, answer.body.message]).toEqual([status, message]);
  expect((await own.json('GET', route)).body).toEqual([]);
});

test('null members and a partial URL, as axiom-py and axiom-js send them, are accepted', async () => {
  const own = await service();
  const created = await own.json('POST', route, { ...example, time: null, endTime: null, url: 'some-url' });
  const { endTime: _, ...instant } = example;
  const { id } = created.body;
  expect(created.body).toEqual({ ...instant, time: '2026-06-15T12:00:00Z', url: 'some-url', id });
  const title = { title: 'New', datasets: null, type: null, time: null };
  expect((await own.json('PUT', `${route}/${id}`, title)).body).toEqual({ ...created.body, title: 'New' });
});

test('a change is validated as a whole: an annotation never ends before it begins', async () => {
  const own = await service();
  const { id } = (await own.json('POST', route, example)).body;
  const late = await own.json('PUT', `${route}/${id}`, { time: '2026-06-15T11:00:00Z' });
  expect([late.status, late.body.message]).toEqual([
    400,
    '`endTime` (2026-06-15T10:30:00Z) should be after `time` (2026-06-15T11:00:00Z).',
  ]);
  expect((await own.json('PUT', `${route}/${id}`, { datasets: ['lgos'] })).status).toBe(404);
  expect((await own.json('GET', `${route}/${id}`)).body).toEqual({ ...example, id });
});

test('concurrent changes of different members are all kept', async () => {
  const own = await service();
  const { id } = (await own.json('POST', route, example)).body;
  const changes = [
    { title: 'New' },
    { description: 'Newer' },
    { type: 'incident' },
    { datasets: ['traces'] },
  ];
  await Promise.all(changes.map(change => own.json('PUT', `${route}/${id}`, change)));
  expect((await own.json('GET', `${route}/${id}`)).body).toEqual(
    Object.assign({ ...example, id }, ...changes),
  );
});

test.each(['..%2F..%2Fsecret', '%2e%2e', 'a%00b', '.', 'x'.repeat(65)])(
  'the id %s is answered with 404',
  async id => {
    const own = await service();
    await writeFile(path.join(own.dataDir, 'secret.json'), JSON.stringify({ ...example, id: 'secret' }));
    expect((await own.json('GET', `${route}/${id}`)).status).toBe(404);
  },
);

test('each annotation is one file that can be read and committed', async () => {
  const own = await service();
  const { id } = (await own.json('POST', route, example)).body;
  const directory = path.join(own.dataDir, 'annotations');
  expect(await readdir(directory)).toEqual([`${id}.json`]);
  const file = path.join(directory, `${id}.json`);
  const text = await readFile(file, 'utf8');
  const { checksum, ...stored } = JSON.parse(text);
  expect(stored).toEqual({ ...example, id });
  expect(text).toBe(`${JSON.stringify({ ...stored, checksum }, null, 2)}\n`);
});

test('annotations survive a restart', async () => {
  const own = await service();
  const { id } = (await own.json('POST', route, example)).body;
  await own.service.close();
  const next = await testService({ dataDir: own.dataDir });
  expect((await next.json('GET', route)).body).toEqual([{ ...example, id }]);
});
