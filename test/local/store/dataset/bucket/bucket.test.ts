import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { BasicType, ColumnSource } from 'hyparquet-writer';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { Engine } from '../../../../../kernel/local/engine/duckdb.js';
import { compileRequest } from '../../../../../kernel/local/sql/compile.js';
import { probeBuckets } from '../../../../../kernel/local/store/dataset/bucket/bucket-probe.js';
import { sharedService, testService } from '../../../service.js';
import { eventsFile, sharedBucket } from './server.js';

const bucket = sharedBucket();
const service = sharedService({ compile: compileRequest });

/** Three days of 6,144 events each, in row groups of 8 hours. */
beforeAll(async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'apl-kernel-test-'));
  const engine = await Engine.open({ dataDir, families: [] });
  for (const day of [1, 2, 3]) {
    const file = path.join(engine.workDir, `${day}.parquet`);
    await engine.run(
      `COPY (SELECT (TIMESTAMP '2026-06-0${day}' + to_microseconds(i * 14062500))::TIMESTAMPTZ AS ts, 'n' || i AS name,
         i::INTEGER AS n, {'code': 200 + i % 7, 'deep': {'x': i}} AS http, hash(i) || repeat('x', 90) AS body
       FROM range(6144) AS t(i)) TO '${file}' (FORMAT parquet, ROW_GROUP_SIZE 2048)`,
    );
    await bucket.put(`app/day=2026-06-0${day}/part-0.parquet`, await readFile(file));
  }
  const wide = path.join(engine.workDir, 'wide.parquet');
  const text = Array.from({ length: 40 }, (_, part) => `md5((i * 64 + ${part})::VARCHAR)`).join(' || ');
  await engine.run(
    `COPY (SELECT TIMESTAMP '2026-06-01' + to_microseconds(i * 14062500) AS _time, i AS n, ${text} AS body FROM range(6144) AS t(i))
     TO '${wide}' (FORMAT parquet, ROW_GROUP_SIZE 2048)`,
  );
  await bucket.put('wide/a.parquet', await readFile(wide));
  await engine.close();
  await rm(dataDir, { recursive: true, force: true });
});

function imported(address: string, dataset: string, more: object = {}) {
  return service().json('POST', '/v1/local/import', { path: address, dataset, ...more });
}

async function asked(apl: string, start: string, end: string) {
  bucket.taken();
  const range = { startTime: `2026-06-${start}Z`, endTime: `2026-06-${end}Z` };
  const { status, body } = await service().query(apl, range);
  const messages = (body.status?.messages ?? []).map(({ msg }: { msg: string }) => msg);
  return { status, body, columns: body.tables?.[0]?.columns, messages, requests: bucket.taken() };
}

function listing(prefix: string): string {
  return `/logs/?${prefix.endsWith('app/') ? 'delimiter=/&' : ''}list-type=2&prefix=${prefix}`;
}

const lists = (requests: readonly string[]) => requests.filter(each => each.includes('list-type')).sort();
const gets = (requests: readonly string[]) => requests.filter(each => !each.includes('list-type'));

