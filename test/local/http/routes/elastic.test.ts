import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { sharedService } from '../../service.js';

const service = sharedService();
let datasets = 0;

async function newDataset(): Promise<string> {
  const name = `elastic${++datasets}`;
  expect((await service().json('POST', '/v2/datasets', { name })).status).toBe(200);
  return name;
}

const lines = { 'content-type': 'application/x-ndjson' };

function bulk(name: string, body: string | Uint8Array, headers: Record<string, string> = lines) {
  return service().json('POST', `/v1/datasets/${name}/elastic/_bulk`, body, headers);
}

async function columnsOf(dataset: string, fields: string): Promise<unknown[][]> {
  return (await service().query(`dataset ${dataset}: ${fields}`)).body.tables[0].columns;
}

test('documents become events with their times, and each action reports its outcome', async () => {
  const name = await newDataset();
  const body = [
    '{"index":{"_index":"web","_id":"1"}}',
    '{"@timestamp":"2026-06-15T11:00:00.123Z","message":"a","n":9007199254740993}',
    '{"create":{}}',
    '{"@timestamp":"2026-06-15T11:00:01Z","message":"b"}',
    '',
  ].join('\n');
  expect(await bulk(name, body)).toEqual({
    status: 200,
    body: {
      took: 0,
      errors: false,
      items: [
        { index: { _index: 'web', _id: '1', _version: 1, result: 'created', status: 201 } },
        { create: { _index: name, _version: 1, result: 'created', status: 201 } },
      ],
    },
  });
  expect(await columnsOf(name, '_time:datetime message:string')).toEqual([
    ['2026-06-15T11:00:00.123Z', '2026-06-15T11:00:01Z'],
    ['a', 'b'],
  ]);
  const read = await service().send('POST', '/v1/datasets/_apl?format=tabular', {
    apl: `dataset ${name}: n:long`,
  });
  expect(await read.text()).toContain('"columns":[[9007199254740993,null]]');
});

test('an item that cannot be stored is refused alone, and the rest is stored', async () => {
  const name = await newDataset();
  const body = [
    '{"delete":{"_id":"1"}}',
    '{"update":{}}',
    '{"doc":{}}',
    '{"create":{}}',
    '[1]',
    '{"create":{},"attempts":0}',
    '{"n":1}',
  ];
  const { status, body: answer } = await bulk(name, gzipSync(body.join('\n')), {
    ...lines,
    'content-encoding': 'gzip',
  });
  const outcomes = answer.items.map((item: object) =>
    Object.entries(item).map(([action, each]) => [action, each.status]),
  );
  expect([status, answer.errors, outcomes.flat()]).toEqual([
    200,
    true,
    [
      ['delete', 400],
      ['update', 400],
      ['create', 400],
      ['create', 201],
    ],
  ]);
  expect(answer.items[2].create.error.reason).toBe('The document is not a JSON object.');
  expect(await columnsOf(name, 'n:long')).toEqual([[1]]);
});

test.each([
  ['{"n":1}', 400, 'Line 1 is not a bulk action.'],
  ['{"log":{"n":1},"m":2}\n{"n":1}', 400, 'Line 1 is not a bulk action.'],
  ['{"create":{}}\n{"n":1}\n\nnot JSON', 400, 'Line 4 is not a bulk action.'],
])('%s is refused and stores nothing', async (body, status, message) => {
  const name = await newDataset();
  const answer = await bulk(name, body);
  expect([answer.status, answer.body.detail.message]).toEqual([status, message]);
  const { body: fields } = await service().json('GET', `/v2/datasets/${name}/fields`);
  expect(fields.map((field: { name: string }) => field.name)).toEqual(['_time', '_sysTime']);
});

test('shippers get a version, a license and an index path, and may send the token as an API key', async () => {
  const name = await newDataset();
  const { url, token } = service().service;
  const key = Buffer.from(`axiom:${token}`).toString('base64');
  const get = async (path: string, authorization: string) => {
    const answer = await fetch(`${url}/v1/datasets/${name}/elastic${path}`, { headers: { authorization } });
    // biome-ignore lint/suspicious/noExplicitAny: an answer of any shape
    const body: any = await answer.json();
    return [answer.status, answer.headers.get('x-elastic-product'), body] as const;
  };
  const [status, product, about] = await get('', `ApiKey ${key}`);
  expect([status, product, about.version.number]).toEqual([200, 'Elasticsearch', '7.17.22']);
  expect((await get('/_license?human=false', `ApiKey ${key}`))[2].license.status).toBe('active');
  expect((await get('/', `ApiKey ${Buffer.from('axiom:x').toString('base64')}`))[0]).toBe(401);
  const path = `/v1/datasets/${name}/elastic/web-2026/_bulk`;
  const answer = await service().json('PUT', path, '{"create":{}}\n{"n":1}\n', lines);
  expect(answer.body.items[0].create._index).toBe('web-2026');
});

test('an unknown dataset is answered with 404', async () => {
  expect([
    (await bulk('nope', '')).status,
    (await service().json('GET', '/v1/datasets/nope/elastic')).status,
  ]).toEqual([404, 404]);
});
