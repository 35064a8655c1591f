import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { compileRequest } from '../../../../kernel/local/sql/compile.js';
import { sharedService } from '../../service.js';
import { zstdBomb, zstdOf } from '../../store/zstd.js';

/** Client requests that do not follow the documentation. */

const service = sharedService({ compile: compileRequest });

/** Sends these headers without a body, which fetch does not support for every type. */
async function bodiless(
  method: string,
  route: string,
  headers: Record<string, string>,
): Promise<number | undefined> {
  const { url, token } = service().service;
  const sent = request(url + route, {
    method,
    headers: { authorization: `Bearer ${token}`, ...headers },
    agent: false,
  });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

const json = { 'content-type': 'application/json' };

test.each([
  ['no length', json],
  ['length 0', { ...json, 'content-length': '0' }],
  ['chunked', { ...json, 'transfer-encoding': 'chunked' }],
])('an empty JSON body counts as absent: %s', async (_, headers) => {
  for (const [route, body] of [
    ['/v2/datasets', { name: 'short-lived' }],
    ['/v2/annotations', { datasets: ['short-lived'], type: 'deploy' }],
    ['/v2/apl-starred-queries', { kind: 'apl', name: 'x', who: '', metadata: {}, query: { apl: 'x' } }],
  ] as const) {
    const made = await service().json('POST', route, body);
    if (route !== '/v2/datasets')
      expect(await bodiless('DELETE', `${route}/${made.body.id}`, headers)).toBe(204);
  }
  expect(await bodiless('DELETE', '/v2/datasets/short-lived', headers)).toBe(204);
  expect(await bodiless('POST', '/v2/datasets', headers)).toBe(400);
});

test.each([null, '', '0001-01-01T00:00:00Z'])('the time %j counts as absent', async absent => {
  const answer = await service().query('print a = 1', { startTime: absent, endTime: absent });
  expect([answer.status, answer.body.tables?.[0].columns]).toEqual([200, [[1]]]);
  const { body } = await service().json('POST', '/v1/query/_apl?format=legacy', {
    apl: 'print a = 1',
    startTime: absent,
  });
  const lastHour = { startTime: '2026-06-15T11:00:00Z', endTime: '2026-06-15T12:00:00Z' };
  expect(body.request).toEqual({ apl: 'print a = 1', ...lastHour });
  const given = encodeURIComponent(String(absent ?? ''));
  const listed = await service().json('GET', `/v2/annotations?start=${given}&end=${given}`);
  expect([listed.status, listed.body]).toEqual([200, []]);
});

test('an API path may begin with `/api`, as early clients send it', async () => {
  const got = async (method: string, route: string, body?: object) => {
    const answer = await service().json(method, route, body);
    return answer.status;
  };
  expect(await got('POST', '/api/v2/datasets', { name: 'early' })).toBe(200);
  expect(await got('POST', '/api/v1/datasets/early/ingest', [{ a: 1 }])).toBe(200);
  expect(await got('POST', '/api/v1/datasets/_apl?format=legacy', { apl: 'early | count' })).toBe(200);
  expect(await got('DELETE', '/api/v1/datasets/early')).toBe(204);
  for (const route of [
    '/api/internal/monitors',
    '/api/v3/evaluations',
    '/api/api/v1/datasets',
    '/apiv1/user',
  ])
    expect(await got('GET', route)).toBe(404);
});

const twice: readonly (readonly [route: string, body: unknown])[] = [
  ['/v2/annotations?start=0001-01-01T00:00:00Z&start=0001-01-01T00:00:00Z&datasets=a&datasets=b', undefined],
  ['/v2/apl-starred-queries?limit=5&limit=5&offset=0&offset=0&who=all&who=all&qs=x&qs=x', undefined],
  ['/v1/datasets/_apl?format=tabular&format=tabular&nocache=true&nocache=true', { apl: 'print a = 1' }],
];

test.each(twice)('a repeated parameter counts once: %s', async (route, body) => {
  const answer = await service().json(body === undefined ? 'GET' : 'POST', route, body);
  expect([answer.status, answer.body.message]).toEqual([200, undefined]);
});

test('a repeated ingest parameter counts once', async () => {
  await service().json('POST', '/v2/datasets', { name: 'twice' });
  const parameters = 'timestamp-field=at&timestamp-field=at&csv-delimiter=%3B&csv-delimiter=%3B';
  await service().json('POST', `/v1/ingest/twice?${parameters}`, 'at;b\n2026-01-02;1,5\n', {
    'content-type': 'text/csv',
  });
  const answer = await service().query('twice | project _time, b', { startTime: '2026-01-01T00:00:00Z' });
  expect(answer.body.tables[0].columns).toEqual([['2026-01-02T00:00:00Z'], ['1,5']]);
});

const query = JSON.stringify({ apl: 'print a = 1' });

const packed: readonly (readonly [
  encoding: string,
  body: string | Uint8Array,
  status: number,
  text: unknown,
])[] = [
  ['gzip', gzipSync(query), 200, undefined],
  ['zstd', zstdOf(Buffer.from(query)), 200, undefined],
  ['identity', query, 200, undefined],
  ['gzip', query, 400, 'The body is not valid gzip.'],
  ['zstd', query.padEnd(100), 400, 'The body is not valid zstd.'],
  ['br', query, 415, 'Unsupported content encoding "br". Send it uncompressed, or with gzip or zstd.'],
  [
    'zstd',
    zstdBomb(1000),
    413,
    'The body is larger than 4 MiB, the limit for this request. Shorten the query, for example by importing long lists of values as a dataset.',
  ],
];

test.each(packed)('a query body may be compressed: %s %#', async (encoding, body, status, text) => {
  const answer = await service().json('POST', '/v1/query/_apl', body, { 'content-encoding': encoding });
  expect([answer.status, answer.body.message]).toEqual([status, text]);
});
