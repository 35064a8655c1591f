import { expect, test } from 'vitest';
import { samples } from '../../../../kernel/local/samples/all-samples.js';
import { compileRequest } from '../../../../kernel/local/sql/compile.js';
import { sharedService } from '../../service.js';

/** Map fields, virtual fields, and the fields of all datasets at once. */

const service = sharedService({ compile: compileRequest, samples });
const call = async (method: string, route: string, body?: unknown) => service().json(method, route, body);
const window = { startTime: '2026-06-15T00:00:00Z', endTime: '2026-06-16T00:00:00Z' };

async function dataset(name: string, events: readonly object[] = []): Promise<void> {
  await call('POST', '/v2/datasets', { name });
  const timed = events.map((event, index) => ({ _time: `2026-06-15T10:00:0${index}Z`, ...event }));
  if (timed.length > 0) await call('POST', `/v1/datasets/${name}/ingest`, timed);
}

async function columns(apl: string): Promise<Readonly<Record<string, unknown>>> {
  const { status, body } = await call('POST', '/v1/query/_apl', { apl, ...window });
  expect([status, body.message]).toEqual([200, undefined]);
  const [{ fields, columns: cells }] = body.tables;
  return Object.fromEntries(fields.map(({ name }: { name: string }, index: number) => [name, cells[index]]));
}

test('map fields are declared, replaced and removed, and listed before those found in events', async () => {
  await dataset('maps', [{ found: { a: [1] } }]);
  const path = '/v2/datasets/maps/mapfields';
  expect(await call('POST', path, { name: 'foo' })).toEqual({ status: 200, body: { name: 'foo' } });
  expect((await call('POST', path, { name: 'foo' })).status).toBe(409);
  expect((await call('POST', path, { name: '__own__' })).status).toBe(400);
  expect((await call('GET', path)).body).toEqual(['foo', 'found.a']);
  expect((await call('GET', '/v2/datasets/maps')).body.mapFields).toEqual(['foo']);
  expect(await call('PUT', path, ['bar', 'baz'])).toEqual({ status: 200, body: ['bar', 'baz'] });
  expect((await call('PUT', path, ['bar', 'bar'])).status).toBe(400);
  expect((await call('PUT', path, { bar: 1 })).status).toBe(400);
  expect((await call('DELETE', `${path}/bar`)).status).toBe(204);
  expect((await call('DELETE', `${path}/bar`)).status).toBe(404);
  expect((await call('GET', '/v2/datasets/maps')).body.mapFields).toEqual(['baz']);
  expect((await call('POST', '/v2/datasets/sample-http-logs/mapfields', { name: 'a' })).status).toBe(403);
});

test('a virtual field is created, read, changed and deleted', async () => {
  await dataset('virtual');
  const field = { dataset: 'virtual', name: 'TestField', expression: 'a + b', type: 'number' };
  const made = await call('POST', '/v2/vfields', field);
  expect(made).toEqual({ status: 200, body: { id: made.body.id, ...field } });
  const path = `/v2/vfields/${made.body.id}`;
  expect((await call('POST', '/v2/vfields', field)).status).toBe(409);
  expect((await call('GET', path)).body).toEqual(made.body);
  expect((await call('GET', '/v2/vfields?dataset=virtual')).body).toEqual([made.body]);
  const changed = { ...field, name: 'Other', expression: 'a * b', unit: 'ms', description: 'd' };
  expect((await call('PUT', path, changed)).body).toEqual({ id: made.body.id, ...changed });
  expect((await call('GET', path)).body).toEqual({ id: made.body.id, ...changed });
  expect((await call('PUT', path, { ...changed, dataset: 'maps' })).status).toBe(400);
  expect((await call('DELETE', path)).status).toBe(204);
  expect([(await call('GET', path)).status, (await call('DELETE', path)).status]).toEqual([404, 404]);
  expect((await call('GET', '/v2/vfields?dataset=virtual')).body).toEqual([]);
});

