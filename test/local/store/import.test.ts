import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { sqlText } from '../../../kernel/local/duckdb/duckdb-literal.js';
import { Engine } from '../../../kernel/local/engine/duckdb.js';
import { sharedService, temporaryDirectory } from '../service.js';
import { packed } from './readers/packed.js';

interface Imported {
  readonly dataset: string;
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what is read from it is compared with exact values
  readonly body: any;
}

const service = sharedService();
let datasets = 0;

async function fileOf(name: string, content: string | Uint8Array): Promise<string> {
  const file = path.join(await temporaryDirectory(), name);
  await writeFile(file, content);
  return file;
}

async function importText(name: string, content: string | Uint8Array, timeField?: string): Promise<Imported> {
  const file = await fileOf(name, content);
  const dataset = `d${++datasets}`;
  const request = { path: file, dataset, timeField };
  return { dataset, ...(await service().json('POST', '/v1/local/import', request)) };
}

async function columnsOf(dataset: string, fields: string): Promise<unknown[][]> {
  return (await service().query(`dataset ${dataset}: ${fields}`)).body.tables[0].columns;
}

// ---- detection of the time field ----

const times: readonly (readonly [what: string, line: object, field: string, time: string])[] = [
  [
    'journald',
    { __REALTIME_TIMESTAMP: '1700000000000001', __MONOTONIC_TIMESTAMP: '12345678' },
    '__REALTIME_TIMESTAMP',
    '2023-11-14T22:13:20.000001Z',
  ],
  [
    'Windows events',
    { UtcTime: '2020-10-18 22:56:19.900', TimeCreated: '2020-10-18T22:56:19.977Z' },
    'TimeCreated',
    '2020-10-18T22:56:19.977Z',
  ],
  ['Sysmon', { UtcTime: '2020-10-18 22:56:19.900' }, 'UtcTime', '2020-10-18T22:56:19.9Z'],
  [
    'the audit log of Kubernetes',
    {
      stageTimestamp: '2026-01-02T03:04:05.223456Z',
      requestReceivedTimestamp: '2026-01-02T03:04:05.123456Z',
    },
    'requestReceivedTimestamp',
    '2026-01-02T03:04:05.123456Z',
  ],
  [
    'osquery',
    { calendarTime: 'Mon Jan 26 20:35:26 2026 UTC', unixTime: 1_769_459_726 },
    'unixTime',
    '2026-01-26T20:35:26Z',
  ],
  ['Python', { asctime: '2026-01-02 03:04:05,123' }, 'asctime', '2026-01-02T03:04:05.123Z'],
  [
    'OpenTelemetry',
    { timeUnixNano: '1700000000123456789', observedTimeUnixNano: '1700000000223456789' },
    'timeUnixNano',
    '2023-11-14T22:13:20.123456789Z',
  ],
  [
    'separate month, day and time',
    { Date: 'Dec', Day: 10, Time: '06:55:46' },
    'Date, Day, Time',
    '2025-12-10T06:55:46Z',
  ],
  [
    'separate date and time',
    { Date: '2015-10-18', Time: '18:01:47,978' },
    'Date, Time',
    '2015-10-18T18:01:47.978Z',
  ],
  [
    'separate year, month, day and time',
    { Year: 2016, Month: 'March', Day: 3, Time: '1:02:03' },
    'Year, Month, Day, Time',
    '2016-03-03T01:02:03Z',
  ],
  ['the likelier of two', { created: '2001-01-01', ts: '2002-02-02' }, 'ts', '2002-02-02T00:00:00Z'],
  ['not a duration', { time: 12, ts: 1_700_000_000 }, 'ts', '2023-11-14T22:13:20Z'],
  ['a number', { ts: 1_700_000_000 }, 'ts', '2023-11-14T22:13:20Z'],
  ['a string', { time_local: '10/Oct/2000:13:55:36 -0700' }, 'time_local', '2000-10-10T20:55:36Z'],
  ['an @ in front', { '@timestamp': '2024-01-01T00:30:00.5+02:00' }, '@timestamp', '2023-12-31T22:30:00.5Z'],
];

