import { setTimeout as delay } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import type { Endpoint, TrinoSettings } from '../../../api/profile.js';
import { present } from '../../../present.js';
import { canceledError } from '../../engine/engine-failure.js';
import { type Watch, watchUnseen } from '../../engine/engine-request.js';
import {
  ClusterError,
  clusterFailure,
  damagedAnswer,
  forgotten,
  refusedStatus,
  stalled,
  unreachable,
} from './trino-failure.js';
import { type Page, type PageStats, readPage } from './trino-pages.js';

/** A deployment of a cluster. */
export type Deployment = Endpoint & { readonly engine: TrinoSettings };

/** Options for running a statement. */
export interface StatementOptions {
  readonly signal?: AbortSignal;
  readonly watch?: Watch;
  /** Time limit on the cluster, in milliseconds. */
  readonly limitMs: number;
}

/** Receives the pages of one run of a statement, in order. */
export type TakePage = (page: Page) => void;

interface Timing {
  /** Time without progress after which a statement is aborted, in milliseconds. */
  readonly stallMs: number;
  /** Delay before retrying an unaccepted request, in milliseconds; doubled each time. */
  readonly retryMs: number;
  /** Time for which an unaccepted request is retried, in milliseconds. */
  readonly untakenMs: number;
}

const usualTiming: Timing = { stallMs: 30_000, retryMs: 200, untakenMs: 3_000 };

/** Runs statements of one deployment; owns its connections. */
export class Statements {
  readonly #deployment: Deployment;
  readonly #base: URL;
  readonly #timing: Timing;
  #pool: Dispatcher | undefined;

  constructor(deployment: Deployment, timing: Partial<Timing> = {}) {
    this.#deployment = deployment;
    this.#base = new URL(deployment.url);
    this.#timing = { ...usualTiming, ...timing };
  }

  get deployment(): Deployment {
    return this.#deployment;
  }

  /**
   * Runs a read-only statement until all pages have arrived; `begin` is called for each run. A transient cluster failure is retried once.
   * Throws ClusterError, and EngineError if the signal is aborted.
   */
  async run(sql: string, begin: () => TakePage, options: StatementOptions): Promise<void> {
    try {
      await this.#once(sql, begin(), options);
    } catch (error) {
      if (!(error instanceof ClusterError && error.isPassing) || options.signal?.aborted) throw error;
      await delay(this.#timing.retryMs, undefined, present({ signal: options.signal })).catch(cause => {
        throw canceledError(cause);
      });
      await this.#once(sql, begin(), options);
    }
  }

  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    await pool?.destroy();
  }

  async #once(
    sql: string,
    take: TakePage,
    { signal, watch = watchUnseen, limitMs }: StatementOptions,
  ): Promise<void> {
    const clock = new StallClock(this.#timing.stallMs);
    const gone = () => clock.abort();
    signal?.addEventListener('abort', gone, { once: true });
    let next: string | undefined;
    try {
      signal?.throwIfAborted();
      let page = await this.#page(
        { method: 'POST', path: '/v1/statement', body: sql, limitMs },
        clock.signal,
        watch,
      );
      for (;;) {
        const { id = '', error, nextUri, stats = {} } = page.head;
        next = error === undefined ? nextUri : undefined;
        if (error !== undefined) throw clusterFailure(error, id);
        clock.note(stats, page.rows !== undefined);
        tell(watch, stats);
        take(page);
        if (next === undefined) {
          if (stats.state !== 'FINISHED') throw damagedAnswer(new Error(`it ends as ${stats.state}`));
          return;
        }
        page = await this.#page({ method: 'GET', path: pathOf(next) }, clock.signal, watch);
      }
    } catch (error) {
      if (signal?.aborted) throw canceledError(error);
      throw clock.stalled ? stalled(this.#timing.stallMs / 1000) : error;
    } finally {
      clock.stop();
      signal?.removeEventListener('abort', gone);
      if (next !== undefined) await this.#cancel(next);
    }
  }

  /** Cancels the rest of a query that nobody waits for. */
  async #cancel(next: string): Promise<void> {
    const request = this.#request({ method: 'DELETE', path: pathOf(next) }, AbortSignal.timeout(5_000));
    await request.then(({ body }) => body.dump()).catch(() => undefined);
  }

  /** Requests a page, with retries if the request was not accepted or the response was lost: a page is the same each time. */
  async #page(asked: Asked, signal: AbortSignal, watch: Watch): Promise<Page> {
    const { retryMs, untakenMs } = this.#timing;
    const lastAt = performance.now() + untakenMs;
    for (let pauseMs = retryMs; ; pauseMs *= 2) {
      try {
        return await this.#receive(asked, signal);
      } catch (error) {
        const again = error instanceof ClusterError && ['BUSY', 'UNREACHABLE'].includes(error.errorName);
        if (!again || performance.now() + pauseMs > lastAt || signal.aborted) throw error;
        watch.isHeldUp(`${error.message.replace(/\.$/, '')}; retrying`);
        await delay(pauseMs, undefined, { signal });
      }
    }
  }

  async #receive(asked: Asked, signal: AbortSignal): Promise<Page> {
    const { host } = this.#base;
    let body: Buffer;
    try {
      const response = await this.#request(asked, signal);
      const { statusCode } = response;
      body = Buffer.from(await response.body.arrayBuffer());
      if (statusCode === 404 || statusCode === 410)
        throw asked.method === 'GET' ? forgotten() : refusedStatus(statusCode, host);
      if (statusCode !== 200) throw refusedStatus(statusCode, host);
    } catch (error) {
      throw error instanceof ClusterError || signal.aborted ? error : unreachable(host, error);
    }
    return readPage(body);
  }

  /** Sends a request to the deployment's host, whatever host the cluster names for its next page: secrets go nowhere else. */
  async #request(
    { method, path, body, limitMs }: Asked,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    // Loaded on demand, so a service without clusters starts without the client.
    const { dispatcherTo, unlessAborted } = await import('../../../api/network/network-connection.js');
    this.#pool ??= dispatcherTo(this.#base, { reader: 'the local service' });
    const response = this.#pool.request({
      origin: this.#base.origin,
      method,
      path: `${this.#base.pathname.replace(/\/$/, '')}${path}`,
      headers: { ...this.#headers(), ...present({ 'x-trino-session': sessionOf(limitMs) }) },
      body: body ?? null,
      signal,
    });
    return unlessAborted(signal, response);
  }

  #headers(): Record<string, string> {
    const { engine, token } = this.#deployment;
    const secret = token?.reveal();
    const scheme = engine.usesPassword
      ? `Basic ${Buffer.from(`${engine.user}:${secret}`).toString('base64')}`
      : `Bearer ${secret}`;
    return {
      'x-trino-user': engine.user,
      'x-trino-source': 'apl-kernel',
      'x-trino-time-zone': 'UTC',
      // Without this, times have only milliseconds.
      'x-trino-client-capabilities': 'PARAMETRIC_DATETIME',
      'content-type': 'text/plain; charset=utf-8',
      ...present({ authorization: secret === undefined ? undefined : scheme }),
    };
  }
}

