import protobuf from 'protobufjs/light.js';
import { LocalError } from '../local-errors.js';

/**
 * The supported messages of OTLP 1.x (https://github.com/open-telemetry/opentelemetry-proto), with the names of protobuf's JSON mapping.
 * Ids are hex in JSON and bytes in protobuf; 64-bit integers are decimal strings, in JSON also numbers.
 */
export interface AnyValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string | number;
  readonly doubleValue?: number | string;
  readonly arrayValue?: { readonly values?: readonly AnyValue[] };
  readonly kvlistValue?: { readonly values?: readonly KeyValue[] };
  readonly bytesValue?: Uint8Array | string;
}

export interface KeyValue {
  readonly key?: string;
  readonly value?: AnyValue;
}

type Id = Uint8Array | string;
type Integer = string | number;

export interface Span {
  readonly traceId?: Id;
  readonly spanId?: Id;
  readonly parentSpanId?: Id;
  readonly traceState?: string;
  readonly name?: string;
  readonly kind?: number | string;
  readonly startTimeUnixNano?: Integer;
  readonly endTimeUnixNano?: Integer;
  readonly attributes?: readonly KeyValue[];
  readonly events?: readonly SpanEvent[];
  readonly links?: readonly SpanLink[];
  readonly status?: { readonly code?: number | string; readonly message?: string };
}

export interface SpanEvent {
  readonly timeUnixNano?: Integer;
  readonly name?: string;
  readonly attributes?: readonly KeyValue[];
}

export interface SpanLink {
  readonly traceId?: Id;
  readonly spanId?: Id;
  readonly traceState?: string;
  readonly attributes?: readonly KeyValue[];
}

export interface LogRecord {
  readonly timeUnixNano?: Integer;
  readonly observedTimeUnixNano?: Integer;
  readonly severityNumber?: number | string;
  readonly severityText?: string;
  readonly body?: AnyValue;
  readonly attributes?: readonly KeyValue[];
  readonly traceId?: Id;
  readonly spanId?: Id;
  readonly eventName?: string;
}

/** Members of any kind of data point; none has all of them. */
export interface DataPoint {
  readonly startTimeUnixNano?: Integer;
  readonly timeUnixNano?: Integer;
  readonly attributes?: readonly KeyValue[];
  readonly asDouble?: number | string;
  readonly asInt?: Integer;
  readonly count?: Integer;
  readonly sum?: number | string;
  readonly min?: number | string;
  readonly max?: number | string;
  readonly bucketCounts?: readonly Integer[];
  readonly explicitBounds?: readonly number[];
  readonly quantileValues?: readonly { readonly quantile?: number; readonly value?: number | string }[];
  readonly scale?: number;
  readonly zeroCount?: Integer;
  readonly positive?: Buckets;
  readonly negative?: Buckets;
  readonly zeroThreshold?: number;
  readonly exemplars?: readonly Exemplar[];
}

/** A measurement that counts in a data point, with the span in which it was made. */
export interface Exemplar {
  readonly timeUnixNano?: Integer;
  readonly asDouble?: number | string;
  readonly asInt?: Integer;
  readonly traceId?: Id;
  readonly spanId?: Id;
  readonly filteredAttributes?: readonly KeyValue[];
}

/** Counts of an exponential histogram on one side of zero. */
export interface Buckets {
  readonly offset?: number;
  readonly bucketCounts?: readonly Integer[];
}

interface MetricData {
  readonly dataPoints?: readonly DataPoint[];
  readonly aggregationTemporality?: number | string;
  readonly isMonotonic?: boolean;
}

interface Metric {
  readonly name?: string;
  readonly description?: string;
  readonly unit?: string;
  readonly gauge?: MetricData;
  readonly sum?: MetricData;
  readonly histogram?: MetricData;
  readonly exponentialHistogram?: MetricData;
  readonly summary?: MetricData;
}

/** Kinds of metrics: member name and display name. */
const metricKinds = [
  ['gauge', 'gauge'],
  ['sum', 'sum'],
  ['histogram', 'histogram'],
  ['exponentialHistogram', 'exponential histogram'],
  ['summary', 'summary'],
] as const;