const writtenTimes: readonly (readonly [what: string, value: string | number, time: string])[] = [
  ['RFC 3339 with nanoseconds', '2024-02-29T23:59:59.123456789Z', '2024-02-29T23:59:59.123456789Z'],
  ['an offset', '2024-01-01T00:30:00.5+02:00', '2023-12-31T22:30:00.5Z'],
  ['a space, a comma, no zone', '2024-01-01 10:20:30,250', '2024-01-01T10:20:30.25Z'],
  ['slashes', '2024/01/02 03:04:05', '2024-01-02T03:04:05Z'],
  ['a day', '2024-01-02', '2024-01-02T00:00:00Z'],
  ['seconds', 1_700_000_000, '2023-11-14T22:13:20Z'],
  ['seconds with a fraction', 1_700_000_000.25, '2023-11-14T22:13:20.25Z'],
  ['seconds as text', '1700000000.123456789', '2023-11-14T22:13:20.123456789Z'],
  ['milliseconds', 1_700_000_000_123, '2023-11-14T22:13:20.123Z'],
  ['microseconds', 1_700_000_000_123_456, '2023-11-14T22:13:20.123456Z'],
  ['nanoseconds', '1700000000123456789', '2023-11-14T22:13:20.123456789Z'],
  ['Apache', '10/Oct/2000:13:55:36 -0700', '2000-10-10T20:55:36Z'],
  ['Apache in brackets', '[10/Oct/2000:13:55:36 +0000]', '2000-10-10T13:55:36Z'],
  ['RFC 1123', 'Sun, 06 Nov 1994 08:49:37 GMT', '1994-11-06T08:49:37Z'],
  ['ctime', 'Sun Dec 04 04:47:44 2005', '2005-12-04T04:47:44Z'],
  ['syslog earlier in the year', 'Jun 15 11:59:59', '2026-06-15T11:59:59Z'],
  ['syslog later in the year', 'Jun 15 12:00:01', '2025-06-15T12:00:01Z'],
  ['syslog on a leap day', 'Feb 29 00:00:00', '2024-02-29T00:00:00Z'],
];

test('times are read in every supported form', async () => {
  const events = writtenTimes.map(([, timestamp], n) => JSON.stringify({ n, timestamp }));
  const { dataset, body } = await importText('in.ndjson', events.join('\n'));
  expect(body.timeField).toBe('timestamp');
  const [numbers = [], read = []] = await columnsOf(dataset, 'n:long _time:datetime');
  expect(numbers.map((n, index) => [writtenTimes[Number(n)]?.[0], read[index]])).toEqual(
    writtenTimes.map(([what, , time]) => [what, time]),
  );
});

test.each(times)('the time field is found: %s', async (_, line, field, time) => {
  const { dataset, body } = await importText('in.ndjson', JSON.stringify(line));
  expect(body.timeField).toBe(field);
  expect(await columnsOf(dataset, '_time:datetime')).toEqual([[time]]);
});

test.each([
  ['the only one', '{"log":{"ts":"2024-01-02T03:04:05Z"}}', 'log.ts'],
  ['a number', '{"a":{"b":{"time":1704164645}}}', 'a.b.time'],
  [
    'beside an unlikely one',
    '{"user":{"created":"2001-01-01"},"meta":{"timestamp":"2024-01-02T03:04:05Z"}}',
    'meta.timestamp',
  ],
  [
    'outside of another',
    '{"attributes":{"attributes":{"timestamp":1704164640},"timestamp":"2024-01-02T03:04:05Z"}}',
    'attributes.timestamp',
  ],
  ['in a list', '{"Records":[{"detail":{"eventTime":"2024-01-02T03:04:05Z"}}]}', 'detail.eventTime'],
])('the time field is found in a nested object: %s', async (_, text, field) => {
  const { dataset, body } = await importText('in.json', text);
  expect([body.timeField, body.notes.at(-1)]).toEqual([
    field,
    `The time comes from \`${field}\`: use another field with \`--time FIELD\`.`,
  ]);
  expect(await columnsOf(dataset, '_time:datetime')).toEqual([['2024-01-02T03:04:05Z']]);
});

