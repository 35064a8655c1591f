/** The events behind a query, and the query that tells some of them from the rest. */
import type { Operator } from '../syntax/ast.js';
import type { QueryText } from '../syntax/parse.js';
import { withoutDirectives } from '../syntax/readers/charting.js';

/** Operators whose output rows are never events. */
const summarizing: ReadonlySet<Operator['kind']> = new Set([
  ...(['summarize', 'make-series', 'count', 'distinct', 'getschema'] as const),
]);

/** Operators whose output is not events, or not all of them. */
const ending: ReadonlySet<Operator['kind']> = new Set([
  ...summarizing,
  ...(['limit', 'top', 'sample', 'sort', 'render'] as const),
]);

/** True for a query whose rows are events of a dataset, or some of them. */
export function showsEvents({ pipeline }: QueryText): boolean {
  if (pipeline === undefined) return false;
  const { source, operators } = pipeline;
  return source.kind === 'dataset' && !operators.some(({ kind }) => summarizing.has(kind));
}

/** Fields that hold a log line; the first one present is used. */
const LINE_FIELDS = ['message', 'msg', 'body', 'line', 'log', 'text'];

/** Returns the name of the field that holds the log line; undefined if none does. */
export function lineField(names: readonly (string | null)[]): string | undefined {
  return LINE_FIELDS.find(each => names.includes(each));
}

/** Fields that hold a trace id; the first one present is used. */
const TRACE_FIELDS = ['trace_id', 'traceId', 'trace.id', 'TraceId', 'traceID'];

/** Returns the name of the field that holds the trace id; undefined if none does. */
export function traceField(names: readonly string[]): string | undefined {
  return TRACE_FIELDS.find(each => names.includes(each));
}

/** Fields that hold a span id. */
const SPAN_FIELDS = ['span_id', 'spanId', 'span.id', 'SpanId', 'spanID'];

/** Returns the name of the field that holds the span id; undefined if none does. */
export function spanField(names: readonly string[]): string | undefined {
  return SPAN_FIELDS.find(each => names.includes(each));
}

/** Returns the index of the first operator whose output is not all of the events, or the number of operators if there is none. */
export function endOfEvents(operators: readonly Operator[]): number {
  const end = operators.findIndex(({ kind }) => ending.has(kind));
  return end < 0 ? operators.length : end;
}

/** Returns a query up to the first sort, limit or summary, with the statements before it; undefined if it reads nothing. */
export function eventsOf({ text, pipeline }: QueryText): string | undefined {
  if (pipeline === undefined) return undefined;
  const { source, operators } = pipeline;
  return withoutDirectives(text.slice(0, operators[endOfEvents(operators) - 1]?.to ?? source.to)).trimEnd();
}

/** Returns the query for the events nearest to a time (RFC 3339), at most `most`, in order of time. */
export function nearest(events: string, time: string, most: number): string {
  return `${events}\n| top ${most} by abs(_time - datetime(${time})) asc\n| sort by _time asc`;
}

/** Returns the query that compares the events that meet a condition with the rest. */
export function explaining(events: string, condition: string): string {
  return `${events}\n| summarize spotlight(${condition}, *)`;
}

/** MIME type of the extension's controls below an explanation; other front ends show only its text. */
export const EXPLAINED_MIME = 'application/vnd.axiom-apl.explained+json';

/** An explanation's references: the events, the condition that selects some of them, and what most of those have in common; each is APL. */
export interface ExplainedReference {
  readonly events: string;
  readonly condition: string;
  readonly found: string;
  readonly startTime: string;
  readonly endTime: string;
  readonly profile: string;
}

/** Reads an output's data, which may come from an untrusted source; returns undefined for anything else. */
export function explainedReference(value: unknown): ExplainedReference | undefined {
  const given = new Map(typeof value === 'object' && value !== null ? Object.entries(value) : []);
  const texts = ['events', 'condition', 'found', 'startTime', 'endTime', 'profile'].flatMap(name => {
    const member: unknown = given.get(name);
    return typeof member === 'string' ? [member] : [];
  });
  const [events, condition, found, startTime, endTime, profile] = texts;
  if (events === undefined || condition === undefined || found === undefined) return undefined;
  if (startTime === undefined || endTime === undefined || profile === undefined) return undefined;
  // A second line below `%%explain` could be another magic.
  if (/[\n\r]/.test(condition + found)) return undefined;
  return { events, condition, found, startTime, endTime, profile };
}
