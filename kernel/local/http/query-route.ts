import { availableParallelism } from 'node:os';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  arrowType,
  type CompileError,
  type ErrorBody,
  type QueryRequest,
  type StatusMessage,
} from '../../api/wire.js';
import type { Diagnostic } from '../../apl/syntax/ast.js';
import { serviceErrorCode } from '../../errors.js';
import { present } from '../../present.js';
import { underEither } from '../../signals.js';
import { formatCount } from '../../text.js';
import { parseGoDuration } from '../../time.js';
import type { CellForm } from '../engine/engine-columns.js';
import { externalFiles, unreadableFile } from '../engine/engine-external.js';
import { mayBeOfFile } from '../engine/engine-failure.js';
import type { ReaderSource } from '../engine/engine-reader.js';
import type { RequestContext } from '../engine/engine-request.js';
import { type QueryAnswer, runQuery } from '../engine/engine-run.js';
import { RecordingCatalog } from '../engine/scans.js';
import { LocalError } from '../local-errors.js';
import { type FarEngine, FarSnapshot } from '../results/far.js';
import { CatalogWithResults } from '../results/sent-catalog.js';
import type { ResultTables } from '../results/tables.js';
import type { ReadableResults, UploadedResult, UploadedResults } from '../results/uploaded.js';
import type { Compile, CompiledQuery } from '../sql/compiled-query.js';
import { whileFiles } from '../store/bounds/bounded-names.js';
import type { DatasetStore } from '../store/datasets.js';
import { invalid } from '../store/documents/document-members.js';
import type { Snapshot } from '../store/snapshot.js';
import { legacyBody, structuredBody, withRowCursors } from './answers/legacy-answer.js';
import { arrowBody, tabularBody } from './answers/tabular.js';
import { departure } from './departure.js';
import type { QueriesUnderWay } from './http-progress.js';
import { parametersOf, readQueryRequest, timeLimitOf } from './http-requests.js';
import { readStructuredQuery } from './structured.js';

/** The parts of the service that a query needs. */
export interface QueryParts {
  /** Returns the readers to run a query on. */
  readonly readersFor: (query: CompiledQuery, results: Iterable<UploadedResult>) => ReaderSource;
  /** Results sent by kernels. */
  readonly results: UploadedResults;
  /** Stores rows of an external engine while a query reads them; `farRows` is the maximum per part. */
  readonly tables: ResultTables;
  readonly farRows: number;
  readonly datasets: DatasetStore;
  readonly compile: Compile;
  readonly nowNs: () => bigint;
  /** Files for `externaldata` are in its `external` directory. */
  readonly dataDir: string;
  /** Maximum run time of a query, in milliseconds. */
  readonly queryMs: number;
  /** Maximum size of the cells of a table in a response, in bytes. */
  readonly answerBytes: number;
  readonly queries: QueriesUnderWay;
}

/** APL that cannot be run: a 400 with a position in the source. */
export class CompileFailure extends LocalError {
  readonly detail: NonNullable<ErrorBody['detail']>;

  constructor(apl: string, diagnostic: Diagnostic, others: readonly Diagnostic[] = []) {
    super('invalid', serviceErrorCode(diagnostic.code), diagnostic.message, diagnostic);
    this.detail = {
      errorType: 'compile',
      compileErrorCode: diagnostic.code,
      ...positionOf(apl, diagnostic.from),
      message: diagnostic.message,
      ...present({
        hint: diagnostic.hint,
        others: others.length > 0 ? others.map(each => compileErrorOf(apl, each)) : undefined,
      }),
    };
  }
}

/** Answers a query request; interrupts the query when the client leaves or the time limit passes. */
export async function answerQuery(
  parts: QueryParts,
  request: FastifyRequest,
  reply: FastifyReply,
  answering: Answering = answerOf,
): Promise<FastifyReply> {
  const format = readFormat(parametersOf(request).format ?? 'tabular');
  const query = readQueryRequest(request.body);
  const form = format === 'tabular' && acceptsArrow(request.headers.accept) ? 'arrow' : 'json';
  const ran = format === 'legacy' ? withRowCursors(query) : query;
  const answer = withTotalsAsAsked(await answerTo(parts, request, ran, form, answering), request);
  const arrow = form === 'arrow' ? await arrowBody(answer) : undefined;
  if (arrow !== undefined) return send(request, reply, arrow, arrowType);
  return send(request, reply, format === 'legacy' ? legacyBody(answer, query) : tabularBody(answer));
}