test.each([
  [
    'two',
    '{"req":{"time":"2024-01-02"},"resp":{"time":"2024-01-03"}}',
    '`req.time`, `resp.time` hold timestamps',
  ],
  ['an old date', '{"user":{"created":"1970-01-02"}}', '`user.created` holds timestamps'],
  ['a time in half of the rows', '{"a":{"time":"2024-01-02"}}\n{"b":1}', '`a.time` holds timestamps'],
])('no nested field is guessed to be the time: %s', async (_, text, named) => {
  const { body } = await importText('in.json', text);
  expect(body.timeField).toBe('');
  expect(body.notes.at(-1)).toContain(`${named}: choose one, for example with \`--time `);
});

test.each([
  ['empty', 'in.csv', '_time,timestamp\n,2024-01-02T03:04:05Z\n', 'no values'],
  ['null', 'in.json', '{"_time":null,"timestamp":"2024-01-02T03:04:05Z"}', 'no values'],
  [
    'not a time',
    'in.csv',
    '_time,timestamp\nn/a,2024-01-02T03:04:05Z\n',
    'few or no timestamps, and values such as "n/a"',
  ],
])('if `_time` is %s, another field is the time', async (_, name, text, what) => {
  const { dataset, body } = await importText(name, text);
  expect([body.timeField, body.notes]).toEqual([
    'timestamp',
    [`\`_time\` has ${what}: rows without a timestamp use \`timestamp\`.`],
  ]);
  expect(await columnsOf(dataset, '_time:datetime')).toEqual([['2024-01-02T03:04:05Z']]);
});

test('a time in `_time` is never replaced by another field', async () => {
  const text = '_time,timestamp\n,2024-01-01\n2024-02-02,2024-01-02\n,2024-01-03\n';
  const { dataset } = await importText('in.csv', text);
  expect(await columnsOf(dataset, '_time:datetime')).toEqual([
    ['2024-01-01T00:00:00Z', '2024-02-02T00:00:00Z', '2024-01-03T00:00:00Z'],
  ]);
});

test('a missing year is reported', async () => {
  const { body } = await importText('in.csv', 'Date,Day,Time\nDec,10,06:55:46\n');
  expect(body.notes).toEqual([
    'The time is combined from `Date`, `Day`, `Time`.',
    '`Date, Day, Time` has no year: each time is assumed to be within the twelve months before the import.',
  ]);
});

test('rows without any time get the time of the import, with a note', async () => {
  const { dataset, body } = await importText('in.csv', 'name,size\na,1\n');
  expect([body.timeField, body.notes]).toEqual([
    '',
    [
      'No field contains timestamps: every row gets the time of the import and matches every time range. Set one with `--time` if there is one.',
    ],
  ]);
  expect(await columnsOf(dataset, '_time:datetime _sysTime:datetime')).toEqual([
    ['2026-06-15T12:00:00Z'],
    ['2026-06-15T12:00:00Z'],
  ]);
});

test('a named time field is used, whatever its name', async () => {
  const { dataset, body } = await importText('in.csv', 'ts,seen\n2001-01-01,2002-02-02\n', 'seen');
  expect(body.timeField).toBe('seen');
  expect(await columnsOf(dataset, '_time:datetime')).toEqual([['2002-02-02T00:00:00Z']]);
});

test('rows with an unreadable time are kept and counted', async () => {
  const { dataset, body } = await importText('in.csv', 'n,when\n1,2002-02-02\n2,never\n3,\n', 'when');
  expect([body.rows, body.notes]).toEqual([
    3,
    ['No readable timestamp in `when` in 2 rows: they get the time of the import.'],
  ]);
  expect(await columnsOf(dataset, 'n:long _time:datetime')).toEqual([
    [1, 2, 3],
    ['2002-02-02T00:00:00Z', '2026-06-15T12:00:00Z', '2026-06-15T12:00:00Z'],
  ]);
});

