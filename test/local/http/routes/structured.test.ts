import { beforeAll, expect, test } from 'vitest';
import { compileRequest } from '../../../../kernel/local/sql/compile.js';
import { sharedService } from '../../service.js';

/** Structured queries of one dataset, the form that preceded APL. */

const service = sharedService({ compile: compileRequest });
const window = { startTime: '2026-06-15T00:00:00Z', endTime: '2026-06-16T00:00:00Z' };
const events = [
  { _time: '2026-06-15T10:00:00Z', ip: '1.1', status: 200, path: 'GET /a' },
  { _time: '2026-06-15T10:01:00Z', ip: '2.2', status: 503, path: 'get /b' },
  { _time: '2026-06-15T10:02:00Z', ip: '1.1', status: 404, path: 'PUT /a', user: 'u"x' },
];

beforeAll(async () => {
  await service().json('POST', '/v2/datasets', { name: 'my logs' });
  await service().json('POST', '/v1/datasets/my%20logs/ingest', events);
});

async function ask(query: object, parameters = '') {
  return service().json('POST', `/v1/datasets/my%20logs/query${parameters}`, { ...window, ...query });
}

async function paths(filter: object): Promise<readonly string[]> {
  const { status, body } = await ask({ filter });
  expect([status, body.message]).toEqual([200, undefined]);
  return body.matches.map(({ data }: { data: { path: string } }) => data.path);
}

test('events come newest first, with the members that strict clients expect', async () => {
  const { status, body } = await ask({ limit: 0, resolution: 'auto', groupBy: null, cursor: '', filter: {} });
  expect([status, Object.keys(body)]).toEqual([200, ['status', 'matches', 'buckets']]);
  expect(Object.keys(body.matches[0])).toEqual(['_time', '_sysTime', '_rowId', 'data']);
  expect(body.matches.map(({ data }: { data: { status: number } }) => data.status)).toEqual([404, 503, 200]);
  expect([body.status.rowsExamined, body.status.rowsMatched]).toEqual([3, 3]);
  expect(Object.keys(body.status)).not.toContain('blocksCached');
  expect((await ask({ limit: 2 })).body.matches.length).toBe(2);
});

const filters: readonly (readonly [filter: object, found: readonly string[]])[] = [
  [{ op: '==', field: 'status', value: 503 }, ['get /b']],
  [{ op: '!=', field: 'status', value: 503 }, ['PUT /a', 'GET /a']],
  [{ op: '>', field: 'status', value: 404 }, ['get /b']],
  [{ op: '>=', field: 'status', value: 404 }, ['PUT /a', 'get /b']],
  [{ op: '<', field: 'status', value: 404 }, ['GET /a']],
  [{ op: '<=', field: 'status', value: 404 }, ['PUT /a', 'GET /a']],
  [{ op: 'exists', field: 'user' }, ['PUT /a']],
  [{ op: 'not-exists', field: 'user' }, ['get /b', 'GET /a']],
  [{ op: '==', field: 'user', value: 'u"x' }, ['PUT /a']],
  [{ op: 'starts-with', field: 'path', value: 'get' }, ['get /b', 'GET /a']],
  [{ op: 'starts-with', field: 'path', value: 'get', caseSensitive: true }, ['get /b']],
  [{ op: 'not-starts-with', field: 'path', value: 'get' }, ['PUT /a']],
  [{ op: 'ends-with', field: 'path', value: 'A' }, ['PUT /a', 'GET /a']],
  [{ op: 'not-ends-with', field: 'path', value: 'A' }, ['get /b']],
  [{ op: 'contains', field: 'path', value: 'ET /' }, ['get /b', 'GET /a']],
  [{ op: 'contains', field: 'path', value: 'ET /', caseSensitive: true }, ['GET /a']],
  [{ op: 'not-contains', field: 'path', value: 'ET' }, ['PUT /a']],
  [{ op: 'regexp', field: 'path', value: '^P|b$' }, ['PUT /a', 'get /b']],
  [{ op: 'not-regexp', field: 'path', value: '^P|b$' }, ['GET /a']],
  [{ op: '>', field: '_time', value: '2026-06-15T10:01:00Z' }, ['PUT /a']],
  [
    { op: 'exists', field: 'status', children: [{ op: 'contains', field: 'path', value: 'PUT' }] },
    ['PUT /a'],
  ],
  [
    {
      op: 'or',
      children: [
        { op: '==', field: 'status', value: 200 },
        { op: '==', field: 'status', value: 404 },
      ],
    },
    ['PUT /a', 'GET /a'],
  ],
  [
    {
      op: 'not',
      children: [
        { op: '==', field: 'ip', value: '1.1' },
        { op: '==', field: 'status', value: 200 },
      ],
    },
    ['PUT /a', 'get /b'],
  ],
  [
    {
      op: 'and',
      children: [
        { op: '==', field: 'ip', value: '1.1' },
        { op: '==', field: 'status', value: 200 },
      ],
    },
    ['GET /a'],
  ],
];

test.each(filters)('filter %j', async (filter, found) => {
  expect(await paths(filter)).toEqual(found);
});

