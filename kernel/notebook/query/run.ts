import type { RawResult } from '../../api/client.js';
import { localProfile } from '../../api/profile.js';
import type { AnswerOptions, QueryRequest, RequestOptions } from '../../api/wire.js';
import type { Operator } from '../../apl/syntax/ast.js';
import type { QueryText } from '../../apl/syntax/parse.js';
import { largestAnswer, memoryAtMost } from '../../machine.js';
import { present } from '../../present.js';
import type { TabularArrow } from '../../result/decode/arrow.js';
import type {
  ArrowTable,
  Notice,
  Provenance,
  QueryAnswer,
  QueryResult,
  Shortfall,
} from '../../result/result.js';
import { wholeText } from '../../result/shortfall.js';
import { withoutTokens } from '../../text.js';
import { formatTime, LATEST_TIME, parseTime } from '../../time.js';
import type { AnnotationReader } from '../annotations/reader.js';
import {
  profileOfReads,
  type Reads,
  rangeOfReads,
  readNotices,
  readsOf,
  sourcesOf,
  tablesOf,
} from '../results/reads.js';
import type { Session } from '../session.js';
import {
  everything,
  isFrozen,
  type ResolvedRange,
  resolveRange,
  storedEverything,
  type TimeRange,
  TimeRangeError,
} from '../time-range.js';
import { groupsByTime, readAggregation } from './aggregation.js';
import { clockOf, type QueryClock } from './clock.js';
import { checkFetchable, type Fetch, type Fetched, fetchAll, interrupted } from './fetch.js';
import { type ProgressIo, withProgress } from './progress.js';
import { datasetNames } from './reading.js';
import { type Limited, limitNotice, shortfallsIn } from './shortfalls.js';

/** A query to run, and the settings of its cell. */
export interface QueryOrder {
  /** As it is sent. */
  readonly query: QueryText;
  /** Values of the parameters that the query names. */
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly range: TimeRange;
  readonly rowLimit: number | undefined;
  readonly request: RequestOptions;
  /** Absent for one request: the rows that it gives. */
  readonly fetch: Fetch | undefined;
  /** The name under which the result is kept. */
  readonly name?: string;
  /** How many events of a dataset it shows, whatever they are; if there are fewer, a notice says where more are. */
  readonly events?: number;
  /** It is asked again and again, so that an empty answer needs no reason. */
  readonly isRepeated?: boolean;
  /** The result will be drawn, with annotations where it runs along time. */
  readonly annotates?: boolean;
}

/** A result, and the signal for what is done with it: of a fetch that was interrupted, the rows that came are kept and shown. */
export interface RanQuery {
  readonly result: QueryResult;
  readonly signal: AbortSignal;
}

/** Runs one query on the active profile and returns its result as Arrow; throws the errors of the client and the decoder. */
export async function runQuery(session: Session, order: QueryOrder, io: ProgressIo): Promise<RanQuery> {
  const question = await questionOf(session, order, io.signal);
  const introduction = await session.takeIntroduction();
  askAnnotations(session.annotations, question, io.signal);
  const { raw, decoded, stopped } = await send(session, question, io);
  const signal = stopped?.why === interrupted.why ? new AbortController().signal : io.signal;
  const answer = await answerOf(question, { raw, ...present({ decoded }) }, session.options.version, signal);
  const namesCuts = session.profileName === localProfile;
  const limited = { ...question.order, namesCuts, ...present({ stopped }) };
  const shortfalls = shortfallsIn(limited, answer, question.reads, session.takeReplayed());
  const written = [
    ...(introduction === undefined ? [] : [{ level: 'info' as const, text: introduction }]),
    ...question.clock.notices,
    ...session.takeRecordingNotices(),
    ...restartNotices(session.takeRestart()),
    ...(raw.nearLimit === undefined ? [] : [{ level: 'warn' as const, text: raw.nearLimit }]),
    ...limitNotices(limited, answer, question.reads),
    ...wholeNotices(order, shortfalls),
    ...(await readNotices(question.reads, session.schema)),
    ...(await emptyNotices(session, question, answer, signal)),
  ];
  const notices = written.map(({ level, text }) => ({ level, text: withoutTokens(text) }));
  return { result: { ...answer, notices, shortfalls, ...readingOf(order.query, answer) }, signal };
}

/** A query with all that its request depends on. */
interface Question {
  /** With the time range that applies: that of the results, if it reads nothing else. */
  readonly order: QueryOrder;
  readonly reads: Reads;
  readonly clock: QueryClock;
  readonly request: QueryRequest & RequestOptions;
  readonly window: ResolvedRange;
  readonly profile: string;
}

