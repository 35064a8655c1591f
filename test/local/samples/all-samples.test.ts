import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Engine } from '../../../kernel/local/engine/duckdb.js';
import { samples } from '../../../kernel/local/samples/all-samples.js';

let directory: string;
let engine: Engine;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'apl-kernel-test-'));
  engine = await Engine.open({ dataDir: directory, families: [], connections: 1 });
});

afterAll(async () => {
  await engine.close();
  await rm(directory, { recursive: true, force: true });
});

/** Runs SQL over `sample`, whose columns are the fields in order, named f0, f1 and so on. */
function read(dataset: string, fields: readonly string[], from: string, to: string, sql: string) {
  const sample = samples.find(each => each.schema.name === dataset);
  const [start, end] = [from, to].map(time => BigInt(Date.parse(time)) * 1_000_000n);
  const scan = sample?.scan(fields, start as bigint, end as bigint);
  return engine.withConnection(connection => connection.run(`WITH sample AS (${scan}) ${sql}`));
}

const day = ['2026-01-26T00:00:00Z', '2026-01-27T00:00:00Z'] as const;

test.each([
  ['sample-http-logs', 'id', 12],
  ['otel-demo-traces', 'span_id', 12],
  ['otel-demo-logs', 'body', 12],
])('%s: the parts of a window add up to the whole', async (dataset, id, parts) => {
  const sums = 'SELECT count(*), sum(hash(f0, f1) >> 16), min(f1), max(f1) FROM sample';
  const whole = await read(dataset, [id, '_time'], ...day, sums);
  const hours = Array.from({ length: parts + 1 }, (_, index) =>
    new Date(Date.parse(day[0]) + (index * 86_400_000) / parts).toISOString(),
  );
  const pieces = await Promise.all(
    hours.slice(1).map((end, index) => read(dataset, [id, '_time'], hours[index] ?? '', end, sums)),
  );
  const total = (column: number) => pieces.reduce((sum, rows) => sum + BigInt(String(rows[0]?.[column])), 0n);
  expect([total(0), total(1)].map(String)).toEqual(whole[0]?.slice(0, 2).map(String));
});

test.each([
  ['sample-http-logs', ['_time', 'id', 'status', 'uri'], '989 b217ce8e34937ea12efa1deb51a78352'],
  [
    'otel-demo-traces',
    ['_time', 'span_id', 'service.name', 'duration'],
    '2082 eed1ba1c7c82c47efb972450222ca00c',
  ],
])('a window has the same rows on every machine: %s', async (dataset, fields, digest) => {
  const row = "concat_ws('|', f0::VARCHAR, f1::VARCHAR, f2::VARCHAR, f3::VARCHAR)";
  const sql = `SELECT count(*) || ' ' || md5(string_agg(${row}, ',' ORDER BY ${row})) FROM sample`;
  const [found] = await read(dataset, fields, '2026-01-26T12:00:00Z', '2026-01-26T12:05:00Z', sql);
  expect(found).toEqual([digest]);
});

describe('unrelated fields are independent', () => {
  test.each([
    ['sample-http-logs', 'req_duration_ms', 'resp_body_size_bytes'],
    ['sample-http-logs', 'resp_body_size_bytes', 'resp_header_size_bytes'],
  ])('%s: %s and %s', async (dataset, one, other) => {
    const [row] = await read(
      dataset,
      [one, other, 'status'],
      ...day,
      "SELECT abs(corr(ln(f0), ln(f1))) < 0.02 FROM sample WHERE f2 = '200'",
    );
    expect(row).toEqual([true]);
  });

  test.each([['sample-http-logs', ['geo.city', 'uri', 'method', 'user_agent']]])(
    '%s: every pair of values occurs',
    async (dataset, fields) => {
      for (const [index, field] of fields.entries()) {
        const other = fields[(index + 1) % fields.length] ?? '';
        const frequent = (column: string) =>
          `(SELECT ${column} FROM sample WHERE ${column} IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC LIMIT 3)`;
        const [row] = await read(
          dataset,
          [field, other],
          ...day,
          `SELECT count(DISTINCT (f0, f1)) FROM sample WHERE f0 IN ${frequent('f0')} AND f1 IN ${frequent('f1')}`,
        );
        expect([field, other, Number(row?.[0])]).toEqual([field, other, 9]);
      }
    },
  );
});

