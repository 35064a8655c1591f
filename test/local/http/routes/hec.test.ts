import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { sharedService } from '../../service.js';

const service = sharedService();
let datasets = 0;

async function newDataset(): Promise<string> {
  const name = `hec${++datasets}`;
  expect((await service().json('POST', '/v2/datasets', { name })).status).toBe(200);
  return name;
}

const success = { status: 200, body: { text: 'Success', code: 0 } };
const json = { 'content-type': 'application/json' };

async function columnsOf(dataset: string, fields: string): Promise<unknown[][]> {
  return (await service().query(`dataset ${dataset}: ${fields}`)).body.tables[0].columns;
}

test('concatenated envelopes become events with exact fields', async () => {
  const name = await newDataset();
  const body = [
    '{"time":1426279439.123,"host":"web-1","source":"s","sourcetype":"t","event":{"n":9007199254740993,"m":{"a":"}\\"{"}},"fields":{"n2":2}}',
    '{"time":"1426279440123","event":"a text \\ud83d\\ude00","fields":{"n":1}} {"event":[1,2]}',
  ].join('');
  const answer = await service().json('POST', `/services/collector/event?index=${name}`, body, json);
  expect(answer).toEqual(success);
  const columns = await columnsOf(name, '_time:datetime m.a:string n2:long _raw:string host:string');
  expect(columns).toEqual([
    ['2015-03-13T20:43:59.123Z', '2015-03-13T20:44:00.123Z', '2026-06-15T12:00:00Z'],
    ['}"{', null, null],
    [2, null, null],
    [null, 'a text \u{1f600}', '[1,2]'],
    ['web-1', null, null],
  ]);
  const read = await service().send('POST', '/v1/datasets/_apl?format=tabular', {
    apl: `dataset ${name}: n:long`,
    startTime: '2015-01-01T00:00:00Z',
    endTime: '2027-01-01T00:00:00Z',
  });
  expect(await read.text()).toContain('"columns":[[9007199254740993,1,null]]');
});

test('an event goes to its index, or to the first index named', async () => {
  const [a, b] = [await newDataset(), await newDataset()];
  const body = `{"event":{"n":0}}{"index":"${a}","event":{"n":1}}\n{"index":"${b}","event":{"n":2}}`;
  expect(
    await service().json('POST', '/services/collector', gzipSync(body), {
      ...json,
      'content-encoding': 'gzip',
    }),
  ).toEqual(success);
  expect([await columnsOf(a, 'n:long'), await columnsOf(b, 'n:long')]).toEqual([[[0, 1]], [[2]]]);
});

test('lines of a raw body become events described by the query string', async () => {
  const name = await newDataset();
  const path = `/services/collector/raw?index=${name}&host=h&sourcetype=syslog`;
  const answer = await service().json('POST', path, 'one "line"\r\n\ntwo\n', {
    'content-type': 'text/plain',
  });
  expect(answer).toEqual(success);
  expect(await columnsOf(name, '_raw:string host:string sourcetype:string')).toEqual([
    ['one "line"', 'two'],
    ['h', 'h'],
    ['syslog', 'syslog'],
  ]);
});

const noIndex = { text: 'Incorrect index', code: 7 };
const badFormat = { text: 'Invalid data format', code: 6 };
const at = (event: number) => ({ 'invalid-event-number': event });

test.each([
  ['', { text: 'No data', code: 5 }],
  ['{"event":{"n":1}', { ...badFormat, ...at(0) }],
  ['{"event":{"n":1}},{"event":{"n":2}}', { ...badFormat, ...at(1) }],
  ['[{"event":{"n":1}}]', { ...badFormat, ...at(0) }],
  ['{"event":"x"}{"n":1}', { text: 'Event field is required', code: 12, ...at(1) }],
  ['{"event":"x"}{"event":null}', { text: 'Event field is required', code: 12, ...at(1) }],
  ['{"event":""}', { text: 'Event field cannot be blank', code: 13, ...at(0) }],
  ['{"event":"x","fields":[1]}', { ...badFormat, ...at(0) }],
  ['{"event":{"n":1}}', { ...noIndex, ...at(0) }],
  ['{"index":"nope","event":{"n":1}}', noIndex],
])('%s is refused with an error of the event collector', async (body, said) => {
  const answer = await service().json('POST', '/services/collector/event', body, json);
  expect(answer).toEqual({ status: 400, body: said });
});

test('three schemes carry the token, a wrong token is refused, and health needs none', async () => {
  const name = await newDataset();
  const { url, token } = service().service;
  const basic = Buffer.from(`x:${token}`).toString('base64');
  const send = async (authorization: string, path = `event?index=${name}`, method = 'POST') => {
    const body = method === 'POST' ? { body: '{"event":"x"}' } : {};
    const headers = authorization === '' ? {} : { authorization };
    const answer = await fetch(`${url}/services/collector/${path}`, { method, headers, ...body });
    return [answer.status, await answer.json()];
  };
  const schemes = [`Splunk ${token}`, `Bearer ${token}`, `Basic ${basic}`];
  for (const each of schemes) expect(await send(each)).toEqual([200, success.body]);
  const wrong = [403, { text: 'Invalid token', code: 4 }];
  const unreadable = [401, { text: 'Invalid authorization', code: 3 }];
  const missing = [401, { text: 'Token is required', code: 2 }];
  const faults = ['Splunk x', 'Basic eDp5', 'Basic eDo=', token, ''];
  const answers = [wrong, wrong, unreadable, unreadable, missing];
  for (const path of ['event', 'event/1.0', 'raw', 'ack'])
    expect(await Promise.all(faults.map(each => send(each, path)))).toEqual(answers);
  const inAddress = [400, { text: 'Query string authorization is not enabled', code: 16 }];
  expect(await send('', `event?token=${token}`)).toEqual(inAddress);
  const disabled = [400, { text: 'ACK is disabled', code: 14 }];
  for (const path of ['ack', 'ack/1.0?channel=c'])
    expect(await send(`Splunk ${token}`, path)).toEqual(disabled);
  const healthy = [200, { text: 'HEC is healthy', code: 17 }];
  for (const path of ['health', 'health/1.0']) expect(await send('', path, 'GET')).toEqual(healthy);
});