// ---- conversion of values ----

const values: readonly (readonly [
  what: string,
  name: string,
  content: string,
  fields: string,
  columns: unknown[][],
])[] = [
  [
    'nested objects',
    'in.json',
    '[{"a":{"b":{"c":1},"d e":"x"}},{"a":{"b":null}}]',
    'a.b.c:long',
    [[1, null]],
  ],
  [
    'lists and mixed types as JSON, integers and reals, a key that is a number',
    'in.ndjson',
    '{"l":[1,{"x":2}],"m":1,"r":{"200":1},"x":1}\n{"l":[],"m":"1","x":-1.5}\n{"m":{"y":2}}\n{"m":null}',
    'l:dynamic m:dynamic r.200:long x:real',
    [
      [[1, { x: 2 }], [], null, null],
      [1, '1', { y: 2 }, null],
      [1, null, null, null],
      [1, -1.5, null, null],
    ],
  ],
  ['a pretty-printed object', 'in.json', '{\n  "a": {\n    "b": true\n  }\n}\n', 'a.b:bool', [[true]]],
  ['a byte order mark', 'in.ndjson', '\ufeff{"x":"y"}', 'x:string', [['y']]],
  [
    'CSV types',
    'in.csv',
    'i,r,b,s,z,e\n1,1.5,true,a,007,\n-2,2,false,"b, ""c""\nd",1,\n',
    'i:long r:real b:bool s:string z:string e:string',
    [
      [1, -2],
      [1.5, 2],
      [true, false],
      ['a', 'b, "c"\nd'],
      ['007', '1'],
      [null, null],
    ],
  ],
  [
    'CSV with semicolons and a byte order mark',
    'in.csv',
    '\ufeffa;b\n1;x,y\n',
    'a:long b:string',
    [[1], ['x,y']],
  ],
  ['tabs', 'in.tsv', 'a\tb\n1\tx\n', 'a:long b:string', [[1], ['x']]],
  ['short lines', 'in.csv', 'a,b,c\n1,2\n3,4,5\n', 'c:long', [[null, 5]]],
  [
    'a header with a gap and a repeat',
    'in.csv',
    'a,a,,A\n1,2,3,4\n',
    'a:long column3:long A:long',
    [[1], [3], [4]],
  ],
  [
    'years and dates among the names',
    'in.csv',
    'city,2020,1/22/20\nRome,5,7\n',
    'city:string 2020:long 1/22/20:long',
    [['Rome'], [5], [7]],
  ],
  [
    'years below years',
    'in.csv',
    'Rome,2020\nBonn,2021\n',
    'column1:string column2:long',
    [
      ['Rome', 'Bonn'],
      [2020, 2021],
    ],
  ],
  [
    'no header',
    'in.csv',
    '1,x\n2,y\n',
    'column1:long column2:string',
    [
      [1, 2],
      ['x', 'y'],
    ],
  ],
  ['one column', 'in.csv', 'v\n1\n2\n', 'v:long', [[1, 2]]],
  ['Windows lines', 'in.csv', 'a,b\r\n1,x\r\n', 'a:long b:string', [[1], ['x']]],
];

test.each(values)('values are converted: %s', async (_, name, content, fields, columns) => {
  const { dataset, body } = await importText(name, content);
  expect(body.rows).toBe(columns[0]?.length);
  expect(await columnsOf(dataset, fields)).toEqual(columns);
});

const exact: readonly (readonly [name: string, content: string, fields: string, expected: string])[] = [
  [
    'in.ndjson',
    '{"i":9223372036854775807,"u":18446744073709551615,"x":9007199254740993,"y":-9223372036854775808}\n{"x":1.5}',
    'i:long u:dynamic x:dynamic y:long',
    '[[9223372036854775807,null],[18446744073709551615,null],[9007199254740993,1.5],[-9223372036854775808,null]]',
  ],
  [
    'in.csv',
    'x,y\n9223372036854775807,123456789012345678901234567890\n',
    'x:long y:string',
    '[[9223372036854775807],["123456789012345678901234567890"]]',
  ],
];

