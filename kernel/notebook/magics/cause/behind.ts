/** The events behind a result or a query, on which the magics of this folder build. */
import { eventsOf } from '../../../apl/editor/editor-events.js';
import { QueryText } from '../../../apl/syntax/parse.js';
import { present } from '../../../present.js';
import type { Provenance } from '../../../result/result.js';
import { formatTime, parseTime } from '../../../time.js';
import { readsOf } from '../../results/reads.js';
import { type CachedResult, lastName } from '../../results/result-cache.js';
import { parseRange, type TimeRange } from '../../time-range.js';
import type { Magic, MagicHost } from '../magic.js';
import { MagicError, usageError } from '../magic-arguments.js';

/** Events as the text of a query, with its settings. */
export interface EventsBehind {
  readonly events: string;
  /** Absent for the cell's range. */
  readonly range?: TimeRange;
  /** Values of the parameters that the query names. */
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** Parses a query written on a magic line; throws MagicError if it has an error. */
export function checkedQuery({ name }: Magic, text: string): QueryText {
  const query = new QueryText(text);
  const error = query.diagnostics.find(({ severity }) => severity === 'error');
  if (error === undefined) return query;
  const near = text.slice(error.from, error.to);
  throw new MagicError(`%${name}: ${error.message}${near === '' ? '' : `, at \`${near}\``}`, error.hint);
}

/** Returns the events behind a result, over its range; throws MagicError, with the hint `instead`, if they cannot be queried again. */
export function eventsBehind(
  cached: CachedResult | undefined,
  magic: Magic,
  { session }: MagicHost,
  instead: string,
): EventsBehind {
  if (cached === undefined) throw usageError(magic, 'no query has run yet');
  const { query } = cached;
  const { provenance } = cached.result;
  const { profile, variables } = provenance;
  if (profile !== session.profileName)
    throw new MagicError(
      `%${magic.name}: the last result is from ${profile}, but the profile is ${session.profileName}`,
      `Switch to it with \`%use ${profile}\`.`,
    );
  if (readsOf(query, session).results.has(lastName))
    throw new MagicError(
      `%${magic.name}: the query of the last result reads \`_\`, which is now a different result`,
      instead,
    );
  return { events: eventsIn(query, magic), ...windowOf(provenance), ...present({ variables }) };
}

/** Returns a query up to the point at which its rows are no longer its events; throws MagicError if it reads none. */
function eventsIn(query: QueryText, magic: Magic): string {
  const events = eventsOf(query);
  if (events === undefined) throw usageError(magic, 'the query reads no events');
  return events;
}

/** Runs `answer` on the events of the cell's query instead of the query. */
export function insteadOfQuery(
  magic: Magic,
  { session, plan }: MagicHost,
  answer: (behind: EventsBehind) => Promise<void>,
): void {
  const [query, more] = plan.queries;
  if (query === undefined || more !== undefined) throw usageError(magic, 'write one query below it');
  plan.run = false;
  plan.afterRun.push(async () => {
    const { parsed, variables } = session.parameters.bind(query);
    await answer({ events: eventsIn(parsed, magic), variables });
  });
}

/** Runs `answer` on the last result, or on the cell's own once it has run. */
export async function onLastResult(
  { session, plan }: MagicHost,
  answer: (cached: CachedResult | undefined) => Promise<void>,
): Promise<void> {
  if (plan.queries.length === 0) return answer(session.results.named(lastName));
  plan.afterRun.push(async results => {
    if (plan.run) await answer(results.at(-1));
  });
}

function windowOf({ startTime, endTime }: Provenance): { readonly range?: TimeRange } {
  const [start, end] = [parseTime(startTime), parseTime(endTime)];
  if (start === undefined || end === undefined) return {};
  return { range: parseRange(`${formatTime(start)}..${formatTime(end)}`) };
}
