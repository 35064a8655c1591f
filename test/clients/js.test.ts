import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { AxiomWithoutBatching, ContentEncoding, ContentType } from '@axiomhq/js';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPTraceExporter as JsonTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';
import { samples } from '../../kernel/local/samples/all-samples.js';
import { compileRequest } from '../../kernel/local/sql/compile.js';
import { sharedService } from '../local/service.js';
import { expectRow, root, rowOf } from './rows.js';

/**
 * axiom-js, whose release ships no tests, so every documented call is made once and its response compared; and the exporters of
 * OpenTelemetry for JavaScript.
 */

const service = sharedService({ compile: compileRequest, samples, now: Date.now });
const dataset = 'axiom js';
const wide = { startTime: '2018-01-01T00:00:00Z', endTime: '2100-01-01T00:00:00Z' };
const ingested = (count: number) => ({ ingested: count, failed: 0, failures: [] });

type Client = AxiomWithoutBatching;
type Check = (client: Client) => Promise<void>;

const checks: Readonly<Record<string, Check>> = {
  'datasets.create': async ({ datasets }) => {
    expect(await datasets.create({ name: dataset, description: 'first' })).toMatchObject({ id: dataset });
  },
  'datasets.get': async ({ datasets }) => {
    expect(await datasets.get(dataset)).toMatchObject({ name: dataset, description: 'first' });
  },
  'datasets.update': async ({ datasets }) => {
    expect(await datasets.update(dataset, { description: 'second' })).toMatchObject({
      description: 'second',
    });
  },
  'datasets.list': async ({ datasets }) => {
    expect((await datasets.list()).map(({ name }) => name)).toContain(dataset);
  },
  'ingest, one event': async client => {
    expect(await client.ingest(dataset, { foo: 'a', n: 1 })).toMatchObject(ingested(1));
  },
  'ingest, several events': async client => {
    expect(
      await client.ingest(dataset, [
        { foo: 'b', n: 2 },
        { foo: 'c', n: 3 },
      ]),
    ).toMatchObject(ingested(2));
  },
  'ingestRaw, JSON': async client => {
    const status = await client.ingestRaw(
      dataset,
      '[{"foo":"d"}]',
      ContentType.JSON,
      ContentEncoding.Identity,
    );
    expect(status).toMatchObject(ingested(1));
  },
  'ingestRaw, NDJSON': async client => {
    const lines = '{"foo":"e"}\n{"foo":"f"}';
    const status = await client.ingestRaw(dataset, lines, ContentType.NDJSON, ContentEncoding.Identity);
    expect(status).toMatchObject(ingested(2));
  },
  'ingestRaw, CSV': async client => {
    const status = await client.ingestRaw(dataset, 'foo\ng\nh', ContentType.CSV, ContentEncoding.Identity);
    expect(status).toMatchObject(ingested(2));
  },
  'ingestRaw, gzip': async client => {
    const packed = gzipSync('[{"foo":"i"}]');
    const status = await client.ingestRaw(dataset, packed, ContentType.JSON, ContentEncoding.GZIP);
    expect(status).toMatchObject(ingested(1));
  },
  'query, tabular': async client => {
    const { tables, status } = await client.query(`['${dataset}'] | project foo, n | sort by foo asc`, wide);
    expect([...(tables[0]?.events() ?? [])].map(each => each.foo).join('')).toBe('abcdefghi');
    expect(status.rowsMatched).toBe(9);
  },
  'query, legacy': async client => {
    const { matches } = await client.query(`['${dataset}'] | where n == 2`, { ...wide, format: 'legacy' });
    expect(matches?.map(({ data }) => data.foo)).toEqual(['b']);
  },
  'query, groups': async client => {
    const { buckets } = await client.query(`['${dataset}'] | summarize s = sum(n) by foo`, {
      ...wide,
      format: 'legacy',
    });
    expect(buckets.totals?.length).toBe(9);
  },
  queryLegacy: async client => {
    const { matches, status } = await client.queryLegacy(dataset, { ...wide, resolution: 'auto' });
    expect([matches?.length, status.rowsExamined, status.rowsMatched]).toEqual([9, 9, 9]);
  },
  'query that is wrong': async client => {
    await expect(client.query(`['${dataset}'] | wher n`)).rejects.toThrow(/wher/);
  },
  'query of no dataset': async client => {
    await expect(client.query("['nope']")).rejects.toThrow(/nope/);
  },
  'annotations.create': async ({ annotations }) => {
    const made = await annotations.create({ datasets: [dataset], type: 'deploy', title: 'v1' } as never);
    expect(made).toMatchObject({ type: 'deploy', title: 'v1' });
  },
  'annotations.list': async ({ annotations }) => {
    expect((await annotations.list({ datasets: [dataset] })).map(({ title }) => title)).toEqual(['v1']);
  },
  'annotations.get, update, delete': async ({ annotations }) => {
    const [first] = await annotations.list({ datasets: [dataset] });
    const id = first?.id ?? '';
    expect(await annotations.get(id)).toMatchObject({ title: 'v1' });
    expect(await annotations.update(id, { title: 'v2' } as never)).toMatchObject({ title: 'v2' });
    await annotations.delete(id);
    expect(await annotations.list({ datasets: [dataset] })).toEqual([]);
  },
  'users.current': async ({ users }) => {
    expect(await users.current()).toMatchObject({ id: 'local', role: { id: 'owner' } });
  },
  'monitors.list': async ({ monitors }) => {
    expect(await monitors.list()).toEqual([]);
  },
  'dashboards.list': async ({ dashboards }) => {
    expect(await dashboards.list()).toEqual([]);
  },
  'savedQueries.list': async ({ savedQueries }) => {
    expect(await savedQueries.list()).toEqual([]);
  },
  'datasets.delete': async ({ datasets }) => {
    expect((await datasets.delete(dataset)).status).toBe(204);
  },
};

