import {
  bits,
  hex16,
  incident,
  normal,
  pick,
  rhythm,
  type SampleField,
  sampleDataset,
  sometimesNull,
  uniform,
  weighted,
} from './random.js';

/** One trace at most in each slot of a second; its spans lie within the minute that follows. */
const slotNs = 1_000_000_000n;
const spreadNs = 60_000_000_000n;
const minute = 60e9;

/** Each service: its share of the spans, and how long one takes as a multiple of the common median. */
const services: Readonly<Record<string, readonly [share: number, length: number]>> = {
  frontend: [9, 2],
  frontendproxy: [7, 2.2],
  'frontend-proxy': [2, 2.2],
  'frontend-web': [3, 2.5],
  checkout: [4, 1.8],
  checkoutservice: [3, 1.8],
  cart: [4, 0.4],
  cartservice: [3, 0.4],
  productcatalogservice: [6, 0.6],
  'product-catalog': [4, 0.6],
  currency: [4, 0.15],
  payment: [2, 1.3],
  shipping: [2, 0.9],
  email: [1, 1.1],
  ad: [2, 0.7],
  quote: [1, 0.5],
  recommendation: [3, 1.2],
  'image-provider': [2, 0.5],
  flagd: [2, 0.1],
  frauddetectionservice: [1, 0.8],
};
const entrances = weighted({ loadgenerator: 5, frontend: 3, 'frontend-web': 2 });
const names = [
  'HTTP GET',
  'HTTP POST',
  'GET /api/products',
  'POST /api/checkout',
  'oteldemo.CartService/GetCart',
  'oteldemo.CartService/AddItem',
  'oteldemo.ProductCatalogService/GetProduct',
  'oteldemo.CurrencyService/Convert',
  'oteldemo.PaymentService/Charge',
  'SELECT products',
  'HGET cart',
  'publish order',
];

const seed = 'i * 16 + j';
const u = (salt: number): string => uniform(seed, salt);
const service = `CASE WHEN j = 0 THEN ${pick(entrances, uniform('i', 11))} ELSE ${pick(
  perShare(([name]) => name),
  u(12),
)} END`;
const length = `CASE WHEN j = 0 THEN 4 ELSE ${pick(
  perShare(([, [, length]]) => String(length)),
  u(12),
)}::DOUBLE END`;
const httpStatus = `CASE WHEN failed THEN ${pick(['500', '503', '504', '500'], u(13))} ELSE ${pick(weighted({ 200: 90, 201: 3, 302: 2, 404: 5 }), u(14))} END`;
const isHttp = `${u(15)} < 0.7`;

const custom = `json_object('http.protocol', 'HTTP/1.1', 'user_agent', ${pick(['python-requests/2.32.4', 'Mozilla/5.0', 'grpc-node-js/1.13'], u(30))}, 'header.Accept', '*/*',
  'app.payment.amount', round(5 + 495 * ${u(31)}, 2), 'app.user.id', ${hex16('i', 32)}, 'db.system.name', ${pick(['postgresql', 'redis'], u(33))}, 'app.items', ${bits(seed, 34)} % 12)`;
const events = `to_json(list_transform(range(CASE WHEN ${u(35)} < 0.001 THEN 40 ELSE (${bits(seed, 36)} % 6)::BIGINT END), lambda n: {'name': ['Enqueued', 'Sent', 'ResponseReceived', 'feature_flag', 'prepared'][1 + n % 5], 'timestamp': ns + n * 911000, 'attributes': {'feature_flag.key': 'paymentServiceUnreachable', 'feature_flag.variant': 'off'}}))`;

