import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { decodeNotices, noticeHeader } from '../../../kernel/api/api-notices.js';
import { type Answer, sharedService, testService } from '../service.js';
import { sample, zstdBomb, zstdOf, zstdSample } from './zstd.js';

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
  const route = datasets % 2 === 0 ? `/v1/datasets/${dataset}/ingest` : `/v1/ingest/${dataset}`;
  const answer = await service().json('POST', route + parameters, body, {
    'content-type': type,
    ...headers,
  });
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

test.each(accepted)('a body is accepted: %s', async (_, body, type, fields, columns) => {
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

test.each([
  ['a small body', '{"time":"2024-01-01T00:00:00Z","timestamp":"2024-01-01T00:00:00Z"}', 'application/json'],
  ['an import', 'time,timestamp\n2024-01-01T00:00:00Z,2024-01-01T00:00:00Z\n', 'text/csv'],
])('only `_time` is the time of an event unless the request names a field: %s', async (_, body, type) => {
  const { columns } = await ingest(body, type, '_time:datetime');
  expect(columns).toEqual([['2026-06-15T12:00:00Z']]);
  const { body: info } = await service().json('GET', `/v1/local/datasets/d${datasets}`);
  expect([info.firstTime, info.lastTime]).toEqual(['2026-06-15T12:00:00Z', '2026-06-15T12:00:00Z']);
});

test('a gzip body is decompressed and counted by its decompressed size', async () => {
  const { body, columns } = await ingest(gzipSync('{"a":1}'), 'application/x-ndjson', 'a:long', '', {
    'content-encoding': 'gzip',
  });
  expect([body.ingested, body.processedBytes, columns]).toEqual([1, 7, [[1]]]);
});

const packings: readonly (readonly [what: string, encoding: string, body: Uint8Array, text: string])[] = [
  ['compressed by zstd', 'zstd', Buffer.from(zstdSample, 'base64'), sample],
  [
    'in several frames',
    'ZSTD',
    Buffer.concat([zstdOf(Buffer.from(sample)), zstdOf(Buffer.from(sample))]),
    sample + sample,
  ],
  ['of many blocks', 'zstd', zstdOf(Buffer.from(sample.repeat(2000))), sample.repeat(2000)],
  ['declared uncompressed as by axiom-py', '1', Buffer.from(sample), sample],
];

test.each(packings)(
  'a body %s is decompressed and counted by its decompressed size',
  async (_, encoding, packed, text) => {
    const fields = 'level:string text:string';
    const headers = { 'content-encoding': encoding };
    const { status, body, columns } = await ingest(packed, 'application/x-ndjson', fields, '', headers);
    const rows = text.split('\n').length - 1;
    expect([status, body.ingested, body.processedBytes]).toEqual([200, rows, text.length]);
    expect([columns[0]?.length, columns[1]?.[rows - 1]]).toEqual([rows, 'the disk is full']);
  },
);

test('an empty list stores nothing', async () => {
  const { status, body, columns } = await ingest('[]', 'application/json', '_time:datetime');
  expect([status, body.ingested, body.blocksCreated, columns]).toEqual([200, 0, 0, [[]]]);
});

const layouts: readonly (readonly [format: string, text: string, time: string])[] = [
  ['2006-01-02 15:04:05', '2024-02-03 04:05:06', '2024-02-03T04:05:06Z'],
  ['02/01/2006 15:04:05.000', '03/02/2024 04:05:06.789', '2024-02-03T04:05:06.789Z'],
  ['Jan 02 2006 03:04:05 PM', 'Feb 03 2024 04:05:06 PM', '2024-02-03T16:05:06Z'],
  ['2006-01-02T15:04:05-0700', '2024-02-03T04:05:06+0200', '2024-02-03T02:05:06Z'],
  ['2/Jan/2006:15:04:05 +0000', '13/Feb/2024:04:05:06 +0000', '2024-02-13T04:05:06Z'],
  ['2/Jan/2006:15:04:05 +0000', '3/Feb/2024:04:05:06 +0000', '2024-02-03T04:05:06Z'],
  ['1/2/06 3:4:5 pm', '2/3/24 4:05:06 pm', '2024-02-03T16:05:06Z'],
  ['2006 002 15:04:05', '2024 034 04:05:06', '2024-02-03T04:05:06Z'],
  ['Mon Jan _2 15:04:05 2006', 'Sat Feb  3 04:05:06 2024', '2024-02-03T04:05:06Z'],
  ['2006-01-02T15:04:05-07', '2024-02-03T04:05:06+02', '2024-02-03T02:05:06Z'],
  ['2006-01-02T15:04:05Z07:00', '2024-02-03T04:05:06Z', '2024-02-03T04:05:06Z'],
  ['2006-01-02T15:04:05Z07:00', '2024-02-03T04:05:06.928272814Z', '2024-02-03T04:05:06.928272814Z'],
  ['2006-01-02T15:04:05.999999999Z07:00', '2024-02-03T04:05:06.5+02:00', '2024-02-03T02:05:06.5Z'],
  ['2006-01-02T15:04:05.999999999Z07:00', '2024-02-03T04:05:06.000000001Z', '2024-02-03T04:05:06.000000001Z'],
  ['02.01.2006 15:04:05,000', '03.02.2024 04:05:06,789012345', '2024-02-03T04:05:06.789012345Z'],
  ['02.01.2006', '03.02.2024', '2024-02-03T00:00:00Z'],
  ['Monday, 2 January 2006 15:4:5', 'Saturday, 3 February 2024 4:05:06', '2024-02-03T04:05:06Z'],
  ['2006-01-02 15:04:05 MST', '2024-02-03 04:05:06 UTC', '2024-02-03T04:05:06Z'],
  ['2006-01-02 15:04:05-07:00', '2024-02-03 04:05:06+02:00', '2024-02-03T02:05:06Z'],
  ['2006-01-02 15:04:05Z0700', '2024-02-03 04:05:06+0200', '2024-02-03T02:05:06Z'],
  ['2006-01-02 15:04 -0700', '2024-02-03 04:05 +0200', '2024-02-03T02:05:00Z'],
  ['%d.%m.%Y %H:%M', '03.02.2024 04:05', '2024-02-03T04:05:00Z'],
];

test.each(layouts)('a timestamp is read in the format %s', async (format, text, time) => {
  const parameters = `?timestamp-field=at&timestamp-format=${encodeURIComponent(format)}`;
  const { columns } = await ingest(
    JSON.stringify([{ at: text }]),
    'application/json',
    '_time:datetime',
    parameters,
  );
  expect(columns).toEqual([[time]]);
});

test('a CSV line that an import would leave out is stored as an event', async () => {
  const { columns } = await ingest('a,b\n--,--\n1,x\n(1 rows)\n', 'text/csv', 'a:string b:string');
  expect(columns).toEqual([
    ['--', '1', '(1 rows)'],
    ['--', 'x', null],
  ]);
});

test('the CSV delimiter can be named', async () => {
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
    `${JSON.stringify(delimiter)} cannot be a CSV delimiter. \`csv-delimiter\` must be one ASCII character, such as ; or a tab.`,
    [[]],
  ]);
});

