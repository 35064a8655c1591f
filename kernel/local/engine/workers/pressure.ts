import { freemem, totalmem } from 'node:os';
import { memoryAtMost, processMemory } from '../../../machine.js';
import { EngineError } from '../engine-failure.js';
import { purgeInBackground } from './rest.js';

/** How often memory is measured while statements run, in milliseconds. */
const everyMs = 25;

/** Of the memory that the process may use; the engine itself counts up to 60 %, and an answer may have a quarter. */
const mostShare = 0.8;

/** Of that, beyond which nothing else is tried. */
const largestShare = 1.1;

/** Of the memory of the machine, whoever uses the rest. */
const leastFreeShare = 0.04;

/** A statement that has taken less is not to blame. */
const leastTaken = 128 * 2 ** 20;

/** What is known of memory, in bytes. */
export interface Memory {
  /** What this process uses; undefined if the system does not say. */
  readonly used: () => number | undefined;
  /** What it may use. */
  readonly most: () => number;
  /** Whether the machine has nearly none left. */
  readonly scarce: () => boolean;
  /** Gives back to the system what lies free in this process. */
  readonly giveBack: () => Promise<void>;
}

/** Returns the memory of a process of ours that runs one statement, in bytes. */
export type OwnMemory = () => number;

interface Statement {
  /** What its own process uses, or this process grew by while it ran, shared with those that ran beside it, in bytes. */
  taken: number;
  /** What its own process used when it first told. */
  before: number;
  /** The most that it has taken beyond that. */
  most: number;
  readonly own: OwnMemory | undefined;
  stopped: boolean;
  readonly stop: (reason: EngineError) => void;
}

/** A statement that is watched. */
export interface Watched {
  /** Returns the most bytes that it has taken so far. */
  taken(): number;
  end(): void;
}

/**
 * Stops statements before the process has no memory left. The engine's own limit does not count the texts of the rows at hand: 2,048
 * for each expression and thread.
 */
export class Pressure {
  readonly #memory: Memory;
  readonly #running = new Set<Statement>();
  #used = 0;
  /** Whether what is free was given back since so much is used. */
  #freed: 'not tried' | 'trying' | 'tried' = 'not tried';
  #timer: NodeJS.Timeout | undefined;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  /**
   * Watches a statement until its end; `stop` may be called once meanwhile. `own` is the memory of the process that runs it, if that
   * is another.
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

  /** What earlier statements have freed may still be with the process, and is no reason to stop this one. */
  #giveBack(): void {
    this.#freed = 'trying';
    const tried = (): void => {
      this.#freed = 'tried';
    };
    this.#memory.giveBack().then(tried, tried);
  }

  /** Returns what this process uses, and learns what each statement has taken. */
  #measure(): number {
    // If the system does not tell, processes of their own still do.
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

  /** One at a time: what it has taken is free once it has ended. */
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
    'The query was stopped before the machine ran out of memory: its values are too long to be computed together.',
    { hint: 'Keep fewer or shorter fields, for example with project and substring, or read fewer rows.' },
  );
}

/** That of this process. */
export const pressure = new Pressure({
  used: processMemory,
  most: () => memoryAtMost() * mostShare,
  scarce: () => freemem() < totalmem() * leastFreeShare,
  giveBack: purgeInBackground,
});
