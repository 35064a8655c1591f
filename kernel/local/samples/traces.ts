import { bits, pick, type SampleField, sampleDataset, sometimesNull, uniform, weighted } from './random.js';
import {
  amount,
  isLater,
  isOrigin,
  ofStop,
  parentPlace,
  producerPlace,
  requestId,
  slotNs,
  span,
  spanIdOf,
  spansBetween,
  trace,
  traceId,
  user,
} from './sample-spans.js';

const u = (salt: number): string => uniform(span, salt);
/** Client and server agree on the status of a request. */
const httpStatus = `CASE WHEN failed THEN CASE WHEN message = 'deadline exceeded' THEN '504' WHEN message = 'connection refused' THEN '503' ELSE '500' END WHEN is_http THEN ${pick(weighted({ 200: 92, 201: 3, 304: 5 }), uniform(trace, 14))} ELSE '200' END`;
const database = ofStop(({ step }) => step.database ?? null);
const agent = `CASE WHEN by_generator THEN 'python-requests/2.32.4' ELSE 'Mozilla/5.0' END`;
/** In a request, the spans of a service are on one of its hosts. */
const host = `'node-' || (1 + (hash(service) + ${bits(trace, 25)} % 2) % 6)`;

const custom = `json_object('http.protocol', 'HTTP/1.1', 'user_agent', ${agent}, 'header.Accept', '*/*', 'app.payment.amount', ${amount}, 'app.user.id', ${user}, 'db.system.name', ${database}, 'app.items', 1 + ${bits(trace, 34)} % 12)`;

/** The operations of a span, spread over its duration; once in a thousand spans, many reads of a flag. */
const plain = `list_transform(range(CASE WHEN ${u(35)} < 0.001 THEN 40 ELSE count_of_events END), lambda n: {'name': CASE WHEN ${u(35)} < 0.001 THEN 'feature_flag' ELSE ['Enqueued', 'Sent', 'ResponseReceived'][1 + n] END, 'timestamp': ns + duration * (n + 1) // 50, 'attributes': CASE WHEN ${u(35)} < 0.001 THEN json_object('feature_flag.key', 'paymentServiceUnreachable', 'feature_flag.variant', 'off') ELSE json_object('message.id', n + 1) END})`;
const events = `CASE WHEN ${isOrigin} THEN to_json([{'name': 'exception', 'timestamp': ns + duration * 49 // 50, 'attributes': json_object('exception.type', 'Error', 'exception.message', message)}]) ELSE to_json(${plain}) END`;
const links = `CASE WHEN ${isLater} AND ${parentPlace} IS NULL THEN to_json([{'trace_id': ${requestId}, 'span_id': ${spanIdOf(producerPlace)}}]) ELSE '[]'::JSON END`;

/** Language of each service (default: JavaScript). */
const LANGUAGES: Readonly<Record<string, string>> = {
  checkout: 'go',
  'product-catalog': 'go',
  flagd: 'go',
  ad: 'java',
  frauddetectionservice: 'java',
  recommendation: 'python',
};

const fields: Readonly<Record<string, SampleField>> = {
  _sysTime: {
    type: 'datetime',
    sql: `make_timestamp_ns(ns + 200000000 + (${u(1)} * 1.5e9)::BIGINT)`,
    description: 'When the span was received.',
  },
  _time: { type: 'datetime', sql: 'make_timestamp_ns(ns)', description: 'When the span began.' },
  'attributes.custom': {
    type: 'dynamic',
    sql: sometimesNull(span, 29, custom),
    description: 'Attributes that have no field of their own.',
  },
  'attributes.db.system.name': {
    type: 'string',
    sql: database,
    description: 'Database that was called.',
  },
  'attributes.http.method': {
    type: 'string',
    sql: ofStop(({ step }) => step.method ?? null),
    description: 'HTTP method.',
  },
  'attributes.http.response.status_code': {
    type: 'long',
    sql: `CASE WHEN is_http THEN (${httpStatus})::BIGINT END`,
    description: 'HTTP status code of the response.',
  },
  'attributes.http.status_code': {
    type: 'string',
    sql: `CASE WHEN is_http THEN ${httpStatus} END`,
    description: 'HTTP status code, as text.',
  },
  duration: {
    type: 'timespan',
    sql: 'duration',
    description: 'How long the span took.',
  },
  error: { type: 'bool', sql: 'failed', description: 'Whether the span failed.' },
  events: { type: 'dynamic', sql: events, description: 'What happened during the span, in order.' },
  kind: {
    type: 'string',
    sql: ofStop(({ step }) => step.kind),
    description: 'Role of the span: server, client, internal, producer or consumer.',
  },
  links: {
    type: 'dynamic',
    sql: links,
    description: 'Spans of other traces.',
  },
  name: {
    type: 'string',
    sql: ofStop(({ step }) => step.name),
    description: 'Operation that the span covers.',
  },
  parent_span_id: {
    type: 'string',
    sql: `CASE WHEN ${parentPlace} IS NOT NULL THEN ${spanIdOf(parentPlace)} END`,
    description: 'The span that caused this one; null for the first of a trace.',
  },
  'resource.host.name': {
    type: 'string',
    sql: host,
    description: 'Host that ran the service.',
  },
  'resource.k8s.node.name': {
    type: 'string',
    sql: host,
    description: 'Kubernetes node.',
  },
  'scope.name': {
    type: 'string',
    sql: `'opentelemetry-' || ${ofStop(({ step }) => LANGUAGES[step.service] ?? 'js')}`,
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
    sql: `CASE WHEN is_former THEN '1.12.0' ELSE ${pick(['2.0.2', '2.0.2', '2.1.0'], uniform(trace, 27))} END`,
    description: 'Version of the service.',
  },
  span_id: {
    type: 'string',
    sql: spanIdOf('j'),
    description: 'Identifies the span.',
  },
  'status.code': {
    type: 'string',
    sql: `CASE WHEN failed THEN 'ERROR' WHEN ${u(28)} < 0.5 THEN 'OK' END`,
    description: 'Outcome of the span.',
  },
  'status.message': {
    type: 'string',
    sql: `CASE WHEN failed THEN message END`,
    description: 'Why the span failed.',
  },
  status_code: { type: 'string', sql: `(${httpStatus})`, description: 'Status code, as text.' },
  trace_id: {
    type: 'string',
    sql: traceId,
    description: 'Identifies the trace.',
  },
};

/** Returns the spans of a window; the failure of an operation propagates up to the request. */
function rows(startNs: bigint, endNs: bigint): string {
  const isHttp = `${ofStop(({ step }) => Number(step.method !== undefined))} = 1 AS is_http`;
  const countOfEvents = `${ofStop(({ step }) => (step.method !== undefined && step.kind === 'client' ? 3 : step.kind === 'internal' ? 0 : 2))} AS count_of_events`;
  return `SELECT *, ${isHttp}, ${countOfEvents} FROM (${spansBetween(startNs, endNs)}) WHERE ns >= ${startNs} AND ns < ${endNs}`;
}

/** Spans of a microservice shop: traces of three to twelve spans, with payment outages of several minutes. */
export const traces = sampleDataset(
  'otel-demo-traces',
  'Sample: OpenTelemetry traces of a microservice shop',
  fields,
  rows,
  slotNs / 7n,
);
