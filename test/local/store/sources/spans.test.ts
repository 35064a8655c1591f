import { describe, expect, test } from 'vitest';
import { importText, stored, useService } from '../readers/traps.js';

useService();

// ---- files with spans in formats other than the requests of OTLP ----

const at = '2025-10-10 13:55:36';
const traceId = '5b8aa5a2d2c872e8321cf37308d69df2';
const [root, child] = ['051581bf3cb55c13', '5fb397be34d26b51'];

/** Fields that OTLP spans have, in the order of these tests. */
const span =
  '_time, concat_ws(\' \', trace_id, span_id, parent_span_id), name, kind, duration, error, "status.code"';

const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] };
const otlpSpan = {
  traceId,
  spanId: child,
  parentSpanId: root,
  name: 'GET /cart',
  kind: 'SPAN_KIND_SERVER',
  startTimeUnixNano: '1760104536123456789',
  endTimeUnixNano: '1760104536223456790',
};
const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64');
const resourceSpans = [{ resource, scopeSpans: [{ scope: { name: 'cart' }, spans: [otlpSpan] }] }];
const inBase64 = {
  ...otlpSpan,
  traceId: base64(traceId),
  spanId: base64(child),
  parentSpanId: base64(root),
};

test.each([
  ['from a response of Jaeger', { result: { resourceSpans } }],
  ['from a response of Tempo', { trace: { resourceSpans } }],
  ['from a trace of Tempo', { batches: resourceSpans }],
  ['in a list of requests', [{ resourceSpans }]],
  ['with ids in Base64', { resourceSpans: [{ resource, scopeSpans: [{ spans: [inBase64] }] }] }],
  ['with integers as numbers', JSON.stringify({ resourceSpans }).replace(/"(\d{19})"/g, '$1')],
  [
    'with the names of earlier versions',
    {
      resourceSpans: [
        {
          resource,
          instrumentationLibrarySpans: [{ instrumentationLibrary: { name: 'cart' }, spans: [otlpSpan] }],
        },
      ],
    },
  ],
])('OTLP is read %s', async (_, content) => {
  const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
  const { dataset, body } = await importText('traces.json', text);
  expect(body.notes).toEqual([
    'The lines are read as OpenTelemetry spans, log records and data points (OTLP in JSON).',
  ]);
  expect(await stored(dataset, `${span.replace(', "status.code"', '')}, "service.name"`)).toEqual([
    `${at}.123456789|${traceId} ${child} ${root}|GET /cart|server|100000001|false|shop`,
  ]);
});

test('a document that is not OTLP is reported', async () => {
  const wrong = { resourceSpans: [{ scopeSpans: [{ spans: [{ ...otlpSpan, spanId: 'x' }] }] }] };
  const text = [{ resourceSpans }, wrong, { resourceSpans: [] }].map(each => JSON.stringify(each)).join('\n');
  const { body } = await importText('traces.json', text);
  expect(body.rows).toBe(3);
  expect(body.notes[1]).toBe(
    'Not split into events: 2 documents, each kept as one row: The body is not an OTLP request: an ID is not hexadecimal.',
  );
});

test('exemplars of a data point are kept', async () => {
  const exemplar = {
    timeUnixNano: '1760104536123456789',
    asDouble: 0.7,
    traceId,
    spanId: child,
    filteredAttributes: [{ key: 'cart', value: { intValue: '7' } }],
  };
  const point = {
    timeUnixNano: '1760104537000000000',
    count: '1',
    zeroThreshold: 0.5,
    exemplars: [exemplar],
  };
  const metrics = [{ name: 'seconds', exponentialHistogram: { dataPoints: [point] } }];
  const request = { resourceMetrics: [{ resource, scopeMetrics: [{ metrics }] }] };
  const { dataset } = await importText('metrics.json', JSON.stringify(request));
  expect(await stored(dataset, 'zero_threshold, exemplars')).toEqual([
    `0.5|[{"timestamp":1760104536123456789,"value":0.7,"trace_id":"${traceId}","span_id":"${child}","attributes":{"cart":7}}]`,
  ]);
});

