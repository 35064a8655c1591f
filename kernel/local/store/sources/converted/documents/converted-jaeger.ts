import type {
  AnyValue,
  KeyValue,
  Sourced,
  Span,
  SpanEvent,
  SpanLink,
} from '../../../../otlp/otlp-protocol.js';
import { spanEvent } from '../../../../otlp/otlp-spans.js';
import type { Left } from '../left.js';
import { eventLines } from './converted-otlp.js';
import { exactJson, itemsOf, type Members, membersOf } from './exact-json.js';
import { booleanOf, nanoseconds, spanOfTags, textOf } from './span-tags.js';

/**
 * Returns the spans of traces as the user interface and the API of Jaeger export them, each as a line with the fields of an OTLP span. Any
 * other text is unchanged.
 */
export function jaegerLines(text: string, left: Left): readonly string[] {
  return eventLines(text, left, () => tracesIn(exactJson(text)).flatMap(spansIn).map(spanEvent));
}

/** A trace, a response with a list of them, or a single span with its process. */
function tracesIn(document: unknown): readonly Members[] {
  if (Array.isArray(document)) return document.flatMap(tracesIn);
  const members = membersOf(document);
  if (Array.isArray(members.data)) return tracesIn(members.data);
  if (Array.isArray(members.spans)) return [members];
  return members.spanID === undefined ? [] : [{ spans: [members] }];
}

function spansIn({ spans, processes }: Members): readonly Sourced<Span>[] {
  return itemsOf(spans)
    .map(membersOf)
    .map(span =>
      sourced(span, membersOf(span.process ?? membersOf(processes)[textOf(span.processID) ?? ''])),
    );
}

function sourced(span: Members, process: Members): Sourced<Span> {
  const tags = attributesOf(span.tags);
  const { references, parent } = referencesOf(span);
  const { scope, entry } = spanOfTags(tags, isError);
  const start = nanoseconds(span.startTime);
  const warnings = itemsOf(span.warnings).flatMap(warning => textOf(warning) ?? []);
  const service = { key: 'service.name', value: { stringValue: textOf(process.serviceName) ?? '' } };
  return {
    resource: [service, ...attributesOf(process.tags)],
    scope,
    entry: {
      ...entry,
      attributes: [
        ...(entry.attributes ?? []),
        ...(warnings.length === 0 ? [] : [{ key: 'jaeger.warnings', value: listOfTexts(warnings) }]),
      ],
      traceId: textOf(span.traceID) ?? '',
      spanId: textOf(span.spanID) ?? '',
      parentSpanId: parent,
      name: textOf(span.operationName) ?? '',
      startTimeUnixNano: start.toString(),
      endTimeUnixNano: (start + nanoseconds(span.duration)).toString(),
      events: itemsOf(span.logs).map(membersOf).map(eventOf),
      links: references.map(linkOf),
    },
  };
}

/** Returns the id of the parent: the first span of the trace that this one is a child of, or follows; and the remaining references. */
function referencesOf(span: Members): { readonly parent: string; readonly references: readonly Members[] } {
  const references = itemsOf(span.references).map(membersOf);
  const ofTrace = references.filter(({ traceID }) => traceID === span.traceID);
  const parent = ofTrace.find(({ refType }) => refType === 'CHILD_OF') ?? ofTrace[0];
  return {
    parent: textOf(parent?.spanID ?? span.parentSpanID) ?? '',
    references: references.filter(each => each !== parent),
  };
}

function linkOf({ traceID, spanID, refType }: Members): SpanLink {
  const type = { key: 'opentracing.ref_type', value: { stringValue: String(refType).toLowerCase() } };
  return { traceId: textOf(traceID) ?? '', spanId: textOf(spanID) ?? '', attributes: [type] };
}

/** Returns a log of a span; its name is the field `event`, if there is one. */
function eventOf({ timestamp, fields }: Members): SpanEvent {
  const attributes = attributesOf(fields);
  const named = attributes.find(({ key, value }) => key === 'event' && value?.stringValue !== undefined);
  return {
    timeUnixNano: nanoseconds(timestamp).toString(),
    name: named?.value?.stringValue ?? '',
    attributes: attributes.filter(each => each !== named),
  };
}

function attributesOf(tags: unknown): readonly KeyValue[] {
  return itemsOf(tags)
    .map(membersOf)
    .map(({ key, type, value }) => ({ key: textOf(key) ?? '', value: typed(type, value) }));
}

/** Returns the value of a tag; one that does not fit its type is a string. */
function typed(type: unknown, value: unknown): AnyValue {
  const text = textOf(value) ?? JSON.stringify(value) ?? '';
  if (type === 'bool' && /^(?:true|false)$/.test(text)) return { boolValue: text === 'true' };
  if (type === 'int64' && isInteger(text)) return { intValue: text };
  if (type === 'float64' && text.trim() !== '' && Number.isFinite(Number(text)))
    return { doubleValue: Number(text) };
  return { stringValue: text };
}

/** Whether a string is an integer of 64 bits. */
function isInteger(text: string): boolean {
  return /^-?\d{1,19}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

/** Whether the tag `error` marks a failure: any value but false. */
function isError(value: AnyValue): boolean {
  return booleanOf(value) !== false;
}

function listOfTexts(texts: readonly string[]): AnyValue {
  return { arrayValue: { values: texts.map(stringValue => ({ stringValue })) } };
}