test.each([
  [{ dataset: 'nope', name: 'x', expression: '1' }, 404],
  [{ dataset: 'sample-http-logs', name: 'x', expression: '1' }, 403],
  [{ dataset: 'sample-http-logs', name: 'x' }, 400],
  [{ dataset: 'sample-http-logs', name: 'x', expression: '1', wrong: 'y' }, 400],
  [{ dataset: 'sample-http-logs', name: 'x', expression: '1 | take 1' }, 400],
  [{ dataset: 'sample-http-logs', name: 'x', expression: '1, y = 2' }, 400],
  [{ dataset: 'sample-http-logs', name: 'x', expression: '1; sample-http-logs' }, 400],
  [{ dataset: 'sample-http-logs', name: 'x', expression: 'strlen(' }, 400],
])('an invalid virtual field is refused: %j', async (field, status) => {
  expect((await call('POST', '/v2/vfields', field)).status).toBe(status);
});

test('a query uses a virtual field like any other, even within another virtual field', async () => {
  await dataset('used', [
    { status: 200, s: 'x' },
    { status: 503, s: 'y' },
  ]);
  const add = (name: string, expression: string) =>
    call('POST', '/v2/vfields', { dataset: 'used', name, expression });
  await add('is bad', 'status >= 500 // by the status');
  await add('class', "iff(['is bad'], 'bad', 'good')");
  expect(await columns("used | where ['is bad'] | project s, class")).toEqual({ s: ['y'], class: ['bad'] });
  expect(await columns('used | summarize n = count() by class | sort by class asc')).toEqual({
    class: ['bad', 'good'],
    n: [1, 1],
  });
  expect(Object.keys(await columns('used | limit 1'))).toEqual([
    '_time',
    '_sysTime',
    'status',
    's',
    'is bad',
    'class',
  ]);
  expect(
    await columns('union used, (used | where class == "bad") | summarize n = countif(class == "bad")'),
  ).toEqual({ n: [2] });
});

test('a virtual field that cannot be computed is omitted with a warning', async () => {
  await dataset('broken', [{ status: 200 }]);
  for (const [name, expression] of [
    ['gone', 'nowhere + 1'],
    ['status', '1'],
    ['kept', 'status + 1'],
  ])
    await call('POST', '/v2/vfields', { dataset: 'broken', name, expression });
  const { body } = await call('POST', '/v1/query/_apl', { apl: 'broken | project status, kept', ...window });
  expect(body.tables[0].columns).toEqual([[200], [201]]);
  const said = body.status.messages.map(({ msg }: { msg: string }) => msg).join('\n');
  expect(said).toContain('virtual field `gone` is skipped: ');
  expect(said).toContain('virtual field `status` is skipped: the dataset has a field with that name');
});

test('the fields of all datasets are listed at once', async () => {
  await dataset('listed', [{ a: 1 }]);
  const { body } = await call('GET', '/v1/datasets/_fields');
  const listed = body.find((each: { datasetName: string }) => each.datasetName === 'listed');
  expect(listed.fields.map(({ name, type }: { name: string; type: string }) => [name, type])).toEqual([
    ['_time', 'datetime'],
    ['_sysTime', 'datetime'],
    ['a', 'integer'],
  ]);
  expect(body.map((each: { datasetName: string }) => each.datasetName)).toContain('sample-http-logs');
});

test('every answer carries the rate limit headers', async () => {
  const answer = await service().send('GET', '/v2/user');
  expect(answer.headers.get('x-ratelimit-scope')).toBe('user');
  for (const kind of ['rate', 'query']) {
    const of = (name: string) => Number(answer.headers.get(`x-${kind}limit-${name}`));
    expect(of('remaining')).toBe(of('limit'));
    expect(of('reset') * 1000).toBeGreaterThan(Date.now() - 1000);
  }
});
