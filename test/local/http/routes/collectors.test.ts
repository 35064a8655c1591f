import { EventEmitter, once } from 'node:events';
import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import fastify from 'fastify';
import { expect, test } from 'vitest';
import { canceledError } from '../../../../kernel/local/engine/engine-failure.js';
import { BodiesUnderWay } from '../../../../kernel/local/http/routes/bodies.js';
import { sharedService } from '../../service.js';

const service = sharedService();
let datasets = 0;

async function newDataset(): Promise<string> {
  const name = `collected${++datasets}`;
  expect((await service().json('POST', '/v2/datasets', { name })).status).toBe(200);
  return name;
}

/** Sends a request with only these headers, as recorded from a program. */
function replay(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: Uint8Array | string,
): Promise<readonly [status: number | undefined, text: string]> {
  return new Promise((resolve, reject) => {
    const sent = request(service().service.url + path, { method, headers }, answer => {
      let text = '';
      answer.setEncoding('utf8').on('data', part => {
        text += part;
      });
      answer.on('end', () => resolve([answer.statusCode, text]));
    });
    sent.on('error', reject).end(body);
  });
}

async function columnsOf(dataset: string, fields: string): Promise<unknown[][]> {
  return (await service().query(`dataset ${dataset}: ${fields}`)).body.tables[0].columns;
}

