import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { sqlText } from '../../../kernel/local/duckdb/literal.js';
import { type Answer, sharedService, testService } from '../service.js';

const service = sharedService();
let datasets = 0;

interface Ingested extends Answer {
  readonly columns: unknown[][];
}

async function ingest(
  body: string | Uint8Array,
  type: string,
  fields: string,
  parameters = '',
  headers = {},
): Promise<Ingested> {
  const dataset = `d${++datasets}`;
  await service().json('POST', '/v2/datasets', { name: dataset });
  const route = `/v1/datasets/${dataset}/ingest${parameters}`;
  const answer = await service().json('POST', route, body, { 'content-type': type, ...headers });
  const { columns } = (await service().query(`dataset ${dataset}: ${fields}`)).body.tables[0];
  return { ...answer, columns };
}

const accepted: readonly (readonly [
  what: string,
  body: string,
  type: string,
  fields: string,
  columns: unknown[][],
])[] = [
  [
    'a JSON array',
    '[{"_time":"2024-01-01T00:00:00.000000001Z","a":{"b":1}}]',
    'application/json',
    '_time:datetime a.b:long',
    [['2024-01-01T00:00:00.000000001Z'], [1]],
  ],
  [
    'one JSON object',
    '{"a":1}',
    'application/json; charset=utf-8',
    '_time:datetime a:long',
    [['2026-06-15T12:00:00Z'], [1]],
  ],
  ['NDJSON', '{"a":1}\n{"a":2}\n', 'application/x-ndjson', 'a:long', [[1, 2]]],
  [
    'CSV',
    '_time,a\n2024-01-01,x\n',
    'text/csv',
    '_time:datetime a:string',
    [['2024-01-01T00:00:00Z'], ['x']],
  ],
];

test.each(accepted)('accepted: %s', async (_, body, type, fields, columns) => {
  const answer = await ingest(body, type, fields);
  expect(answer).toEqual({
    status: 200,
    body: {
      ingested: columns[0]?.length,
      failed: 0,
      failures: [],
      processedBytes: body.length,
      blocksCreated: 1,
      walLength: 0,
    },
    columns,
  });
});

test('gzip is unpacked and counted unpacked', async () => {
  const { body, columns } = await ingest(gzipSync('{"a":1}'), 'application/x-ndjson', 'a:long', '', {
    'content-encoding': 'gzip',
  });
  expect([body.ingested, body.processedBytes, columns]).toEqual([1, 7, [[1]]]);
});

test('an empty list stores nothing', async () => {
  const { status, body, columns } = await ingest('[]', 'application/json', '_time:datetime');
  expect([status, body.ingested, body.blocksCreated, columns]).toEqual([200, 0, 0, [[]]]);
});

const layouts: readonly (readonly [format: string, text: string, time: string])[] = [
  ['2006-01-02 15:04:05', '2024-02-03 04:05:06', '2024-02-03T04:05:06Z'],
  ['02/01/2006 15:04:05.000', '03/02/2024 04:05:06.789', '2024-02-03T04:05:06.789Z'],
  ['Jan 02 2006 03:04:05 PM', 'Feb 03 2024 04:05:06 PM', '2024-02-03T16:05:06Z'],
  ['2006-01-02T15:04:05-0700', '2024-02-03T04:05:06+0200', '2024-02-03T02:05:06Z'],
  ['%d.%m.%Y %H:%M', '03.02.2024 04:05', '2024-02-03T04:05:00Z'],
];

test.each(layouts)('a timestamp in the format %s', async (format, text, time) => {
  const parameters = `?timestamp-field=at&timestamp-format=${encodeURIComponent(format)}`;
  const { columns } = await ingest(
    JSON.stringify([{ at: text }]),
    'application/json',
    '_time:datetime',
    parameters,
  );
  expect(columns).toEqual([[time]]);
});

test('a delimiter may be named', async () => {
  const { columns } = await ingest('a|b\n1,5|x\n', 'text/csv', 'a:string b:string', '?csv-delimiter=%7C');
  expect(columns).toEqual([['1,5'], ['x']]);
});

test.each(['||', '§', '\u0001'])('the delimiter %j is refused', async delimiter => {
  const { status, body, columns } = await ingest(
    'a|b\n1|x\n',
    'text/csv',
    '_time:datetime',
    `?csv-delimiter=${encodeURIComponent(delimiter)}`,
  );
  expect([status, body.message, columns]).toEqual([
    400,
    `${JSON.stringify(delimiter)} cannot divide the values of a CSV. \`csv-delimiter\` is one character of ASCII, such as ; or a tab.`,
    [[]],
  ]);
});

test('events without a readable time are stored and reported', async () => {
  const { body, columns } = await ingest(
    '[{"at":"2024-01-01"},{"at":"?"}]',
    'application/json',
    '_time:datetime',
    '?timestamp-field=at',
  );
  expect(columns).toEqual([['2024-01-01T00:00:00Z', '2026-06-15T12:00:00Z']]);
  expect(body.failures).toEqual([
    {
      timestamp: '2026-06-15T12:00:00Z',
      error: '1 event without a readable time in `at`, stored with this one',
    },
  ]);
});

