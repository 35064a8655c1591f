import { LocalError } from '../../../../local-errors.js';
import { pointEvent } from '../../../../otlp/metrics.js';
import type { OtlpEvent } from '../../../../otlp/otlp-cells.js';
import { logEvent } from '../../../../otlp/otlp-logs.js';
import { logsIn, pointsIn, spansIn } from '../../../../otlp/otlp-protocol.js';
import { spanEvent } from '../../../../otlp/otlp-spans.js';
import type { Left } from '../left.js';
import { exactJson, type Members, membersOf } from './exact-json.js';

/**
 * Returns the spans, log records and data points of an OTLP request, as written by the file exporter of the OpenTelemetry Collector or in a
 * response of Tempo or Jaeger, each as a line of JSON with the same fields as when sent to the service. Any other text is unchanged.
 */
export function otlpLines(text: string, left: Left): readonly string[] {
  const request = requestIn(exactJson(text, revived));
  return eventLines(text, left, () => [
    ...spansIn(request).map(spanEvent),
    ...logsIn(request).map(logEvent),
    ...pointsIn(request).map(pointEvent),
  ]);
}

/** Returns events as lines; if there are none, or they cannot be read, the text unchanged, counted if it is an object or a list. */
export function eventLines(text: string, left: Left, read: () => readonly OtlpEvent[]): readonly string[] {
  const keep = (why: string) => {
    if (/^\s*[{[]/.test(text)) left.keep(why);
    return [text];
  };
  try {
    const events = read();
    return events.length === 0 ? keep('it has no events') : events.map(lineOf);
  } catch (error) {
    if (!(error instanceof LocalError)) throw error;
    return keep(error.message);
  }
}

/** Returns the request in a document: itself, or the object that a response has around it. */
function requestIn(document: unknown): Members {
  const outer = membersOf(document);
  const inner = membersOf(outer.result ?? outer.trace ?? outer);
  return { ...inner, resourceSpans: inner.resourceSpans ?? inner.batches };
}

/** Reads the names of earlier versions of the protocol, and ids in Base64, as protobuf writes them in JSON. */
function revived(key: string, value: unknown): unknown {
  if (typeof value === 'string') return ids.has(key) && base64Id.test(value) ? hexOf(value) : value;
  const members = membersOf(value);
  const [from, to] = earlier.find(([name]) => members[name] !== undefined) ?? [];
  return from === undefined || to === undefined ? value : { ...members, [to]: members[from] };
}

const earlier = [
  ['instrumentationLibrarySpans', 'scopeSpans'],
  ['instrumentationLibraryLogs', 'scopeLogs'],
  ['instrumentationLibraryMetrics', 'scopeMetrics'],
  ['instrumentationLibrary', 'scope'],
] as const;
const ids = new Set(['traceId', 'spanId', 'parentSpanId']);

/** 8 or 16 bytes; in hex these are 16 or 32 characters. */
const base64Id = /^(?:[A-Za-z\d+/]{11}=|[A-Za-z\d+/]{22}==)$/;

function hexOf(base64: string): string {
  return Buffer.from(base64, 'base64').toString('hex');
}

function lineOf({ time, cells }: OtlpEvent): string {
  const members = [...cells].map(([name, { text }]) => `${JSON.stringify(name)}:${text}`);
  return `{${[...(time === undefined ? [] : [`"_time":${time}`]), ...members].join(',')}}`;
}
