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
  /** An agent gets the result: no files are read for it. */
  readonly isForAgent?: boolean;
}

/** A result, and the signal for what is done with it: of a fetch that was interrupted, the rows that came are kept and shown. */
export interface RanQuery {
  readonly result: QueryResult;
  readonly signal: AbortSignal;
}

/** The parts of a session that a query needs, each of which belongs to the step that names it. */
export type QueryHost = ReadHost &
  RangeHost &
  AnswerHost &
  NoticeHost &
  Pick<Session, 'annotations' | 'options' | 'takeIntroduction'>;

/**
 * Runs one query on the active profile and returns its result as Arrow: it is read, given a range, requested, answered, and its
 * answer gets its provenance and notices. Throws the errors of the client and the decoder.
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
  /** With the time range that applies: that of the results, if it reads nothing else. */
  readonly order: QueryOrder;
  readonly reads: Reads;
  /** Those whose data it reads. */
  readonly profile: string;
}

/** What knows the tables that a query can read. */
type ReadHost = Names & Pick<Session, 'profileName' | 'endpoint'>;

async function readTables(asked: QueryOrder, names: ReadHost): Promise<ReadQuery> {
  const reads = readsOf(asked.query, names);
  await checkTogether(reads, names);
  const order = { ...asked, range: rangeOfReads(reads) ?? asked.range };
  return { order, reads, profile: profileOfReads(names.profileName, reads) };
}

/** What says which window a range is. */
type RangeHost = Pick<Session, 'profileName' | 'now' | 'measuredDatasets'>;

/** The window of a query, and its clock. */
interface Ranged {
  readonly window: ResolvedRange;
  readonly clock: QueryClock;
  /** What `now()` is, RFC 3339; absent for the time of the run, as the service takes it. */
  readonly now?: string;
}

async function rangeOf(order: QueryOrder, host: RangeHost, signal: AbortSignal): Promise<Ranged> {
  const window = await windowOf(order, host, signal);
  const service = { now: host.now(), isLocal: host.profileName === localProfile };
  const clock = clockOf(order.query, order.range, window, service);
  // All pages share one `now()`.
  const pagesNow = order.fetch !== undefined && service.isLocal ? formatTime(service.now) : undefined;
  return { window, clock, ...present({ now: clock.now ?? pagesNow }) };
}

/** The window of a range as of now. That of `all` spans the datasets, so that bins and charts fit the data. */
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
      `${endless.name} is computed for any time: it has neither a first nor a last event`,
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

/** Asks for annotations while the query runs, if its result will be drawn along time. */
function beginAnnotations(
  { order, reads, profile, window }: Question,
  reader: Pick<AnnotationReader, 'begin'>,
  signal: AbortSignal,
): void {
  if (order.annotates !== true || !groupsByTime(order.query)) return;
  const { startTime: start, endTime: end } = window;
  reader.begin({ profile, datasets: sourcesOf(reads), start, end }, signal);
}

/** What answers queries, and says how far they have come. */
type AnswerHost = Pick<Session, 'query' | 'progress'>;

async function send(question: Question, host: AnswerHost, io: ProgressIo): Promise<Fetched> {
  const { request, reads, order } = question;
  // It loads while the service works.
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

/** The tables of an answer, and how long they took. */
interface Decoded extends TabularArrow, Pick<Provenance, 'elapsedMs' | 'traceId'> {}

async function decode({ raw, decoded }: Fetched, query: QueryText, signal: AbortSignal): Promise<Decoded> {
  const { decodeSteps, inSlices } = await decoderOf();
  const received = performance.now();
  const { envelope, tables } = decoded ?? (await inSlices(decodeSteps(raw.body), signal));
  const elapsedMs = raw.elapsedMs + (raw.recorded ? 0 : performance.now() - received);
  const arranged = tables.map(table => inReadingOrder(table, query));
  return { envelope, tables: arranged, elapsedMs, ...present({ traceId: raw.traceId }) };
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

/** The datasets that the rows come from: those that the service has read, and those behind the results. */
function sourcesBehind(reads: Reads, datasets: readonly string[]): readonly string[] {
  return sourcesOf({ ...reads, datasets: datasets.filter(name => !reads.results.has(name)) });
}

function readingOf(query: QueryText, { tables: [table] }: QueryAnswer): Pick<QueryResult, 'reading'> {
  return table === undefined ? {} : { reading: readAggregation(query, table.info) };
}

/** What says more about an answer, some of it once, and is asked about one without rows. */
type NoticeHost = RangeHost &
  Pick<Session, 'query' | 'schema' | 'takeReplayed' | 'takeRecordingNotices' | 'takeRestart'>;

/** What was said on the way to an answer. */
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

/** Above a named result that a limit cut, the query that keeps all of it. */
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