describe('a dataset in a bucket', () => {
  test('has the fields and times of its objects, and can be imported again', async () => {
    const { status, body } = await imported('s3://logs/app', 'app');
    expect([status, body.dataset, body.timeField, body.place, body.rows]).toEqual([
      200,
      'app',
      'ts',
      's3://logs/app/',
      0,
    ]);
    expect(body.fields.map(({ name, type }: { name: string; type: string }) => `${name}:${type}`)).toEqual([
      '_time:datetime',
      '_sysTime:datetime',
      'ts:datetime',
      'name:string',
      'n:integer',
      'http:dynamic',
      'body:string',
    ]);
    expect(body.notes).toEqual([
      'Nothing is copied: queries read what they need from s3://logs/app/.',
      'Directories are named by time: a query lists those in its range, plus 1 hour before and after.',
      expect.stringMatching(
        /^Read from s3:\/\/logs\/app\/: .* of 3 objects; 3 objects listed, 8 requests\.$/,
      ),
    ]);
    expect((await imported('s3://logs/app/', 'app')).status).toBe(200);
  });

  test('is read by day, row group and column, once each', async () => {
    await imported('s3://logs/app', 'app');
    const query = 'app | project _time, n, http';
    const first = await asked(query, '02T07:59:30', '02T08:00:20');
    expect(first.columns).toEqual([
      [
        '2026-06-02T08:00:14.0625Z',
        '2026-06-02T08:00:00Z',
        '2026-06-02T07:59:45.9375Z',
        '2026-06-02T07:59:31.875Z',
      ],
      [2049, 2048, 2047, 2046],
      [2049, 2048, 2047, 2046].map(x => ({ code: 200 + (x % 7), deep: { x } })),
    ]);
    expect(lists(first.requests)).toEqual([listing('app/'), listing('app/day=2026-06-02/')]);
    const { size } = await objectOf('app/day=2026-06-02/part-0.parquet');
    const read = gets(first.requests).map(each => spanIn(each));
    expect(read.reduce((total, [from, to]) => total + to - from, 0)).toBeLessThan(size / 3);
    expect(first.messages).toEqual([
      expect.stringMatching(
        /^Read from s3:\/\/logs\/app\/: .* of 1 object; 1 object listed, \d+ requests\.$/,
      ),
    ]);
    const again = await asked(query, '02T07:59:30', '02T08:00:20');
    expect([again.columns, gets(again.requests)]).toEqual([first.columns, []]);
    expect(again.messages[0]).toContain('everything was already in the local cache');
  });

  test('is counted from footers, and its newest events are read from the newest directory', async () => {
    await imported('s3://logs/app', 'app');
    const count = await asked('app | count', '01T00:00:00', '04T00:00:00');
    expect([count.columns, gets(count.requests)]).toEqual([[[18432]], []]);
    const newest = await asked(
      'app | sort by _time desc | limit 3 | project n, body',
      '01T00:00:00',
      '04T00:00:00',
    );
    expect(newest.columns[0]).toEqual([6143, 6142, 6141]);
    expect(gets(newest.requests).every(each => each.includes('day=2026-06-03'))).toBe(true);
    const sums = await asked('app | summarize sum(n), dcount(body)', '01T00:00:00', '04T00:00:00');
    expect(sums.columns).toEqual([[56613888], [6144]]);
  });

  test('is listed with its location, accepts no events, and only its reference is deleted', async () => {
    await imported('s3://logs/app', 'gone');
    const { body } = await service().json('GET', '/v1/local/datasets/gone');
    expect([body.place, body.rows, body.description]).toEqual([
      's3://logs/app/',
      undefined,
      'read in place: s3://logs/app/',
    ]);
    const refused = await service().json('POST', '/v1/datasets/gone/ingest', [{ n: 1 }]);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      expect.stringContaining('`gone` is read in place from s3://logs/app/.'),
    ]);
    expect((await probeBuckets(service().dataDir)).find(each => each.dataset === 'gone')).toEqual({
      dataset: 'gone',
      address: 's3://logs/app/',
    });
    bucket.taken();
    expect((await service().json('DELETE', '/v2/datasets/gone')).status).toBe(204);
    expect(bucket.taken()).toEqual([]);
    expect((await imported('s3://logs/app', 'again')).status).toBe(200);
  });
});

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** 2026-06-01T00:00:00Z. */
const juneMs = Date.UTC(2026, 5, 1);