describe('Jaeger spans', () => {
  const tag = (key: string, type: string, value: unknown) => ({ key, type, value });
  const big = 9_007_199_254_740_993n;
  const spans = [
    {
      traceID: traceId,
      spanID: root,
      operationName: 'GET /cart',
      references: [],
      startTime: 1_760_104_536_123_456,
      duration: 100_000,
      tags: [
        tag('span.kind', 'string', 'server'),
        tag('http.status_code', 'int64', 500),
        tag('error', 'bool', true),
        tag('big', 'int64', '§'),
        tag('share', 'float64', 0.5),
        tag('otel.scope.name', 'string', 'cart'),
      ],
      logs: [
        {
          timestamp: 1_760_104_536_123_500,
          fields: [tag('event', 'string', 'lost'), tag('cart', 'int64', 7)],
        },
      ],
      processID: 'p1',
      warnings: ['clock skew'],
    },
    {
      traceID: traceId,
      spanID: child,
      operationName: 'db',
      references: [
        { refType: 'FOLLOWS_FROM', traceID: 'aa', spanID: 'bb' },
        { refType: 'CHILD_OF', traceID: traceId, spanID: root },
      ],
      startTime: 1_760_104_536_123_457,
      duration: 0,
      tags: [tag('error', 'string', 'timeout')],
      logs: [],
      processID: 'p2',
      warnings: null,
    },
  ];
  const processes = {
    p1: { serviceName: 'shop', tags: [tag('host.name', 'string', 'web-1')] },
    p2: { serviceName: 'db', tags: [] },
  };
  const written = (value: unknown) => JSON.stringify(value, null, 1).replace('"§"', String(big));
  const expected = [
    `${at}.123456|${traceId} ${root}|GET /cart|server|100000000|true|ERROR`,
    `${at}.123457|${traceId} ${child} ${root}|db|unspecified|0|true|ERROR`,
  ];

  test.each([
    ['of the user interface', { data: [{ traceID: traceId, spans, processes }], total: 0, errors: null }],
    ['with the members in another order', { errors: null, data: [{ processes, spans, traceID: traceId }] }],
    [
      'alone, each with its process',
      spans.map(({ processID, ...each }) => ({
        ...each,
        process: processes[processID as keyof typeof processes],
      })),
    ],
  ])('have the fields of OTLP: %s', async (_, document) => {
    const { dataset, body } = await importText('trace.json', written(document));
    expect(body.notes).toEqual(['The lines are read as Jaeger spans, without flags and response totals.']);
    expect(await stored(dataset, span)).toEqual(expected);
    const more = [
      '"service.name"',
      '"resource.host.name"',
      '"scope.name"',
      '"attributes.http.status_code"',
      '"attributes.custom.big"',
      '"attributes.custom.share"',
      '"attributes.custom.jaeger.warnings"',
      '"attributes.custom.error"',
      'events',
      'links',
    ];
    expect(await stored(dataset, more.join(', '))).toEqual([
      `shop|web-1|cart|500|${big}|0.5|["clock skew"]|null|[{"name":"lost","timestamp":1760104536123500000,"attributes":{"cart":7}}]|[]`,
      'db|null|null|null|null|null|null|timeout|[]|[{"trace_id":"aa","span_id":"bb","attributes":{"opentracing.ref_type":"follows_from"}}]',
    ]);
  });
});

describe('Zipkin spans', () => {
  const spans = [
    {
      traceId,
      id: root,
      kind: 'SERVER',
      name: 'get /cart',
      timestamp: 1_760_104_536_123_456,
      duration: 100_000,
      localEndpoint: { serviceName: 'shop', ipv4: '10.1.2.3', port: 80 },
      remoteEndpoint: { serviceName: 'edge', ipv6: '::1', port: 4321 },
      annotations: [{ timestamp: 1_760_104_536_123_500, value: 'lost' }],
      tags: { 'http.status_code': '500', error: 'no such cart' },
      shared: true,
    },
    { traceId, parentId: root, id: child, timestamp: 1_760_104_536_123_457, localEndpoint: {} },
  ];
  const expected = [
    `${at}.123456|${traceId} ${root}|get /cart|server|100000000|true|ERROR`,
    `${at}.123457|${traceId} ${child} ${root}|null|unspecified|null|false|null`,
  ];

  test.each([
    ['of a trace', JSON.stringify(spans)],
    [
      'of several traces',
      JSON.stringify(
        spans.map(each => [each]),
        null,
        2,
      ),
    ],
    ['one per line', spans.map(each => JSON.stringify(each)).join('\n')],
  ])('have the fields of OTLP: %s', async (_, content) => {
    const { dataset, body } = await importText('trace.json', content);
    expect(body.notes).toEqual(['The lines are read as Zipkin spans.']);
    expect(await stored(dataset, span)).toEqual(expected);
    const more = [
      '"service.name"',
      '"attributes.http.status_code"',
      '"attributes.custom.error"',
      '"attributes.net.host.ip"',
      '"attributes.net.host.port"',
      '"attributes.peer.service"',
      '"attributes.net.peer.ip"',
      '"attributes.net.peer.port"',
      '"attributes.custom.zipkin.shared"',
      'events',
    ];
    expect(await stored(dataset, more.join(', '))).toEqual([
      'shop|500|no such cart|10.1.2.3|80|edge|::1|4321|true|[{"name":"lost","timestamp":1760104536123500000}]',
      'null|null|null|null|null|null|null|null|null|[]',
    ]);
  });

  test('events of other programs with a trace id stay unchanged', async () => {
    const event = { traceId, id: root, timestamp: 1_760_104_536_123, message: 'x' };
    const { dataset, body } = await importText('app.json', JSON.stringify([event]));
    expect(body.notes).toEqual([]);
    expect(await stored(dataset, '_time, "traceId", id, message')).toEqual([
      `${at}.123|${traceId}|${root}|x`,
    ]);
  });
});