describe('a trace of the shop', () => {
  const hour = ['2026-01-26T15:00:00Z', '2026-01-26T16:00:00Z'] as const;
  const fields = [
    'trace_id',
    'span_id',
    'parent_span_id',
    '_time',
    'duration',
    'error',
    'name',
    'service.name',
  ];
  const inNs = 'SELECT *, epoch_ns(f3) AS ns FROM sample';
  // Traces that begin shortly before the window lack their first spans.
  const pairs = `SELECT child.*, parent.f5 AS above, parent.ns AS start, parent.ns + parent.f4 AS ending, parent.f0 IS NOT NULL AS is_known, parent.f7 AS caller FROM (${inNs}) child LEFT JOIN (${inNs}) parent ON parent.f0 = child.f0 AND parent.f1 = child.f2 WHERE child.f2 IS NOT NULL AND child.ns > 1769439660000000000`;

  test('holds every parent span, which encloses its calls', async () => {
    const checks = ['is_known', 'ns >= start', 'ns + f4 <= ending'].map(each => `bool_and(${each})`);
    const sql = `SELECT count(*), ${checks} FROM (${pairs})`;
    expect(await read('otel-demo-traces', fields, ...hour, sql)).toEqual([[23339n, true, true, true]]);
  });

  test('passes failures up to callers, except those of ads, and logs them', async () => {
    const sql = `SELECT f6, caller FROM (${pairs}) WHERE f5 AND NOT above GROUP BY ALL ORDER BY 1`;
    expect(await read('otel-demo-traces', fields, ...hour, sql)).toEqual([
      ['oteldemo.AdService/GetAds', 'frontend'],
    ]);
    const inTraces = 'SELECT count(*), sum(hash(f0, f1) >> 16)::VARCHAR FROM sample WHERE ';
    const failed = await read(
      'otel-demo-traces',
      ['trace_id', 'span_id', 'error'],
      ...hour,
      `${inTraces} f2`,
    );
    const logged = await read(
      'otel-demo-logs',
      ['trace_id', 'span_id', 'severity'],
      ...hour,
      `${inTraces} f2 = 'ERROR'`,
    );
    expect(failed[0]?.[0]).toBeGreaterThan(400);
    expect(logged).toEqual(failed);
  });

  test('has gRPC calls answered by the named service, and the store queried by the cart', async () => {
    const service = "regexp_replace(f1, '-|service', '', 'g')";
    const named = "lower(regexp_extract(f0, 'oteldemo\\.(\\w+)Service/', 1))";
    const fields = ['name', 'service.name', 'kind'];
    const answers = `SELECT count(DISTINCT f0), bool_and(${service} = ${named}) FROM sample WHERE f2 = 'server' AND f0 LIKE 'oteldemo.%'`;
    expect(await read('otel-demo-traces', fields, ...hour, answers)).toEqual([[9n, true]]);
    const askers = `SELECT DISTINCT f0, ${service} FROM sample WHERE f0 LIKE 'H_ET cart' ORDER BY 1`;
    expect(await read('otel-demo-traces', fields, ...hour, askers)).toEqual([
      ['HGET cart', 'cart'],
      ['HSET cart', 'cart'],
    ]);
  });

  test('links the handling of an order message to the span that sent it', async () => {
    const sql = `SELECT count(*), bool_and(f4[1].span_id IN (SELECT f1 FROM sample WHERE f2 = 'producer')), any_value(f3) FROM (SELECT f0, f1, f2, f3, from_json(f4, '[{"span_id": "VARCHAR"}]') AS f4, f5 FROM sample) WHERE len(f4) > 0`;
    const [row] = await read(
      'otel-demo-traces',
      ['trace_id', 'span_id', 'kind', 'service.name', 'links', '_time'],
      ...hour,
      sql,
    );
    expect(row).toEqual([368n, true, 'frauddetectionservice']);
  });
});

test('the outage of 26 January 2026 affects one data center', async () => {
  const rows = await read(
    'sample-http-logs',
    ['server_datacenter', 'status', '_time'],
    '2026-01-26T15:15:00Z',
    '2026-01-26T15:30:00Z',
    "SELECT f0, round(avg((f1 >= '500')::INT), 1) FROM sample GROUP BY 1 ORDER BY 2 DESC, 1",
  );
  expect(rows.map(([place, share]) => [place, Number(share)])).toEqual([
    ['GRU', 0.9],
    ...['DCA', 'FRA', 'LHR', 'NRT', 'SYD'].map(place => [place, 0]),
  ]);
});