describe('a listed object', () => {
  const count = async (dataset: string, start = '01T00:00:00', end = '30T00:00:00') =>
    asked(`${dataset} | summarize count(), sum(n - ${juneMs})`, start, end);

  test('is read again after a change', async () => {
    await bucket.put('anew/a.parquet', eventsFile([juneMs + 1]));
    await imported('s3://logs/anew', 'anew');
    expect((await count('anew')).columns).toEqual([[1], [1]]);
    await bucket.put('anew/a.parquet', eventsFile([juneMs + 2, juneMs + 3]));
    expect((await count('anew')).columns).toEqual([[2], [5]]);
  });

  test.each([
    ['deleted', 404],
    ['changed', 206],
  ])('that is %s while it is read restarts the query once', async (how, status) => {
    const name = `was_${how}`;
    let file = eventsFile([juneMs + 1]);
    await bucket.put(`${name}/a.parquet`, file);
    await imported(`s3://logs/${name}`, name);
    let faults = 1;
    bucket.fault = ({ headers, url = '' }, response) => {
      if (!url.includes(`${name}/a.parquet`) || headers.range === undefined || faults-- <= 0) return false;
      const [from, to] = spanIn(headers.range);
      const range = `bytes ${from}-${to - 1}/${file.length}`;
      response.writeHead(status, { etag: '"another"', 'content-range': range });
      response.end(status === 206 ? file.subarray(from, to) : '<Error><Code>NoSuchKey</Code></Error>');
      return true;
    };
    expect((await count(name)).columns).toEqual([[1], [1]]);
    faults = 99;
    file = eventsFile([juneMs + 1, juneMs + 2]);
    await bucket.put(`${name}/a.parquet`, file);
    const refused = await count(name);
    bucket.fault = () => false;
    expect([refused.status, refused.body.message]).toEqual([
      409,
      expect.stringContaining(`s3://logs/${name}/a.parquet was ${how} between being listed and being read.`),
    ]);
    expect((await count(name)).columns).toEqual([[2], [3]]);
  });

  test('is requested again if the bucket is too busy', async () => {
    await bucket.put('busy/a.parquet', eventsFile([juneMs + 1]));
    await imported('s3://logs/busy', 'busy');
    let faults = 1;
    bucket.fault = (_, response) => {
      if (faults-- <= 0) return false;
      response.writeHead(503, { 'content-type': 'application/xml' });
      response.end('<Error><Code>SlowDown</Code></Error>');
      return true;
    };
    const { columns, messages } = await count('busy');
    bucket.fault = () => false;
    expect(columns).toEqual([[1], [1]]);
    expect(messages[0]).toMatch(/requests, 1 of them retries\.$/);
  });

  test('is cached for the next service, unless damaged on disk', async () => {
    const first = await testService({ compile: compileRequest });
    await first.json('POST', '/v1/local/import', { path: 's3://logs/app', dataset: 'app' });
    const range = { startTime: '2026-06-01T00:00:00Z', endTime: '2026-06-02T00:00:00Z' };
    const query = 'app | summarize sum(n), dcount(body)';
    const { body: before } = await first.query(query, range);
    await first.service.close();
    const chunks = path.join(first.dataDir, '.cache', 'buckets', 'chunks');
    const [damaged = ''] = (await readdir(chunks)).filter(name => name.endsWith('-0.parquet'));
    const file = await open(path.join(chunks, damaged), 'r+');
    await file.write(Buffer.alloc(2_000), 0, 2_000, 2_000);
    await file.close();
    const second = await testService({ compile: compileRequest, dataDir: first.dataDir });
    bucket.taken();
    const { body: after } = await second.query(query, range);
    expect(after.tables[0].columns).toEqual(before.tables[0].columns);
    const reads = gets(bucket.taken());
    expect(reads.length).toBeGreaterThan(0);
    expect(reads.every(each => spanIn(each)[1] < 150_000)).toBe(true);
  });
});

describe('a directory that names a day', () => {
  test('may hold events of the next morning if the import saw some', async () => {
    await bucket.put('late/dt=20260601/a.parquet', eventsFile([juneMs + hourMs, juneMs + 29 * hourMs]));
    await bucket.put('late/dt=20260603/b.parquet', eventsFile([juneMs + 2 * dayMs]));
    const { body } = await imported('s3://logs/late', 'late');
    expect(body.notes[1]).toContain('plus 6 hours before and after');
    const { columns, requests } = await asked('late | project n', '02T04:30:00', '02T05:30:00');
    expect(columns).toEqual([[juneMs + 29 * hourMs]]);
    expect(lists(requests)).toContain('/logs/?list-type=2&prefix=late/dt=20260601/');
    expect(lists(requests)).not.toContain('/logs/?list-type=2&prefix=late/dt=20260603/');
  });

  test('may have other fields than newer ones, which a query of the newest events finds going back', async () => {
    const file = (day: number, values: ColumnSource['data'], type: BasicType) =>
      bucket.put(
        `mixed/2026/06/0${day}/a.parquet`,
        eventsFile([juneMs + (day - 1) * dayMs], { name: 's', data: values, type }),
      );
    // This server lists a directory only if it directly contains an object.
    for (const name of ['mixed/2026/_SUCCESS', 'mixed/2026/06/_SUCCESS']) await bucket.put(name, 'x');
    await file(4, [7n], 'INT64');
    const { body: report } = await imported('s3://logs/mixed', 'mixed');
    expect(report.fields ?? report).toContainEqual({
      name: 's',
      type: 'integer',
    });
    await file(3, [7n], 'INT64');
    await file(1, ['old'], 'STRING');
    const { columns, body } = await asked(
      'mixed | sort by _time desc | limit 10 | project s',
      '01T00:00:00',
      '05T00:00:00',
    );
    expect(columns ?? body).toEqual([[7, 7, 'old']]);
    const fields = (await service().json('GET', '/v2/datasets/mixed/fields')).body;
    expect(fields.find(({ name }: { name: string }) => name === 's').type).toBe('dynamic');
  });
});

