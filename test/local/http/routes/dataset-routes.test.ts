import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { samples } from '../../../../kernel/local/samples/all-samples.js';
import { compileRequest } from '../../../../kernel/local/sql/compile.js';
import { sharedService, temporaryDirectory, testService } from '../../service.js';

const service = sharedService({ compile: compileRequest, samples });

const required = ['id', 'name', 'description', 'created', 'updatedAt', 'who', 'kind'];
const optional = ['canWrite', 'useRetentionPeriod', 'retentionDays', 'mapFields'];

test('a dataset has exactly the documented members', async () => {
  await service().json('POST', '/v2/datasets', { name: 'shaped' });
  const { body } = await service().json('GET', '/v2/datasets');
  expect(body.length).toBeGreaterThan(samples.length);
  for (const dataset of body) {
    expect(Object.keys(dataset)).toEqual([...required, ...optional]);
    expect(Number.isNaN(Date.parse(dataset.created))).toBe(false);
    expect(dataset.canWrite).toBe(dataset.name === 'shaped');
    expect((await service().json('GET', `/v2/datasets/${dataset.name}`)).body).toEqual(dataset);
  }
  const older = await service().json('GET', '/v1/datasets');
  for (const dataset of older.body)
    expect(Object.keys(dataset)).toEqual(['id', 'name', 'description', 'who', 'created']);
  expect(older.body.length).toBe(body.length);
});

test.each(['v1', 'v2'])('the settings of a dataset are stored and returned (%s)', async version => {
  const route = `/${version}/datasets`;
  const settings = {
    description: 'first',
    kind: 'otel:logs:v1',
    useRetentionPeriod: true,
    retentionDays: 30,
    edgeDeployment: 'cloud.eu-central-1.aws',
    region: 'eu',
  };
  const made = await service().json('POST', route, { name: `kept-${version}`, ...settings });
  expect([made.status, made.body.description]).toEqual([200, 'first']);
  const changed = await service().json('PUT', `${route}/kept-${version}`, {
    description: 'second',
    retentionDays: 7,
    edgeDeployment: null,
  });
  expect([changed.status, changed.body.description]).toEqual([200, 'second']);
  const { body } = await service().json('GET', `/v2/datasets/kept-${version}`);
  expect(body).toMatchObject({ ...settings, description: 'second', retentionDays: 7 });
  expect(body.updatedAt >= body.created && body.created === made.body.created).toBe(true);
  expect((await service().json('DELETE', `${route}/kept-${version}`)).status).toBe(204);
  expect((await service().json('GET', `${route}/kept-${version}`)).status).toBe(404);
});

const wrong: readonly (readonly [
  method: string,
  route: string,
  body: unknown,
  status: number,
  text: string,
])[] = [
  [
    'POST',
    '/v2/datasets',
    { name: 'w', retentiondays: 1 },
    400,
    '`retentiondays` is not a known property of a dataset.',
  ],
  [
    'POST',
    '/v2/datasets',
    { name: 'w', kind: 'otel:metrics:v1' },
    400,
    '`kind` should be one of axiom:events:v1, otel:traces:v1, otel:logs:v1.',
  ],
  [
    'POST',
    '/v2/datasets',
    { name: 'w', retentionDays: -1 },
    400,
    '`retentionDays` should be a non-negative integer.',
  ],
  ['POST', '/v1/datasets', { description: 'w' }, 400, '`name` should be a string.'],
  ['PUT', '/v2/datasets/none', { description: 'w' }, 404, 'Not found: There is no dataset `none`.'],
  ['PUT', '/v2/datasets/sample-http-logs', {}, 403, '`sample-http-logs` is built in and cannot be changed.'],
  [
    'POST',
    '/v2/datasets/sample-http-logs/trim',
    { maxDuration: '1s' },
    403,
    '`sample-http-logs` is built in and cannot be trimmed.',
  ],
  ['POST', '/v2/datasets/none/trim', { maxDuration: '1s' }, 404, 'Not found: There is no dataset `none`.'],
  [
    'POST',
    '/v2/datasets/none/trim',
    { maxDuration: 'soon' },
    400,
    '`maxDuration` should be a duration, such as "36h" or "1h30m".',
  ],
  [
    'POST',
    '/v2/datasets/none/trim',
    { maxDuration: '-1s' },
    400,
    '`maxDuration` should be a duration, such as "36h" or "1h30m".',
  ],
  ['POST', '/v2/datasets/none/vacuum', undefined, 404, 'Not found: There is no dataset `none`.'],
  ['GET', '/v2/datasets/none/fields/x', undefined, 404, 'Not found: There is no dataset `none`.'],
  [
    'GET',
    '/v2/datasets/sample-http-logs/fields/x',
    undefined,
    404,
    'Not found: `sample-http-logs` has no field `x`.',
  ],
  [
    ...(['GET', '/v2/orgs/none', undefined, 404] as const),
    'Not found: The local service has no other organizations, so none has the ID "none".',
  ],
];

