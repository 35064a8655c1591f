import type { RawResult } from '../../api/client.js';
import { localProfile } from '../../api/profile.js';
import type { AnswerOptions, QueryRequest, RequestOptions } from '../../api/wire.js';
import type { Operator } from '../../apl/syntax/ast.js';
import type { QueryText } from '../../apl/syntax/parse.js';
import { largestAnswer, memoryAtMost } from '../../machine.js';
import { present } from '../../present.js';
import type { TabularArrow } from '../../result/decode/decode-arrow.js';
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
import type { AnnotationReader } from '../annotations/annotation-reader.js';
import {
  checkTogether,
  type Names,
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
import { refuseFiles } from './query-files.js';
import { type ProgressIo, withProgress } from './query-progress.js';
import { datasetNames } from './query-reading.js';
import { limitNotice, shortfallsIn } from './shortfalls.js';

/** A query to run, and the settings of its cell. */
export interface QueryOrder {
  /** The query as sent. */
  readonly query: QueryText;
  /** Values of the parameters that the query names. */
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly range: TimeRange;
  readonly rowLimit: number | undefined;
  readonly request: RequestOptions;
  /** Absent for a single request and the rows that it returns. */
  readonly fetch: Fetch | undefined;
  /** The name of the cached result. */
  readonly name?: string;
  /** Number of events to show from a dataset, without conditions; if there are fewer, a notice points to more. */
  readonly events?: number;
  /** Whether the query is repeated, so that an empty result needs no explanation. */
  readonly isRepeated?: boolean;
  /** Whether the result will be drawn, with annotations if it is a series over time. */
  readonly annotates?: boolean;
  /** Whether an agent gets the result: the query may not read files. */
  readonly isForAgent?: boolean;
}

/** A result, and the signal for its further use: after an interrupted fetch, the rows received are still cached and shown. */
export interface RanQuery {
  readonly result: QueryResult;
  readonly signal: AbortSignal;
}

/** The parts of a session that a query needs, grouped by step. */
export type QueryHost = ReadHost &
  RangeHost &
  AnswerHost &
  NoticeHost &
  Pick<Session, 'annotations' | 'options' | 'takeIntroduction'>;

/**
 * Runs one query on the active profile and returns its result as Arrow: resolves tables and range, sends the request, decodes the
 * response, and adds provenance and notices. Throws the errors of the client and the decoder.
 */
export async function runQuery(host: QueryHost, asked: QueryOrder, io: ProgressIo): Promise<RanQuery> {
  if (asked.isForAgent === true) refuseFiles(asked.query);
  const read = await readTables(asked, host);
  const ranged = await rangeOf(read.order, host, io.signal);
  const question: Question = { ...read, ...ranged, request: requestOf(read.order, ranged) };
  const introduction = await host.takeIntroduction();
  beginAnnotations(question, host.annotations, io.signal);
  const fetched = await send(question, host, io);
  const signal = fetched.stopped?.why === interrupted.why ? new AbortController().signal : io.signal;
  const decoded = await decode(fetched, asked.query, signal);
  const provenance = provenanceOf(question, decoded, host.options.version);
  const { envelope, tables } = decoded;
  const { status, datasetNames: datasets, fieldsMetaMap } = envelope;
  const answer: QueryAnswer = { tables, status, datasetNames: datasets, fieldsMetaMap, provenance };
  const told = { introduction, nearLimit: fetched.raw.nearLimit, stopped: fetched.stopped };
  const { notices, shortfalls } = await noticesOf(question, answer, told, host, signal);
  const sources = sourcesBehind(question.reads, datasets);
  const result = { ...answer, sources, notices, shortfalls, ...readingOf(asked.query, answer) };
  return { result, signal };
}

/** A query with the tables that it reads. */
interface ReadQuery {
  /** Includes the effective time range: that of the results, if it reads nothing else. */
  readonly order: QueryOrder;
  readonly reads: Reads;
  /** The profiles whose data it reads. */
  readonly profile: string;
}

/** The parts of a session that resolve the tables of a query. */
type ReadHost = Names & Pick<Session, 'profileName' | 'endpoint'>;

async function readTables(asked: QueryOrder, names: ReadHost): Promise<ReadQuery> {
  const reads = readsOf(asked.query, names);
  await checkTogether(reads, names);
  const order = { ...asked, range: rangeOfReads(reads) ?? asked.range };
  return { order, reads, profile: profileOfReads(names.profileName, reads) };
}

/** The parts of a session that resolve a range to a window. */
type RangeHost = Pick<Session, 'profileName' | 'now' | 'measuredDatasets'>;

/** The window of a query, and its clock. */
interface Ranged {
  readonly window: ResolvedRange;
  readonly clock: QueryClock;
  /** Value of `now()`, RFC 3339; absent for the time of the run on the service's clock. */
  readonly now?: string;
}

async function rangeOf(order: QueryOrder, host: RangeHost, signal: AbortSignal): Promise<Ranged> {
  const window = await windowOf(order, host, signal);
  const service = { now: host.now(), isLocal: host.profileName === localProfile };
  const clock = clockOf(order.query, order.range, window, service);
  // All pages share the same `now()`.
  const pagesNow = order.fetch !== undefined && service.isLocal ? formatTime(service.now) : undefined;
  return { window, clock, ...present({ now: clock.now ?? pagesNow }) };
}

/** Returns the current window of a range. The window of `all` spans the datasets, so that bins and charts fit the data. */
async function windowOf(
  { range, query }: QueryOrder,
  host: RangeHost,
  signal: AbortSignal,
): Promise<ResolvedRange> {
  const now = host.now();
  if (range !== everything) return resolveRange(range, now);
  if (host.profileName !== localProfile) return { ...storedEverything, endTime: formatTime(now) };
  const read = await host.measuredDatasets(datasetNames(query), signal);
  const endless = read.find(({ rows, problems }) => rows === undefined && problems === undefined);
  if (endless !== undefined)
    throw new TimeRangeError(
      `${endless.name} is computed for any time, so it has no first or last event`,
      'Give a range, such as `%time last 1d`.',
    );
  const first = read.flatMap(each => parseTime(each.firstTime ?? '') ?? []);
  const last = read.flatMap(each => parseTime(each.lastTime ?? '') ?? []);
  if (first.length === 0) return resolveRange(everything, now);
  const [start, end] = [first.reduce((a, b) => (a < b ? a : b)), last.reduce((a, b) => (a > b ? a : b))];
  return { startTime: formatTime(start), endTime: formatTime(end < LATEST_TIME ? end + 1n : end) };
}

/** A query with its request. */
interface Question extends ReadQuery, Ranged {
  readonly request: QueryRequest & RequestOptions;
}

function requestOf(
  { query, rowLimit, request, variables = {} }: QueryOrder,
  { window, now }: Pick<Ranged, 'window' | 'now'>,
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

/** Requests annotations while the query runs, if its result will be drawn over time. */
function beginAnnotations(
  { order, reads, profile, window }: Question,
  reader: Pick<AnnotationReader, 'begin'>,
  signal: AbortSignal,
): void {
  if (order.annotates !== true || !groupsByTime(order.query)) return;
  const { startTime: start, endTime: end } = window;
  reader.begin({ profile, datasets: sourcesOf(reads), start, end }, signal);
}

/** The parts of a session that run queries and report their progress. */
type AnswerHost = Pick<Session, 'query' | 'progress'>;

async function send(question: Question, host: AnswerHost, io: ProgressIo): Promise<Fetched> {
  const { request, reads, order } = question;
  // Loads while the service works.
  const decoder = decoderOf();
  const ask = (id: string) => (part: QueryRequest & AnswerOptions) =>
    host.query(part, io.signal, tablesOf(reads), id);
  if (order.fetch !== undefined && reads.results.size === 0)
    return sendPages(question, order.fetch, host, ask, io);
  let decoded: TabularArrow | undefined;
  const receive = async (body: AsyncIterable<Uint8Array>) => {
    const { decodeArriving, inSlices } = await decoder;
    decoded = await inSlices(decodeArriving(body), io.signal);
  };
  const raw = await withProgress(
    io,
    (id, over) => host.progress(id, over),
    id => ask(id)({ ...request, receive }),
  );
  await decoder;
  return { raw, ...present({ decoded }) };
}

async function decoderOf() {
  const [{ decodeArriving, decodeSteps }, { inSlices }] = await Promise.all([
    import('../../result/decode/decode-arrow.js'),
    import('../../result/decode/decode-slices.js'),
  ]);
  return { decodeArriving, decodeSteps, inSlices };
}

async function sendPages(
  { request, order, profile }: Question,
  fetch: Fetch,
  host: AnswerHost,
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
      const found = await host.progress(id, over);
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

/** The tables of a response, and how long they took. */
interface Decoded extends TabularArrow, Pick<Provenance, 'elapsedMs' | 'traceId'> {}

async function decode({ raw, decoded }: Fetched, query: QueryText, signal: AbortSignal): Promise<Decoded> {
  const { decodeSteps, inSlices } = await decoderOf();
  const received = performance.now();
  const { envelope, tables } = decoded ?? (await inSlices(decodeSteps(raw.body), signal));
  const elapsedMs = raw.elapsedMs + (raw.recorded ? 0 : performance.now() - received);
  const arranged = tables.map(table => inReadingOrder(table, query));
  return { envelope, tables: arranged, elapsedMs, ...present({ traceId: raw.traceId }) };
}

/** Operators that determine the order of the columns. */
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

/** Puts the time of events first and the time they were stored last, unless the query arranges its columns. */
function inReadingOrder(table: ArrowTable, { pipeline }: QueryText): ArrowTable {
  if (pipeline?.operators.some(({ kind }) => arranging.has(kind)) ?? true) return table;
  const place = (name: string) => (name === '_time' ? 0 : name === '_sysTime' ? 2 : 1);
  const names = table.data.schema.fields.map(({ name }) => name);
  const order = [...names.keys()].sort((a, b) => place(names[a] ?? '') - place(names[b] ?? ''));
  const fields = order.flatMap(index => table.info.fields[index] ?? []);
  return { info: { ...table.info, fields }, data: table.data.selectAt(order) };
}

function provenanceOf(
  { order, request, window, profile }: Question,
  { envelope, traceId, elapsedMs }: Decoded,
  kernelVersion: string,
): Provenance {
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
    datasets: envelope.datasetNames,
    ...present({ traceId }),
    elapsedMs,
    kernelVersion,
  };
}

/** Returns the source datasets of the rows: those that the service read, and those behind the results. */
function sourcesBehind(reads: Reads, datasets: readonly string[]): readonly string[] {
  return sourcesOf({ ...reads, datasets: datasets.filter(name => !reads.results.has(name)) });
}

function readingOf(query: QueryText, { tables: [table] }: QueryAnswer): Pick<QueryResult, 'reading'> {
  return table === undefined ? {} : { reading: readAggregation(query, table.info) };
}

/** The parts of a session that provide notices, some of them once, and are queried about an empty result. */
type NoticeHost = RangeHost &
  Pick<Session, 'query' | 'schema' | 'takeReplayed' | 'takeRecordingNotices' | 'takeRestart'>;

/** Notices collected before the response. */
interface Told {
  readonly introduction: string | undefined;
  readonly nearLimit: string | undefined;
  readonly stopped: Fetched['stopped'];
}

async function noticesOf(
  { order, reads, clock }: Question,
  answer: QueryAnswer,
  { introduction, nearLimit, stopped }: Told,
  host: NoticeHost,
  signal: AbortSignal,
): Promise<Required<Pick<QueryResult, 'notices' | 'shortfalls'>>> {
  const limited = { ...order, namesCuts: host.profileName === localProfile, ...present({ stopped }) };
  const shortfalls = shortfallsIn(limited, answer, reads, host.takeReplayed());
  const written = [
    ...noticeOf('info', introduction),
    ...clock.notices,
    ...host.takeRecordingNotices(),
    ...noticeOf('warn', host.takeRestart() ? restarted : undefined),
    ...noticeOf('warn', nearLimit),
    ...noticeOf('warn', limitNotice(limited, answer, reads.results.size > 0)),
    ...wholeNotices(order, shortfalls),
    ...(await readNotices(reads, host.schema)),
    ...(await emptyNotices(order, answer, host, signal)),
  ];
  return { shortfalls, notices: written.map(({ level, text }) => ({ level, text: withoutTokens(text) })) };
}

const restarted = 'The local service had stopped; it was started again for this query.';

function noticeOf(level: Notice['level'], text: string | undefined): readonly Notice[] {
  return text === undefined ? [] : [{ level, text }];
}

/** For a named result that a limit truncated, suggests the query that stores all of it. */
function wholeNotices({ name }: QueryOrder, shortfalls: readonly Shortfall[]): readonly Notice[] {
  return shortfalls.flatMap(({ whole, through }) =>
    name === undefined || whole === undefined || through !== undefined
      ? []
      : [{ level: 'info', text: wholeText(name, whole) }],
  );
}

async function emptyNotices(
  { query, events, isRepeated }: QueryOrder,
  answer: QueryAnswer,
  service: Pick<Session, 'query' | 'measuredDatasets'>,
  signal: AbortSignal,
): Promise<readonly Notice[]> {
  if (isRepeated === true) return [];
  const { emptyAnswerNotices } = await import('./empty-answer.js');
  return emptyAnswerNotices(service, query, answer, events, signal);
}
