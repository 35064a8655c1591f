import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { expect, test } from 'vitest';
import { findShared } from '../../../kernel/local/shared.js';
import { Elsewhere, leases } from '../lease/leases.js';
import { compiledOf, type TestService, temporaryDirectory, testService } from '../service.js';

/** A service that does not know yet that another has taken over its data directory. */
async function followedService() {
  const lines: string[] = [];
  const followed = await testService({ limits: { beatMs: 600_000 }, log: text => lines.push(text) });
  await followed.json('POST', '/v2/datasets', { name: 'd' });
  new Elsewhere(followed.dataDir, 2).show();
  return { followed, lines };
}

const starred = { kind: 'apl', metadata: {}, name: 's', who: 'local', query: { apl: 'd' } };
const annotation = { datasets: ['d'], type: 'deploy', time: '2026-06-15T12:00:00Z' };

test.each<readonly [what: string, method: string, route: string, body: unknown]>([
  ['an ingest', 'POST', '/v1/datasets/d/ingest', [{ n: 1 }]],
  ['a new dataset', 'POST', '/v2/datasets', { name: 'e' }],
  ['a dropped dataset', 'DELETE', '/v2/datasets/d', undefined],
  ['a starred query', 'POST', '/v2/apl-starred-queries', starred],
  ['an annotation', 'POST', '/v2/annotations', annotation],
  ['a query', 'POST', '/v1/datasets/_apl?format=tabular', { apl: 'n:long\nSELECT 1::BIGINT' }],
])('a replaced service acknowledges nothing: %s', async (_, method, route, body) => {
  const { followed, lines } = await followedService();
  const answer = await followed.json(method, route, body);
  expect([answer.status, answer.body.detail?.errorType]).toEqual([503, 'lease-lost']);
  await followed.service.closed;
  expect(lines).toContain('the data directory belongs to another service now: closing');
  // The other service's lease is left alone.
  expect(leases(followed.dataDir)).toEqual({ 'lease-1.json': 'open', 'lease-2.json': 'open' });
});

test('a replaced service creates no dataset', async () => {
  const { followed } = await followedService();
  expect((await followed.json('POST', '/v2/datasets', { name: 'e' })).status).toBe(503);
  await followed.service.closed;
  expect(readdirSync(path.join(followed.dataDir, 'datasets'))).toEqual(['d']);
});

test('an answer computed while another service took over is withheld', async () => {
  const dataDir = await temporaryDirectory();
  const compile = () => {
    new Elsewhere(dataDir, 2).show();
    return { ok: true, compiled: compiledOf('SELECT 1::BIGINT', 'n:long') } as const;
  };
  const service = await testService({ dataDir, compile, limits: { beatMs: 600_000 } });
  const answer = await service.query('n');
  expect([answer.status, answer.body.detail?.errorType]).toEqual([503, 'lease-lost']);
});

test('a second service on a data directory reports the first, which keeps running', async () => {
  const first = await testService({ limits: { beatMs: 20 } });
  const { dataDir, service } = first;
  await expect(testService({ dataDir })).rejects.toMatchObject({
    code: 'data-directory-held',
    message: expect.stringContaining(
      `${dataDir} is in use by the local service at ${service.url} of apl-kernel`,
    ),
  });
  expect((await first.json('GET', '/v2/user')).status).toBe(200);
  expect((await findShared(dataDir)).kind).toBe('running');
  await service.close();
  const next = await testService({ dataDir });
  expect((await next.json('GET', '/v2/user')).status).toBe(200);
});

test('a service that cannot bind its port frees the directory for the next', async () => {
  const first = await testService();
  const dataDir = await temporaryDirectory();
  const port = Number(new URL(first.service.url).port);
  await expect(testService({ dataDir, port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  expect(leases(dataDir)).toEqual({ 'lease-1.json': 'ended' });
});

test('a managed service ends on request only if no kernel uses it', async () => {
  const [managed, own] = [await testService({ managed: true }), await testService()];
  const leave = async (to: TestService) => (await to.json('DELETE', '/v1/alive')).status;
  const headers = { authorization: `Bearer ${managed.service.token}` };
  const kernel = request(`${managed.service.url}/v1/alive`, { headers, agent: false }).end();
  await once(kernel, 'response');
  expect([await leave(managed), await leave(own)]).toEqual([409, 409]);
  kernel.on('error', () => undefined).destroy();
  await expect.poll(() => leave(managed)).toBe(204);
  await managed.service.closed;
  expect((await own.json('GET', '/v2/user')).status).toBe(200);
});