test.each(exact)('integers keep every digit: %s %s', async (name, content, fields, expected) => {
  const { dataset } = await importText(name, content);
  const response = await service().send('POST', '/v1/query/_apl', { apl: `dataset ${dataset}: ${fields}` });
  const text = await response.text();
  expect(text.slice(text.indexOf('"columns":'))).toBe(`"columns":${expected}}]}`);
});

test('a value of megabytes is kept whole', async () => {
  const long = 'x'.repeat(3_000_000);
  const { dataset } = await importText('in.csv', `a,b\n1,${long}\n`);
  expect(await columnsOf(dataset, 'b:string')).toEqual([[long]]);
});

test('a compressed file is read', async () => {
  const { dataset } = await importText('in.ndjson.gz', gzipSync('{"a":1}'));
  expect(await columnsOf(dataset, 'a:long')).toEqual([[1]]);
});

test('an object with very many keys becomes one field', async () => {
  const lines = Array.from({ length: 300 }, (_, index) =>
    JSON.stringify({ counts: { [`k${index}`]: index } }),
  );
  const { dataset, body } = await importText('in.ndjson', lines.join('\n'));
  expect(body.fields).toEqual([
    { name: '_time', type: 'datetime' },
    { name: '_sysTime', type: 'datetime' },
    { name: 'counts', type: 'dynamic' },
  ]);
  expect((await columnsOf(dataset, 'counts:dynamic'))[0]?.[7]).toEqual({ k7: 7 });
});

test('a Parquet file keeps its types, and structs are flattened', async () => {
  const { dataDir } = service();
  const file = path.join(dataDir, 'in.parquet');
  const engine = await Engine.open({ dataDir, families: [] });
  await engine.run(
    `COPY (SELECT make_timestamp_ns(1700000000123456789) AS ts, {'a': 1, 'b': {'c d': 'x'}} AS s, [1, 2] AS l, MAP {'k': 1.5} AS m, 12.5::DECIMAL(9,2) AS d) TO ${sqlText(file)} (FORMAT parquet)`,
  );
  await engine.close();
  const { body } = await service().json('POST', '/v1/local/import', { path: file, dataset: 'p' });
  expect(body.fields.slice(2)).toEqual([
    { name: 'ts', type: 'datetime' },
    { name: 's.a', type: 'integer' },
    { name: 's.b.c d', type: 'string' },
    { name: 'l', type: 'dynamic' },
    { name: 'm', type: 'dynamic' },
    { name: 'd', type: 'float' },
  ]);
  const { tables } = (await service().query('dataset p: _time:datetime s.a:long l:dynamic m:dynamic d:real'))
    .body;
  expect(tables[0].columns).toEqual([
    ['2023-11-14T22:13:20.123456789Z'],
    [1],
    [[1, 2]],
    [{ k: 1.5 }],
    [12.5],
  ]);
});

test('importing a file again adds or replaces rows, and the reply says so', async () => {
  const file = path.join(await temporaryDirectory(), 'in.csv');
  await writeFile(file, 'time,n\n2001-01-01,1\n2001-01-02,2\n');
  const rows = async (replace?: boolean) => {
    const { body } = await service().json('POST', '/v1/local/import', {
      path: file,
      dataset: 'again',
      replace,
    });
    return [
      (await columnsOf('again', 'n:long'))[0],
      body.rowsBefore,
      body.rowsNow,
      body.firstTime,
      body.lastTime,
    ];
  };
  const span = ['2001-01-01T00:00:00Z', '2001-01-02T00:00:00Z'];
  expect([await rows(), await rows(), await rows(true)]).toEqual([
    [[1, 2], 0, 2, ...span],
    [[1, 2, 1, 2], 2, 4, ...span],
    [[1, 2], 4, 2, ...span],
  ]);
});

