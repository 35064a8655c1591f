import { tableToIPC } from 'apache-arrow';
import { InterruptedError, QueryError } from '../../api/api-errors.js';
import { AplKernelError } from '../../errors.js';
import type { Comm, CommHandler } from '../../jupyter/message.js';
import { present } from '../../present.js';
import { allNotices } from '../../result/display/summary.js';
import { rangeOfRows, takeRows } from '../../result/take.js';
import type { Session } from '../session.js';
import { fieldsOf } from './result-arrow.js';
import { type CachedResult, rowsOf } from './result-cache.js';
import { profileOf } from './result-profile.js';
import type { ErrorReply, OpenData, PageReply, ReadyReply, Request, View } from './result-protocol.js';
import { rowsOfView, ViewError, type ViewQuery, viewQuery } from './result-view.js';

/** The parts of a session that a reader of results needs. */
type ReaderSession = Pick<Session, 'options' | 'queryCached' | 'results' | 'sendCached'>;

/** Serves a front end that reads a cached result; closes the comm at once if the kernel does not have it. */
export function openReader(session: ReaderSession, comm: Comm, data: unknown): CommHandler {
  const id = (data as Partial<OpenData> | null)?.result;
  const cached = typeof id === 'string' ? session.results.withId(id) : undefined;
  if (cached !== undefined) comm.send(readyOf(cached));
  else {
    comm.send(gone());
    comm.close();
  }
  return new ResultReader(session, comm, cached?.id ?? '');
}

function gone(id?: number): ErrorReply {
  const message = 'the kernel no longer has this result';
  const hint = 'Run its cell again. `%results --budget` sets the memory for results.';
  return { kind: 'error', ...present({ id }), code: 'gone', message, hint };
}

function readyOf(cached: CachedResult): ReadyReply {
  const table = cached.result.tables[0]?.data;
  const columns = table === undefined ? [] : fieldsOf(table);
  const notes = allNotices(cached.result).map(({ text }) => text);
  return { kind: 'ready', rows: rowsOf(cached), columns, notes };
}

/** Maximum rows of a page. */
const longestPage = 10_000;

/** The requests that get a reply. */
type Answered = Exclude<Request, { readonly op: 'cancel' | 'prepare' }>;

/** One open grid. It caches the row order of the last view, so that further pages need no query. */
class ResultReader implements CommHandler {
  readonly #session: ReaderSession;
  readonly #comm: Comm;
  readonly #id: string;
  readonly #running = new Map<number, AbortController>();
  #view: { readonly key: string; readonly rows: Promise<Uint32Array> } | undefined;

  constructor(session: ReaderSession, comm: Comm, id: string) {
    this.#session = session;
    this.#comm = comm;
    this.#id = id;
  }

  /** Returns at once: requests run concurrently. */
  message(data: unknown): void {
    const request = data as Request;
    if (request.op === 'cancel') this.#running.get(request.of)?.abort();
    else if (request.op === 'prepare') this.#prepare();
    else this.#begin(request);
  }

  close(): void {
    for (const abort of this.#running.values()) abort.abort();
  }

  #begin(request: Answered): void {
    const abort = new AbortController();
    this.#running.set(request.id, abort);
    this.#answer(request, abort.signal)
      .catch(error => this.#comm.send(this.#refusal(request, error, abort.signal)))
      .finally(() => this.#running.delete(request.id));
  }

  /** Ignores errors: a view that needs the engine reports them itself. */
  #prepare(): void {
    const cached = this.#session.results.withId(this.#id);
    if (cached !== undefined) this.#session.sendCached(cached).catch(() => undefined);
  }

  async #answer(request: Answered, signal: AbortSignal): Promise<void> {
    const cached = this.#session.results.withId(this.#id);
    if (cached === undefined) {
      this.#comm.send(gone(request.id));
      return;
    }
    switch (request.op) {
      case 'page': {
        const [reply, bytes] = await this.#page(cached, request, signal);
        this.#comm.send(reply, {}, [bytes]);
        return;
      }
      case 'profile':
        this.#comm.send(await profileOf(this.#session, cached, request, signal));
        return;
      default:
        throw new ViewError(`${String((request as { op: unknown }).op)} is not a request`);
    }
  }