/** A data point with its metric. */
export interface Point {
  readonly metric: Metric;
  readonly kind: string;
  readonly data: MetricData;
  readonly point: DataPoint;
}

interface Scope {
  readonly name?: string;
  readonly version?: string;
  readonly attributes?: readonly KeyValue[];
}

/** A record with its source. */
export interface Sourced<Entry> {
  readonly resource: readonly KeyValue[];
  readonly scope: Scope;
  readonly entry: Entry;
}

interface TraceRequest {
  readonly resourceSpans?: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] };
    readonly scopeSpans?: readonly { readonly scope?: Scope; readonly spans?: readonly Span[] }[];
  }[];
}

interface LogsRequest {
  readonly resourceLogs?: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] };
    readonly scopeLogs?: readonly { readonly scope?: Scope; readonly logRecords?: readonly LogRecord[] }[];
  }[];
}

interface MetricsRequest {
  readonly resourceMetrics?: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] };
    readonly scopeMetrics?: readonly { readonly scope?: Scope; readonly metrics?: readonly Metric[] }[];
  }[];
}

export type Encoding = 'protobuf' | 'json';

/** Returns the spans of a `/v1/traces` body. Throws LocalError if it is invalid. */
export function spansOf(body: Buffer, encoding: Encoding): readonly Sourced<Span>[] {
  return spansIn(decoded<TraceRequest>('TraceRequest', body, encoding));
}

/** Returns the log records of a `/v1/logs` body. Throws LocalError if it is invalid. */
export function logsOf(body: Buffer, encoding: Encoding): readonly Sourced<LogRecord>[] {
  return logsIn(decoded<LogsRequest>('LogsRequest', body, encoding));
}

/** Returns the spans of a request. Throws LocalError if it is invalid. */
export function spansIn({ resourceSpans }: TraceRequest): readonly Sourced<Span>[] {
  return listOf(resourceSpans).flatMap(({ resource, scopeSpans }) =>
    listOf(scopeSpans).flatMap(({ scope = {}, spans }) =>
      listOf(spans).map(entry => ({ resource: listOf(resource?.attributes), scope, entry })),
    ),
  );
}

/** Returns the log records of a request. Throws LocalError if it is invalid. */
export function logsIn({ resourceLogs }: LogsRequest): readonly Sourced<LogRecord>[] {
  return listOf(resourceLogs).flatMap(({ resource, scopeLogs }) =>
    listOf(scopeLogs).flatMap(({ scope = {}, logRecords }) =>
      listOf(logRecords).map(entry => ({ resource: listOf(resource?.attributes), scope, entry })),
    ),
  );
}

/** Returns the data points of a request. Throws LocalError if it is invalid. */
export function pointsIn({ resourceMetrics }: MetricsRequest): readonly Sourced<Point>[] {
  return listOf(resourceMetrics).flatMap(({ resource, scopeMetrics }) =>
    listOf(scopeMetrics).flatMap(({ scope = {}, metrics }) =>
      listOf(metrics)
        .flatMap(pointsOf)
        .map(entry => ({ resource: listOf(resource?.attributes), scope, entry })),
    ),
  );
}

function pointsOf(metric: Metric): readonly Point[] {
  return metricKinds.flatMap(([member, kind]) => {
    const data = metric[member];
    return data === undefined ? [] : listOf(data.dataPoints).map(point => ({ metric, kind, data, point }));
  });
}

/** Returns the body of a refusal in protobuf: a `google.rpc.Status` without the code, as the protocol specifies. */
export function statusOf(message: string): Buffer {
  return Buffer.from(messages.lookupType('Refusal').encode({ message }).finish());
}

/** Returns a list in a message. Throws LocalError for any other value. */
export function listOf<Item extends object>(items: readonly Item[] | undefined): readonly Item[] {
  if (items === undefined || items === null) return [];
  if (Array.isArray(items) && items.every(item => typeof item === 'object' && item !== null)) return items;
  throw invalidBody('a value is not a list of messages');
}