test('values in directory names become fields, except dates', async () => {
  const counts = [
    ['eu', 2],
    ['us%20east', 1],
    ['__HIVE_DEFAULT_PARTITION__', 1],
  ] as const;
  for (const [region, count] of counts) {
    const day = `parts/region=${region}/day=2026-06-01`;
    // This server lists a directory only if it directly contains an object.
    for (const each of [`parts/region=${region}`, day]) await bucket.put(`${each}/_SUCCESS`, 'x');
    await bucket.put(`${day}/n=9/a.parquet`, eventsFile(Array.from({ length: count }, () => juneMs)));
  }
  await imported('s3://logs/parts', 'parts');
  const all = await asked(
    'parts | summarize count() by region | sort by region asc',
    '01T00:00:00',
    '02T00:00:00',
  );
  expect(all.columns).toEqual([
    [null, 'eu', 'us east'],
    [1, 2, 1],
  ]);
  const one = await asked(
    "parts | where region == 'us east' | project region, n",
    '01T00:00:00',
    '02T00:00:00',
  );
  expect(one.columns).toEqual([['us east'], [juneMs]]);
  const { body } = await service().json('GET', '/v2/datasets/parts/fields');
  expect(body.map(({ name }: { name: string }) => name).sort()).toEqual(['_sysTime', '_time', 'n', 'region']);
});

test('columns outside a condition are read only for row groups with matching rows', async () => {
  await imported('s3://logs/wide', 'wide');
  const { columns, requests } = await asked(
    'wide | where n == 5000 | project n, body',
    '01T00:00:00',
    '02T00:00:00',
  );
  expect([columns[0], columns[1][0].length]).toEqual([[5000], 1280]);
  const { size } = await objectOf('wide/a.parquet');
  const bytes = gets(requests)
    .map(spanIn)
    .reduce((total, [from, to]) => total + to - from, 0);
  expect(bytes).toBeLessThan(size / 2);
});

test('evicts the least recently used row groups, and refuses a query that needs more', async () => {
  const limited = await testService({ compile: compileRequest, limits: { bucketBytes: 4 * 2 ** 20 } });
  await limited.json('POST', '/v1/local/import', { path: 's3://logs/wide', dataset: 'wide' });
  const bytesIn = async (start: string, end: string) => {
    bucket.taken();
    const range = { startTime: `2026-06-01T${start}:00:00Z`, endTime: `2026-06-01T${end}:59:59Z` };
    const { status, body } = await limited.query('wide | summarize count(), dcount(body)', range);
    const read = gets(bucket.taken())
      .map(spanIn)
      .reduce((total, [from, to]) => total + to - from, 0);
    return [status, body.tables?.[0]?.columns[0][0] ?? body.message, read > 2 ** 20];
  };
  expect(await bytesIn('00', '07')).toEqual([200, 2048, true]);
  expect(await bytesIn('00', '07')).toEqual([200, 2048, false]);
  expect(await bytesIn('08', '15')).toEqual([200, 2048, true]);
  expect(await bytesIn('08', '15')).toEqual([200, 2048, false]);
  expect(await bytesIn('00', '07')).toEqual([200, 2048, true]);
  expect(await bytesIn('00', '23')).toEqual([
    413,
    expect.stringMatching(
      /^This query would read [\d.]+ MB from the bucket, more than the 4\.2 MB that fit in the local cache\. Choose a shorter time range, or keep fewer fields with `project`\.$/,
    ),
    false,
  ]);
});