async function questionOf(session: Session, asked: QueryOrder, signal: AbortSignal): Promise<Question> {
  const reads = readsOf(asked.query, session);
  const order = { ...asked, range: rangeOfReads(reads) ?? asked.range };
  const window = await windowOf(order, session, signal);
  const service = { now: session.now(), isLocal: session.profileName === localProfile };
  const clock = clockOf(order.query, order.range, window, service);
  // All pages share one `now()`.
  const pagesNow = order.fetch !== undefined && service.isLocal ? formatTime(service.now) : undefined;
  const request = requestOf(order, window, clock.now ?? pagesNow);
  return { order, reads, clock, request, window, profile: profileOfReads(session.profileName, reads) };
}

function requestOf(
  { query, rowLimit, request, variables = {} }: QueryOrder,
  window: ResolvedRange,
  now: string | undefined,
): QueryRequest & RequestOptions {
  const queryOptions = { ...request.queryOptions, ...present({ now }) };
  return {
    apl: query.text,
    ...window,
    ...request,
    ...present({
      defaultLimit: rowLimit,
      variables: nonEmpty(variables),
      queryOptions: nonEmpty(queryOptions),
    }),
  };
}

function nonEmpty<T extends object>(members: T): T | undefined {
  return Object.keys(members).length === 0 ? undefined : members;
}

/** Asks for annotations while the query runs, if its result will be drawn along time. */
function askAnnotations(
  reader: AnnotationReader,
  { order, reads, profile, window }: Question,
  signal: AbortSignal,
): void {
  if (order.annotates !== true || !groupsByTime(order.query)) return;
  const { startTime: start, endTime: end } = window;
  reader.begin({ profile, datasets: sourcesOf(reads), start, end }, signal);
}

/** What answers queries, and says how far they have come. */
type Service = Pick<Session, 'query' | 'progress'>;

async function send(service: Service, question: Question, io: ProgressIo): Promise<Fetched> {
  const { request, reads, order } = question;
  // It loads while the service works.
  const decoder = decoderOf();
  const ask = (id: string) => (part: QueryRequest & AnswerOptions) =>
    service.query(part, io.signal, tablesOf(reads), id);
  if (order.fetch !== undefined && reads.results.size === 0)
    return sendPages(service, question, order.fetch, ask, io);
  let decoded: TabularArrow | undefined;
  const receive = async (body: AsyncIterable<Uint8Array>) => {
    const { decodeArriving, inSlices } = await decoder;
    decoded = await inSlices(decodeArriving(body), io.signal);
  };
  const raw = await withProgress(
    io,
    (id, over) => service.progress(id, over),
    id => ask(id)({ ...request, receive }),
  );
  await decoder;
  return { raw, ...present({ decoded }) };
}

async function decoderOf() {
  const [{ decodeArriving, decodeSteps }, { inSlices }] = await Promise.all([
    import('../../result/decode/arrow.js'),
    import('../../result/decode/slices.js'),
  ]);
  return { decodeArriving, decodeSteps, inSlices };
}

async function sendPages(
  service: Service,
  { request, order, profile }: Question,
  fetch: Fetch,
  ask: (id: string) => (part: QueryRequest & AnswerOptions) => Promise<RawResult>,
  io: ProgressIo,
): Promise<Fetched> {
  checkFetchable(order.query, order.request);
  let rows = 0;
  const tell = (count: number) => {
    rows = count;
  };
  const isLocal = profile === localProfile;
  return withProgress(
    io,
    async (id, over) => {
      const found = await service.progress(id, over);
      return found === undefined || found.state === 'running' ? { state: 'fetching', rows } : found;
    },
    id =>
      fetchAll(request, fetch, {
        ask: ask(id),
        signal: io.signal,
        isLocal,
        mostBytes: largestAnswer(memoryAtMost()),
        tell,
      }),
  );
}

async function answerOf(
  question: Question,
  { raw, decoded }: Pick<Fetched, 'raw' | 'decoded'>,
  kernelVersion: string,
  signal: AbortSignal,
): Promise<QueryAnswer & Pick<QueryResult, 'sources'>> {
  const { decodeSteps, inSlices } = await decoderOf();
  const received = performance.now();
  const { envelope, tables } = decoded ?? (await inSlices(decodeSteps(raw.body), signal));
  const elapsedMs = raw.elapsedMs + (raw.recorded ? 0 : performance.now() - received);
  const { status, datasetNames, fieldsMetaMap } = envelope;
  const { order, reads } = question;
  return {
    tables: tables.map(table => inReadingOrder(table, order.query)),
    status,
    datasetNames,
    fieldsMetaMap,
    provenance: {
      ...provenanceOf(question),
      datasets: datasetNames,
      ...present({ traceId: raw.traceId }),
      elapsedMs,
      kernelVersion,
    },
    sources: sourcesOf({ ...reads, datasets: datasetNames.filter(name => !reads.results.has(name)) }),
  };
}

