import { expect, test } from 'vitest';
import { samples } from '../../../kernel/local/samples/all-samples.js';
import { slices } from '../../../kernel/local/samples/sample-slices.js';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import { sharedService } from '../service.js';

const service = sharedService({ compile: compileRequest, samples });

const decade = { startTime: '2020-01-01T00:00:00Z', endTime: '2030-01-01T00:00:00Z' };
const lastMinutes = { startTime: '2029-12-31T23:40:00Z', endTime: decade.endTime };
const firstMinutes = { startTime: decade.startTime, endTime: '2020-01-01T00:20:00Z' };

test.each([
  ["['sample-http-logs'] | limit 1", lastMinutes],
  ["['sample-http-logs'] | take 50", lastMinutes],
  ["['sample-http-logs'] | top 50 by _time", lastMinutes],
  ["['sample-http-logs'] | where status == '500' | limit 5 | project _time, uri", lastMinutes],
  ["['sample-http-logs'] | sort by _time asc | limit 50", firstMinutes],
  ["['otel-demo-traces'] | limit 20", lastMinutes],
  ["['otel-demo-traces'] | search 'deadline' | limit 3", lastMinutes],
  ["union ['sample-http-logs'], ['otel-demo-traces'] | limit 30 | project _time, uri, span_id", lastMinutes],
])('a limited query over ten years returns the rows of one end: %s', async (apl, minutes) => {
  const [long, short] = [await service().query(apl, decade), await service().query(apl, minutes)];
  expect([long.status, long.body.message]).toEqual([200, undefined]);
  expect(long.body.tables[0].columns[0].length).toBeGreaterThan(0);
  expect(long.body.tables[0].columns).toEqual(short.body.tables[0].columns);
  expect(long.body.status.rowsExamined).toBeLessThan(200_000);
});

test.each(samples.map(({ schema: { name } }) => name))(
  'every counted event of %s was examined',
  async name => {
    const hours = { startTime: '2026-11-20T00:00:00Z', endTime: '2026-11-20T02:00:00Z' };
    const { body } = await service().query(`['${name}'] | count`, hours);
    const [[count]] = body.tables[0].columns;
    expect(count).toBeGreaterThan(0);
    expect(body.status.rowsExamined).toBeGreaterThanOrEqual(count);
  },
);

test('failures of an outage differ by data center, not by times, ids or their own field', async () => {
  const { body } = await service().query(
    "['sample-http-logs'] | summarize spotlight(status startswith '5', *)",
    { startTime: '2026-01-26T15:00:00Z', endTime: '2026-01-26T16:00:00Z' },
  );
  const entries = body.tables[0].columns[0][0] as readonly {
    readonly field: string;
    readonly score: number;
  }[];
  const scores = new Map(entries.map(({ field, score }) => [field, score]));
  expect(['_time', '_sysTime', 'id', 'status'].map(field => scores.get(field))).toEqual([0, 0, 0, 0]);
  expect(scores.get('server_datacenter')).toBeGreaterThan(0.7);
});

test('a query that cannot finish in time is refused before it runs', async () => {
  const centuries = { startTime: '1700-01-01T00:00:00Z', endTime: '2200-01-01T00:00:00Z' };
  const { status, body } = await service().query(
    "['otel-demo-traces'] | summarize dcount(span_id), dcount(name) by kind",
    centuries,
  );
  expect(status).toBe(400);
  expect(body.message).toMatch(
    /^`otel-demo-traces` is generated on each read, and 110 billion events take longer than the 120 seconds allowed for a query\. Choose a range of at most [\d,]+ days\.$/,
  );
});

test.each([0n, 1n, 59_000_000_000n, 60_000_000_001n, 86_400_000_000_000n, 2n ** 63n])(
  'slices of %s ns are contiguous and few',
  length => {
    const found = slices(-5n, length - 5n, 1_000_000n);
    const ends = [-5n, ...found.map(slice => slice.maxNs + 1n)];
    expect(found.map(slice => slice.minNs)).toEqual(ends.slice(0, -1));
    expect(ends.at(-1)).toBe(length - 5n);
    expect(found.length).toBeLessThan(80);
    expect(found.reduce((total, slice) => total + slice.rows, 0)).toBeCloseTo(Number(length) / 1e6, -3);
  },
);