export function invalidBody(why: string, cause?: unknown): LocalError {
  return new LocalError('invalid', 'invalid-request', `The body is not an OTLP request: ${why}.`, { cause });
}

function decoded<Message extends object>(name: string, body: Buffer, encoding: Encoding): Message {
  const message = encoding === 'json' ? parsed(body) : fromProtobuf(name, body);
  if (typeof message === 'object' && message !== null && !Array.isArray(message)) return message as Message;
  throw invalidBody('it is not a JSON object');
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw invalidBody('it is not JSON', error);
  }
}

function fromProtobuf(name: string, body: Buffer): unknown {
  const type = messages.lookupType(name);
  try {
    return type.toObject(type.decode(body), { longs: String, enums: Number, arrays: false });
  } catch (error) {
    throw invalidBody('it is not valid Protobuf', error);
  }
}

const one = (type: string, id: number) => ({ type, id });
const many = (type: string, id: number) => ({ rule: 'repeated', type, id });

/** Message members with their field numbers in the protocol; others are skipped. */
const messages = protobuf.Root.fromJSON({
  nested: {
    TraceRequest: { fields: { resourceSpans: many('ResourceSpans', 1) } },
    ResourceSpans: { fields: { resource: one('Resource', 1), scopeSpans: many('ScopeSpans', 2) } },
    ScopeSpans: { fields: { scope: one('Scope', 1), spans: many('Span', 2) } },
    LogsRequest: { fields: { resourceLogs: many('ResourceLogs', 1) } },
    ResourceLogs: { fields: { resource: one('Resource', 1), scopeLogs: many('ScopeLogs', 2) } },
    ScopeLogs: { fields: { scope: one('Scope', 1), logRecords: many('LogRecord', 2) } },
    Resource: { fields: { attributes: many('KeyValue', 1) } },
    Scope: { fields: { name: one('string', 1), version: one('string', 2), attributes: many('KeyValue', 3) } },
    Span: {
      fields: {
        traceId: one('bytes', 1),
        spanId: one('bytes', 2),
        traceState: one('string', 3),
        parentSpanId: one('bytes', 4),
        name: one('string', 5),
        kind: one('int32', 6),
        startTimeUnixNano: one('fixed64', 7),
        endTimeUnixNano: one('fixed64', 8),
        attributes: many('KeyValue', 9),
        events: many('Event', 11),
        links: many('Link', 13),
        status: one('Status', 15),
      },
    },
    Event: {
      fields: { timeUnixNano: one('fixed64', 1), name: one('string', 2), attributes: many('KeyValue', 3) },
    },
    Link: {
      fields: {
        traceId: one('bytes', 1),
        spanId: one('bytes', 2),
        traceState: one('string', 3),
        attributes: many('KeyValue', 4),
      },
    },
    Status: { fields: { message: one('string', 2), code: one('int32', 3) } },
    Refusal: { fields: { message: one('string', 2) } },
    LogRecord: {
      fields: {
        timeUnixNano: one('fixed64', 1),
        severityNumber: one('int32', 2),
        severityText: one('string', 3),
        body: one('AnyValue', 5),
        attributes: many('KeyValue', 6),
        traceId: one('bytes', 9),
        spanId: one('bytes', 10),
        observedTimeUnixNano: one('fixed64', 11),
        eventName: one('string', 12),
      },
    },
    KeyValue: { fields: { key: one('string', 1), value: one('AnyValue', 2) } },
    AnyValue: {
      oneofs: {
        value: {
          oneof: [
            'stringValue',
            'boolValue',
            'intValue',
            'doubleValue',
            'arrayValue',
            'kvlistValue',
            'bytesValue',
          ],
        },
      },
      fields: {
        stringValue: one('string', 1),
        boolValue: one('bool', 2),
        intValue: one('int64', 3),
        doubleValue: one('double', 4),
        arrayValue: one('ArrayValue', 5),
        kvlistValue: one('KeyValueList', 6),
        bytesValue: one('bytes', 7),
      },
    },
    ArrayValue: { fields: { values: many('AnyValue', 1) } },
    KeyValueList: { fields: { values: many('KeyValue', 1) } },
  },
});
