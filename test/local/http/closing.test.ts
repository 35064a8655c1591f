import { once } from 'node:events';
import { request } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Service } from '../../../kernel/local/http/http-options.js';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import { type TestService, temporaryDirectory, testService } from '../service.js';

const ndjson = { 'content-type': 'application/x-ndjson' };

/** An event for each ingest route of collectors. */
const ways: readonly (readonly [path: string, body: (n: number) => string])[] = [
  ['/v1/datasets/d/ingest', n => `{"n":${n}}`],
  ['/v1/datasets/d/elastic/_bulk', n => `{"create":{}}\n{"n":${n}}`],
  ['/services/collector?index=d', n => `{"event":{"n":${n}}}`],
];

/** Sends an event on a new connection; returns the status, or undefined if the connection closed before the response was complete. */
function sendEvent({ url, token }: Service, n: number): Promise<number | undefined> {
  const [path = '', bodyOf = String] = ways[n % ways.length] ?? [];
  const headers = { ...ndjson, authorization: `Bearer ${token}` };
  return new Promise(resolve => {
    const sent = request(url + path, { method: 'POST', headers, agent: false }, answer => {
      answer.resume().on('end', () => resolve(answer.complete ? answer.statusCode : undefined));
    });
    sent.on('error', () => resolve(undefined)).end(bodyOf(n));
  });
}

async function serviceWithDataset(dataDir: string): Promise<TestService> {
  const service = await testService({ dataDir });
  expect((await service.json('POST', '/v2/datasets', { name: 'd' })).status).toBe(200);
  return service;
}

test('a closing service acknowledges what it stores, and stores nothing unacknowledged', async () => {
  const dataDir = await temporaryDirectory();
  const { service } = await serviceWithDataset(dataDir);
  const sent = Array.from({ length: 300 }, (_, n) => sendEvent(service, n));
  await Promise.race(sent);
  await service.close();
  const statuses = await Promise.all(sent);
  const answered = statuses.flatMap((status, n) => (status === 200 ? [n] : []));
  // Clients retry after a lost connection, and after status 503.
  expect([...new Set(statuses)].filter(status => ![200, 503, undefined].includes(status))).toEqual([]);
  const { body } = await (await testService({ dataDir })).query('dataset d: n:long');
  expect(body.tables[0].columns[0].toSorted((a: number, b: number) => a - b)).toEqual(answered);
});

test('a client that stalls within its body does not keep a service from closing', async () => {
  const { service } = await serviceWithDataset(await temporaryDirectory());
  const headers = { ...ndjson, authorization: `Bearer ${service.token}`, expect: '100-continue' };
  const stalled = request(`${service.url}/v1/datasets/d/ingest`, { method: 'POST', headers, agent: false });
  onTestFinished(() => void stalled.destroy());
  stalled.flushHeaders();
  // A request received before the service closes is answered.
  await once(stalled, 'continue');
  stalled.write('{"n":1}\n');
  const lost = once(stalled, 'error');
  await service.close();
  expect((await lost)[0]).toMatchObject({ code: 'ECONNRESET' });
});

test('a query interrupted by shutdown is answered with service-ending', async () => {
  const service = await testService({ compile: compileRequest });
  const side = (name: string) => `range ${name} from 1 to 1000000 step 1 | extend k = 1`;
  const apl = `${side('a')} | join kind=inner (${side('b')}) on k | summarize sum(a * b)`;
  const answer = service.json('POST', '/v1/datasets/_apl?format=tabular', { apl }, { 'x-apl-query': 'q' });
  await vi.waitUntil(async () => (await service.json('GET', '/v1/local/queries/q')).status === 200);
  await service.service.close();
  const { status, body } = await answer;
  expect([status, body.message, body.detail?.errorType ?? body.code]).toEqual([
    503,
    'The service is shutting down. Send the request again when it is running.',
    'service-ending',
  ]);
});