describe('objects that are not Parquet are copied and imported as files', () => {
  const line = (time: number, n: number) => `${JSON.stringify({ _time: new Date(juneMs + time), n })}\n`;
  const copy = (dataset: string, more: object = {}) =>
    imported(`s3://logs/${dataset}`, dataset, { copy: true, ...more });
  const rows = async (dataset: string) =>
    (await asked(`${dataset} | sort by n asc | project n, _time`, '01T00:00:00', '02T00:00:00')).columns;

  test('NDJSON, compressed or not, from all directories in name order, without hidden files', async () => {
    await bucket.put('plain/day=2026-06-01/10.ndjson', line(0, 1));
    await bucket.put('plain/day=2026-06-01/9.ndjson.gz', gzipSync(line(1, 2) + line(2, 3)));
    await bucket.put('plain/x..%2F odd name.ndjson', line(3, 4));
    await bucket.put('plain/_SUCCESS', 'x');
    await bucket.put('plain/empty.ndjson', '');
    const refused = await imported('s3://logs/plain', 'plain');
    expect([refused.status, refused.body.detail?.hint ?? refused.body.hint]).toEqual([
      400,
      'Only Parquet can be read in place: use `%import s3://logs/plain/ --copy` to copy the objects here and import them.',
    ]);
    const { body } = await copy('plain');
    expect([body.rows, body.place, body.notes[0]]).toEqual([
      4,
      undefined,
      expect.stringMatching(
        /^Read from s3:\/\/logs\/plain\/: \d+ B of 3 objects; 5 objects listed, 4 requests\.$/,
      ),
    ]);
    expect(await rows('plain')).toEqual([
      [1, 2, 3, 4],
      [0, 1, 2, 3].map(ms => new Date(juneMs + ms).toISOString().replace(/\.?0+Z$/, 'Z')),
    ]);
    bucket.taken();
    expect(await rows('plain')).toHaveLength(2);
    expect(bucket.taken()).toEqual([]);
  });

  test('CSV in its encoding, added or replaced', async () => {
    await bucket.put('sheets/a.csv', gzipSync('time;n\n01.06.2026 10:00;7\n'));
    const choices = { dates: 'dmy', timeField: 'time', format: 'csv' };
    for (const more of [{}, {}, { replace: true }]) await copy('sheets', { ...choices, ...more });
    expect(await rows('sheets')).toEqual([[7], ['2026-06-01T10:00:00Z']]);
  });

  test('but nothing of a truncated object, and nothing after the credentials expire', async () => {
    const packed = gzipSync(line(0, 1).repeat(5_000));
    await bucket.put('torn-text/a.ndjson', line(0, 1));
    await bucket.put('torn-text/b.ndjson.gz', packed.subarray(0, packed.length - 200));
    const torn = await copy('torn-text');
    expect([torn.status, torn.body.message]).toEqual([400, expect.stringContaining('b.ndjson.gz')]);
    await bucket.put('torn-text/b.ndjson.gz', packed);
    bucket.fault = ({ url = '' }, response) => {
      if (!url.includes('b.ndjson.gz')) return false;
      response.writeHead(400, { 'content-type': 'application/xml' });
      response.end('<Error><Code>ExpiredToken</Code></Error>');
      return true;
    };
    const expired = await copy('torn-text');
    bucket.fault = () => false;
    expect([expired.status, expired.body.message]).toEqual([
      400,
      expect.stringContaining(
        's3://logs/torn-text/b.ndjson.gz cannot be read: the credentials have expired (ExpiredToken, 400).',
      ),
    ]);
    expect((await service().json('GET', '/v2/datasets/torn-text/fields')).status).toBe(404);
    expect((await copy('torn-text')).body.rows).toBe(5_001);
  });
});

