import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { processMemory } from '../../../machine.js';

/** Delay after the last statement, and the interval from then on, in milliseconds. */
const everyMs = 1000;

/** Growth of the process between rests below which no memory is returned, in bytes. */
const spareBytes = 128 * 2 ** 20;

/** Maximum attempts after a statement; any memory left by then is considered in use. */
const mostTries = 20;

/** Maximum closed engines waiting for a rest; each has idle threads. */
const mostClosed = 16;

/** Operations on the memory of the process. */
interface Means {
  /** Returns the memory of the process, in bytes; undefined if the system does not report it. */
  readonly measure: () => number | undefined;
  /** Collects JavaScript garbage if there seems to be much of it, or if forced. */
  readonly collect: (hasTo: boolean) => void;
  /** Makes the allocators of the process return freed memory, within seconds. */
  readonly purge: () => Promise<unknown>;
}

/**
 * Does work that would hold up statements while no engine of the process runs any: it collects JavaScript buffers that large queries and
 * bodies leave behind, and destroys closed engines. Destroying one takes up to a second on a busy machine, during which the process answers
 * nothing.
 */
export class Rest {
  readonly #means: Means;
  readonly #closed: (() => void)[] = [];
  /** Number of running statements. */
  #running = 0;
  /** Memory of the process at the last rest, in bytes. */
  #size: number;
  #tries = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(means: Means) {
    this.#means = means;
    this.#size = means.measure() ?? 0;
  }

  /** Signals the start of a statement; {@link end} follows. */
  begin(): void {
    this.#running++;
  }

  /** Signals the end of a statement. */
  end(): void {
    this.#running--;
    this.#tries = mostTries;
    this.#wait();
  }

  /** Destroys an engine that no statement will run on: at the next rest, or once many are waiting. */
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
    // The end of the last statement restarts the wait.
    if (this.#running > 0) return;
    if (this.#closed.length > 0) this.#endOne();
    else if (!this.#giveBack()) return;
    this.#wait();
  }

  /** Destroys a closed engine, which also ends the allocator's work for all others. */
  #endOne(): void {
    this.#closed.shift()?.();
    this.#purge();
  }

  #purge(): void {
    // A failure leaves the memory as it is, and the next query reveals what is wrong with the engine.
    this.#means.purge().catch(() => undefined);
  }

  /** Returns whether there may be more memory to return. */
  #giveBack(): boolean {
    const size = this.#means.measure();
    if (size === undefined) return true;
    // Memory in use for long may be free by now.
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

/** JavaScript heap and buffers after the last collection, in bytes. Objects in use then may be gone, with others in their place. */
let collectedSize = 0;

/** Collects garbage if worthwhile: on a busy machine a collection can take half a second, during which the process answers nothing. */
function collectGarbage(hasTo: boolean): void {
  if (!hasTo && scriptSize() - collectedSize <= spareBytes / 2) return;
  collector()();
  collectedSize = scriptSize();
}

/** Collects recently created objects, which takes less than a millisecond. */
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

/** Returns the size of the JavaScript heap and buffers in bytes. `process.memoryUsage` opens a file, and throws if too many are open. */
function scriptSize(): number {
  const { total_heap_size, external_memory } = getHeapStatistics();
  return total_heap_size + external_memory;
}

let keeper: Promise<DuckDBConnection> | undefined;

/** Returns free memory of this process to the system; the other engines can no longer change their settings. */
export async function purgeInBackground(): Promise<void> {
  keeper ??= DuckDBInstance.create(':memory:', { threads: '1' }).then(instance => instance.connect());
  await (await keeper).run(`${purging}; ${trimming}`);
}

/** Setting a limit, even the same one, makes glibc return free memory between used blocks, which it does not do on its own. */
const trimming = "SET memory_limit='1GB'";

/** Engine setting that lets the allocator, shared by all engines of a process, return memory in the background. */
export const purging = 'SET allocator_background_threads=true';

/** Memory operations of this process. */
export const meansOfProcess: Means = {
  measure: processMemory,
  collect: collectGarbage,
  purge: purgeInBackground,
};

/** The shared instance of this process. */
export const rest = new Rest(meansOfProcess);
