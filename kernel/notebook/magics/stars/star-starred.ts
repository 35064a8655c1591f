import { ApiError, ForbiddenError, NotFoundError } from '../../../api/api-errors.js';
import type { Listed } from '../../../api/api-notices.js';
import type { RequestOptions, StarredQuery } from '../../../api/wire.js';
import type { QueryText } from '../../../apl/syntax/parse.js';
import { withoutRender } from '../../../apl/syntax/readers/charting.js';
import { present } from '../../../present.js';
import { oneLine } from '../../../text.js';
import { datasetOf } from '../../query/query-reading.js';
import type { Session } from '../../session.js';
import { parseRange, storedRange, storedText, type TimeRange } from '../../time-range.js';
import { MagicError } from '../magic-arguments.js';

/** The parts of a session needed to save, find and list starred queries. */
type StarSession = Pick<Session, 'client' | 'now' | 'options' | 'starsVersion'>;

/** A query to save as a starred query. */
export interface StarOrder {
  /** The APL as sent. */
  readonly query: QueryText;
  /** Values of the parameters that the query names. */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly range: TimeRange;
  readonly rowLimit: number | undefined;
  /** Further options of its requests. */
  readonly request: RequestOptions;
  readonly name: string | undefined;
  /** The datasets that it read, as reported by the service; absent if the query did not run. */
  readonly datasets?: readonly string[];
}

/**
 * Saves a query under the id of an existing starred query, retaining whatever the order omits. First calls `allow` with the existing
 * one, undefined if it cannot be read; throws ApiError.
 */
export async function updateStar(
  session: StarSession,
  id: string,
  order: StarOrder,
  signal: AbortSignal,
  allow: (before: StarredQuery | undefined) => Promise<void>,
): Promise<StarredQuery> {
  const client = await session.client(signal);
  const before = await readable(resolveStar(session, id, signal));
  await allow(before);
  const body = await starBody(session, order, before, signal);
  try {
    const saved = await client.putStarred(before?.id ?? id, body, signal);
    session.starsVersion += 1;
    return saved;
  } catch (error) {
    throw error instanceof NotFoundError ? noStar(id, error) : error;
  }
}

/** Returns the starred query with an id or a unique name; throws ApiError and MagicError. */
export async function resolveStar(
  session: StarSession,
  reference: string,
  signal: AbortSignal,
): Promise<StarredQuery> {
  const client = await session.client(signal);
  try {
    return await client.getStarred(reference, signal);
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    let notices: readonly string[] = [];
    for (const filter of [{}, { who: 'all' }]) {
      const listed = await listStars(session, filter, signal);
      notices = listed.notices;
      const found = listed.items.filter(({ name }) => name === reference);
      if (found.length > 1)
        throw new MagicError(
          `${found.length} starred queries are named ${reference}`,
          `Give an id: ${found.map(({ id }) => id).join(', ')}.`,
        );
      if (found[0] !== undefined) return found[0];
    }
    throw noStar(reference, error, notices);
  }
}

/** Returns the error for a missing starred query, with notices: it may be one that could not be parsed. */
function noStar(reference: string, cause: NotFoundError, notices: readonly string[] = []): NotFoundError {
  const hint =
    'To create one, write `%star --new "NAME"` above the query. `%stars --who all` lists all of them.';
  return new NotFoundError(`there is no starred query ${reference}`, {
    code: cause.code,
    hint: [hint, ...notices].join(' '),
    cause,
  });
}

/** Returns the range of a starred query; undefined if it was saved without one. */
export function starRange({ query: { startTime, endTime } }: StarredQuery): TimeRange | undefined {
  return startTime && endTime ? parseRange(storedText({ startTime, endTime })) : undefined;
}

/** Returns a link to the query in the console of the hosted service; undefined on the local one, or if the organization is unknown. */
export async function consoleLink(
  session: Pick<Session, 'endpoint' | 'profileName'>,
  { query }: StarredQuery,
): Promise<string | undefined> {
  const endpoint = await session.endpoint(session.profileName);
  const host = endpoint && new URL(endpoint.url).host;
  if (endpoint?.orgId === undefined || !host?.startsWith('api.')) return undefined;
  const { apl, startTime, endTime } = query;
  const form = { apl, ...present({ startTime, endTime }) };
  return `https://app.${host.slice('api.'.length)}/${encodeURIComponent(endpoint.orgId)}/query?initForm=${encodeURIComponent(JSON.stringify(form))}`;
}