const fields: Readonly<Record<string, SampleField>> = {
  _sysTime: {
    type: 'datetime',
    sql: `make_timestamp_ns(ns + 200000000 + (${u(1)} * 1.5e9)::BIGINT)`,
    description: 'When the span was received.',
  },
  _time: { type: 'datetime', sql: 'make_timestamp_ns(ns)', description: 'When the span began.' },
  'attributes.custom': {
    type: 'dynamic',
    sql: sometimesNull(seed, 29, custom),
    description: 'Attributes that have no field of their own.',
  },
  'attributes.db.system.name': {
    type: 'string',
    sql: `CASE WHEN ${u(16)} < 0.2 THEN ${pick(['postgresql', 'redis'], u(33))} END`,
    description: 'Database that was called.',
  },
  'attributes.http.method': {
    type: 'string',
    sql: `CASE WHEN ${isHttp} THEN ${pick(weighted({ GET: 7, POST: 3 }), u(17))} END`,
    description: 'HTTP method.',
  },
  'attributes.http.response.status_code': {
    type: 'long',
    sql: `CASE WHEN ${isHttp} THEN (${httpStatus})::BIGINT END`,
    description: 'HTTP status code of the response.',
  },
  'attributes.http.status_code': {
    type: 'string',
    sql: `CASE WHEN ${isHttp} THEN ${httpStatus} END`,
    description: 'HTTP status code, as text.',
  },
  duration: {
    type: 'timespan',
    sql: `greatest(190, ${length} * exp(15.6 + 1.15 * ${normal(seed, 18)}) * CASE WHEN failed THEN 8 WHEN hit THEN 4 ELSE 1 END * CASE WHEN ${u(20)} < 0.004 THEN 60 ELSE 1 END)::BIGINT`,
    description: 'How long the span took.',
  },
  error: { type: 'bool', sql: 'failed', description: 'Whether the span failed.' },
  events: { type: 'dynamic', sql: events, description: 'What happened during the span, in order.' },
  kind: {
    type: 'string',
    sql: `CASE WHEN j = 0 THEN 'server' ELSE ${pick(weighted({ server: 5, client: 5, internal: 4, producer: 1, consumer: 1 }), u(21))} END`,
    description: 'Role of the span: server, client, internal, producer or consumer.',
  },
  links: { type: 'dynamic', sql: `'[]'::JSON`, description: 'Spans of other traces.' },
  name: { type: 'string', sql: pick(names, u(22)), description: 'Operation that the span covers.' },
  parent_span_id: {
    type: 'string',
    sql: `CASE WHEN j > 0 THEN ${hex16(`i * 16 + floor(${u(23)} * j)::BIGINT`, 24)} END`,
    description: 'The span that caused this one; null for the first of a trace.',
  },
  'resource.host.name': {
    type: 'string',
    sql: `'node-' || (1 + ${bits(seed, 25)} % 6)`,
    description: 'Host that ran the service.',
  },
  'resource.k8s.node.name': {
    type: 'string',
    sql: `'node-' || (1 + ${bits(seed, 25)} % 6)`,
    description: 'Kubernetes node.',
  },
  'scope.name': {
    type: 'string',
    sql: `'opentelemetry-' || ${pick(['js', 'go', 'java', 'python'], u(26))}`,
    description: 'Instrumentation library.',
  },
  'service.name': { type: 'string', sql: 'service', description: 'Service that did the work.' },
  'service.namespace': {
    type: 'string',
    sql: `'opentelemetry-demo'`,
    description: 'Namespace of the service.',
  },
  'service.version': {
    type: 'string',
    sql: pick(['2.0.2', '2.0.2', '2.1.0'], u(27)),
    description: 'Version of the service.',
  },
  span_id: { type: 'string', sql: hex16(seed, 24), description: 'Identifies the span.' },
  'status.code': {
    type: 'string',
    sql: `CASE WHEN failed THEN 'ERROR' WHEN ${u(28)} < 0.5 THEN 'OK' END`,
    description: 'Outcome of the span.',
  },
  'status.message': {
    type: 'string',
    sql: `CASE WHEN failed THEN CASE WHEN hit THEN 'deadline exceeded' ELSE ${pick(['deadline exceeded', 'connection refused', 'payment declined: card expired', 'could not reach cart storage'], u(37))} END END`,
    description: 'Why the span failed.',
  },
  status_code: { type: 'string', sql: `(${httpStatus})`, description: 'Status code, as text.' },
  trace_id: {
    type: 'string',
    sql: `(${hex16('i', 5)} || ${hex16('i', 6)})`,
    description: 'Identifies the trace.',
  },
};

/** Three to twelve spans of each trace that begins in or just before the window, with the values that several fields share. */
function rows(startNs: bigint, endNs: bigint): string {
  const slow = incident('slot_ns', 920, 14_400e9, 0.7, 6 * minute, 16 * minute);
  const first = (startNs - spreadNs) / slotNs - 1n;
  const last = endNs / slotNs + 1n;
  const traceStart = `i * ${slotNs} AS slot_ns, i * ${slotNs} + (${uniform('i', 2)} * ${slotNs - 1n})::BIGINT AS trace_ns`;
  const begun = `SELECT i, ${traceStart} FROM range(${first}, ${last}) t(i) WHERE ${uniform('i', 3)} < ${rhythm(`i * ${slotNs}`)}`;
  const spans = `SELECT *, unnest(range(3 + (${bits('i', 4)} % 10)::BIGINT)) AS j FROM (${begun})`;
  const timed = `SELECT i, j, slot_ns, trace_ns + CASE WHEN j = 0 THEN 0 ELSE (${uniform(seed, 7)} * 4e7)::BIGINT * j END AS ns FROM (${spans})`;
  const served = `SELECT *, ${slow} AS slow, ${service} AS service FROM (${timed}) WHERE ns >= ${startNs} AND ns < ${endNs}`;
  // In an outage payments fail, and so do the services that wait for them.
  const struck = `SELECT *, slow AND service IN ('payment', 'checkout', 'checkoutservice') AS hit FROM (${served})`;
  return `SELECT *, ${u(10)} < CASE WHEN hit THEN 0.42 WHEN slow AND service LIKE 'frontend%' THEN 0.08 ELSE 0.012 END AS failed FROM (${struck})`;
}

/** Spans of a microservice shop: traces of three to twelve spans, with outages of its payments for some minutes. */
export const traces = sampleDataset(
  'otel-demo-traces',
  'Sample: OpenTelemetry traces of a microservice shop',
  fields,
  rows,
  slotNs / 7n,
);

/** The value of `choose` for each service, repeated by its share of the spans: for {@link pick}. */
function perShare(choose: (service: [string, readonly [number, number]]) => string): string[] {
  return Object.entries(services).flatMap(service =>
    Array.from({ length: service[1][0] }, () => choose(service)),
  );
}
