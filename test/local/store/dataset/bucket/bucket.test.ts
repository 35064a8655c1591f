import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { Engine } from '../../../../../kernel/local/engine/duckdb.js';
import { compileRequest } from '../../../../../kernel/local/sql/compile.js';
import { probeBuckets } from '../../../../../kernel/local/store/dataset/bucket/probe.js';
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
  test('has the fields of its objects and the time of a column; it is imported again without harm', async () => {
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
      'Nothing is copied: each query reads what it needs of s3://logs/app/.',
      'Its directories name times: a query lists those of its range, and of 1 hour before and after.',
      expect.stringMatching(
        /^Read from s3:\/\/logs\/app\/: .* of 3 objects; 3 objects listed, 7 requests\.$/,
      ),
    ]);
    expect((await imported('s3://logs/app/', 'app')).status).toBe(200);
  });

  test('is read by the day, the row group and the columns of a query, once', async () => {
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
    expect(again.messages[0]).toContain('all that was needed was here already');
  });

  test('is counted by its footers, and its newest events are read from the newest directory', async () => {
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

  test('is listed with where it lies, takes no events, and its reference alone is deleted', async () => {
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

describe('refused in words', () => {
  test.each([
    [
      's3://nothing-here/app',
      's3://nothing-here/app/ cannot be read: there is no such bucket (NoSuchBucket, 404).',
    ],
    ['s3://logs/none', 'There is no object at s3://logs/none/.'],
    ['s3://logs/text', 'There is no Parquet file at s3://logs/text/, only 1 other object.'],
    ['s3://logs/torn', 's3://logs/torn/a.parquet is cut short, encrypted, or not a Parquet file.'],
    ['s3://key:hidden@logs/app', 'an address of S3 has no user, password or parameters'],
    ['s3://Logs_/app', 'Logs_ is not a name of a bucket'],
    ['gs://logs/app', 'no address of gs is read'],
    ['abfss://logs/app', 'no address of Azure is read'],
  ])('%s', async (address, message) => {
    await bucket.put('text/a.log', 'a line\n');
    await bucket.put('torn/a.parquet', eventsFile([0]).subarray(0, 100));
    const refused = await imported(address, 'refused');
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining(message)]);
  });

  test('without a word of the credentials', async () => {
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
        's3://logs/app/ cannot be read: the credentials have no right to (InvalidAccessKeyId, 403).',
      );
      bucket.fault = () => false;
      // The server takes any, so that what is kept of a dataset can be looked at too.
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
