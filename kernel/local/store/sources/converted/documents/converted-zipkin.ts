import { present } from '../../../../../present.js';
import type { AnyValue, KeyValue, Sourced, Span } from '../../../../otlp/otlp-protocol.js';
import { spanEvent } from '../../../../otlp/otlp-spans.js';
import type { Left } from '../left.js';
import { eventLines } from './converted-otlp.js';
import { exactJson, itemsOf, type Members, membersOf } from './exact-json.js';
import { nanoseconds, spanOfTags, textOf } from './span-tags.js';

/**
 * Returns the spans of a text as the user interface and the API of Zipkin write them (version 2), each as a line with the fields of an OTLP
 * span. Any other text is unchanged.
 */
export function zipkinLines(text: string, left: Left): readonly string[] {
  return eventLines(text, left, () => spansIn(exactJson(text)).map(sourced).map(spanEvent));
}

/** A span, or a list of spans or of traces. */
function spansIn(document: unknown): readonly Members[] {
  if (Array.isArray(document)) return document.flatMap(spansIn);
  const members = membersOf(document);
  return members.traceId === undefined || members.id === undefined ? [] : [members];
}

function sourced(span: Members): Sourced<Span> {
  const tags = Object.entries(membersOf(span.tags)).flatMap(([key, value]) => attribute(key, textOf(value)));
  const { scope, entry } = spanOfTags(tags, () => true);
  const annotations = itemsOf(span.annotations).map(membersOf);
  const start = nanoseconds(span.timestamp ?? annotations[0]?.timestamp);
  const end = span.duration === undefined ? undefined : start + nanoseconds(span.duration);
  const [local, remote] = [membersOf(span.localEndpoint), membersOf(span.remoteEndpoint)];
  return {
    resource: attribute('service.name', textOf(local.serviceName)),
    scope,
    entry: {
      ...entry,
      attributes: [
        ...(entry.attributes ?? []),
        ...endpoint(local, 'host'),
        ...attribute('peer.service', textOf(remote.serviceName)),
        ...endpoint(remote, 'peer'),
        ...flag('zipkin.shared', span.shared),
        ...flag('zipkin.debug', span.debug),
      ],
      kind: `SPAN_KIND_${textOf(span.kind)?.toUpperCase() ?? 'UNSPECIFIED'}`,
      traceId: textOf(span.traceId) ?? '',
      spanId: textOf(span.id) ?? '',
      parentSpanId: textOf(span.parentId) ?? '',
      name: textOf(span.name) ?? '',
      startTimeUnixNano: start.toString(),
      ...present({ endTimeUnixNano: end?.toString() }),
      events: annotations.map(({ timestamp, value }) => ({
        timeUnixNano: nanoseconds(timestamp).toString(),
        name: textOf(value) ?? '',
      })),
    },
  };
}

function endpoint(
  { ipv4, ipv6, port }: Members,
  side: 'host' | 'peer',
): readonly (KeyValue & { readonly key: string })[] {
  const number = textOf(port) ?? '';
  return [
    ...attribute(`net.${side}.ip`, textOf(ipv4) ?? textOf(ipv6)),
    ...(/^\d{1,5}$/.test(number) ? [{ key: `net.${side}.port`, value: { intValue: number } }] : []),
  ];
}

function flag(key: string, value: unknown): readonly { readonly key: string; readonly value: AnyValue }[] {
  return value === true ? [{ key, value: { boolValue: true } }] : [];
}

function attribute(
  key: string,
  text: string | undefined,
): readonly { readonly key: string; readonly value: AnyValue }[] {
  return text === undefined ? [] : [{ key, value: { stringValue: text } }];
}