test('aggregations by group, virtual field and time work as axiom-go requests them', async () => {
  const { status, body } = await ask({
    aggregations: [{ alias: 'event_count', op: 'count', field: '*' }],
    groupBy: ['success', 'ip'],
    filter: { op: 'exists', field: 'status', children: [{ op: 'contains', field: 'path', value: '/' }] },
    order: [
      { field: 'success', desc: true },
      { field: 'ip', desc: false },
    ],
    virtualFields: [{ alias: 'success', expr: 'toint(status) < 400' }],
    project: [{ field: 'ip', alias: 'address' }],
    resolution: '1m',
    continuationToken: '',
  });
  expect([status, body.message]).toEqual([200, undefined]);
  const total = ({ group, aggregations }: { group: object; aggregations: object[] }) => [group, aggregations];
  const count = (value: number) => [{ op: 'event_count', value }];
  expect(body.buckets.totals.map(total)).toEqual([
    [{ success: true, ip: '1.1' }, count(1)],
    [{ success: false, ip: '1.1' }, count(1)],
    [{ success: false, ip: '2.2' }, count(1)],
  ]);
  expect(body.buckets.series.length).toBe(3);
  expect(body.matches).toEqual([]);
});

test.each([
  ['count', 'user', undefined, 1],
  ['distinct', 'ip', undefined, 2],
  ['makeset', 'ip', undefined, ['1.1', '2.2']],
  ['sum', 'status', undefined, 1107],
  ['avg', 'status', undefined, 369],
  ['min', 'status', undefined, 200],
  ['max', 'status', undefined, 503],
  ['percentiles', 'status', [50], [404]],
])('aggregation %s of %s', async (op, field, argument, value) => {
  const { body } = await ask({ aggregations: [{ op, field, argument }], resolution: '24h' });
  const [{ aggregations }] = body.buckets.totals;
  const [found] = aggregations;
  const sorted = Array.isArray(found.value) ? found.value.toSorted() : found.value;
  expect([found.op, sorted]).toEqual([op, value]);
});

test.each(['topk', 'histogram', 'stdev', 'variance', 'makelist'])('aggregation %s is accepted', async op => {
  expect((await ask({ aggregations: [{ op, field: 'status' }] })).status).toBe(200);
});

test('projections choose and rename fields', async () => {
  const { body } = await ask({ project: [{ field: 'ip', alias: 'address' }, { field: 'status' }], limit: 1 });
  expect(body.matches[0].data).toEqual({ address: '1.1', status: 404 });
});

test.each([
  [{ wrong: 1 }, 400, 'wrong'],
  [{ filter: { op: 'like', field: 'ip', value: 'x' } }, 400, 'like'],
  [{ filter: { op: '==', field: 'ip', value: { a: 1 } } }, 400, 'value'],
  [{ filter: { op: '==', value: 1 } }, 400, 'field'],
  [{ aggregations: [{ op: 'argmin', field: 'ip' }] }, 400, 'argmin'],
  [{ aggregations: [{ op: 'sum', field: '*' }] }, 400, 'sum'],
  [{ resolution: 'often' }, 200, ''],
  [{ aggregations: [{ op: 'count' }], resolution: 'often' }, 400, 'resolution'],
  [{ virtualFields: [{ alias: 'x', expr: '1 | take 1' }] }, 400, 'expr'],
  [{ filter: { op: '==', field: 'nope', value: 1 } }, 400, 'nope'],
  [{ continuationToken: 'abc' }, 422, 'continuationToken'],
])('%j is answered with %i', async (query, status, text) => {
  const answer = await ask(query);
  expect([answer.status, answer.body.message ?? '']).toEqual([status, expect.stringContaining(text)]);
  expect(answer.body.detail?.line).toBeUndefined();
});

test('accepted parameters take effect, or are reported as having none', async () => {
  const counted = { aggregations: [{ op: 'count' }], resolution: '1m' };
  expect((await ask(counted, '?totals=false')).body.buckets.totals).toEqual([]);
  expect((await ask(counted, '?totals=true')).body.buckets.totals.length).toBe(1);
  const { messages } = (await ask({}, '?saveAsKind=analytics&nocache=true&streaming-duration=1m')).body
    .status;
  expect(messages.map(({ code }: { code: string }) => code)).toEqual(['apl_not_saved']);
  expect((await ask({}, '?saveAsKind=all')).status).toBe(400);
  expect((await ask({}, '?totals=maybe')).status).toBe(400);
});

test('an unknown dataset is answered with 404', async () => {
  expect((await service().json('POST', '/v1/datasets/nope/query', window)).status).toBe(404);
});

test('a stream resumes after the id of its last event, and waits for the next', async () => {
  const query = { order: [{ field: '_time', desc: false }] };
  const stream = async (cursor: string) => (await ask({ ...query, cursor }, '?streaming-duration=5s')).body;
  const all = (await stream('')).matches;
  expect(all.map(({ data }: { data: { status: number } }) => data.status)).toEqual([200, 503, 404]);
  expect((await stream(all[0]._rowId)).matches).toEqual(all.slice(1));
  const before = performance.now();
  expect((await stream(all[2]._rowId)).matches).toEqual([]);
  expect(performance.now() - before).toBeGreaterThanOrEqual(990);
});
