import type { Window } from '../../../kernel/apl/editor/chosen.js';
import { QueryText } from '../../../kernel/apl/syntax/parse.js';
import { formatTime, parseTime } from '../../../kernel/time.js';

/** The query of an output, with where and when it ran. */
export interface QueryShown {
  readonly query: QueryText;
  readonly profile: string | undefined;
  /** The line that sets the range of the result for a cell, if it is known. */
  readonly range: readonly string[];
  readonly window: Window | undefined;
}

/** Returns the query in the untrusted metadata of an output; undefined if there is none. */
export function queryShown(apl: unknown): QueryShown | undefined {
  if (typeof apl !== 'object' || apl === null || !('query' in apl) || typeof apl.query !== 'string')
    return undefined;
  const { startTime, endTime, profile } = apl as Readonly<Record<string, unknown>>;
  const query = new QueryText(apl.query);
  // Anything but a query may be lines with other effects.
  if (query.diagnostics.some(({ severity }) => severity === 'error')) return undefined;
  const [start, end] = [startTime, endTime].map(each =>
    typeof each === 'string' ? parseTime(each) : undefined,
  );
  const hasWindow = start !== undefined && end !== undefined;
  return {
    query,
    profile: typeof profile === 'string' ? profile : undefined,
    range: hasWindow ? [`%%time ${formatTime(start)}..${formatTime(end)}`] : [],
    window: hasWindow ? { start, end } : undefined,
  };
}