test('events with an unreadable time are stored, do not fail, and are named in a header', async () => {
  const name = `d${++datasets}`;
  await service().json('POST', '/v2/datasets', { name });
  const path = `/v1/datasets/${name}/ingest?timestamp-field=at`;
  const answer = await service().send('POST', path, '[{"at":"2024-01-01"},{"at":"?"},{"a":1}]', {
    'content-type': 'application/json',
  });
  expect(await answer.json()).toMatchObject({ ingested: 3, failed: 0, failures: [] });
  expect(decodeNotices(answer.headers.get(noticeHeader) ?? undefined)).toEqual([
    '2 events without a readable timestamp in `at`, stored with the time 2026-06-15T12:00:00Z.',
  ]);
  const { body } = await service().query(`dataset ${name}: _time:datetime`);
  expect(body.tables[0].columns).toEqual([
    ['2024-01-01T00:00:00Z', '2026-06-15T12:00:00Z', '2026-06-15T12:00:00Z'],
  ]);
});

test('each event left out is reported as a failure', async () => {
  const { body } = await ingest('[{"a":1},5,"x"]', 'application/json', 'a:long');
  const failure = {
    timestamp: '2026-06-15T12:00:00Z',
    error: 'skipped: not a JSON object, or more values than fields',
  };
  expect(body).toMatchObject({ ingested: 1, failed: 2, failures: [failure, failure] });
});

