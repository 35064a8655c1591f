import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { DuckDBConnection } from '@duckdb/node-api';
import { processMemory } from '../../../machine.js';

/** How long after the last query, and how often, in milliseconds. */
const everyMs = 1000;

/** By how much the process may grow from one rest to the next without an attempt to give memory back, in bytes. */
const spareBytes = 128 * 2 ** 20;

/** How often it is tried after a query; what the process has then is taken to be in use. */
const mostTries = 20;

/** Work for the threads of the engine and for one of libuv's, of some milliseconds. */
const exercise = 'SELECT count(*) FROM (SELECT hash(i) % 1000 FROM range(1000000) t(i) GROUP BY ALL)';

/** Those of libuv in the service; they take the statements of an engine in turn, and each holds what it has freed until it works again. */
const threads = 16;

/** Statements of all engines of this process that run at this moment: what is done at rest would hold them up. */
let running = 0;

/** Buffers and objects of JavaScript after the last collection, in bytes. */
let collectedSize = 0;

/**
 * Gives the memory of large queries and bodies back while every engine of the process rests. Else a process that is asked nothing more
 * keeps gigabytes: buffers wait for the next collection of garbage, and what a thread has freed for the next work of that thread.
 */
export class Rest {
  readonly #connection: DuckDBConnection;
  readonly #measure: () => number | undefined;
  /** Of the process when it last rested, in bytes. */
  #size: number;
  #timer: NodeJS.Timeout | undefined;
  #exercising: Promise<void> | undefined;
  #tries = 0;
  #closed = false;

  /** `measure` returns the memory of the process in bytes; undefined where the system does not say. */
  constructor(connection: DuckDBConnection, measure = processMemory) {
    this.#connection = connection;
    this.#measure = measure;
    this.#size = measure() ?? 0;
  }

  /** Tells that a statement begins; {@link end} follows. */
  begin(): void {
    running++;
  }

  /** Tells that a statement has ended. */
  end(): void {
    running--;
    this.#tries = mostTries;
    this.#wait();
  }

  /** Waits for an attempt that is under way; none begins after it. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#exercising;
    this.#connection.closeSync();
  }

  #wait(): void {
    if (this.#closed || this.#exercising !== undefined) return;
    this.#timer ??= setTimeout(() => this.#tick(), everyMs).unref();
  }

  #tick(): void {
    this.#timer = undefined;
    const size = this.#measure();
    if (size === undefined || running > 0) {
      this.#wait();
      return;
    }
    if (size - this.#size <= spareBytes) return;
    if (this.#tries === 0) {
      this.#size = size;
      return;
    }
    this.#tries--;
    this.#exercising = this.#exercise();
  }

  async #exercise(): Promise<void> {
    collectGarbage();
    // A failure leaves the memory where it is, and the next query tells what is wrong with the engine.
    for (let thread = 0; thread < threads && !this.#closed; thread++)
      await this.#connection.run(exercise).catch(() => undefined);
    this.#exercising = undefined;
    this.#wait();
  }
}

/** On a busy machine a collection can take half a second, in which the process answers nothing: it has to be worth that. */
function collectGarbage(): void {
  if (scriptSize() - collectedSize <= spareBytes / 2) return;
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  collectedSize = scriptSize();
}

function scriptSize(): number {
  const { heapTotal, external } = process.memoryUsage();
  return heapTotal + external;
}