test('a dataset name of maximum length works in every route', async () => {
  const dataset = 'x'.repeat(128);
  const { body } = await service().json('POST', '/v1/local/import', {
    path: await fileOf('in.csv', 'time,n\n2001-01-01,1\n'),
    dataset,
  });
  expect(body.rows).toBe(1);
  expect((await service().json('GET', `/v2/datasets/${dataset}/fields`)).status).toBe(200);
  expect((await service().json('DELETE', `/v2/datasets/${dataset}`)).status).toBe(204);
});

test('an overlong dataset name is refused before the file is read', async () => {
  const { body } = await service().json('POST', '/v1/local/import', {
    path: '/no/such',
    dataset: '日'.repeat(27),
  });
  expect(body.message).toMatch(/^A dataset name must have 1 to 128 visible/);
});

// ---- refusals ----

type Refused = [what: string, name: string, content: string | Uint8Array, message: RegExp];

function cutOff(share: number): Uint8Array {
  const packed = gzipSync(
    Array.from({ length: 20_000 }, (_, n) => `{"n":${n},"r":${(n * 7919) % 1009}}\n`).join(''),
  );
  return packed.subarray(0, packed.length * share);
}

/** Returns a complete gzip file with one corrupted byte. */
function damagedAt(place: number): Uint8Array {
  const packed = Uint8Array.from(cutOff(1));
  return packed.map((byte, at) => (at === place ? byte ^ 0xff : byte));
}

const neverClosed =
  /^None of the 1 line can be read as CSV: each has an unclosed quote\. Close the quote, or import the file with `--format text`\.$/;

const refused: readonly Refused[] = [
  ['an empty file', 'in.csv', '', /^.*in\.csv contains no rows\.$/],
  ['only a header', 'in.csv', 'a,b\n', /^.*in\.csv contains no rows\.$/],
  ['an empty list', 'in.json', '[]', /^.*in\.json contains no rows\.$/],
  ['only an unclosed quote', 'in.csv', '"a,b\n', neverClosed],
  [
    'more delimiters than allowed columns, in an unclosed quote',
    'in.csv',
    `"${'x,'.repeat(5_500)}`,
    neverClosed,
  ],
  [
    'only broken JSON',
    'in.ndjson',
    '{"a":\n{"b"\n',
    /^None of the 2 values is a JSON object\. Each event must be an object: \{"field": value, …\}\.$/,
  ],
  [
    'numbers',
    'in.ndjson',
    '1\n2\n',
    /^None of the 2 values is a JSON object\. Each event must be an object: \{"field": value, …\}\.$/,
  ],
  ...packed.map(
    ([begin, what, instead]): Refused => [
      what,
      'in.log',
      Buffer.from(begin, 'latin1'),
      new RegExp(`is ${what}\\. ${instead}`),
    ],
  ),
  [
    'compressed with Brotli',
    'in.csv.br',
    brotliCompressSync('a,b\n1,2\n'.repeat(100)),
    /in\.csv\.br is compressed with Brotli\. Unpack it first: brotli -dk FILE\.$/,
  ],
  [
    'only lines that are not UTF-8',
    'in.csv',
    Buffer.from('a,b\n1,\xff\n', 'latin1'),
    /^None of the 1 line can be read as CSV\. Lines that are not UTF-8 or/,
  ],
  ['not gzip', 'in.csv.gz', 'a,b\n1,2\n', /^in\.csv\.gz is not a gzip file despite its name\.$/],
  ...([0.5, 0.9, 0.999].map(share => [
    `the first ${share * 100} % of a gzip file`,
    'in.ndjson.gz',
    cutOff(share),
    /^in\.ndjson\.gz is truncated or damaged: it cannot be unpacked completely\. Get the complete file, /,
  ]) satisfies Refused[]),
  [
    'a gzip file that is damaged at its beginning',
    'in.csv.gz',
    damagedAt(20),
    /^in\.csv\.gz is truncated or damaged: it cannot be unpacked completely\. Get the complete file, /,
  ],
  [
    'half a Parquet file',
    'in.parquet',
    'PAR1 and nothing else',
    /^in\.parquet is truncated: the schema at the end of the file is missing\./,
  ],
];