/** Returns whether the client accepts Arrow: local kernels do, clients of the hosted service do not. */
function acceptsArrow(accept: string | undefined): boolean {
  return accept?.split(',')[0]?.trim() === arrowType;
}

/** Answers a structured query of one dataset. */
export async function answerStructured(
  parts: QueryParts,
  request: FastifyRequest<{ Params: { readonly id: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  parts.datasets.checkExists(request.params.id);
  const { rows, totals } = readStructuredQuery(request.params.id, request.body);
  const answerOf = (query: QueryRequest) => answerTo(parts, request, query).catch(withoutPlace);
  const answer = await answerOf(withRowCursors(rows));
  const whole = totals && withTotalsOf(answer, await answerOf(totals));
  const found = answer.tables.some(({ columns }) => columns.rows > 0);
  if (!found) await pauseOfStream(request);
  return send(request, reply, structuredBody(withTotalsAsAsked(whole ?? answer, request), rows));
}

/** Delays an empty response to a streaming client, which asks again at once and would otherwise do so a thousand times a second. */
async function pauseOfStream(request: FastifyRequest): Promise<void> {
  const nanos = parseGoDuration(parametersOf(request)['streaming-duration'] ?? '') ?? 0n;
  const ms = Math.min(Number(nanos / 1_000_000n), LONGEST_PAUSE_MS);
  if (ms > 0) await delay(ms, undefined, { signal: departure(request) }).catch(() => undefined);
}

/** New events appear within a second. */
const LONGEST_PAUSE_MS = 1000;

/** Removes the position in generated APL, which means nothing to the client. */
function withoutPlace(error: unknown): never {
  if (!(error instanceof CompileFailure)) throw error;
  throw new LocalError('invalid', error.code, error.message, present({ hint: error.hint }));
}

/** Adds totals from a separate query, since the totals of some aggregations cannot be computed from time bins. */
function withTotalsOf(
  { tables: [bins], ...answer }: QueryAnswer,
  { tables: [groups] }: QueryAnswer,
): QueryAnswer {
  const messages = answer.status.messages?.filter(({ code }) => code !== 'totals_left_out');
  const totals = groups && { ...groups, table: { ...groups.table, name: '_totals' } };
  return {
    ...answer,
    status: { ...answer.status, ...present({ messages }) },
    tables: [bins, totals].filter(table => table !== undefined),
  };
}

/** Runs the query of a request, in turn and within its time limit. */
export async function answerTo(
  parts: QueryParts,
  request: FastifyRequest,
  query: QueryRequest,
  form: CellForm = 'json',
  answering: Answering = answerOf,
): Promise<QueryAnswer> {
  const limitMs = limitMsOf(parts, query);
  const { results: wanted = noResults } = query;
  return withinTime(limitMs, departure(request), signal =>
    parts.results.reading(wanted, results =>
      parts.queries.track(request, signal, context => answering(parts, { query, form }, results, context)),
    ),
  );
}

/** Applies the URL parameters that change an answer, and reports the one without effect. */
function withTotalsAsAsked(answer: QueryAnswer, request: FastifyRequest): QueryAnswer {
  const { totals = 'true', saveAsKind = '' } = parametersOf(request);
  if (totals !== 'true' && totals !== 'false') throw invalid('`totals` should be true or false.');
  if (!['', 'analytics', 'stream', 'apl'].includes(saveAsKind))
    throw invalid('`saveAsKind` should be `analytics` or `stream`.');
  const tables =
    totals === 'true' ? answer.tables : answer.tables.filter(({ table }) => table.name !== '_totals');
  if (saveAsKind === '') return { ...answer, tables };
  const { messages = [] } = answer.status;
  return { ...answer, tables, status: { ...answer.status, messages: [...messages, notSaved] } };
}

const notSaved: StatusMessage = {
  priority: 'info',
  count: 1,
  code: 'apl_not_saved',
  msg: '`saveAsKind` has no effect: the local service does not keep a query history.',
};

/** Returns the time limit of a query in milliseconds: its own or the default. */
export function limitMsOf({ queryMs }: QueryParts, query: QueryRequest): number {
  return timeLimitOf(query) ?? queryMs;
}

const noResults = { lease: '', tables: {} };

/** Answers a query together with the results it reads. */
export type Answering = (
  parts: QueryParts,
  asked: Asked,
  results: ReadableResults,
  context: RequestContext,
) => Promise<QueryAnswer>;

/** A query and the requested form of its cells. */
interface Asked {
  readonly query: QueryRequest;
  readonly form: CellForm;
}

/** Answers a query. If files it reads are deleted, replaced or damaged during the run, it starts over once with the current datasets. */
async function answerOf(
  parts: QueryParts,
  asked: Asked,
  results: ReadableResults,
  context: RequestContext,
): Promise<QueryAnswer> {
  const { signal = neverAborted } = context;
  for (let attempt = 1; ; attempt++) {
    const snapshot = await parts.datasets.snapshot();
    try {
      return await whileFiles(
        () => snapshot.files(),
        context.signal,
        signal => answerFrom(parts, asked, snapshot, results, { ...context, signal }),
      );
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof LocalError && startsOver.includes(error.code) && attempt < mostAttempts) continue;
      if (await snapshot.intact()) {
        // The engine may have hit a damaged file without saying so.
        if (mayBeOfFile(error)) {
          if (attempt < mostAttempts && !(await snapshot.isFarWhole())) continue;
          await snapshot.verify(signal);
        }
        throw error;
      }
      if (attempt === mostAttempts) throw changed(error);
    } finally {
      snapshot.close();
    }
  }
}

/** Answers over the datasets of an external engine; anything it cannot compute is computed here. */
export function answeringThrough(engine: FarEngine): Answering {
  return async (parts, asked, results, context) => {
    const { tables, answerBytes, farRows } = parts;
    const options = { tables, mostBytes: answerBytes, mostRows: farRows, context, results };
    const snapshot = await FarSnapshot.open(engine, options);
    try {
      return await answerFrom(parts, asked, snapshot, results, context);
    } finally {
      await snapshot.close();
    }
  };
}

const mostAttempts = 2;

/** Errors after which a query starts over, to read the file differently or to report it as damaged. */
const startsOver: readonly string[] = ['bucket-changed', 'not-a-file'];
const neverAborted = new AbortController().signal;

function changed(cause: unknown): LocalError {
  const message = 'A dataset in this query was deleted twice while the query was running.';
  return new LocalError('conflict', 'dataset-changed', message, { hint: 'Run it again.', cause });
}

async function answerFrom(
  parts: QueryParts,
  { query, form }: Asked,
  snapshot: Snapshot | FarSnapshot,
  results: ReadableResults,
  context: RequestContext,
): Promise<QueryAnswer> {
  const { compiled, tables, catalog } = await compileWhole(parts, query, snapshot, results, context);
  if (!compiled.ok) throw failureOf(query.apl, compiled.diagnostics);
  const { notices, datasets, tables: made } = compiled.compiled;
  const found = snapshot.notices(datasets, made[0]?.range);
  const wanted = { ...compiled.compiled, notices: [...notices, ...found] };
  const readers = parts.readersFor(wanted, readBy(tables.scanned, snapshot));
  snapshot.run();
  const answer = await runQuery(readers, wanted, catalog, context, {
    ...{ mostBytes: parts.answerBytes, form },
    load: () => snapshot.load(context.signal),
  });
  return withNotices(answer, snapshot.farNotices());
}

/** Returns the results that a query reads, and the rows of an external engine, which may grow during the run. */
function readBy(
  scanned: ReadonlySet<UploadedResult>,
  snapshot: Snapshot | FarSnapshot,
): Iterable<UploadedResult> {
  if (!(snapshot instanceof FarSnapshot)) return scanned;
  return { [Symbol.iterator]: () => [...scanned, ...snapshot.rows()].values() };
}

/** Adds notices that are only known after the run. */
function withNotices(answer: QueryAnswer, notices: readonly StatusMessage[]): QueryAnswer {
  if (notices.length === 0) return answer;
  const { messages = [] } = answer.status;
  return { ...answer, status: { ...answer.status, messages: [...messages, ...notices] } };
}

/** Compiles a query, repeatedly as long as it requests datasets that have to be loaded first. */
async function compileWhole(
  parts: QueryParts,
  query: QueryRequest,
  snapshot: Snapshot | FarSnapshot,
  results: ReadableResults,
  { signal }: RequestContext,
) {
  const budget = { limitMs: limitMsOf(parts, query), threads: availableParallelism() };
  const nowNs = parts.nowNs();
  for (;;) {
    const tables = new CatalogWithResults(snapshot, results);
    const catalog = new RecordingCatalog(tables, budget);
    const compiled = parts.compile(query, catalog, nowNs, externalFiles(parts.dataDir));
    if (!(await snapshot.load(signal))) return { compiled, tables, catalog };
  }
}

/** Returns at the limit regardless of the work: the engine may take many seconds to react to an interrupt. */
async function withinTime<T>(
  limitMs: number,
  gone: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal: late, lift } = timeLimit(limitMs);
  const over = new Promise<never>((_, reject) => {
    late.addEventListener('abort', () => reject(late.reason), { once: true });
  });
  try {
    return await Promise.race([underEither([gone, late], work), over]);
  } catch (error) {
    if (late.aborted && !gone.aborted) throw timedOut(limitMs, error);
    throw readingError(error);
  } finally {
    lift();
  }
}