test('axiom-js', async () => {
  const { version } = JSON.parse(
    readFileSync(path.join(root, 'node_modules/@axiomhq/js/package.json'), 'utf8'),
  );
  expect(rowOf('axiom-js').version).toBe(version);
  const { url, token } = service().service;
  const client = new AxiomWithoutBatching({ url, token, orgId: 'local' });
  const outcomes: Record<string, boolean> = {};
  for (const [name, check] of Object.entries(checks))
    outcomes[name] = await check(client).then(
      () => true,
      error => {
        console.log(`${name}: ${error}`);
        return false;
      },
    );
  expectRow('axiom-js', outcomes);
});

test('OpenTelemetry JavaScript exporters', async () => {
  const { version } = JSON.parse(
    readFileSync(
      path.join(root, 'node_modules/@opentelemetry/exporter-trace-otlp-proto/package.json'),
      'utf8',
    ),
  );
  expect(rowOf('OpenTelemetry JavaScript').version).toBe(version);
  const name = 'otel-js';
  await service().json('POST', '/v2/datasets', { name });
  const { url, token } = service().service;
  const to = (route: string) => ({
    url: `${url}${route}`,
    headers: { authorization: `Bearer ${token}`, 'x-axiom-dataset': name },
  });
  for (const [span, exporter] of [
    ['protobuf', new OTLPTraceExporter(to('/v1/traces'))],
    ['JSON', new JsonTraceExporter(to('/v1/traces'))],
  ] as const) {
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    provider.getTracer('stage').startSpan(span).end();
    await provider.forceFlush();
    await provider.shutdown();
  }
  const logs = new LoggerProvider();
  logs.addLogRecordProcessor(new SimpleLogRecordProcessor(new OTLPLogExporter(to('/v1/logs'))));
  logs.getLogger('stage').emit({ body: 'it is done' });
  await logs.forceFlush();
  await logs.shutdown();
  const count = async (apl: string) =>
    (await service().query(`['${name}'] | ${apl} | count`)).body.tables[0].columns.flat()[0];
  expectRow('OpenTelemetry JavaScript', {
    'span in protobuf': (await count('where name == "protobuf"')) === 1,
    'span in JSON': (await count('where name == "JSON"')) === 1,
    'log record': (await count('where body == "it is done"')) === 1,
  });
});