  async #page(
    cached: CachedResult,
    request: Extract<Request, { op: 'page' }>,
    signal: AbortSignal,
  ): Promise<[PageReply, Uint8Array]> {
    const { id, offset, limit, columns } = request;
    if (!isCount(offset) || !isCount(limit))
      throw new ViewError('the offset and the limit of a page must be whole numbers');
    const table = cached.result.tables[0]?.data;
    if (table === undefined) throw new ViewError('the result has no table');
    const all = await this.#rows(cached, request, signal);
    const rows = pageOf(all, table.numRows, offset, Math.min(limit, longestPage));
    const taken = takeRows(table, placesOf(fieldsOf(table), columns), rows);
    const reply: PageReply = {
      kind: 'page',
      id,
      offset,
      count: rows.length,
      rows: all?.length ?? table.numRows,
      totalRows: table.numRows,
    };
    return [reply, tableToIPC(taken, 'stream')];
  }

  /** Returns the rows of a view in order; undefined for all rows in their original order. */
  async #rows(cached: CachedResult, view: View, signal: AbortSignal): Promise<Uint32Array | undefined> {
    const table = cached.result.tables[0]?.data;
    if (table === undefined) return undefined;
    const query = viewQuery(table, view);
    if (query.text === '') return undefined;
    const key = query.text;
    if (this.#view?.key !== key) this.#view = { key, rows: rowsOfView(this.#session, cached, query, signal) };
    const { rows } = this.#view;
    try {
      return await rows;
    } catch (error) {
      if (this.#view?.rows === rows) this.#view = undefined;
      // The first caller has given up, but this request has not.
      if (error instanceof InterruptedError && !signal.aborted) return this.#rows(cached, view, signal);
      throw error;
    }
  }

  #refusal(request: Answered, error: unknown, signal: AbortSignal): ErrorReply {
    const { id } = request;
    const about = (code: ErrorReply['code'], message: string, hint?: string): ErrorReply => ({
      kind: 'error',
      id,
      code,
      message,
      ...present({ hint }),
    });
    if (signal.aborted || error instanceof InterruptedError)
      return about('canceled', 'the request was canceled');
    if (error instanceof ViewError) return about('invalid', error.message, error.hint);
    if (error instanceof QueryError) {
      const at = placeOf(this.#session, this.#id, request, error);
      return { ...about('invalid', error.message, error.hint), ...present({ at }) };
    }
    if (error instanceof AplKernelError) return about('failed', error.message, error.hint);
    this.#session.options.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return about(
      'failed',
      'the kernel failed on this request',
      'The log of the kernel has details. Report it as a bug.',
    );
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function pageOf(all: Uint32Array | undefined, total: number, offset: number, limit: number): Uint32Array {
  if (all !== undefined) return all.subarray(offset, offset + limit);
  return rangeOfRows(offset, Math.min(limit, total - offset));
}

function placesOf(
  fields: readonly { readonly name: string }[],
  wanted?: readonly string[],
): readonly number[] {
  if (wanted === undefined) return [...fields.keys()];
  return wanted.map(name => {
    const place = fields.findIndex(field => field.name === name);
    if (place < 0) throw new ViewError(`the result has no column ${name}`);
    return place;
  });
}

/** Returns the position of an error in a condition of the request. */
function placeOf(
  session: Pick<Session, 'results'>,
  resultId: string,
  request: Answered,
  { position }: QueryError,
): ErrorReply['at'] {
  const table = session.results.withId(resultId)?.result.tables[0]?.data;
  if (position === undefined || table === undefined) return undefined;
  const query: ViewQuery = viewQuery(table, request);
  const lines = query.text.split('\n').slice(0, position.line - 1);
  // The first line is the name of the table.
  const offset = lines.reduce((total, line) => total + line.length + 1, 0) + position.column - 1;
  const place = query.expressions.find(({ from, to }) => from <= offset && offset <= to);
  return place === undefined ? undefined : { filter: place.filter, from: offset - place.from };
}