test('go-elasticsearch 8.19.7: its first requests and bulk indexer are served', async () => {
  const name = await newDataset();
  const authorization = `APIKey ${Buffer.from(`axiom:${service().service.token}`).toString('base64')}`;
  const shared = { authorization, 'user-agent': 'go-elasticsearch/8.19.7 (linux amd64; Go 1.26.8)' };
  const client = { ...shared, 'x-elastic-client-meta': 'es=8.19.7,go=1.26.8,t=8.9.0,hc=1.26.8' };
  const [status, about] = await replay('GET', `/v1/datasets/${name}/elastic/`, client);
  expect([status, JSON.parse(about).tagline]).toEqual([200, 'You Know, for Search']);
  expect(await replay('HEAD', `/v1/datasets/${name}/elastic/`, client)).toEqual([200, '']);
  const lines = [
    '{"index":{}}',
    '{"@timestamp":"2026-06-15T11:00:00.123456789Z","n":1}',
    '{"create":{}}',
    '{"n":2}',
  ];
  const headers = { ...client, 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const path = `/v1/datasets/${name}/elastic/web/_bulk`;
  const [, answer] = await replay('POST', path, headers, gzipSync(`${lines.join('\n')}\n`));
  expect(JSON.parse(answer).items).toEqual([
    { index: { _index: 'web', _version: 1, result: 'created', status: 201 } },
    { create: { _index: 'web', _version: 1, result: 'created', status: 201 } },
  ]);
  expect(await columnsOf(name, '_time:datetime n:long')).toEqual([
    ['2026-06-15T11:00:00.123456789Z', '2026-06-15T12:00:00Z'],
    [1, 2],
  ]);
});

test('Fluent Bit 5.1.1: its Elasticsearch, Splunk and HTTP outputs are served, also without a type', async () => {
  const name = await newDataset();
  const { token } = service().service;
  const shared = { 'user-agent': 'Fluent-Bit', 'content-encoding': 'gzip' };
  const basic = { ...shared, authorization: `Basic ${Buffer.from(`axiom:${token}`).toString('base64')}` };
  const bulk =
    '{"create":{"_index":"fluent-bit"}}\n{"@timestamp":"2026-06-15T11:00:00.123456789Z","seq":0}\n';
  const elastic = { ...basic, 'content-type': 'application/x-ndjson' };
  const path = `/v1/datasets/${name}/elastic/_bulk`;
  expect((await replay('POST', path, elastic, gzipSync(bulk)))[1]).toContain('"errors":false');
  const envelope = `{"time":1781521200.123457,"index":"${name}","event":{"seq":1,"big":9007199254740993}}`;
  const splunk = { ...shared, authorization: `Splunk ${token}` };
  const success = [200, '{"text":"Success","code":0}'];
  expect(await replay('POST', '/services/collector/event', splunk, gzipSync(envelope))).toEqual(success);
  const list = '[{"_time":"2026-06-15T11:00:00.123456Z","seq":2}]';
  const plain = { ...shared, authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const [status, answer] = await replay('POST', `/v1/ingest/${name}`, plain, gzipSync(list));
  expect([status, JSON.parse(answer).ingested]).toEqual([200, 1]);
  expect(await columnsOf(name, '_time:datetime seq:long')).toEqual([
    ['2026-06-15T11:00:00.123456Z', '2026-06-15T11:00:00.123456789Z', '2026-06-15T11:00:00.123457Z'],
    [2, 0, 1],
  ]);
});

test('the cluster health that Vector and winston-elasticsearch request is served', async () => {
  const name = await newDataset();
  const authorization = `Bearer ${service().service.token}`;
  const path = `/v1/datasets/${name}/elastic/_cluster/health`;
  const [status, health] = await replay('GET', path, { authorization });
  expect([status, JSON.parse(health).status]).toEqual([200, 'green']);
  expect((await replay('GET', path.replace(name, 'nope'), { authorization }))[0]).toBe(404);
});

const halves = String.raw`{"cut":"a\ud83d","late":"\uDE00\ud83d","whole":"\ud83d\ude00","text":"\\ud83d"}`;

test.each([
  ['/v1/datasets/NAME/elastic/_bulk', `{"create":{}}\n${halves}\n`, '"errors":false'],
  ['/services/collector?index=NAME', `{"event":${halves}}`, '"Success"'],
  ['/v1/datasets/NAME/ingest', `[${halves}]`, '"ingested":1,"failed":0'],
  ['/v1/ingest/NAME', `{"long":"${'x'.repeat(300_000)}",${halves.slice(1)}`, '"ingested":1,"failed":0'],
])('%s replaces an unpaired surrogate and stores the event', async (path, body, said) => {
  const name = await newDataset();
  const answer = await service().send('POST', path.replace('NAME', name), body);
  expect(await answer.text()).toContain(said);
  expect(await columnsOf(name, 'cut:string late:string whole:string text:string')).toEqual([
    ['a\ufffd'],
    ['\ufffd\ufffd'],
    ['\u{1f600}'],
    ['\\ud83d'],
  ]);
});

test('the time of a document is @timestamp, _time, or its arrival', async () => {
  const name = await newDataset();
  const documents = [
    '{"@timestamp":"yesterday","n":1}',
    '{"_time":"2026-06-15T11:00:00Z","n":2}',
    '{"_time":"2026-06-15T10:00:00Z","@timestamp":"2026-06-15T11:30:00Z","n":9007199254740993}',
  ];
  const send = (each: readonly string[]) =>
    service().json(
      'POST',
      `/v1/datasets/${name}/elastic/_bulk`,
      each.map(text => `{"create":{}}\n${text}\n`).join(''),
    );
  expect((await send(documents.slice(0, 1))).body.errors).toBe(false);
  expect((await send(documents.slice(1))).body.errors).toBe(false);
  expect(await columnsOf(name, '_time:datetime @timestamp:string')).toEqual([
    ['2026-06-15T12:00:00Z', '2026-06-15T11:00:00Z', '2026-06-15T11:30:00Z'],
    ['yesterday', null, '2026-06-15T11:30:00Z'],
  ]);
});

test('a body interrupted by shutdown is answered with service-ending', async () => {
  const app = fastify();
  const bodies = new BodiesUnderWay();
  bodies.watch(app);
  app.setErrorHandler((error: Error) => {
    throw bodies.reported(error);
  });
  const work = new EventEmitter();
  app.post('/', async () => {
    const canceled = once(work, 'canceled');
    work.emit('arrived');
    await canceled;
    throw canceledError();
  });
  const arrived = once(work, 'arrived');
  const answer = app.inject({ method: 'POST', url: '/' });
  await arrived;
  const ended = bodies.end();
  work.emit('canceled');
  expect((await answer).json()).toMatchObject({
    code: 'service-ending',
    message: 'The service is shutting down.',
  });
  await ended;
});