const refused: readonly (readonly [
  what: string,
  body: string,
  headers: Record<string, string>,
  status: number,
  message: RegExp,
])[] = [
  [
    'broken JSON',
    '[{"a":1}',
    { 'content-type': 'application/json' },
    400,
    /^The body cannot be read as JSON/,
  ],
  [
    'another type',
    'a',
    { 'content-type': 'text/plain' },
    415,
    /^Events cannot be read from "text\/plain"\. Send application\/json, /,
  ],
  [
    'no gzip',
    'a',
    { 'content-type': 'text/csv', 'content-encoding': 'gzip' },
    400,
    /^The body is not valid gzip\.$/,
  ],
  [
    'another packing',
    'a',
    { 'content-type': 'text/csv', 'content-encoding': 'br' },
    415,
    /^The content encoding "br" is not supported\. /,
  ],
];

test.each(['X-Axiom-CSV-Fields', 'X-Axiom-Event-Labels'])(
  'the header %s is refused, not ignored',
  async name => {
    const { status, body, columns } = await ingest('[{"a":1}]', 'application/json', '_time:datetime', '', {
      [name]: '{}',
    });
    expect([status, body.message, columns]).toEqual([
      400,
      `The local service does not support the header ${name}. Put the field names and the labels into the body.`,
      [[]],
    ]);
  },
);

test.each(refused)('refused, and nothing is stored: %s', async (_, body, headers, status, message) => {
  const answer = await ingest(body, '', '_time:datetime', '', headers);
  expect([answer.status, answer.body.code, answer.columns]).toEqual([status, status, [[]]]);
  expect(answer.body.message).toMatch(message);
});

test.each(['gone', 'x'.repeat(300), '日'.repeat(200)])(
  'an unknown dataset is not made by an ingest: %s',
  async name => {
    const answer = await service().json('POST', `/v1/datasets/${encodeURIComponent(name)}/ingest`, '{}', {
      'content-type': 'application/json',
    });
    expect([answer.status, answer.body.detail.errorType]).toEqual([404, 'dataset-not-found']);
  },
);

test('a body that unpacks beyond the limit is refused, and leaves nothing behind', async () => {
  const limited = await testService({ limits: { ingestBytes: 102_400 } });
  await limited.json('POST', '/v2/datasets', { name: 'd' });
  const bodies = [gzipSync('x'.repeat(102_401)), 'x'.repeat(102_401)];
  for (const [index, body] of bodies.entries()) {
    const headers = { 'content-type': 'text/csv', 'content-encoding': index === 0 ? 'gzip' : 'identity' };
    const answer = await limited.json('POST', '/v1/datasets/d/ingest', body, headers);
    expect(answer.body.message).toBe(
      'The body has more than 100 KiB, the most that this request may have. Send it in parts, or import it as a file.',
    );
    expect(answer.status).toBe(413);
  }
  const [scratch = ''] = await readdir(path.join(limited.dataDir, '.tmp'));
  expect(
    (await readdir(path.join(limited.dataDir, '.tmp', scratch))).filter(name => name.endsWith('.csv')),
  ).toEqual([]);
});

test('a negative zero is found as a zero, also by the filter that the engine keeps beside a column', async () => {
  const dataset = `d${++datasets}`;
  await service().json('POST', '/v2/datasets', { name: dataset });
  const values = Array.from({ length: 60 }, (_, n) => ({ v: n % 2 === 0 ? -0.5 : 0.5 }));
  const body = JSON.stringify([...values, { v: 0 }]).replace('"v":0}', '"v":-0.0}');
  await service().json('POST', `/v1/datasets/${dataset}/ingest`, body);
  // The events are in a file once somebody asks for them.
  await service().json('GET', `/v1/local/datasets/${dataset}`);
  const sql = `SELECT count(*) FROM read_parquet(${sqlText(path.join(service().dataDir, 'datasets', dataset, '*.parquet'))}) WHERE v = 0`;
  const { body: found } = await service().query(`n:long\n${sql}`);
  expect(found.tables[0].columns).toEqual([[1]]);
});

test('a property is found whether it came in an object of fields or in a map beside other values', async () => {
  const dataset = `d${++datasets}`;
  await service().json('POST', '/v2/datasets', { name: dataset });
  const send = (...events: object[]) =>
    service().json(
      'POST',
      `/v1/datasets/${dataset}/ingest`,
      JSON.stringify(events.map((event, second) => ({ _time: `2026-06-15T10:00:0${second}Z`, ...event }))),
    );
  await send({ e: 'timeout' }, { e: { m: 'a', 'k.l': 1, n: { o: { 'p.q': 2 } } } });
  await send({ e: { m: 'b', k: { l: 3 }, n: { o: { p: { q: 4 } } } }, f: [1] });
  await service().json('GET', `/v1/local/datasets/${dataset}`);
  await send({ e: { m: 5, 'k.l': null } });
  const { body } = await service().query(
    `dataset ${dataset}: e.m:dynamic e.k.l:dynamic e.n.o.p.q:dynamic e:dynamic`,
  );
  const rows = body.tables[0].columns[0].map((_: unknown, row: number) =>
    JSON.stringify(body.tables[0].columns.map((column: unknown[]) => column[row])),
  );
  expect(rows.sort()).toEqual([
    '["a",1,2,{"m":"a","k.l":1,"n":{"o":{"p.q":2}}}]',
    '["b",3,4,{"m":"b","k":{"l":3},"n":{"o":{"p":{"q":4}}}}]',
    '[5,null,null,{"m":5}]',
    '[null,null,null,"timeout"]',
  ]);
});
