import { AplKernelError } from '../../errors.js';
import { isLate, underLimit } from '../../signals.js';
import { refusal, type ToolAnswer } from './mcp-answer.js';

/** Scheduling of a call: `now`, or in turn with the other calls that use the engine. */
export type Turn = 'now' | 'in turn';

/** An agent's calls: each has a time limit, and they cannot take all of the engine at once. */
export class Calls {
  readonly #log: (text: string) => void;
  readonly #limitMs: number;
  /** Number of free slots. */
  #free: number;
  /** Callbacks of waiting calls, for when it is their turn. */
  readonly #waiting = new Set<() => void>();

  constructor(log: (text: string) => void, limitMs = 30_000, mostAtOnce = 2) {
    this.#log = log;
    this.#limitMs = limitMs;
    this.#free = mostAtOnce;
  }

  /** Answers one call; never rejects. `work` gets the signal that ends it. */
  async answer(
    turn: Turn,
    signal: AbortSignal,
    work: (over: AbortSignal) => ToolAnswer | Promise<ToolAnswer>,
  ): Promise<ToolAnswer> {
    let limited: AbortSignal | undefined;
    try {
      return await underLimit(signal, this.#limitMs, async over => {
        limited = over;
        return turn === 'now' ? await work(over) : await this.#inTurn(over, work);
      });
    } catch (error) {
      if (isLate(limited))
        return refusal({
          message: `the call timed out after ${this.#limitMs / 1000} s, including the calls before it`,
          hint: 'narrow the range, filter earlier, or make one call at a time',
        });
      if (error instanceof AplKernelError) return refusal(error);
      this.#log(error instanceof Error ? (error.stack ?? error.message) : String(error));
      return refusal({ message: 'the call failed because of an internal error', hint: undefined });
    }
  }

  async #inTurn<T>(over: AbortSignal, work: (over: AbortSignal) => T | Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(over);
    try {
      return await work(over);
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#free += 1;
      else next();
    }
  }

  #wait(over: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        this.#waiting.delete(begin);
        resolve();
      };
      this.#waiting.add(begin);
      over.addEventListener('abort', () => void (this.#waiting.delete(begin) && reject(over.reason)), {
        once: true,
      });
    });
  }
}