test.each(refused)('an import is refused: %s', async (_, name, content, message) => {
  const { dataset, status, body } = await importText(name, content);
  expect(status).toBe(400);
  expect(body.message).toMatch(message);
  expect((await service().json('GET', `/v2/datasets/${dataset}`)).status).toBe(404);
});

test.each([
  ['nope', /^There is no field `nope` to read the time from\. The fields are `a`, `when`\.$/],
  ['a', /^No value in `a` can be read as a timestamp, for example "x"\. Use RFC 3339, /],
])('an unusable time field is refused: %s', async (field, message) => {
  const { status, body } = await importText('in.csv', 'a,when\nx,2001-01-01\n', field);
  expect(status).toBe(400);
  expect(body.message).toMatch(message);
});

test('a refusal quotes only the start of a long value or name', async () => {
  const long = 'x'.repeat(100_000);
  const text = `a,${long}\n${long},1\n`;
  const [unreadable, unknown] = [
    await importText('in.csv', text, 'a'),
    await importText('in.csv', text, 'b'),
  ];
  const shown = `${'x'.repeat(79)}…`;
  expect(unreadable.body.message).toMatch(
    new RegExp(`^No value in \`a\` can be read as a timestamp, for example "${shown}"\\.`),
  );
  expect(unknown.body.message).toBe(
    `There is no field \`b\` to read the time from. The fields are \`a\`, \`${shown}\`.`,
  );
});

test.each([
  [{ path: '/no/such/file.csv', dataset: 'd' }, 'There is no file /no/such/file.csv.'],
  [
    { path: '/home/ada/https:/shop.example/a.csv', dataset: 'd' },
    'https://shop.example/a.csv is a URL: only files on this machine can be imported. Download it first, for example with `curl -O URL`.',
  ],
  [
    { path: 'https://ada:secret@shop.example/a.csv?sig=secret#x', dataset: 'd' },
    'https://shop.example/a.csv is a URL: only files on this machine can be imported. Download it first, for example with `curl -O URL`.',
  ],
  [{ dataset: 'd' }, '`path` should be a file path.'],
  [{ path: 'x', dataset: 'd', replace: 'no' }, '`replace` should be true or false.'],
  [{ path: 'x' }, '`dataset` should be a dataset name.'],
  [[], 'The body should be a JSON object.'],
])('an invalid import request is refused: %j', async (body, message) => {
  const answer = await service().json('POST', '/v1/local/import', body);
  expect([answer.status, answer.body.message]).toEqual([400, message]);
});

test('a running import reports its progress', async () => {
  const line = `${JSON.stringify({ _time: 1_700_000_000, text: 'x'.repeat(40) })}\n`;
  // The engine reports progress every hundred thousand rows.
  const file = await fileOf('large.ndjson', line.repeat(1_500_000));
  const request = { path: file, dataset: `d${++datasets}` };
  const importing = service().json('POST', '/v1/local/import', request, { 'x-apl-query': 'large' });
  const [shares, rows]: [unknown[], number[]] = [[], []];
  const asked = async () => {
    const { status, body } = await service().json('GET', '/v1/local/queries/large');
    if (status === 200) {
      shares.push(body.share);
      rows.push(Number(body.rows));
    }
    return status;
  };
  await expect.poll(asked, { interval: 5 }).toBe(200);
  await expect.poll(asked, { interval: 5 }).toBe(404);
  expect((await importing).body.rows).toBe(1_500_000);
  const known = shares.filter(share => share !== undefined).map(Number);
  expect(known.length).toBeGreaterThan(0);
  expect(known.every(share => share > 0 && share <= 1)).toBe(true);
  expect(known).toEqual(known.toSorted((a, b) => a - b));
  expect(known.some(share => share > 0.5 && share < 1)).toBe(true);
  expect(Math.abs((rows.at(-1) ?? 0) - 1_500_000)).toBeLessThan(1_500);
});