/** Returns a signal that aborts at the limit unless lifted: `AbortSignal.timeout` would hold the answer until then. */
function timeLimit(limitMs: number): { readonly signal: AbortSignal; readonly lift: () => void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), limitMs);
  return { signal: controller.signal, lift: () => clearTimeout(timer) };
}

function timedOut(limitMs: number, cause: unknown): LocalError {
  const seconds = formatCount(limitMs / 1000);
  return new LocalError(
    'timeout',
    'query-timeout',
    `The query was stopped after ${seconds} s, its time limit.`,
    {
      hint: 'Narrow the time range, or read fewer fields.',
      cause,
    },
  );
}

function readingError(error: unknown): unknown {
  const unreadable = unreadableFile(error);
  return unreadable === undefined
    ? error
    : new LocalError('invalid', 'unreadable', unreadable, { cause: error });
}

function readFormat(format: string): 'tabular' | 'legacy' {
  if (format === 'tabular' || format === 'legacy') return format;
  throw new LocalError('invalid', 'format', `Unsupported result format ${JSON.stringify(format)}.`, {
    hint: 'Use `format=tabular` or `format=legacy`.',
  });
}

function failureOf(apl: string, diagnostics: readonly Diagnostic[]): CompileFailure {
  const errors = diagnostics.filter(each => each.severity === 'error').sort((a, b) => a.from - b.from);
  const [first = diagnostics[0], ...others] = errors;
  if (first) return new CompileFailure(apl, first, others.slice(0, maxOthers));
  return new CompileFailure(apl, {
    from: 0,
    to: 0,
    severity: 'error',
    code: 'invalid-query',
    message: 'The query cannot be run.',
  });
}

/** Maximum errors reported after the first. */
const maxOthers = 10;

function compileErrorOf(apl: string, { from, message, hint }: Diagnostic): CompileError {
  return { ...positionOf(apl, from), message, ...present({ hint }) };
}

/** Returns the one-based line and column of an offset. */
function positionOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** Smaller bodies take a few packets either way. */
const compressFromBytes = 64 * 1024;

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  body: readonly Uint8Array[],
  type = 'application/json',
): FastifyReply {
  const bytes = body.reduce((total, part) => total + part.length, 0);
  reply.header('content-type', type);
  if (bytes < compressFromBytes || !acceptsGzip(request.headers['accept-encoding'])) {
    return reply.header('content-length', bytes).send(Readable.from(body, { objectMode: false }));
  }
  reply.header('content-encoding', 'gzip').header('vary', 'accept-encoding');
  // On one machine, compression time matters more than size.
  return reply.send(Readable.from(body, { objectMode: false }).pipe(createGzip({ level: 1 })));
}

function acceptsGzip(header: string | string[] | undefined): boolean {
  return /(^|,)\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*(,|$))[\d.]+\s*)?(,|$)/.test(String(header ?? ''));
}
