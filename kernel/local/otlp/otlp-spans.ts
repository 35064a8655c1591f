import { idOf, type OtlpEvent, objectCell, objectText, textCell, timeOf } from './otlp-cells.js';
import { cellsOf, sharedCells } from './otlp-fields.js';
import { listOf, type Sourced, type Span, type SpanEvent, type SpanLink } from './otlp-protocol.js';

/** Indexed by OTLP's number, which in JSON may also be a name such as `SPAN_KIND_SERVER`. */
const kinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
const codes = ['UNSET', 'OK', 'ERROR'];

/** Returns a span as an event, with the hosted service's fields for traces (https://axiom.co/docs/query-data/traces). */
export function spanEvent(span: Sourced<Span>): OtlpEvent {
  const { entry } = span;
  const [start, end] = [timeOf(entry.startTimeUnixNano), timeOf(entry.endTimeUnixNano)];
  const code = nameOf(codes, entry.status?.code);
  const events = listOf(entry.events).map(eventText);
  const links = listOf(entry.links).map(linkText);
  const own = cellsOf([
    ['trace_id', textCell(idOf(entry.traceId))],
    ['span_id', textCell(idOf(entry.spanId))],
    ['parent_span_id', textCell(idOf(entry.parentSpanId))],
    ['trace_state', textCell(entry.traceState)],
    ['name', textCell(entry.name)],
    ['kind', textCell(nameOf(kinds, entry.kind)?.toLowerCase())],
    [
      'duration',
      start === undefined || end === undefined ? undefined : { type: 'timespan', text: String(end - start) },
    ],
    ['error', { type: 'bool', text: String(code === 'ERROR') }],
    ['status.code', textCell(code === 'UNSET' ? undefined : code)],
    ['status.message', textCell(entry.status?.message)],
    ['events', { type: 'dynamic', text: `[${events.join(',')}]` }],
    ['links', { type: 'dynamic', text: `[${links.join(',')}]` }],
  ]);
  return { time: start, cells: new Map([...own, ...sharedCells(span, entry.attributes)]) };
}

/** Returns the name for an OTLP number, or the name within one such as `STATUS_CODE_OK` (default: the first). */
function nameOf(names: readonly string[], value: number | string = 0): string | undefined {
  if (typeof value === 'number') return names[value] ?? String(value);
  return names.find(name => value.toUpperCase().endsWith(`_${name.toUpperCase()}`)) ?? value;
}

function eventText({ timeUnixNano, name, attributes }: SpanEvent): string {
  const time = timeOf(timeUnixNano);
  return objectText({
    name: textCell(name)?.text,
    timestamp: time === undefined ? undefined : String(time),
    attributes: objectCell(listOf(attributes))?.text,
  });
}

function linkText({ traceId, spanId, traceState, attributes }: SpanLink): string {
  return objectText({
    trace_id: textCell(idOf(traceId))?.text,
    span_id: textCell(idOf(spanId))?.text,
    trace_state: textCell(traceState)?.text,
    attributes: objectCell(listOf(attributes))?.text,
  });
}
