import { gzipSync } from 'node:zlib';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPTraceExporter as JsonTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { Resource } from '@opentelemetry/resources';
import { LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs';
import { BasicTracerProvider, SimpleSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import protobufjs from 'protobufjs/light.js';
import { describe, expect, test } from 'vitest';
import { compileRequest } from '../../../../kernel/local/sql/compile.js';
import { sharedService } from '../../service.js';
import { zstdOf } from '../../store/zstd.js';

const service = sharedService({ compile: compileRequest });

let datasets = 0;

async function newDataset(): Promise<string> {
  const name = `otlp${++datasets}`;
  expect((await service().json('POST', '/v2/datasets', { name })).status).toBe(200);
  return name;
}

const window = { startTime: '2025-01-01T00:00:00Z', endTime: '2025-12-31T00:00:00Z' };

/** Returns the rows of a query over 2025. */
async function rowsOf(apl: string): Promise<unknown[][]> {
  const { body } = await service().query(apl, window);
  if (body.tables === undefined) throw new Error(body.message);
  const { columns } = body.tables[0];
  return columns.length === 0
    ? []
    : columns[0].map((_: unknown, row: number) => columns.map((each: unknown[]) => each[row]));
}

const exporterOptions = (path: string, dataset: string) => ({
  url: `${service().service.url}${path}`,
  headers: { authorization: `Bearer ${service().service.token}`, 'x-axiom-dataset': dataset },
});

const resource = new Resource({
  'service.name': 'checkout',
  'service.version': '1.2',
  'host.name': 'web-1',
  team: 'shop',
});

const start = Date.UTC(2025, 5, 1, 12);

/** Sends a span and its child, like the JavaScript SDK. */
async function sendSpans(exporter: SpanExporter): Promise<void> {
  const provider = new BasicTracerProvider({ resource, spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const tracer = provider.getTracer('shop', '3.1');
  const parent = tracer.startSpan('GET /cart', { kind: SpanKind.SERVER, startTime: start });
  parent.setAttributes({
    'http.request.method': 'GET',
    'http.response.status_code': 503,
    'app.cart.items': 3,
    'app.cart.total': 12.5,
    'app.tags': ['a', 'b'],
    'app.vip': true,
  });
  parent.addEvent('retry', { attempt: 2 }, start + 1);
  parent.setStatus({ code: SpanStatusCode.ERROR, message: 'no stock' });
  const { traceId, spanId, traceFlags } = parent.spanContext();
  const child = tracer.startSpan('SELECT', {
    kind: SpanKind.CLIENT,
    startTime: [start / 1000, 123_456_789],
    root: true,
    links: [{ context: { traceId, spanId, traceFlags }, attributes: { why: 'batch' } }],
  });
  child.end([start / 1000, 123_456_999]);
  parent.end(start + 1_500);
  await provider.forceFlush();
  await provider.shutdown();
}

describe.each([
  ['protobuf', OTLPTraceExporter],
  ['JSON', JsonTraceExporter],
])('spans of the JavaScript SDK in %s', (_name, Exporter) => {
  test('are stored in the fields of the hosted service', async () => {
    const dataset = await newDataset();
    await sendSpans(new Exporter(exporterOptions('/v1/traces', dataset)));
    expect(
      await rowsOf(
        `${dataset} | sort by _time asc | project _time, name, kind, duration, error, ['status.code'], ['status.message']`,
      ),
    ).toEqual([
      ['2025-06-01T12:00:00Z', 'GET /cart', 'server', 1_500_000_000, true, 'ERROR', 'no stock'],
      ['2025-06-01T12:00:00.123456789Z', 'SELECT', 'client', 210, false, null, null],
    ]);
    expect(
      await rowsOf(
        `${dataset} | where name startswith 'GET' | project ['service.name'], ['service.version'], ['resource.host.name'], ['resource.custom'].team, ['scope.name'], ['scope.version'], ['attributes.http.request.method'], ['attributes.http.response.status_code']`,
      ),
    ).toEqual([['checkout', '1.2', 'web-1', 'shop', 'shop', '3.1', 'GET', 503]]);
    expect(
      await rowsOf(
        `${dataset} | where name startswith 'GET' | extend c = ['attributes.custom'] | project toint(c['app.cart.items']), toreal(c['app.cart.total']), tostring(c['app.tags'][1]), tobool(c['app.vip']), events[0].name, toint(events[0].attributes.attempt), array_length(links)`,
      ),
    ).toEqual([[3, 12.5, 'b', true, 'retry', 2, 0]]);
    expect(
      await rowsOf(
        `${dataset} | where name == 'SELECT' | extend to = tostring(links[0].trace_id) | join kind=inner (${dataset} | where name startswith 'GET' | project to = trace_id) on to | project name, isnull(parent_span_id), strlen(trace_id), strlen(span_id), tostring(links[0].attributes.why)`,
      ),
    ).toEqual([['SELECT', true, 32, 16, 'batch']]);
    expect(await rowsOf(`${dataset} | where duration > 1s | count`)).toEqual([[1]]);
  });
});

test('gzipped log records of the JavaScript SDK are stored', async () => {
  const dataset = await newDataset();
  const provider = new LoggerProvider({ resource });
  const exporter = new OTLPLogExporter({
    ...exporterOptions('/v1/logs', dataset),
    compression: 'gzip' as NonNullable<ConstructorParameters<typeof OTLPLogExporter>[0]>['compression'] &
      string,
  });
  provider.addLogRecordProcessor(new SimpleLogRecordProcessor(exporter));
  const logger = provider.getLogger('app');
  logger.emit({
    timestamp: new Date(start),
    severityNumber: 17,
    severityText: 'error',
    body: 'disk full',
    attributes: { 'app.disk': 'sda' },
  });
  logger.emit({ timestamp: new Date(start + 1), severityNumber: 10, body: { code: 7, parts: ['x'] } });
  await provider.forceFlush();
  await provider.shutdown();
  expect(
    await rowsOf(
      `${dataset} | sort by _time asc | project severity, severity_number, tostring(body), ['attributes.custom']['app.disk'], ['service.name'], ['scope.name']`,
    ),
  ).toEqual([
    ['error', 17, 'disk full', 'sda', 'checkout', 'app'],
    ['INFO', 10, '{"code":7,"parts":["x"]}', null, 'checkout', 'app'],
  ]);
});

/** Returns the JSON request of one span with these members. */
const spanBody = (span: object) => JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });

const startNs = `${BigInt(start) * 1_000_000n}`;

function send(body: string | Uint8Array, dataset: string, headers: Record<string, string> = {}) {
  return service().send('POST', '/v1/traces', body, { 'x-axiom-dataset': dataset, ...headers });
}

test('attribute values are stored exactly', async () => {
  const dataset = await newDataset();
  const attribute = (key: string, value: object) => ({ key, value });
  const attributes = [
    attribute('int', { intValue: '9223372036854775807' }),
    attribute('least', { intValue: '-9223372036854775808' }),
    attribute('real', { doubleValue: 0.1 }),
    attribute('none', { doubleValue: 'NaN' }),
    attribute('bytes', { bytesValue: 'AAH/' }),
    attribute('list', { kvlistValue: { values: [attribute('__proto__', { stringValue: 'x' })] } }),
    attribute('twice', { intValue: 1 }),
    attribute('twice', { intValue: 2 }),
    attribute('odd', { stringValue: 'a\0b\ud800' }),
    attribute('empty', {}),
  ];
  const span = {
    traceId: 'AB'.repeat(16),
    startTimeUnixNano: startNs,
    endTimeUnixNano: startNs,
    name: 'n',
    attributes,
  };
  expect((await send(spanBody(span), dataset)).status).toBe(200);
  expect(
    await rowsOf(`${dataset} | project tostring(['attributes.custom']), trace_id, duration, kind`),
  ).toEqual([
    [
      '{"int":9223372036854775807,"least":-9223372036854775808,"real":0.1,"none":null,"bytes":"AAH/","list":{"__proto__":"x"},"twice":2,"odd":"a\ufffdb\ufffd","empty":null}',
      'ab'.repeat(16),
      0,
      'unspecified',
    ],
  ]);
});

test('a field with values of several types keeps them all', async () => {
  const dataset = await newDataset();
  const span = (value: object, at: number) => ({
    startTimeUnixNano: `${BigInt(startNs) + BigInt(at)}`,
    attributes: [{ key: 'http.response.status_code', value }],
  });
  const spans = [span({ intValue: 200 }, 0), span({ stringValue: 'ok' }, 1), span({ boolValue: false }, 2)];
  const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
  expect((await send(body, dataset)).status).toBe(200);
  expect(
    await rowsOf(
      `${dataset} | sort by _time asc | project tostring(['attributes.http.response.status_code'])`,
    ),
  ).toEqual([['200'], ['ok'], ['false']]);
});

test.each([
  ['zstd', zstdOf],
  ['gzip', gzipSync],
] as const)('a body compressed with %s is accepted', async (encoding, pack) => {
  const dataset = await newDataset();
  const body = pack(Buffer.from(spanBody({ name: 'packed', startTimeUnixNano: startNs })));
  const { status } = await send(body, dataset, {
    'content-encoding': encoding,
    'content-type': 'application/json',
  });
  expect([status, await rowsOf(`${dataset} | project name`)]).toEqual([200, [['packed']]]);
});

test('a body of several megabytes is accepted', async () => {
  const dataset = await newDataset();
  const spans = Array.from({ length: 10_000 }, (_, n) => ({
    name: `span ${n} ${'x'.repeat(100)}`,
    startTimeUnixNano: startNs,
  }));
  const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
  expect((await send(body, dataset)).status).toBe(200);
  expect(await rowsOf(`${dataset} | summarize count(), dcount(name)`)).toEqual([
    [10_000, expect.any(Number)],
  ]);
});

test('a request without spans stores no events', async () => {
  const dataset = await newDataset();
  const response = await send('{"resourceSpans":[]}', dataset);
  expect([response.status, await response.json(), await rowsOf(`${dataset} | count`)]).toEqual([
    200,
    {},
    [[0]],
  ]);
});

const protobuf = { 'content-type': 'application/x-protobuf' };
const deep = '{"arrayValue":{"values":['.repeat(200) + ']}}'.repeat(200);

test.each([
  ['{', {}, 400, 'The body is not an OTLP request: it is not JSON.'],
  ['[]', {}, 400, 'The body is not an OTLP request: it is not a JSON object.'],
  ['{"resourceSpans":7}', {}, 400, 'The body is not an OTLP request: a value is not a list of messages.'],
  [
    '{"resourceSpans":[null]}',
    {},
    400,
    'The body is not an OTLP request: a value is not a list of messages.',
  ],
  ['\x0a\xff', protobuf, 400, 'The body is not an OTLP request: it is not valid Protobuf.'],
  [spanBody({ traceId: 'xyz' }), {}, 400, 'The body is not an OTLP request: an ID is not hexadecimal.'],
  [
    spanBody({ attributes: [{ key: 'a', value: { intValue: 2 ** 60 } }] }),
    {},
    400,
    'The body is not an OTLP request: 1152921504606847000 is not a 64-bit integer: write integers above 2^53 as strings.',
  ],
  [
    spanBody({ attributes: [{ key: 'a', value: { intValue: '9223372036854775808' } }] }),
    {},
    400,
    'The body is not an OTLP request: 9223372036854775808 exceeds 64 bits.',
  ],
  [
    `{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"a","value":${deep}}]}]}]}]}`,
    {},
    400,
    'The body is not an OTLP request: a value is nested more than 64 levels deep.',
  ],
  [
    '{}',
    { 'content-type': 'text/plain' },
    415,
    'Unsupported OTLP content type "text/plain". Send application/x-protobuf or application/json.',
  ],
  [
    '{}',
    { 'x-axiom-dataset': '' },
    400,
    'The request does not specify a dataset. Set the header X-Axiom-Dataset to a dataset name.',
  ],
] as const)('the OTLP request %# is refused for its reason', async (body, headers, status, message) => {
  const dataset = await newDataset();
  const response = await send(body, dataset, headers);
  expect([response.status, await reasonOf(response)]).toEqual([status, message]);
  expect(await rowsOf(`${dataset} | count`)).toEqual([[0]]);
});

test.each([
  ['/v1/traces', { 'content-encoding': 'snappy' }, 415],
  ['/v1/traces', { authorization: 'Bearer xaat-not-this-one' }, 401],
  ['/v1/metrics', {}, 422],
  ['/v1/profiles', {}, 404],
] as const)('a protobuf request is refused in protobuf: %s %j', async (route, headers, status) => {
  const dataset = await newDataset();
  const ask = (type: string) =>
    service().send('POST', route, '{}', { 'content-type': type, 'x-axiom-dataset': dataset, ...headers });
  const [binary, text] = [await ask('application/x-protobuf'), await ask('application/json')];
  expect([binary.status, binary.headers.get('content-type')]).toEqual([status, 'application/x-protobuf']);
  expect(text.headers.get('content-type')).toContain('application/json');
  expect(await reasonOf(binary)).toBe(await reasonOf(text));
});

const rpcStatus = protobufjs.Root.fromJSON({
  nested: { Status: { fields: { code: { type: 'int32', id: 1 }, message: { type: 'string', id: 2 } } } },
}).lookupType('Status');

/** Returns the reason why a request was refused, in either encoding. */
async function reasonOf(response: Response): Promise<string> {
  if (response.headers.get('content-type') !== 'application/x-protobuf')
    return ((await response.json()) as { readonly message: string }).message;
  return rpcStatus.toObject(rpcStatus.decode(new Uint8Array(await response.arrayBuffer()))).message;
}

test('an unknown dataset is answered with 404', async () => {
  const response = await send('{}', 'nowhere');
  expect(response.status).toBe(404);
});