test.each(wrong)('a request is refused: %s %s %j', async (method, route, body, status, text) => {
  const answer = await service().json(method, route, body);
  expect([answer.status, answer.body.message]).toEqual([status, text]);
});

test('a field can be read by name', async () => {
  const { status, body } = await service().json('GET', '/v2/datasets/sample-http-logs/fields/_time');
  expect([status, body]).toEqual([
    200,
    { name: '_time', type: 'datetime', unit: '', hidden: false, description: body.description },
  ]);
});

test('the user and the organization are those of the local service', async () => {
  const user = { id: 'local', name: 'local', email: '' };
  expect((await service().json('GET', '/v1/user')).body).toEqual({
    ...user,
    role: 'owner',
    permissions: [],
    emails: [],
  });
  expect((await service().json('GET', '/v2/users')).body).toEqual([
    { ...user, role: { id: 'owner', name: 'Owner' } },
  ]);
  const [own] = (await service().json('GET', '/v2/orgs')).body;
  expect([own.id, (await service().json('GET', '/v2/orgs/local')).body]).toEqual(['local', own]);
});

// ---- trimming ----

/** Returns events at whole minutes before noon, the test service's current time. */
function minutesAgo(...minutes: readonly number[]): string {
  const time = (each: number) => new Date(Date.UTC(2026, 5, 15, 12) - each * 60_000).toISOString();
  return minutes.map(each => JSON.stringify({ _time: time(each), n: each, m: { a: [each] } })).join('\n');
}

test.each(['v1', 'v2'])('trimming deletes only older events (%s)', async version => {
  const own = await testService({ compile: compileRequest });
  const ndjson = { 'content-type': 'application/x-ndjson' };
  await own.json('POST', '/v2/datasets', { name: 'd' });
  const rows = async () => {
    const answer = await own.query('d | sort by n asc | project n, m = tostring(["m.a"])', {
      startTime: '2026-01-01T00:00:00Z',
    });
    return answer.body.tables[0].columns;
  };
  const trim = (maxDuration: string) => own.json('POST', `/${version}/datasets/d/trim`, { maxDuration });
  // A file with both, an older one, a younger one, and events not yet in a file.
  const file = path.join(await temporaryDirectory(), 'events.ndjson');
  for (const minutes of [
    [1, 30, 90],
    [120, 180],
    [2, 3],
  ]) {
    await writeFile(file, minutesAgo(...minutes));
    expect((await own.json('POST', '/v1/local/import', { path: file, dataset: 'd' })).status).toBe(200);
    await own.json('POST', '/v1/datasets/d/ingest', minutesAgo(...minutes), ndjson);
  }
  await own.json('POST', '/v1/datasets/d/ingest', minutesAgo(61, 60, 59), ndjson);
  const before = (await rows())[0].length;
  expect(before).toBe(17);
  const old = (await rows())[0].filter((n: number) => n > 60).length;
  const answer = await trim('1h0m0s');
  expect(answer).toEqual(
    version === 'v1' ? { status: 200, body: { numDeleted: old } } : { status: 204, body: undefined },
  );
  const left = await rows();
  expect(left[0].length).toBe(before - old);
  expect(left[0].every((n: number) => n <= 60) && left[0].includes(60)).toBe(true);
  expect(left[1]).toEqual(left[0].map((n: number) => `[${n}]`));
  expect((await trim('0')).status).toBe(version === 'v1' ? 200 : 204);
  expect(
    (await own.query('d | count', { startTime: '2026-01-01T00:00:00Z' })).body.tables[0].columns,
  ).toEqual([[0]]);
  // The dataset still accepts events.
  await own.json('POST', '/v1/datasets/d/ingest', minutesAgo(1), ndjson);
  expect(await rows()).toEqual([[1], ['[1]']]);
});

test('trimming keeps rows without a time of their own', async () => {
  const own = await testService({ compile: compileRequest });
  const file = path.join(await temporaryDirectory(), 'd.json');
  await writeFile(file, '{"a":1}');
  await own.json('POST', '/v1/local/import', { path: file, dataset: 'd' });
  expect((await own.json('POST', '/v1/datasets/d/trim', { maxDuration: '0' })).body).toEqual({
    numDeleted: 0,
  });
  expect((await own.query('d | project a')).body.tables[0].columns).toEqual([[1]]);
});