test('a broken line is one failure and affects no other line', async () => {
  const lines = '{"a":1,"t":"2024-01-01"}\n{"b":\n{"a":2}\n{"a":3}\n{"a":';
  const format = '?timestamp-field=t&timestamp-format=2006-01-02';
  const { body, columns } = await ingest(lines, 'application/x-ndjson', 'a:long', format);
  expect([body.ingested, body.failed, columns]).toEqual([3, 2, [[1, 2, 3]]]);
});

const refused: readonly (readonly [
  what: string,
  body: string | Uint8Array,
  headers: Record<string, string>,
  status: number,
  message: RegExp,
])[] = [
  ['broken JSON', '[{"a":1}', { 'content-type': 'application/json' }, 400, /^The body is not complete JSON/],
  [
    'an unsupported content type',
    'a',
    { 'content-type': 'text/plain' },
    415,
    /^Unsupported content type "text\/plain"\. Send application\/json, /,
  ],
  [
    'not gzip',
    'a',
    { 'content-type': 'text/csv', 'content-encoding': 'gzip' },
    400,
    /^The body is not valid gzip\.$/,
  ],
  ...[
    zstdOf(Buffer.from(sample)).subarray(0, -9),
    Buffer.from('a'.repeat(40)),
    zstdOf(Buffer.from('x')).subarray(0, 4),
  ].map(
    (body, index) =>
      [
        `not zstd (${index})`,
        body,
        { 'content-type': 'text/csv', 'content-encoding': 'zstd' },
        400,
        /^The body is not valid zstd\.$/,
      ] as const,
  ),
  [
    'an unsupported content encoding',
    'a',
    { 'content-type': 'text/csv', 'content-encoding': 'br' },
    415,
    /^Unsupported content encoding "br"\. /,
  ],
];

// ---- headers that change what is stored ----

const labels = '{"region":"eu-west-1","n":{"a":7}}';
const labeled = 'a:long region:string n.a:long';

/** JSON small enough to be read without the engine, larger JSON, and CSV. */
const labeledBodies: readonly (readonly [what: string, body: string, type: string, rows: number])[] = [
  ['a small body', '[{"a":1},{"a":1,"region":"us"}]', 'application/json', 2],
  ['a large body', '{"a":1,"region":5}\n'.repeat(20_000), 'application/x-ndjson', 20_000],
  ['a CSV', 'a,region\n1,us\n1,\n', 'text/csv', 2],
];

test.each(labeledBodies)(
  'labels become members of every event and override its own: %s',
  async (_, body, type, rows) => {
    const headers = { 'x-axiom-event-labels': labels };
    const answer = await ingest(body, type, labeled, '', headers);
    expect([answer.status, answer.body.ingested, answer.body.failed]).toEqual([200, rows, 0]);
    expect(answer.body.processedBytes).toBe(body.length + labels.length);
    const all = (value: unknown) => new Array(rows).fill(value);
    expect(answer.columns).toEqual([all(1), all('eu-west-1'), all(7)]);
  },
);

test('labels may have any type and be in UTF-8', async () => {
  const header = Buffer.from('{"s":"日本\\"","b":true,"r":0.5,"l":[1,"x"],"none":null}').toString('latin1');
  const fields = 's:string b:bool r:real l:dynamic';
  for (const [body, type] of [
    ['{"a":1}', 'application/json'],
    ['a\n1\n', 'text/csv'],
  ] as const) {
    const { body: answer, columns } = await ingest(body, type, fields, '', {
      'x-axiom-event-labels': header,
    });
    expect([answer.ingested, columns]).toEqual([1, [['日本"'], [true], [0.5], [[1, 'x']]]]);
  }
});

