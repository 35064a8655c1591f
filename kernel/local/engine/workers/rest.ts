import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { processMemory } from '../../../machine.js';

/** How long after the last statement, and how often, in milliseconds. */
const everyMs = 1000;

/** By how much the process may grow from one rest to the next without an attempt to give memory back, in bytes. */
const spareBytes = 128 * 2 ** 20;

/** How often it is tried after a statement; what the process has then is taken to be in use. */
const mostTries = 20;

/** Closed engines that wait for a rest; each has idle threads. */
const mostClosed = 16;

/** What is done for the memory of the process. */
interface Means {
  /** Returns the memory of the process in bytes; undefined if the system does not say. */
  readonly measure: () => number | undefined;
  /** Collects what JavaScript has left behind if that seems to be much, or if it has to. */
  readonly collect: (hasTo: boolean) => void;
  /** Has the allocators of the process give back what was freed, within seconds. */
  readonly purge: () => Promise<unknown>;
}

/**
 * Does at rest, while no engine of the process runs a statement, what would hold statements up: it collects buffers of JavaScript that
 * large queries and bodies leave behind, and ends engines that were closed. To end one takes up to a second on a busy machine, in which
 * the process answers nothing.
 */
export class Rest {
  readonly #means: Means;
  readonly #closed: (() => void)[] = [];
  /** Statements that run now. */
  #running = 0;
  /** Of the process when it last rested, in bytes. */
  #size: number;
  #tries = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(means: Means) {
    this.#means = means;
    this.#size = means.measure() ?? 0;
  }

  /** Tells that a statement begins; {@link end} follows. */
  begin(): void {
    this.#running++;
  }

  /** Tells that a statement has ended. */
  end(): void {
    this.#running--;
    this.#tries = mostTries;
    this.#wait();
  }

  /** Ends an engine that no statement will run on: at the next rest, or once many wait for one. */
  close(end: () => void): void {
    this.#closed.push(end);
    if (this.#closed.length > mostClosed) this.#endOne();
    this.#wait();
  }

  #wait(): void {
    this.#timer ??= setTimeout(() => this.#tick(), everyMs).unref();
  }

  #tick(): void {
    this.#timer = undefined;
    // The end of the last statement waits anew.
    if (this.#running > 0) return;
    if (this.#closed.length > 0) this.#endOne();
    else if (!this.#giveBack()) return;
    this.#wait();
  }

  /** Ending an engine ends the work of the allocator for all others too. */
  #endOne(): void {
    this.#closed.shift()?.();
    this.#purge();
  }

  #purge(): void {
    // A failure leaves the memory where it is, and the next query tells what is wrong with the engine.
    this.#means.purge().catch(() => undefined);
  }

  /** Returns whether there may be more to give back. */
  #giveBack(): boolean {
    const size = this.#means.measure();
    if (size === undefined) return true;
    // What was in use for long may be free by now.
    this.#size = Math.min(this.#size, size);
    if (size - this.#size <= spareBytes) return false;
    if (this.#tries === 0) {
      this.#size = size;
      return false;
    }
    this.#tries--;
    this.#means.collect(this.#tries === mostTries / 2);
    this.#purge();
    return true;
  }
}

/** Buffers and objects of JavaScript after the last collection, in bytes. Those that were in use then may be gone, and others in their place. */
let collectedSize = 0;

/** On a busy machine a collection can take half a second, in which the process answers nothing: it has to be worth that. */
function collectGarbage(hasTo: boolean): void {
  if (!hasTo && scriptSize() - collectedSize <= spareBytes / 2) return;
  collector()();
  collectedSize = scriptSize();
}

/** Collects what was made a short while ago, which takes less than a millisecond. */
export function collectRecent(): void {
  collector()({ type: 'minor' });
}

type Collect = (options?: { readonly type: 'minor' }) => void;

let collect: Collect | undefined;

function collector(): Collect {
  setFlagsFromString('--expose-gc');
  collect ??= runInNewContext('gc') as Collect;
  return collect;
}

/** `process.memoryUsage` opens a file, and throws if too many are open. */
function scriptSize(): number {
  const { total_heap_size, external_memory } = getHeapStatistics();
  return total_heap_size + external_memory;
}

let keeper: Promise<DuckDBConnection> | undefined;

/** Gives back what lies free in this process; the other engines cannot change their settings any more. */
export async function purgeInBackground(): Promise<void> {
  keeper ??= DuckDBInstance.create(':memory:', { threads: '1' }).then(instance => instance.connect());
  await (await keeper).run(`${purging}; ${trimming}`);
}

/** To set a limit, even the same one, has glibc give back what lies free between what is used, which it does not do by itself. */
const trimming = "SET memory_limit='1GB'";

/** Setting of an engine that lets the allocator, which all engines of a process share, give memory back in the background. */
export const purging = 'SET allocator_background_threads=true';

/** What is done for the memory of this process. */
export const meansOfProcess: Means = {
  measure: processMemory,
  collect: collectGarbage,
  purge: purgeInBackground,
};

/** That of this process. */
export const rest = new Rest(meansOfProcess);
