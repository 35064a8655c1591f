import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { compileRequest } from '../../../../kernel/local/sql/compile.js';
import { sharedService } from '../../service.js';

/** Every documented operation of the hosted service, and how the local one responds. */

const service = sharedService({ compile: compileRequest });

const page = readFileSync(path.join(import.meta.dirname, '../../../../docs/operations.md'), 'utf8');
const rows = [...page.matchAll(/^\| (GET|POST|PUT|PATCH|DELETE) (\S+) \| (\w+) \|(?: (\d+) \|| \|)$/gm)].map(
  ([, method = '', route = '', state = '', status]) => [method, route, state, Number(status)] as const,
);

const count = (wanted: string) => rows.filter(([, , state]) => state === wanted).length;

test('the page lists the documented operations and counts those served', () => {
  expect(rows.length).toBe(103);
  const [served, none, refused] = [count('served'), count('none'), count('refused')];
  expect(page).toContain(
    `\n${served} of 103 are served, ${none} answer that there is none, and ${refused} are refused. `,
  );
});

test.each(rows)('%s %s is %s', async (method, route, state) => {
  // There is one user and one organization.
  const id = /^\/v2\/(users|orgs)\//.test(route) ? 'local' : 'x';
  const answer = await service().send(method, route.replaceAll(/\{[^}]*\}/g, id));
  const text = await answer.text();
  const found =
    answer.status === 422 && text.includes('"The local service does not support ')
      ? 'refused'
      : text.includes('"Not found: The service has no ')
        ? 'missing'
        : /^\{"code":404,"message":"Not found: The local service has no [a-z ]+, so none has the ID \\"x\\"\./.test(
              text,
            )
          ? 'none'
          : 'served';
  expect([found, answer.status < 500]).toEqual([state, true]);
});

test.each([
  ['/v1/metrics', 'application/json'],
  ['/v2/views', 'text/csv'],
  ['/v2/monitors', 'application/json'],
])('%s is refused as unsupported, whatever its body: %s', async (route, type) => {
  const answer = await service().json('POST', route, '{"', { 'content-type': type });
  expect([answer.status, answer.body.detail?.errorType]).toEqual([422, 'not-supported']);
});

test('the only user and organization are found by id, and no others', async () => {
  const get = async (path: string) => (await service().send('GET', path)).json();
  expect(await get('/v2/users/local')).toEqual(await get('/v2/user'));
  expect(await get('/v2/users')).toEqual([await get('/v2/user')]);
  expect(await get('/v2/orgs')).toEqual([await get('/v2/orgs/local')]);
  for (const path of ['/v2/users/someone', '/v2/orgs/other'])
    expect((await service().send('GET', path)).status).toBe(404);
});

const starred = { kind: 'apl', name: 'n', who: 'w', metadata: {}, query: { apl: 'd' } };
const annotation = { datasets: ['d'], type: 'deploy' };
const virtual = { dataset: 'd', name: 'v', expression: 'a' };
const structured = { startTime: '2026-06-15T00:00:00Z', endTime: '2026-06-16T00:00:00Z' };
const query = { apl: 'd | count' };
const events = [{ a: 1 }];

