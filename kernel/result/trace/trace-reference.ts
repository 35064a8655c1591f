import { present } from '../../present.js';
import { isolated, oneLine, withoutTokens } from '../../text.js';

/** MIME type from which the extension draws a trace; other front ends show the HTML beside it. */
export const TRACE_MIME = 'application/vnd.axiom-apl.trace+json';

/** A dataset of log lines that name their traces. */
export interface TraceLogs {
  readonly dataset: string;
  /** The field with the id of the trace. */
  readonly trace: string;
  /** The field with the id of the span; absent if the lines have none. */
  readonly span?: string;
}

/** A trace, referenced by the result that has its spans as rows: the table below it has the same data. */
export interface TraceReference {
  readonly trace: string;
  readonly dataset: string;
  readonly result: { readonly id: string; readonly rows: number; readonly columns: number };
  /** Possible locations of its log lines, most likely first. */
  readonly logs: readonly TraceLogs[];
  /** The query of the spans, and where and when it ran. */
  readonly query: string;
  readonly startTime: string;
  readonly endTime: string;
  readonly profile: string;
}

/** Returns the title of a trace above its drawing, ready for display: a right-to-left name does not reorder the text around it. */
export function traceTitle(trace: string, dataset: string): string {
  const [id = '', name = ''] = [trace, dataset].map(each => isolated(oneLine(withoutTokens(each), 100)));
  return `Trace ${id} in ${name}`;
}

/** Parses the untrusted contents of an output; undefined if it is not a trace. */
export function traceReference(value: unknown): TraceReference | undefined {
  const { trace, dataset, result, logs, ...ran } = members(value);
  const { id, rows, columns } = members(result);
  const { query, startTime, endTime, profile } = ran;
  const texts = [trace, dataset, id, query, startTime, endTime, profile];
  if (
    !texts.every(each => typeof each === 'string') ||
    typeof rows !== 'number' ||
    typeof columns !== 'number'
  )
    return undefined;
  return {
    ...({ trace, dataset, query, startTime, endTime, profile } as Omit<TraceReference, 'result' | 'logs'>),
    result: { id: String(id), rows, columns },
    logs: Array.isArray(logs) ? logs.flatMap(logsOf) : [],
  };
}

function logsOf(value: unknown): readonly TraceLogs[] {
  const { dataset, trace, span } = members(value);
  if (typeof dataset !== 'string' || typeof trace !== 'string') return [];
  return [{ dataset, trace, ...present({ span: typeof span === 'string' ? span : undefined }) }];
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