/** Saves a query as a new starred query and returns it with its id; throws ApiError. */
export async function createStar(
  session: StarSession,
  order: StarOrder,
  signal: AbortSignal,
): Promise<StarredQuery> {
  const client = await session.client(signal);
  const saved = await client.createStarred(await starBody(session, order, undefined, signal), signal);
  session.starsVersion += 1;
  return saved;
}

/** Returns the id of the user's own starred query of that name, so that running a cell again does not add a copy. */
export async function findStar(
  session: StarSession,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  return (await listStars(session, {}, signal)).items.find(star => star.name === name)?.id;
}

/** Lists all starred queries that match the filter, page by page. */
export async function listStars(
  session: Pick<Session, 'client'>,
  filter: { readonly who?: string; readonly dataset?: string },
  signal: AbortSignal,
): Promise<Listed<StarredQuery>> {
  const client = await session.client(signal);
  const found = new Map<string, StarredQuery>();
  for (let offset = 0; ; offset += pageSize) {
    const { items, notices } = await client.listStarred({ ...filter, limit: pageSize, offset }, signal);
    const known = found.size;
    for (const [index, star] of items.entries()) found.set(star.id ?? `${offset + index}`, star);
    // A service without paging returns the same page again, so a page with nothing new also ends the listing.
    if (items.length < pageSize || found.size === known) return { items: [...found.values()], notices };
  }
}

const pageSize = 100;

async function starBody(
  session: StarSession,
  order: StarOrder,
  before: StarredQuery | undefined,
  signal: AbortSignal,
): Promise<StarredQuery> {
  // A cursor is a position in one response.
  const { nocache: _, cursor: __, includeCursor: ___, ...lasting } = order.request;
  // The cell alone determines its parameters and its row limit; options of other clients stay.
  const { variables: _variables, defaultLimit: _limit, ...others } = before?.query ?? {};
  const dataset = order.datasets?.[0] ?? datasetOf(order.query) ?? before?.dataset;
  return {
    ...present({ dataset }),
    kind: 'apl',
    name: order.name ?? before?.name ?? suggestedName(order.query.text),
    who: before?.who || (await ownId(session, signal)),
    metadata: {
      ...before?.metadata,
      savedBy: `apl-kernel ${session.options.version}`,
      savedAt: new Date(Number(session.now() / 1_000_000n)).toISOString(),
      timeRange: order.range.label,
    },
    query: {
      ...others,
      apl: withoutRender(order.query).query.text,
      ...present({ variables: Object.keys(order.variables).length === 0 ? undefined : order.variables }),
      ...storedRange(order.range, session.now()),
      ...present({ defaultLimit: order.rowLimit }),
      ...lasting,
    },
  };
}

/** Awaits a starred query; returns undefined if it cannot be read but may still be replaced or deleted. */
export async function readable(reading: Promise<StarredQuery>): Promise<StarredQuery | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ForbiddenError || (error instanceof ApiError && error.status === 500))
      return undefined;
    throw error;
  }
}

async function ownId(session: Pick<Session, 'client'>, signal: AbortSignal): Promise<string> {
  try {
    return (await (await session.client(signal)).currentUser(signal)).id;
  } catch (error) {
    if (!(error instanceof ForbiddenError)) throw error;
    throw new MagicError(
      'the token may not read its own user, but a starred query needs an owner',
      'Use a personal token or an access token for starred queries.',
    );
  }
}

/** Returns the first comment of the query, else its first line. */
function suggestedName(text: string): string {
  const comment = /^[ \t]*\/\/[ \t]*(\S.*)$/m.exec(text)?.[1];
  return oneLine(comment ?? text.split('\n').find(line => line.trim() !== '') ?? 'query', 80);
}