// ---- previews ----

async function previewText(name: string, content: string | Uint8Array, more: object = {}): Promise<Imported> {
  const dataset = `d${++datasets}`;
  const request = { path: await fileOf(name, content), dataset, ...more };
  const preview = { dataset, ...(await service().json('POST', '/v1/local/preview', request)) };
  expect((await service().json('GET', `/v2/datasets/${dataset}`)).status).toBe(404);
  return preview;
}

const dated = (...days: string[]): string =>
  ['Date,Amount', ...days.map(day => `${day}/11/2026 10:00,0.5`)].join('\n');

test('a preview shows format, types, times and first values, and creates no dataset', async () => {
  const { dataset, body } = await previewText('uk.csv', dated('05', '13', ''));
  expect(body).toEqual({
    file: 'uk.csv',
    dataset,
    format: { name: 'csv', label: 'CSV' },
    rows: 3,
    isWhole: true,
    about: 3,
    fields: [
      { name: '_time', type: 'datetime', values: ['2026-11-05T10:00:00Z', '2026-11-13T10:00:00Z', null] },
      {
        name: 'Date',
        type: 'string',
        values: ['05/11/2026 10:00', '13/11/2026 10:00', '/11/2026 10:00'],
      },
      { name: 'Amount', type: 'float', values: ['0.5', '0.5', '0.5'] },
    ],
    timeField: 'Date',
    notes: [
      'Dates in `Date` are read day first, as in "13/11/2026 10:00".',
      'No readable timestamp in `Date` in 1 row: they get the time of the import.',
    ],
  });
});

test('a preview shows both readings of ambiguous dates, or the named one', async () => {
  const { body } = await previewText('uk.csv', dated('05'));
  expect(body.problem.message).toBe(
    'The order of the dates in `Date` is ambiguous: "05/11/2026 10:00" is 2026-11-05T10:00:00Z (day first) or 2026-05-11T10:00:00Z (month first).',
  );
  expect([body.timeField, body.fields[0].values, body.notes]).toEqual(['Date', [null], []]);
  const named = await previewText('uk.csv', dated('05'), { dates: 'mdy' });
  expect([named.body.problem, named.body.fields[0].values]).toEqual([undefined, ['2026-05-11T10:00:00Z']]);
});

test('a preview reads the first rows of a large file, compressed or not', async () => {
  const lines = Array.from(
    { length: 5_000 },
    (_, n) => `{"n":${n},"ts":"2026-11-20T10:00:00Z","s":"${'x'.repeat(300)}"}`,
  );
  const text = lines.join('\n');
  const { body } = await previewText('large.ndjson', text);
  expect([body.rows, body.isWhole, body.format.name]).toEqual([1_000, false, 'json']);
  expect(Math.abs(body.about - 5_000)).toBeLessThan(500);
  expect(body.fields.map(({ values }: { values: string[] }) => values[4])).toEqual([
    '2026-11-20T10:00:00Z',
    '4',
    '2026-11-20T10:00:00Z',
    `${'x'.repeat(199)}\u2026`,
  ]);
  expect((await previewText('large.ndjson.gz', gzipSync(text))).body.rows).toBe(1_000);
});

test('a preview is refused like an import', async () => {
  const refused = async (name: string, content: string | Uint8Array, more: object = {}) =>
    (await previewText(name, content, more)).body.message;
  expect(await refused('none.csv', '')).toMatch(/none\.csv contains no rows\.$/);
  expect(await refused('a.csv', dated('13'), { timeField: 'When' })).toBe(
    'There is no field `When` to read the time from. The fields are `Date`, `Amount`.',
  );
  expect(await refused('.env', 'a,b\n1,2')).toMatch(/cannot be imported/);
  const damaged =
    /^in\.ndjson\.gz is truncated or damaged: it cannot be unpacked completely\. Get the complete file, /;
  for (const content of [cutOff(0.0001), cutOff(0.999), damagedAt(20)])
    expect(await refused('in.ndjson.gz', content)).toMatch(damaged);
});
