/** The events behind a query, and the query that tells some of them from the others. */
import type { Operator } from '../syntax/ast.js';
import type { QueryText } from '../syntax/parse.js';

/** Operators after which rows are no longer the events, or no longer all of them. */
const ending: ReadonlySet<Operator['kind']> = new Set([
  ...(['summarize', 'make-series', 'count', 'distinct', 'getschema'] as const),
  ...(['limit', 'top', 'sample', 'sort', 'render'] as const),
]);

/** The place of the first operator whose output is no longer all of the events; that after the last where there is none. */
export function endOfEvents(operators: readonly Operator[]): number {
  const end = operators.findIndex(({ kind }) => ending.has(kind));
  return end < 0 ? operators.length : end;
}

/** Returns a query up to where it sorts, cuts or summarizes, with the statements before it; undefined where it reads nothing. */
export function eventsOf({ text, pipeline }: QueryText): string | undefined {
  if (pipeline === undefined) return undefined;
  const { source, operators } = pipeline;
  return text.slice(0, operators[endOfEvents(operators) - 1]?.to ?? source.to).trimEnd();
}

/** Returns the query that compares the events that meet a condition with the others. */
export function explaining(events: string, condition: string): string {
  return `${events}\n| summarize spotlight(${condition}, *)`;
}
