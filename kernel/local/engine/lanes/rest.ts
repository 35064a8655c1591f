import type { DuckDBConnection } from '@duckdb/node-api';

/** How long after the last query, and how often, in milliseconds. */
const everyMs = 1000;

/** What the process may hold above its size at the start without being asked to give it back, in bytes. */
const spareBytes = 128 * 2 ** 20;

const mostTries = 20;

/** Work for every thread of the engine, of some milliseconds. */
const exercise = 'SELECT count(*) FROM (SELECT hash(i) % 1000 FROM range(1000000) t(i) GROUP BY ALL)';

/**
 * Gives the memory of large queries back while the engine rests: its allocator frees pages only as its threads work, and a
 * process that is asked nothing more would keep gigabytes.
 */
export class Rest {
  readonly #connection: DuckDBConnection;
  readonly #isBusy: () => boolean;
  readonly #sizeAtStart = process.memoryUsage.rss();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<unknown> | undefined;
  #tries = 0;

  constructor(connection: DuckDBConnection, isBusy: () => boolean) {
    this.#connection = connection;
    this.#isBusy = isBusy;
  }

  /** Tells that a query has ended. */
  begin(): void {
    this.#tries = mostTries;
    this.#wait();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#tries = 0;
    await this.#running;
    this.#connection.closeSync();
  }

  #wait(): void {
    if (this.#tries === 0) return;
    this.#timer ??= setTimeout(() => this.#tick(), everyMs).unref();
  }

  #tick(): void {
    this.#timer = undefined;
    if (this.#isBusy()) {
      this.#wait();
      return;
    }
    if (process.memoryUsage.rss() - this.#sizeAtStart <= spareBytes) return;
    this.#tries--;
    // A failure leaves the memory where it is, and the next query tells what is wrong with the engine.
    this.#running ??= this.#connection
      .run(exercise)
      .catch(() => undefined)
      .then(() => {
        this.#running = undefined;
        this.#wait();
      });
  }
}