describe('an import from a bucket is refused', () => {
  test.each([
    [
      's3://nothing-here/app',
      's3://nothing-here/app/ cannot be read: the bucket does not exist (NoSuchBucket, 404).',
    ],
    ['s3://logs/none', 'No object found at s3://logs/none/.'],
    ['s3://logs/text', 'No Parquet file found at s3://logs/text/, only 1 other object.'],
    ['s3://logs/torn', 's3://logs/torn/a.parquet is truncated, encrypted, or not a Parquet file.'],
    ['s3://logs/delta', 's3://logs/delta/ is a Delta table'],
    ['s3://key:hidden@logs/app', 'an S3 URL cannot have a user, password or parameters'],
    ['s3://Logs_/app', 'Logs_ is not a bucket name'],
    ['gs://logs/app', 'gs URLs are not supported'],
    ['abfss://logs/app', 'Azure URLs are not supported'],
  ])('%s', async (address, message) => {
    await bucket.put('text/a.log', 'a line\n');
    await bucket.put('delta/_delta_log/0.json', '{}');
    await bucket.put('torn/a.parquet', eventsFile([0]).subarray(0, 100));
    const refused = await imported(address, 'refused');
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining(message)]);
  });

  test('by the status of an answer without a message', async () => {
    bucket.fault = ({ url = '' }, response) => {
      const [, status] = /status-(\d+)/.exec(decodeURIComponent(url)) ?? [];
      if (status === undefined) return false;
      response.writeHead(Number(status));
      response.end();
      return true;
    };
    // Removes the delay between retries, part of which is random.
    const random = vi.spyOn(Math, 'random').mockReturnValue(0);
    const messages = [401, 403, 418, 429, 503].map(async status => {
      const { body } = await imported(`s3://logs/status-${status}`, `status-${status}`);
      return /: (.*?) \(/.exec(body.message)?.[1];
    });
    expect(await Promise.all(messages)).toEqual([
      'access denied',
      'access denied',
      'the bucket refused the request',
      'it was too busy 6 times in a row',
      'it was too busy 6 times in a row',
    ]);
    random.mockRestore();
    bucket.fault = () => false;
  });

  test.each([
    ['AuthorizationHeaderMalformed', 400, 'it is in another region'],
    ['XAdminUserNotFound', 404, 'access denied'],
    ['InvalidObjectState', 403, 'it is archived'],
  ])('by the code %s', async (code, status, words) => {
    bucket.fault = (_, response) => {
      response.writeHead(status, { 'content-type': 'application/xml' });
      response.end(`<Error><Code>${code}</Code><Message>m</Message></Error>`);
      return true;
    };
    const { body } = await imported('s3://logs/refused', 'refused');
    bucket.fault = () => false;
    expect(body.message).toContain(`s3://logs/refused/ cannot be read: ${words} (${code}, ${status}).`);
  });

  test('without any part of the credentials in the message', async () => {
    const logged: string[] = [];
    const planted = {
      AWS_ACCESS_KEY_ID: 'AKIAPLANTED',
      AWS_SECRET_ACCESS_KEY: 'secret-planted',
      AWS_SESSION_TOKEN: 'token-planted',
    };
    const before = { ...process.env };
    Object.assign(process.env, planted);
    try {
      const own = await testService({ compile: compileRequest, log: text => logged.push(text) });
      bucket.fault = (_, response) => {
        response.writeHead(403, { 'content-type': 'application/xml' });
        response.end(
          `<Error><Code>InvalidAccessKeyId</Code><Message>no ${planted.AWS_ACCESS_KEY_ID}</Message><AWSAccessKeyId>${planted.AWS_ACCESS_KEY_ID}</AWSAccessKeyId></Error>`,
        );
        return true;
      };
      const refused = await own.json('POST', '/v1/local/import', { path: 's3://logs/app', dataset: 'p' });
      expect(refused.body.message).toContain(
        's3://logs/app/ cannot be read: access denied (InvalidAccessKeyId, 403).',
      );
      bucket.fault = () => false;
      // The server accepts any key, so the cached data of a dataset can be tested too.
      process.env.AWS_ACCESS_KEY_ID = 'S3RVER';
      process.env.AWS_SECRET_ACCESS_KEY = 'S3RVER';
      delete process.env.AWS_SESSION_TOKEN;
      const report = await own.json('POST', '/v1/local/import', { path: 's3://logs/app', dataset: 'p' });
      expect(report.status).toBe(200);
      const files = await filesIn(own.dataDir);
      const all = [refused, report, logged, ...files].map(each => JSON.stringify(each)).join('\n');
      expect(files.some(each => each.includes('s3://logs/app/'))).toBe(true);
      expect(all).not.toMatch(/planted|S3RVER/i);
    } finally {
      bucket.fault = () => false;
      Object.assign(process.env, before);
      if (before.AWS_SESSION_TOKEN === undefined) delete process.env.AWS_SESSION_TOKEN;
    }
  });
});

async function filesIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter(entry => entry.isFile()).map(entry => path.join(entry.parentPath, entry.name));
  return Promise.all(files.map(file => readFile(file, 'latin1')));
}

async function objectOf(key: string): Promise<{ readonly size: number }> {
  const response = await fetch(`${process.env.AWS_ENDPOINT_URL}/logs/${key}`, { method: 'HEAD' });
  return { size: Number(response.headers.get('content-length')) };
}

function spanIn(request: string): readonly [from: number, to: number] {
  const [, from, to] = /bytes=(\d+)-(\d+)/.exec(request) ?? [];
  return [Number(from), Number(to) + 1];
}