test.each(['', '[1]', '5', '{"a":', '{"a":1}{"b":2}', '{"a":1,"a":2}'])(
  'labels must be an object or empty: %j',
  async text => {
    const { status, body, columns } = await ingest('a\n1\n', 'text/csv', '_time:datetime', '', {
      'x-axiom-event-labels': text,
    });
    const ok = text === '';
    expect([status, body.message, columns[0]?.length]).toEqual([
      ok ? 200 : 400,
      ok ? undefined : '`X-Axiom-Event-Labels` should be a JSON object, such as {"region": "eu"}.',
      ok ? 1 : 0,
    ]);
  },
);

const headed: readonly (readonly [
  body: string | Uint8Array,
  names: string,
  parameters: string,
  columns: unknown[][],
])[] = [
  [
    '1,x\n2,y\n',
    'a,b',
    '',
    [
      [1, 2],
      ['x', 'y'],
    ],
  ],
  ['1,x\n', ' a , b ', '', [[1], ['x']]],
  ['1;x,y\n', 'a,b', '?csv-delimiter=%3B', [[1], ['x,y']]],
  ['\ufeff1,x\n', 'a,b', '', [[1], ['x']]],
  ['1,"say ""x"""\n', 'a,b', '', [[1], ['say "x"']]],
];

test.each(headed)(
  'a header names the fields of a CSV: %j, %s, %s',
  async (body, names, parameters, columns) => {
    const headers = { 'x-axiom-csv-fields': names };
    const answer = await ingest(body, 'text/csv', 'a:long b:string', parameters, headers);
    expect([answer.status, answer.body.failed, answer.columns]).toEqual([200, 0, columns]);
    expect(answer.body.processedBytes).toBe(Buffer.byteLength(body) - (body[0] === '\ufeff' ? 3 : 0));
  },
);

test('a header of field names does not affect JSON, and must name every field', async () => {
  const headers = { 'x-axiom-csv-fields': 'x,y' };
  expect((await ingest('{"a":1}', 'application/json', 'a:long', '', headers)).columns).toEqual([[1]]);
  const { status, body } = await ingest('1,2\n', 'text/csv', 'a:long', '', { 'x-axiom-csv-fields': 'a,,b' });
  expect([status, body.message]).toEqual([
    400,
    '`X-Axiom-CSV-Fields` should be a comma-separated list of names.',
  ]);
});

test.each(refused)('a body is refused and stores nothing: %s', async (_, body, headers, status, message) => {
  const answer = await ingest(body, '', '_time:datetime', '', headers);
  expect([answer.status, answer.body.code, answer.columns]).toEqual([status, status, [[]]]);
  expect(answer.body.message).toMatch(message);
});

test.each(['gone', 'x'.repeat(300), '日'.repeat(200)])(
  'an ingest does not create an unknown dataset: %s',
  async name => {
    const answer = await service().json('POST', `/v1/datasets/${encodeURIComponent(name)}/ingest`, '{}', {
      'content-type': 'application/json',
    });
    expect([answer.status, answer.body.detail.errorType]).toEqual([404, 'dataset-not-found']);
  },
);

test('a body that decompresses beyond the limit is refused and leaves nothing behind', async () => {
  const limited = await testService({ limits: { ingestBytes: 102_400 } });
  await limited.json('POST', '/v2/datasets', { name: 'd' });
  const bodies = [gzipSync('x'.repeat(102_401)), zstdBomb(1000), 'x'.repeat(102_401)];
  for (const [index, body] of bodies.entries()) {
    const headers = {
      'content-type': 'text/csv',
      'content-encoding': ['gzip', 'zstd', 'identity'][index] ?? '',
    };
    const answer = await limited.json('POST', '/v1/datasets/d/ingest', body, headers);
    expect(answer.body.message).toBe(
      'The body is larger than 100 KiB, the limit for this request. Split it into smaller requests, or import it as a file.',
    );
    expect(answer.status).toBe(413);
  }
  const [scratch = ''] = await readdir(path.join(limited.dataDir, '.tmp'));
  expect(
    (await readdir(path.join(limited.dataDir, '.tmp', scratch))).filter(name => name.endsWith('.csv')),
  ).toEqual([]);
});

test('a property is found in an object of fields or in a map beside other values', async () => {
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
