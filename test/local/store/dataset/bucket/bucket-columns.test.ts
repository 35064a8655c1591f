import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { sqlText } from '../../../../../kernel/local/duckdb/duckdb-literal.js';
import { Engine } from '../../../../../kernel/local/engine/duckdb.js';
import { compileRequest } from '../../../../../kernel/local/sql/compile.js';
import { sharedService } from '../../../service.js';
import { eventsFile, sharedBucket } from './server.js';

const bucket = sharedBucket();
const service = sharedService({ compile: compileRequest });

/** 2026-06-01T00:00:00Z. */
const juneMs = Date.UTC(2026, 5, 1);

let engine: Engine | undefined;
let dataDir = '';

beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'apl-kernel-test-'));
  engine = await Engine.open({ dataDir, families: [] });
});

afterAll(async () => {
  await engine?.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function written(select: string): Promise<Uint8Array> {
  const file = path.join(dataDir, 'written.parquet');
  await engine?.run(`COPY (${select}) TO ${sqlText(file)} (FORMAT parquet)`);
  return readFile(file);
}

/** Puts objects below a prefix and imports it as a dataset with the same name. */
async function imported(name: string, ...objects: readonly Uint8Array[]): Promise<void> {
  for (const [index, object] of objects.entries()) await bucket.put(`${name}/${index}.parquet`, object);
  const request = { path: `s3://logs/${name}`, dataset: name };
  expect((await service().json('POST', '/v1/local/import', request)).status).toBe(200);
}

async function columns(apl: string): Promise<unknown> {
  const range = { startTime: '2026-06-01T00:00:00Z', endTime: '2026-06-02T00:00:00Z' };
  const { body } = await service().query(apl, range);
  return body.tables?.[0]?.columns ?? body;
}

const times: ColumnSource = {
  name: '_time',
  data: [0, 1, 2].map(ms => new Date(juneMs + ms)),
  type: 'TIMESTAMP',
};

test.each([
  ['equal', 'a', 'a'],
  ['equal but for case', 'a', 'A'],
])('columns whose names are %s are both read', async (kind, first, second) => {
  // The column between them is not read with either.
  const between = ['x', 'y', 'z'].map(each => each.repeat(40_000));
  const columnData: ColumnSource[] = [
    { name: first, data: [1n, 2n, 3n], type: 'INT64' },
    times,
    { name: 'body', data: between, type: 'STRING', codec: 'UNCOMPRESSED' },
    { name: second, data: [4n, 5n, 6n], type: 'INT64' },
  ];
  const dataset = kind.replaceAll(' ', '-');
  await imported(dataset, new Uint8Array(parquetWriteBuffer({ columnData })));
  expect(await columns(`['${dataset}'] | sort by _time asc | project ${first}, ${second}_1`)).toEqual([
    [1, 2, 3],
    [4, 5, 6],
  ]);
});

test('a time within an object is not taken for the event time', async () => {
  await imported(
    'within',
    await written(
      `SELECT {'_time': make_timestamp_ns(5 + i), 'x': i} AS s, epoch_ms(${juneMs} + i)::TIMESTAMP_MS AS _time FROM range(3) r(i)`,
    ),
  );
  expect(await columns('within | count')).toEqual([[3]]);
  expect(
    await columns('within | where _time >= datetime(2026-06-01T00:00:00.001Z) | summarize count()'),
  ).toEqual([[2]]);
});

test('objects whose columns have two types, merged into one field, keep all values', async () => {
  const time = `make_timestamp_ns(${juneMs}000000)`;
  await imported(
    'types',
    await written(`SELECT ${time} AS _time, 1 AS n, 1.25::DECIMAL(9, 2) AS r, DATE '2024-10-04' AS t`),
    await written(
      `SELECT ${time} AS _time, 2 AS n, 0.123456::DOUBLE AS r, TIMESTAMP_NS '2024-10-04 01:00:00.000000005' AS t`,
    ),
    await written(`SELECT ${time} AS _time, 3 AS n, 1e300::DOUBLE AS r, TIMESTAMP '9999-12-31' AS t`),
  );
  expect(await columns('types | sort by n asc | project r, t')).toEqual([
    [1.25, 0.123456, 1e300],
    ['2024-10-04T00:00:00Z', '2024-10-04T01:00:00.000000005Z', null],
  ]);
});

test('columns requested one right after another are read', async () => {
  const names = Array.from({ length: 24 }, (_, index) => `c${index}`);
  const columnData: ColumnSource[] = [
    times,
    ...names.map((name, index) => ({
      ...{ name, type: 'INT64' as const },
      data: [0, 1, 2].map(row => BigInt(row + index)),
    })),
  ];
  await imported('one-by-one', new Uint8Array(parquetWriteBuffer({ columnData })));
  for (const [index, name] of names.entries())
    expect(await columns(`['one-by-one'] | sort by _time asc | project ${name}`)).toEqual([
      [index, index + 1, index + 2],
    ]);
  await imported('one-event', eventsFile([juneMs]));
  expect(await columns('["one-event"] | count')).toEqual([[1]]);
  expect(await columns('["one-event"] | project n')).toEqual([[juneMs]]);
});

test('an object without an ETag is read, and a change is noticed by its time', async () => {
  const file = eventsFile([juneMs]);
  let changed = 'Mon, 01 Jun 2026 10:00:01 GMT';
  bucket.fault = ({ url = '', headers }, response) => {
    if (!decodeURIComponent(url).includes('untagged/')) return false;
    const [range, from, to] = /(\d+)-(\d+)/.exec(headers.range ?? '') ?? [];
    if (range === undefined) {
      response.writeHead(200, { 'content-type': 'application/xml' });
      response.end(
        `<ListBucketResult><Contents><Key>untagged/a.parquet</Key><LastModified>2026-06-01T10:00:00.345Z</LastModified><Size>${file.length}</Size></Contents></ListBucketResult>`,
      );
      return true;
    }
    const more = { 'content-range': `bytes ${range}/${file.length}`, 'last-modified': changed };
    response.writeHead(206, more);
    response.end(file.subarray(Number(from), Number(to) + 1));
    return true;
  };
  onTestFinished(() => {
    bucket.fault = () => false;
  });
  const read = () =>
    service().json('POST', '/v1/local/import', { path: 's3://logs/untagged', dataset: 'untagged' });
  expect((await read()).body.message).toContain(
    's3://logs/untagged/a.parquet was changed between being listed and being read.',
  );
  changed = 'Mon, 01 Jun 2026 10:00:00 GMT';
  expect((await read()).status).toBe(200);
  const range = { startTime: '2026-06-01T00:00:00Z', endTime: '2026-06-02T00:00:00Z' };
  const { body } = await service().query('untagged | project n', range);
  expect(body.tables?.[0]?.columns).toEqual([[juneMs]]);
});

test('objects in a directory with an empty name are read, copied, and seen by a publication', async () => {
  const file = eventsFile([juneMs]);
  await bucket.put('double/in/a.parquet', file);
  const etag = `"${createHash('md5').update(file).digest('hex')}"`;
  const object = `<Contents><Key>double//a.parquet</Key><Size>${file.length}</Size><ETag>${etag}</ETag></Contents>`;
  // s3rver keeps objects as files, which cannot have such a directory.
  bucket.fault = (request, response) => {
    const url = decodeURIComponent(request.url ?? '');
    request.url = request.url?.replace('double//', 'double/in/') ?? '';
    if (!url.includes('prefix=double/')) return false;
    const isAbove = url.includes('delimiter=') && !url.includes('prefix=double//');
    const found = isAbove ? '<CommonPrefixes><Prefix>double//</Prefix></CommonPrefixes>' : object;
    response.writeHead(200, { 'content-type': 'application/xml' });
    response.end(`<ListBucketResult><IsTruncated>false</IsTruncated>${found}</ListBucketResult>`);
    return true;
  };
  onTestFinished(() => {
    bucket.fault = () => false;
  });
  const send = (route: string, more: object) =>
    service().json('POST', `/v1/local/${route}`, { path: 's3://logs/double', ...more });
  const read = await send('import', { dataset: 'double' });
  const copied = await send('import', { dataset: 'double_copy', copy: true });
  const published = await send('publish', { dataset: 'double_copy' });
  expect([read.status, copied.body.rows, published.body.message]).toEqual([
    200,
    1,
    expect.stringContaining('s3://logs/double/ contains other objects, such as /a.parquet.'),
  ]);
  const range = { startTime: '2026-06-01T00:00:00Z', endTime: '2026-06-02T00:00:00Z' };
  const { body } = await service().query('double | project n', range);
  expect(body.tables?.[0]?.columns).toEqual([[juneMs]]);
});
