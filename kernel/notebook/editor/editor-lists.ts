import { consoleLink } from '../../api/console.js';
import { ProfileError } from '../../api/profile.js';
import type { DatasetInfo, StarredQuery } from '../../api/wire.js';
import type {
  Answer,
  DatasetRow,
  HistoryRow,
  ListAnswer,
  ListName,
  ListQuestion,
  ListRows,
  ProfileRow,
  ResultQuestion,
  ResultRow,
  StarRow,
} from '../../apl/editor/editor-link.js';
import { present } from '../../present.js';
import { parseTime } from '../../time.js';
import { listStars } from '../magics/stars/star-starred.js';
import { rowsOf } from '../results/result-cache.js';
import type { Session } from '../session.js';
import { daysAround } from '../time-range.js';

/** Maximum queries of the history to list, newest first; a search also finds older ones. */
const longestHistory = 200;

/** The parts of a session that the lists need. */
type ListSession = Pick<Session, 'client' | 'endpoint' | 'options' | 'profileNames' | 'results' | 'schema'>;

/** The rows of each list in the panel, newest first if they have a time. */
const lists: {
  readonly [K in ListName]: (
    session: ListSession,
    question: ListQuestion,
    signal: AbortSignal,
  ) => Promise<readonly ListRows[K][]>;
} = {
  profiles: session => profileRows(session),
  datasets: (session, _, signal) => datasetRows(session, signal),
  results: async session => resultRows(session),
  stars: async (session, _, signal) => (await listStars(session, {}, signal)).items.map(starRow),
  history: (session, { text = '' }) => historyRows(session, text),
};

/** Returns a list for the panel, or a menu's facts about a result. Throws the client's errors. */
export async function listOf(
  session: ListSession,
  question: ListQuestion | ResultQuestion,
  signal: AbortSignal,
): Promise<Answer> {
  switch (question.ask) {
    case 'kinds': {
      const cached = session.results.withId(question.result);
      const { chartKindsOf } = await import('../../result/chart/chart.js');
      return { tell: 'kinds', question, kinds: cached && chartKindsOf(cached.result, Date.now()) };
    }
    case 'link':
      return { tell: 'link', question, url: await linkTo(session, question.result) };
    default: {
      if (!Object.hasOwn(lists, question.ask)) throw new TypeError('there is no such list');
      const rows = await lists[question.ask](session, question, signal);
      return { tell: question.ask, question, rows } as ListAnswer;
    }
  }
}

/** Returns a result's URL in its console, with the range as the user wrote it. */
async function linkTo(
  session: Pick<Session, 'endpoint' | 'results'>,
  result: string,
): Promise<string | undefined> {
  const provenance = session.results.withId(result)?.result.provenance;
  if (provenance === undefined || provenance.isLocal) return undefined;
  try {
    const endpoint = await session.endpoint(provenance.profile);
    return endpoint && consoleLink(endpoint, provenance, false);
  } catch (error) {
    if (error instanceof ProfileError) return undefined;
    throw error;
  }
}

/** Returns names and addresses; a token never leaves the kernel. */
async function profileRows(
  session: Pick<Session, 'endpoint' | 'profileNames'>,
): Promise<readonly ProfileRow[]> {
  const names = await session.profileNames();
  return Promise.all(
    names.map(async name => {
      try {
        const endpoint = await session.endpoint(name);
        const hasToken = endpoint === undefined || endpoint.token !== undefined;
        return { name, hasToken, ...present({ address: endpoint?.url }) };
      } catch (error) {
        if (!(error instanceof ProfileError)) throw error;
        return { name, hasToken: false, problem: error.message };
      }
    }),
  );
}

/** Returns the cached datasets, refreshed in the background if old; else requests them from the service. */
async function datasetRows(
  { schema }: Pick<Session, 'schema'>,
  signal: AbortSignal,
): Promise<readonly DatasetRow[]> {
  const known = await schema.knownDatasets();
  return (known.length > 0 ? known : (await schema.datasets(signal)).items).map(datasetRow);
}

function datasetRow({ name, description, rows, firstTime, lastTime, problems }: DatasetInfo): DatasetRow {
  const [first, last] = [parseTime(firstTime ?? ''), parseTime(lastTime ?? '')];
  const range = first === undefined || last === undefined ? undefined : daysAround(first, last);
  const problem = problems?.map(each => `${each}.`).join(' ');
  return { name, description, ...present({ rows, firstTime, lastTime, range, problem }) };
}

function resultRows({ results }: Pick<Session, 'results'>): readonly ResultRow[] {
  return results
    .all()
    .map(({ cached, names }) => {
      const { startTime, endTime, profile, query } = cached.result.provenance;
      const columns = cached.result.tables[0]?.data.numCols ?? 0;
      return {
        names,
        rows: rowsOf(cached),
        columns,
        bytes: cached.bytes,
        startTime,
        endTime,
        profile,
        query,
      };
    })
    .reverse();
}

function starRow({ id = '', name, dataset, query }: StarredQuery): StarRow {
  const { apl, startTime, endTime } = query;
  const range = startTime && endTime ? `${startTime}..${endTime}` : undefined;
  return { id, name, query: apl, ...present({ dataset: dataset || undefined, range }) };
}

async function historyRows(
  { options }: Pick<Session, 'options'>,
  text: string,
): Promise<readonly HistoryRow[]> {
  const wanted = text.toLowerCase();
  const entries = (await options.queryLog?.entries()) ?? [];
  return entries
    .map((entry, index) => ({ entry, number: index + 1 }))
    .filter(({ entry }) => entry.apl.toLowerCase().includes(wanted))
    .slice(-longestHistory)
    .reverse()
    .map(
      ({ entry: { at, profile, apl, startTime, endTime, rows, error, elapsedMs, variables }, number }) => ({
        ...{ number, at, profile, query: apl, startTime, endTime, elapsedMs },
        ...present({ rows, error }),
        hasVariables: Object.keys(variables ?? {}).length > 0,
      }),
    );
}