interface Asked {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly path: string;
  readonly body?: string;
  readonly limitMs?: number;
}

function sessionOf(limitMs: number | undefined): string | undefined {
  return limitMs === undefined ? undefined : `query_max_run_time=${Math.max(1, Math.ceil(limitMs / 1000))}s`;
}

function pathOf(uri: string): string {
  if (!URL.canParse(uri)) throw damagedAnswer(new Error('the next page has no address'));
  const { pathname, search } = new URL(uri);
  return `${pathname}${search}`;
}

/** Aborts a statement that makes no progress. Waiting in the queue counts as progress as long as pages arrive. */
class StallClock {
  readonly #controller = new AbortController();
  readonly #stallMs: number;
  #timer: NodeJS.Timeout;
  #seen = '';
  stalled = false;

  constructor(stallMs: number) {
    this.#stallMs = stallMs;
    this.#timer = this.#started();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  #started(): NodeJS.Timeout {
    return setTimeout(() => {
      this.stalled = true;
      this.#controller.abort();
    }, this.#stallMs);
  }

  note(stats: PageStats, hasRows: boolean): void {
    const { state, completedSplits, processedRows, processedBytes, cpuTimeMillis } = stats;
    const seen = [state, completedSplits, processedRows, processedBytes, cpuTimeMillis].join();
    if (seen === this.#seen && !hasRows && state !== 'QUEUED') return;
    this.#seen = seen;
    clearTimeout(this.#timer);
    this.#timer = this.#started();
  }

  abort(): void {
    this.#controller.abort();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

function tell(
  watch: Watch,
  { state, queued, totalSplits = 0, completedSplits = 0, processedRows = 0 }: PageStats,
): void {
  if (state === 'QUEUED' || queued === true) watch.waits(() => 0);
  else
    watch.runs(
      () => (totalSplits === 0 ? undefined : completedSplits / totalSplits),
      () => processedRows,
    );
}
