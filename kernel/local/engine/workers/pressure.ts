import { freemem, totalmem } from 'node:os';
import { memoryAtMost, processMemory } from '../../../machine.js';
import { EngineError } from '../engine-failure.js';
import { purgeInBackground } from './rest.js';

/** Interval of memory measurements while statements run, in milliseconds. */
const everyMs = 25;

/** Maximum share of the process's memory limit. The engine itself counts up to 60 %, and an answer may take a quarter. */
const mostShare = 0.8;

/** Share of that maximum beyond which nothing else is tried. */
const largestShare = 1.1;

/** Minimum free share of the machine's memory, whoever uses the rest. */
const leastFreeShare = 0.04;

/** A statement that has taken less is not to blame. */
const leastTaken = 128 * 2 ** 20;

/** Memory information, in bytes. */
export interface Memory {
  /** Memory of this process; undefined if the system does not report it. */
  readonly used: () => number | undefined;
  /** Memory limit of this process. */
  readonly most: () => number;
  /** Whether the machine has almost none left. */
  readonly scarce: () => boolean;
  /** Returns free memory of this process to the system. */
  readonly giveBack: () => Promise<void>;
}

/** Returns the memory of a separate process of ours that runs one statement, in bytes. */
export type OwnMemory = () => number;

interface Statement {
  /** Memory of its own process, or the growth of this process during its run, divided among concurrent statements, in bytes. */
  taken: number;
  /** Memory of its own process at the first report. */
  before: number;
  /** Peak growth beyond that. */
  most: number;
  readonly own: OwnMemory | undefined;
  stopped: boolean;
  readonly stop: (reason: EngineError) => void;
}

/** A statement being watched. */
export interface Watched {
  /** Returns the peak memory of the statement so far, in bytes. */
  taken(): number;
  end(): void;
}

/**
 * Stops statements before the process runs out of memory. The engine's own limit does not count the strings of the rows at hand: 2,048 for
 * each expression and thread.
 */
export class Pressure {
  readonly #memory: Memory;
  readonly #running = new Set<Statement>();
  #used = 0;
  /** Whether free memory has been returned since use became high. */
  #freed: 'not tried' | 'trying' | 'tried' = 'not tried';
  #timer: NodeJS.Timeout | undefined;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  /**
   * Watches a statement until its end; `stop` may be called once in the meantime. `own` is the memory of the process that runs it, if
   * separate.
   */
  watch(stop: (reason: EngineError) => void, own?: OwnMemory): Watched {
    const statement: Statement = { taken: 0, before: own?.() ?? 0, most: 0, own, stopped: false, stop };
    if (this.#running.size === 0) this.#used = this.#memory.used() ?? 0;
    this.#running.add(statement);
    this.#wait();
    return {
      taken: () => {
        this.#measure();
        return statement.most;
      },
      end: () => void this.#running.delete(statement),
    };
  }

  #wait(): void {
    this.#timer ??= setTimeout(() => this.#tick(), everyMs).unref();
  }

  #tick(): void {
    this.#timer = undefined;
    if (this.#running.size === 0) return;
    this.#wait();
    const used = this.#measure();
    const all = [...this.#running];
    const elsewhere = all.reduce((sum, { own, taken }) => sum + (own === undefined ? 0 : taken), 0);
    const share = (used + elsewhere) / this.#memory.most();
    if (this.#memory.scarce() || share > largestShare) this.#stopLargest();
    else if (share <= 1) this.#freed = 'not tried';
    else if (this.#freed === 'tried') this.#stopLargest();
    else if (this.#freed === 'not tried') this.#giveBack();
  }

  /** Memory freed by earlier statements may still be with the process, and is not a reason to stop this one. */
  #giveBack(): void {
    this.#freed = 'trying';
    const tried = (): void => {
      this.#freed = 'tried';
    };
    this.#memory.giveBack().then(tried, tried);
  }

  /** Returns the memory of this process, and updates the share of each statement. */
  #measure(): number {
    // If the system does not report it, separate processes still do.
    const used = this.#memory.used() ?? 0;
    const all = [...this.#running];
    const beside = all.filter(({ own }) => own === undefined);
    const share = Math.max(0, used - this.#used) / beside.length;
    for (const each of all) {
      each.taken = each.own?.() ?? each.taken + share;
      if (each.own !== undefined) each.before ||= each.taken;
      each.most = Math.max(each.most, each.taken - each.before);
    }
    this.#used = used;
    return used;
  }

  /** Stops the largest statement, one at a time: its memory is free once it has ended. */
  #stopLargest(): void {
    const all = [...this.#running];
    if (all.some(({ stopped }) => stopped)) return;
    const largest = all.reduce((most, each) => (each.taken >= most.taken ? each : most));
    if (largest.taken < leastTaken) return;
    largest.stopped = true;
    largest.stop(pressureError());
  }
}

function pressureError(): EngineError {
  return new EngineError(
    'engine-memory',
    'The query was stopped before the machine ran out of memory: its values are too large.',
    { hint: 'Keep fewer or shorter fields, for example with project and substring, or read fewer rows.' },
  );
}

/** The shared instance of this process. */
export const pressure = new Pressure({
  used: processMemory,
  most: () => memoryAtMost() * mostShare,
  scarce: () => freemem() < totalmem() * leastFreeShare,
  giveBack: purgeInBackground,
});
