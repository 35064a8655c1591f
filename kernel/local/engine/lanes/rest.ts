import type { DuckDBConnection } from '@duckdb/node-api';

/** How long after the last query, and how often, in milliseconds. */
const everyMs = 1000;

/** By how much the process may grow from one rest to the next without an attempt to give memory back, in bytes. */
const spareBytes = 128 * 2 ** 20;

/** How often it is tried after a query; what the process has then is taken to be in use. */
const mostTries = 20;

/** Work for every thread of the engine, of some milliseconds. */
const exercise = 'SELECT count(*) FROM (SELECT hash(i) % 1000 FROM range(1000000) t(i) GROUP BY ALL)';

/**
 * Gives the memory of large queries back while the engine rests. The allocator's own threads do not always do it: a process that
 * was asked nothing more has kept gigabytes, until the next queries made the engine's threads work.
 */
export class Rest {
  readonly #connection: DuckDBConnection;
  readonly #isBusy: () => boolean;
  /** Of the process when it last rested, in bytes. */
  #size = process.memoryUsage.rss();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #tries = 0;
  #closed = false;

  constructor(connection: DuckDBConnection, isBusy: () => boolean) {
    this.#connection = connection;
    this.#isBusy = isBusy;
  }

  /** Tells that a query has ended. */
  begin(): void {
    this.#tries = mostTries;
    this.#wait();
  }

  /** Waits for an attempt that is under way; none begins after it. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#running;
    this.#connection.closeSync();
  }

  #wait(): void {
    if (this.#closed || this.#running !== undefined) return;
    this.#timer ??= setTimeout(() => this.#tick(), everyMs).unref();
  }

  #tick(): void {
    this.#timer = undefined;
    if (this.#isBusy()) {
      this.#wait();
      return;
    }
    const size = process.memoryUsage.rss();
    if (size - this.#size <= spareBytes) return;
    if (this.#tries === 0) {
      this.#size = size;
      return;
    }
    this.#tries--;
    this.#running = this.#exercise();
  }

  async #exercise(): Promise<void> {
    // A failure leaves the memory where it is, and the next query tells what is wrong with the engine.
    await this.#connection.run(exercise).catch(() => undefined);
    this.#running = undefined;
    this.#wait();
  }
}
