/** The events behind a query, and the query that tells some of them from the others. */
import type { Operator } from '../syntax/ast.js';
import type { QueryText } from '../syntax/parse.js';

/** Operators after which rows are no longer the events, or no longer all of them. */
const ending: ReadonlySet<Operator['kind']> = new Set([
  ...(['summarize', 'make-series', 'count', 'distinct', 'getschema'] as const),
  ...(['limit', 'top', 'sample', 'sort', 'render'] as const),
]);

/** Returns a query up to where it sorts, cuts or summarizes, with the statements before it; undefined where it reads nothing. */
export function eventsOf({ text, pipeline }: QueryText): string | undefined {
  if (pipeline === undefined) return undefined;
  const { source, operators } = pipeline;
  const end = operators.findIndex(({ kind }) => ending.has(kind));
  return text.slice(0, operators[(end < 0 ? operators.length : end) - 1]?.to ?? source.to).trimEnd();
}

/** Returns the query that compares the events that meet a condition with the others. */
export function explaining(events: string, condition: string): string {
  return `${events}\n| summarize spotlight(${condition}, *)`;
}