/** A call of each supported operation, in an order in which each succeeds: its path, with `$` for the latest id, and its body. */
const calls: readonly (readonly [operation: string, path: string, body?: unknown])[] = [
  ['GET /v1/user', '/v1/user'],
  ['GET /v2/user', '/v2/user'],
  ['GET /v2/users', '/v2/users'],
  ['GET /v2/users/{id}', '/v2/users/local'],
  ['GET /v2/orgs', '/v2/orgs'],
  ['GET /v2/orgs/{id}', '/v2/orgs/local'],
  ...['monitors', 'notifiers', 'rbac/roles', 'rbac/groups', 'tokens', 'views', 'dashboards'].map(
    each => [`GET /v2/${each}`, `/v2/${each}`] as const,
  ),
  ['GET /services/collector/health', '/services/collector/health'],
  ['GET /services/collector/health/1.0', '/services/collector/health/1.0'],
  ['POST /v1/datasets', '/v1/datasets', { name: 'd' }],
  ['GET /v1/datasets', '/v1/datasets'],
  ['GET /v1/datasets/{dataset}', '/v1/datasets/d'],
  ['PUT /v1/datasets/{dataset}', '/v1/datasets/d', { description: 'x' }],
  ['POST /v1/datasets/{dataset}/ingest', '/v1/datasets/d/ingest', events],
  ['POST /v1/ingest/{dataset}', '/v1/ingest/d', events],
  ['POST /services/collector/event', '/services/collector/event', { index: 'd', event: { a: 1 } }],
  ['POST /services/collector', '/services/collector', { index: 'd', event: { a: 1 } }],
  ['POST /services/collector/raw', '/services/collector/raw?index=d', 'a line'],
  ['POST /v1/datasets/_apl', '/v1/datasets/_apl?format=tabular', query],
  ['POST /v1/query/_apl', '/v1/query/_apl?format=tabular', query],
  ['POST /v1/query/batch', '/v1/query/batch', [{ queryId: 'q', aplRequest: query }]],
  ['POST /v1/datasets/{dataset}/query', '/v1/datasets/d/query', structured],
  ['POST /v1/datasets/{dataset}/trim', '/v1/datasets/d/trim', { maxDuration: '24h' }],
  ['POST /v2/datasets/{dataset}/trim', '/v2/datasets/d/trim', { maxDuration: '24h' }],
  ['POST /v2/datasets/{dataset}/vacuum', '/v2/datasets/d/vacuum'],
  ['GET /v2/datasets/{dataset}/fields', '/v2/datasets/d/fields'],
  ['GET /v2/datasets/{dataset}/fields/{field_id}', '/v2/datasets/d/fields/a'],
  ['PUT /v2/datasets/{dataset}/fields/{field_id}', '/v2/datasets/d/fields/a', { unit: 'ms' }],
  ['POST /v2/datasets/{dataset}/mapfields', '/v2/datasets/d/mapfields', { name: 'm' }],
  ['GET /v2/datasets/{dataset}/mapfields', '/v2/datasets/d/mapfields'],
  ['DELETE /v2/datasets/{dataset}/mapfields/{map_field_name}', '/v2/datasets/d/mapfields/m'],
  ['PUT /v2/datasets/{dataset}/mapfields', '/v2/datasets/d/mapfields', ['m']],
  ['GET /v2/vfields', '/v2/vfields?dataset=d'],
  ['POST /v2/vfields', '/v2/vfields', virtual],
  ['GET /v2/vfields/{id}', '/v2/vfields/$'],
  ['PUT /v2/vfields/{id}', '/v2/vfields/$', virtual],
  ['DELETE /v2/vfields/{id}', '/v2/vfields/$'],
  ['GET /v2/annotations', '/v2/annotations'],
  ['POST /v2/annotations', '/v2/annotations', annotation],
  ['GET /v2/annotations/{id}', '/v2/annotations/$'],
  ['PUT /v2/annotations/{id}', '/v2/annotations/$', { title: 't' }],
  ['DELETE /v2/annotations/{id}', '/v2/annotations/$'],
  ['GET /v2/apl-starred-queries', '/v2/apl-starred-queries'],
  ['POST /v2/apl-starred-queries', '/v2/apl-starred-queries', starred],
  ['GET /v2/apl-starred-queries/{id}', '/v2/apl-starred-queries/$'],
  ['PUT /v2/apl-starred-queries/{id}', '/v2/apl-starred-queries/$', starred],
  ['DELETE /v2/apl-starred-queries/{id}', '/v2/apl-starred-queries/$'],
  ['POST /v2/datasets', '/v2/datasets', { name: 'e' }],
  ['GET /v2/datasets', '/v2/datasets'],
  ['GET /v2/datasets/{dataset}', '/v2/datasets/d'],
  ['PUT /v2/datasets/{dataset}', '/v2/datasets/d', { description: 'y' }],
  ['DELETE /v1/datasets/{dataset}', '/v1/datasets/d'],
  ['DELETE /v2/datasets/{dataset}', '/v2/datasets/e'],
];

test('each served operation succeeds with its documented status', async () => {
  const answered: (readonly [string, number])[] = [];
  let id = '';
  for (const [operation, route, body] of calls) {
    const [method = ''] = operation.split(' ');
    const answer = await service().send(method, route.replace('$', id), body);
    const text = await answer.text();
    if (method === 'POST') id = /"id":"([^"]+)"/.exec(text)?.[1] ?? '';
    answered.push([operation, answer.status]);
  }
  const served = rows.filter(([, , state]) => state === 'served');
  const documented = served.map(([method, route, , status]) => [`${method} ${route}`, status] as const);
  expect(answered.sort()).toEqual(documented.sort());
});
