import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { sqlText } from '../../../../kernel/local/duckdb/duckdb-literal.js';
import { Engine } from '../../../../kernel/local/engine/duckdb.js';
import { sharedService, type TestService, temporaryDirectory, testService } from '../../service.js';

const service = sharedService();

const object = (keys: number, first = 0) =>
  `{${Array.from({ length: keys }, (_, index) => `"k${index + first}":1`).join(',')}}\n`;
/** Far more keys than an event may have. */
const keys = object(1_000_000);
const columns = (count: number) => Array.from({ length: count }, (_, index) => `c${index}`).join(',');
const nested = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}\n`;
const long = `{"a":"${'x'.repeat(65 * 2 ** 20)}"}\n`;
/** More lines than are sampled to detect the format. */
const lines = '{"a":1}\n'.repeat(20_000);
const rows = `a,b\n${'1,2\n'.repeat(20_000)}`;

type Bomb = readonly [what: string, name: string, content: string, message: string];

/** Bombs with the message that follows the name of the file, or "The body". */
const bombs: readonly Bomb[] = [
  ['keys', 'x.json', keys, ' has more than 5,000 keys in event 1, line 1; the limit is 5,000 fields.'],
  [
    'keys after others',
    'x.json',
    lines + keys,
    ' has more than 5,000 keys in event 20,001, line 20,001; the limit is 5,000 fields.',
  ],
  [
    'keys of inner objects',
    'x.json',
    `${lines}{"a":${keys.trim()}}\n`,
    ' has more than 100,000 keys in total in event 20,001, line 20,001; the limit per event is 100,000.',
  ],
  [
    'levels',
    'x.json',
    nested,
    ' is nested more than 200 levels deep in event 1, line 1; the limit per event is 200.',
  ],
  [
    'levels of an array field, after others',
    'x.json',
    '{"a":[1]}\n'.repeat(600_000) + nested,
    ' is nested more than 200 levels deep in event 600,001, line 600,001; the limit per event is 200.',
  ],
  ['lines', 'x.json', long, ' has more than 64 MiB in event 1, line 1; the limit per event is 64 MiB.'],
  [
    'lines after others',
    'x.json',
    lines + long,
    ' has more than 64 MiB in event 20,001, line 20,001; the limit per event is 64 MiB.',
  ],
  [
    'columns',
    'x.csv',
    `${columns(100_000)}\n`,
    ' has more than 5,000 columns in line 1; the limit is 5,000 fields.',
  ],
  [
    'values in a line among the first',
    'x.csv',
    `a,b\n1,2\n${columns(100_000)}\n`,
    ' has more than 5,000 columns in line 3; the limit is 5,000 fields.',
  ],
  [
    'lines of CSV after others',
    'x.csv',
    `${rows}1,${'x'.repeat(65 * 2 ** 20)}\n`,
    ' has more than 64 MiB in line 20,002; the limit per line is 64 MiB.',
  ],
];

test.each(bombs)(
  'an import is refused for too many or too long %s, with the position',
  async (_, name, content, message) => {
    const file = path.join(await temporaryDirectory(), name);
    await writeFile(file, content);
    const { status, body } = await service().json('POST', '/v1/local/import', { path: file, dataset: 'i' });
    expect([status, body.detail.message]).toEqual([400, name + message]);
  },
);

test.each(bombs)(
  'an ingest is refused for too many or too long %s, with the position',
  async (_, name, content, message) => {
    await service().json('POST', '/v2/datasets', { name: 'd' });
    const type = name.endsWith('.csv') ? 'text/csv' : 'application/x-ndjson';
    for (const packed of [false, true]) {
      const headers = { 'content-type': type, 'content-encoding': packed ? 'gzip' : 'identity' };
      const sent = packed ? gzipSync(content, { level: 1 }) : content;
      const { status, body } = await service().json('POST', '/v1/datasets/d/ingest', sent, headers);
      expect([status, body.detail.message]).toEqual([400, `The body${message}`]);
    }
  },
);

test.each([30, 63])('a last line of CSV that has %s MiB is stored', async mebibytes => {
  const content = `${rows}1,${'x'.repeat(mebibytes * 2 ** 20)}\n`;
  const file = path.join(await temporaryDirectory(), 'x.csv');
  await writeFile(file, content);
  const imported = await service().json('POST', '/v1/local/import', { path: file, dataset: 'last' });
  expect(imported.body.rows).toBe(20_001);
  await service().json('POST', '/v2/datasets', { name: 'd' });
  const headers = { 'content-type': 'text/csv' };
  const ingested = await service().json('POST', '/v1/datasets/d/ingest', content, headers);
  expect(ingested.body.ingested).toBe(20_001);
});

test('a table value over 64 MiB is refused with its field, a column over it is stored', async () => {
  const dataDir = await temporaryDirectory();
  const engine = await Engine.open({ dataDir, families: [] });
  const imported = async (name: string, select: string) => {
    const file = path.join(dataDir, `${name}.parquet`);
    await engine.run(`COPY (${select}) TO ${sqlText(file)} (FORMAT parquet)`);
    return service().json('POST', '/v1/local/import', { path: file, dataset: name });
  };
  const text = (count: string) => `concat(i, repeat('x', ${count})) AS "a b"`;
  const long = await imported('one', `SELECT ${text(`${2 ** 26}`)} FROM range(1) t(i)`);
  expect([long.status, long.body.detail.message]).toEqual([
    400,
    'one.parquet has a value of more than 64 MiB in `a b`; the limit per value is 64 MiB.',
  ]);
  const most = await imported('most', `SELECT ${text(`${2 ** 26} - 1 - i`)} FROM range(2) t(i)`);
  expect([most.status, most.body.rows]).toEqual([200, 2]);
  await engine.close();
});

test('a body compressed twice is refused as gzip', async () => {
  const packed = gzipSync(gzipSync(lines));
  const headers = { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' };
  await service().json('POST', '/v2/datasets', { name: 'd' });
  const { status, body } = await service().json('POST', '/v1/datasets/d/ingest', packed, headers);
  expect([status, body.message]).toEqual([
    400,
    'The body is not JSON but compressed with gzip. Send UTF-8 text, compressed with gzip at most once.',
  ]);
});

test('the keys of all events together are limited', async () => {
  const content = Array.from({ length: 100 }, (_, index) => object(100, index * 100)).join('');
  await service().json('POST', '/v2/datasets', { name: 'd' });
  const { status, body } = await service().json('POST', '/v1/datasets/d/ingest', content);
  expect([status, body.detail.message]).toEqual([
    400,
    'The objects have 10,000 keys in all; the limit is 5,000 fields.',
  ]);
});

/** Sends the whole body before reading the response, as many clients do. */
async function sendFirst(
  { service: { url, token } }: TestService,
  body: Buffer,
  more: Readonly<Record<string, string>>,
): Promise<{ readonly status: number | undefined; readonly text: string }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson', ...more };
  const sent = request(`${url}/v1/datasets/d/ingest`, { method: 'POST', headers, agent: false });
  const answer = new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    sent.on('error', reject).on('response', async response => {
      let text = '';
      for await (const chunk of response) text += String(chunk);
      resolve({ status: response.statusCode, text });
    });
  });
  for (let at = 0; at < body.length; at += 2 ** 16) {
    const chunk = body.subarray(at, at + 2 ** 16);
    await Promise.race([new Promise(written => sent.write(chunk, written)), answer]);
  }
  sent.end();
  return answer;
}

test.each(['close', 'keep-alive'])(
  'the answer reaches a client that is still sending, by connection: %s',
  async connection => {
    const limited = await testService({ limits: { ingestBytes: 2 ** 20 } });
    await limited.json('POST', '/v2/datasets', { name: 'd' });
    const plain = await sendFirst(limited, Buffer.from(keys), { connection });
    expect([plain.status, JSON.parse(plain.text).detail.message]).toEqual([
      400,
      'The body has more than 5,000 keys in event 1, line 1; the limit is 5,000 fields.',
    ]);
    const bomb = gzipSync('{"a":1}\n'.repeat(2 ** 22), { level: 1 });
    const packed = await sendFirst(limited, bomb, { connection, 'content-encoding': 'gzip' });
    expect([packed.status, JSON.parse(packed.text).detail.errorType]).toEqual([413, 'too-large']);
    expect((await limited.json('POST', '/v1/datasets/d/ingest', '{"a":1}')).status).toBe(200);
  },
);