function provenanceOf({
  order,
  request,
  window,
  profile,
}: Question): Omit<Provenance, 'datasets' | 'elapsedMs' | 'kernelVersion'> {
  return {
    query: request.apl,
    ...present({
      variables: request.variables,
      options: nonEmpty({ ...order.request, ...present({ defaultLimit: order.rowLimit }) }),
    }),
    ...window,
    rangeLabel: order.range.label,
    frozen: isFrozen(order.range),
    profile,
    isLocal: profile === localProfile,
  };
}

function readingOf(query: QueryText, { tables: [table] }: QueryAnswer): Pick<QueryResult, 'reading'> {
  return table === undefined ? {} : { reading: readAggregation(query, table.info) };
}

function restartNotices(restarted: boolean): readonly Notice[] {
  if (!restarted) return [];
  return [{ level: 'warn', text: 'The local service had stopped; it was started again for this query.' }];
}

function limitNotices(order: Limited, answer: QueryAnswer, reads: Reads): readonly Notice[] {
  const text = limitNotice(order, answer, reads.results.size > 0);
  return text === undefined ? [] : [{ level: 'warn', text }];
}

/** Above a named result that a limit cut, the query that keeps all of it. */
function wholeNotices({ name }: QueryOrder, shortfalls: readonly Shortfall[]): readonly Notice[] {
  return shortfalls.flatMap(({ whole, through }) =>
    name === undefined || whole === undefined || through !== undefined
      ? []
      : [{ level: 'info', text: wholeText(name, whole) }],
  );
}

async function emptyNotices(
  session: Session,
  { order }: Question,
  answer: QueryAnswer,
  signal: AbortSignal,
): Promise<readonly Notice[]> {
  if (order.isRepeated === true) return [];
  const { emptyAnswerNotices } = await import('./empty-answer.js');
  return emptyAnswerNotices(session, order.query, answer, order.events, signal);
}

/** The window of a range as of now. That of `all` spans the datasets, so that bins and charts fit the data. */
async function windowOf(
  { range, query }: QueryOrder,
  service: Pick<Session, 'now' | 'profileName' | 'measuredDatasets'>,
  signal: AbortSignal,
): Promise<ResolvedRange> {
  const now = service.now();
  if (range !== everything) return resolveRange(range, now);
  if (service.profileName !== localProfile) return { ...storedEverything, endTime: formatTime(now) };
  const read = await service.measuredDatasets(datasetNames(query), signal);
  const endless = read.find(({ rows, problems }) => rows === undefined && problems === undefined);
  if (endless !== undefined)
    throw new TimeRangeError(
      `${endless.name} is computed for any time: it has neither a first nor a last event`,
      'Give a range, such as `%time last 1d`.',
    );
  const first = read.flatMap(each => parseTime(each.firstTime ?? '') ?? []);
  const last = read.flatMap(each => parseTime(each.lastTime ?? '') ?? []);
  if (first.length === 0) return resolveRange(everything, now);
  const [start, end] = [first.reduce((a, b) => (a < b ? a : b)), last.reduce((a, b) => (a > b ? a : b))];
  return { startTime: formatTime(start), endTime: formatTime(end < LATEST_TIME ? end + 1n : end) };
}

/** Operators that decide the order of the columns. */
const arranging: ReadonlySet<Operator['kind']> = new Set([
  'project',
  'project-keep',
  'project-reorder',
  'summarize',
  'count',
  'distinct',
  'getschema',
  'make-series',
]);

/** Events begin with their time and end with the time at which they were stored, unless the query arranges its columns. */
function inReadingOrder(table: ArrowTable, { pipeline }: QueryText): ArrowTable {
  if (pipeline?.operators.some(({ kind }) => arranging.has(kind)) ?? true) return table;
  const place = (name: string) => (name === '_time' ? 0 : name === '_sysTime' ? 2 : 1);
  const names = table.data.schema.fields.map(({ name }) => name);
  const order = [...names.keys()].sort((a, b) => place(names[a] ?? '') - place(names[b] ?? ''));
  const fields = order.flatMap(index => table.info.fields[index] ?? []);
  return { info: { ...table.info, fields }, data: table.data.selectAt(order) };
}
