import type { RawResult } from '../../api/client.js';
import { localProfile } from '../../api/profile.js';
import type { QueryRequest } from '../../api/wire.js';
import type { Operator } from '../../apl/syntax/ast.js';
import { withoutRender } from '../../apl/syntax/readers/charting.js';
import { present } from '../../present.js';
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
import { clockOf } from './clock.js';
import { type ProgressIo, withProgress } from './progress.js';
import { datasetNames, mainPipeline } from './reading.js';
import { limitNotice, shortfallsIn } from './shortfalls.js';

/** A query to run: the text as it is sent, and the settings of its cell. */
export interface QueryOrder {
  readonly text: string;
  /** Values of the parameters that the text names. */
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly range: TimeRange;
  readonly rowLimit: number | undefined;
  /** The name under which the result is kept. */
  readonly name?: string;
  /** How many events of a dataset it shows, whatever they are; where there are fewer, a notice says where more are. */
  readonly events?: number;
  /** The result will be drawn, with annotations where it runs along time. */
  readonly annotates?: boolean;
}

/** Runs one query on the active profile and returns its result as Arrow; throws the errors of the client and the decoder. */
export async function runQuery(session: Session, asked: QueryOrder, io: ProgressIo): Promise<QueryResult> {
  const { signal } = io;
  // How the result is drawn is for the front end: no service is sent it.
  const { text } = withoutRender(asked.text);
  const reads = readsOf(session, text);
  const order = { ...asked, text, range: rangeOfReads(reads) ?? asked.range };
  const range = await windowOf(session, order, signal);
  const clock = clockOf(session, order.text, order.range, range);
  const request: QueryRequest = {
    apl: order.text,
    ...range,
    ...present({
      defaultLimit: order.rowLimit,
      variables: isEmpty(order.variables) ? undefined : order.variables,
      queryOptions: clock.now === undefined ? undefined : { now: clock.now },
    }),
  };
  const profile = profileOfReads(session.profileName, reads);
  const introduction = await session.takeIntroduction();
  const asksAnnotations = order.annotates === true && groupsByTime(order.text);
  if (asksAnnotations)
    session.annotations.begin(
      { profile, datasets: sourcesOf(reads), start: range.startTime, end: range.endTime },
      signal,
    );
  // The decoder loads while the service works.
  const [raw, { decodeSteps }, { inSlices }] = await Promise.all([
    withProgress(
      io,
      (id, over) => session.progress(id, over),
      id => session.query(request, signal, tablesOf(reads), id),
    ),
    import('../../result/decode/arrow.js'),
    import('../../result/decode/slices.js'),
  ]);
  const received = performance.now();
  const { envelope, tables } = await inSlices(decodeSteps(raw.body), signal);
  const elapsedMs = raw.elapsedMs + (raw.recorded ? 0 : performance.now() - received);
  const result = {
    tables: tables.map(table => inReadingOrder(table, order.text)),
    status: envelope.status,
    datasetNames: envelope.datasetNames,
    fieldsMetaMap: envelope.fieldsMetaMap,
    provenance: provenanceOf(session, order, request, raw, profile, envelope.datasetNames, elapsedMs),
    sources: sourcesOf({
      ...reads,
      datasets: envelope.datasetNames.filter(name => !reads.results.has(name)),
    }),
  };
  const shortfalls = shortfallsIn(session, order, result, reads);
  const { emptyAnswerNotices } = await import('./empty-answer.js');
  const written = [
    ...(introduction === undefined ? [] : [{ level: 'info' as const, text: introduction }]),
    ...clock.notices,
    ...noticesOf(session, order, result, reads),
    ...wholeNotices(order, shortfalls),
    ...(await readNotices(session, reads)),
    ...(await emptyAnswerNotices(session, result, order.events, signal)),
  ];
  const notices = written.map(({ level, text }) => ({ level, text: withoutTokens(text) }));
  const [table] = tables;
  return table === undefined
    ? { ...result, notices, shortfalls }
    : { ...result, notices, shortfalls, reading: readAggregation(order.text, table.info) };
}

/** Above a named result that a limit cut, the query that keeps all of it. */
function wholeNotices({ name }: QueryOrder, shortfalls: readonly Shortfall[]): readonly Notice[] {
  return shortfalls.flatMap(({ whole, through }) =>
    name === undefined || whole === undefined || through !== undefined
      ? []
      : [{ level: 'info', text: wholeText(name, whole) }],
  );
}

function isEmpty(variables: QueryOrder['variables']): boolean {
  return Object.keys(variables ?? {}).length === 0;
}

/** The window of a range at this moment. That of `all` spans the datasets, so that bins and charts fit the data. */
async function windowOf(session: Session, order: QueryOrder, signal: AbortSignal): Promise<ResolvedRange> {
  const now = session.now();
  if (order.range !== everything) return resolveRange(order.range, now);
  if (session.profileName !== localProfile) return { ...storedEverything, endTime: formatTime(now) };
  const read = await session.measuredDatasets(datasetNames(order.text), signal);
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
function inReadingOrder(table: ArrowTable, text: string): ArrowTable {
  if (mainPipeline(text)?.operators.some(({ kind }) => arranging.has(kind)) ?? true) return table;
  const place = (name: string) => (name === '_time' ? 0 : name === '_sysTime' ? 2 : 1);
  const names = table.data.schema.fields.map(({ name }) => name);
  const order = [...names.keys()].sort((a, b) => place(names[a] ?? '') - place(names[b] ?? ''));
  const fields = order.flatMap(index => table.info.fields[index] ?? []);
  return { info: { ...table.info, fields }, data: table.data.selectAt(order) };
}

function provenanceOf(
  session: Session,
  order: QueryOrder,
  request: QueryRequest,
  raw: RawResult,
  profile: string,
  datasets: readonly string[],
  elapsedMs: number,
): Provenance {
  return {
    query: order.text,
    ...present({ variables: request.variables }),
    startTime: request.startTime ?? '',
    endTime: request.endTime ?? '',
    rangeLabel: order.range.label,
    frozen: isFrozen(order.range),
    profile,
    isLocal: profile === localProfile,
    datasets,
    ...present({ traceId: raw.traceId }),
    elapsedMs,
    kernelVersion: session.options.version,
  };
}

/** Notices that only the kernel can write; the renderings add those about the query's status. */
function noticesOf(
  session: Session,
  order: QueryOrder,
  result: QueryAnswer,
  { results }: Reads,
): readonly Notice[] {
  const notices: Notice[] = [...session.takeRecordingNotices()];
  if (session.takeRestart()) {
    notices.push({
      level: 'warn',
      text: 'The local service had stopped; it was started again for this query.',
    });
  }
  const limited = limitNotice(order, result, results.size > 0);
  if (limited !== undefined) notices.push({ level: 'warn', text: limited });
  return notices;
}
