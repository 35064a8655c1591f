import { ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { Resource } from '@opentelemetry/resources';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { describe, expect, test } from 'vitest';
import { TRACE_MIME } from '../../../../kernel/result/trace/trace-reference.js';
import { realBench } from '../../real-bench.js';
import { printed, shown, traceback } from '../../session.js';

const evil = '<img src=x onerror=alert(1)>\u202e$x$\u001b[31m';
const span = (index: number, more: object) => ({
  _time: new Date(Date.UTC(2026, 0, 1, 10, 0, 0, index)).toISOString(),
  trace_id: 'abc',
  span_id: `s${index}`,
  'service.name': 'cart',
  name: `step ${index}`,
  error: false,
  duration: 1_000_000,
  ...more,
});
const spans = [
  span(0, { duration: 50_000_000, name: evil, 'service.name': 'web' }),
  span(10, {
    parent_span_id: 's0',
    duration: 20_000_000,
    error: true,
    'status.message': evil,
    'http.route': '/cart',
  }),
  span(15, { parent_span_id: 's10', duration: 5_000_000 }),
  span(40, { parent_span_id: 'gone' }),
  span(90, { trace_id: 'other', duration: 900_000_000, 'service.name': 'web' }),
  span(92, { trace_id: '\u05d0\u05d1\u202e1', _time: '2026-01-01T12:00:00Z' }),
  span(95, { trace_id: 'third', parent_span_id: 's96', 'service.name': evil }),
  span(96, { trace_id: 'third', parent_span_id: 's95', 'service.name': 'web', error: true }),
];

const bench = realBench({ spans, notes: [{ _time: '2026-01-01T10:00:00Z', trace_id: 'abc' }] });
const realBenchSpans = realBench(
  {
    both: ['0af7651916cd43dd', 'b7ad6b7169203331'].map((id, at) => span(at, { trace_id: id })),
    // JSON omits undefined: without an `error` field the status decides.
    coded: ['ERROR', 'Error', 'OK', 'UNSET'].map((code, at) =>
      span(at, { trace_id: `t${at}`, error: undefined, 'status.code': code }),
    ),
    many: Array.from({ length: 1_001 }, (_, at) =>
      span(at, { trace_id: `t${at}`, 'service.name': `service ${at}` }),
    ),
  },
  { prepare: sendSpans },
);

/** Sends a span and a failing child span, as a program with the JavaScript SDK does. */
async function sendSpans({ url, token }: { readonly url: string; readonly token: string }): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'x-axiom-dataset': 'sdk' };
  const json = { ...headers, 'content-type': 'application/json' };
  await fetch(`${url}/v2/datasets`, { method: 'POST', headers: json, body: JSON.stringify({ name: 'sdk' }) });
  const exporter = new OTLPTraceExporter({ url: `${url}/v1/traces`, headers });
  const resource = new Resource({ 'service.name': 'shop' });
  const provider = new BasicTracerProvider({ resource, spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const tracer = provider.getTracer('shop');
  const start = Date.UTC(2026, 0, 1, 10);
  const root = tracer.startSpan('GET /cart', { startTime: start });
  const links = [{ context: root.spanContext() }];
  const child = tracer.startSpan(
    'charge',
    { startTime: start + 10, links },
    trace.setSpan(ROOT_CONTEXT, root),
  );
  child.addEvent('retry', {}, start + 20);
  child.setStatus({ code: SpanStatusCode.ERROR, message: 'refused' });
  child.end(start + 60);
  root.end(start + 100);
  await provider.forceFlush();
  await provider.shutdown();
}

const range = '%%time 2026-01-01T09:59Z..2026-01-01T10:01Z\n';

describe('%trace', () => {
  test('draws the tree with times, failures and missing parents', async () => {
    const run = await bench().run(`${range}%trace abc`);
    expect(traceback(run)).toEqual([]);
    const [text = '', table = ''] = shown(run);
    const lines = text.split('\n');
    expect(lines.slice(0, 3)).toEqual([
      'Trace abc in spans',
      '4 spans of 2 services, 50ms from 2026-01-01T10:00:00Z; 1 span failed.',
      '1 span whose parent is missing: it was not sent or is outside the range.',
    ]);
    expect(lines.find(line => line.includes('step 15'))).toMatch(
      /^ {4}cart step 15 +·{9}█{3}·{20} +5ms {2}\*$/,
    );
    expect(lines.find(line => line.includes('step 40'))).toContain('(missing parent)');
    expect(lines.find(line => line.includes('step 10'))).toContain('*\u0020\u2716 <img');
    expect(table).toContain('4 rows');
  });

  test('isolates a right-to-left trace id from the text around it', async () => {
    const { outputs } = await bench().run(
      `%%time 2026-01-01T11:59Z..2026-01-01T12:01Z\n%trace "\u05d0\u05d1\u202e1"`,
    );
    const [data] = outputs.flatMap(each => ('data' in each && TRACE_MIME in each.data ? [each.data] : []));
    const title = 'Trace \u2068\u05d0\u05d1\u27e8U+202E\u27e91\u2069 in spans';
    expect(String(data?.['text/plain']).split('\n')[0]).toBe(title);
    expect(String(data?.['text/html'])).toContain(`<div><b>${title}</b></div>`);
  });

  test('returns the result with every field of its spans and the datasets with its logs', async () => {
    const { outputs } = await bench().run(`${range}%trace abc`);
    const data = outputs.flatMap(each => ('data' in each ? [each.data] : []));
    const results = outputs.flatMap(each =>
      'metadata' in each && 'apl' in each.metadata ? [each.metadata.apl] : [],
    );
    const { result, query } = results[0] as {
      readonly result: { readonly id: string };
      readonly query: string;
    };
    expect(data[0]?.[TRACE_MIME]).toEqual({
      ...{ trace: 'abc', dataset: 'spans', query, profile: 'local' },
      ...{ startTime: '2026-01-01T09:59:00Z', endTime: '2026-01-01T10:01:00Z' },
      result: { id: result.id, rows: 4, columns: 11 },
      logs: [
        { dataset: 'notes', trace: 'trace_id' },
        { dataset: 'otel-demo-logs', trace: 'trace_id', span: 'span_id' },
      ],
    });
    expect(String(data[1]?.['text/html'])).toContain('http.<wbr>route');
  });

  test('draws nothing if outputs hold no data', async () => {
    const run = await bench().run(`${range}%%retain off\n%trace abc`);
    expect(printed(run)).toContain('The trace is not drawn, because outputs include no data');
    expect(shown(run).join('')).not.toContain('step');
  });

  test('draws the trace of the slowest span, also of those meeting a condition', async () => {
    const slowest = async (line: string) => shown(await bench().run(`${range}${line}`))[0]?.split('\n')[0];
    expect(await slowest('%trace slowest')).toBe('Trace other in spans');
    expect(await slowest("%trace slowest ['spans'] | where ['service.name'] == 'cart'")).toBe(
      'Trace abc in spans',
    );
  });

  test('escapes data values in every output format', async () => {
    const run = await bench().run(`${range}%trace abc spans`);
    const html = run.outputs
      .map(each => ('data' in each ? String(each.data['text/html']) : ''))
      .find(each => each.includes('apl-trace'));
    // A name may be cut off, so the failure mark comes before it.
    expect(html).toMatch(/<\/span>\u2716 [^<]*step 10[^<]*&#60;img/);
    expect(html).toContain('&#60;img src=x onerror=alert(1)&#62;⟨U+202E⟩');
    for (const sign of ['<img', '<script', '\u202e', '\u001b'])
      expect([sign, html?.includes(sign)]).toEqual([sign, false]);
    for (const sign of ['\u202e', '\u001b']) expect(shown(run).join('')).not.toContain(sign);
  });

  test.each([
    ['%trace', 'give the id of a trace, or the word slowest'],
    ['%trace nowhere', 'no span of the trace nowhere is in spans, otel-demo-traces in this range'],
    ['%trace abc notes', 'notes contains no spans'],
    ['%trace abc | where error', 'a condition goes with slowest or services, not with an id'],
    ['%trace slowest spans | count', 'only `where` may follow the dataset'],
    ['%trace slowest spans | where name == "none"', 'no span in spans in this range meets the condition'],
    ['%trace slowest spans nonsense', 'nonsense is not understood'],
  ])('refuses %s: %s', async (line, message) => {
    expect(traceback(await bench().run(`${range}${line}`)).join('\n')).toContain(message);
  });
});

describe('%trace services', () => {
  test('draws a map of the calls between services, and a table', async () => {
    const run = await bench().run(`${range}%trace services ['spans']`);
    expect(traceback(run)).toEqual([]);
    expect(printed(run).trim()).toBe(
      '3 services and 3 call paths between them; 2 services with 1% or more failed requests, in red.',
    );
    const [map = '', table = ''] = shown(run);
    const name = '<img src=x onerror=alert(1)>\u27e8U+202E\u27e9$x$\u27e8U+001B\u27e9[31m';
    expect(map.split('\n').slice(2)).toEqual([
      '',
      `web: 1.5/min, 33% failed, p95 815ms \u2192 ${name}, cart`,
      'cart: 1/min, 50% failed, p95 19.05ms',
      `${name}: 0.5/min, p95 1ms \u2192 web`,
    ]);
    expect(table).toContain('5 rows');
    const svg = run.outputs.flatMap(each => ('data' in each ? [each.data['image/svg+xml']] : []))[0];
    expect(svg).toMatch(/^<svg [^>]*aria-label="Services of spans"/);
    for (const sign of ['<img', '\u202e', '\u001b']) expect(svg).not.toContain(sign);
    expect(String(svg).match(/<path d="M/g)).toHaveLength(2 + 5);
    // A call back to a caller curves around below, entirely within the image.
    const height = Number(/viewBox="0 0 [\d.]+ ([\d.]+)"/.exec(String(svg))?.[1]);
    const curve = /d="M\S+ (\S+)C\S+ (\S+) \S+ (\S+) \S+ ([^"\s]+)"/g;
    const middles = [...String(svg).matchAll(curve)].map(([, ...ends]) => {
      const [a = 0, b = 0, c = 0, d = 0] = ends.map(Number);
      return (a + 3 * b + 3 * c + d) / 8;
    });
    expect(middles.length).toBeGreaterThan(1);
    expect(Math.max(...middles)).toBeLessThan(height - 3);
  });

  test('counts only spans that meet the condition', async () => {
    const run = await bench().run(`${range}%trace services ['spans'] | where error == true`);
    expect(printed(run)).toContain('2 services and 2 call paths');
  });

  test('says that more than 1,000 kinds of calls may have been left out', async () => {
    const run = await realBenchSpans().run(`${range}%trace services ['many']`);
    expect(printed(run).trim().split('\n')).toEqual([
      '1,000 services and 0 call paths between them.',
      'The 40 services with the most requests are drawn; the table below has all calls.',
      'The first 1,000 by requests were read; there may be more.',
    ]);
  });
});

test('without an `error` field, a span failed if its status code is error, in any case', async () => {
  const run = await realBenchSpans().run(`${range}%trace services ['coded']`);
  expect(traceback(run)).toEqual([]);
  expect(shown(run)[0]?.split('\n').at(-1)).toBe('cart: 2/min, 50% failed, p95 1ms');
});

test('draws a trace sent by the OpenTelemetry SDK, with its failure, event and link', async () => {
  const run = await realBenchSpans().run(`${range}%trace slowest ['sdk']`);
  expect(traceback(run)).toEqual([]);
  const lines = (shown(run)[0] ?? '').split('\n');
  expect(lines[0]).toMatch(/^Trace [\da-f]{32} in sdk$/);
  expect(lines[1]).toBe('2 spans of 1 service, 100ms from 2026-01-01T10:00:00Z; 1 span failed.');
  expect(lines.find(line => line.includes('GET /cart'))).toMatch(/^shop GET \/cart +█{32} +100ms {2}\*$/);
  expect(lines.find(line => line.includes('charge'))).toMatch(
    /^ {2}shop charge +·{3}█{16}·{13} +50ms {2}\* ✖ refused$/,
  );
  const html = run.outputs.map(each => ('data' in each ? String(each.data['text/html']) : '')).join('');
  expect(html).toContain('1 event \u00b7 1 link');
});

test('draws two traces side by side', async () => {
  const ids = ['0af7651916cd43dd', 'b7ad6b7169203331'];
  const both = realBenchSpans;
  const run = await both().run(`${range}%trace ${ids.join(' ')} ['both']`);
  expect(traceback(run)).toEqual([]);
  const drawn = run.outputs.flatMap(each => ('data' in each && TRACE_MIME in each.data ? [each] : []));
  expect(drawn.map(({ metadata }) => metadata.apl)).toEqual([{ beside: 1 }, { beside: 2 }]);
  expect(drawn.map(({ data }) => String(data['text/plain']).split('\n')[0])).toEqual(
    ids.map(id => `Trace ${id} in both`),
  );
  expect(String(drawn[1]?.data['text/html'])).toContain('apl-beside apl-beside-2');
});

test('draws a complete sample trace', async () => {
  const run = await bench().run(
    "%%time 2026-01-26T15:10Z..2026-01-26T15:20Z\n%trace slowest ['otel-demo-traces'] | where name == 'oteldemo.PaymentService/Charge' and not(error)",
  );
  expect(traceback(run)).toEqual([]);
  const text = shown(run)[0] ?? '';
  expect(text).toContain('11 spans of');
  expect(text).not.toMatch(/whose parent|clocks|cycle/);
  expect(printed(run)).toBe('');
});
