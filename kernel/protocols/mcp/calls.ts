import { AplKernelError } from '../../errors.js';
import { isLate, underLimit } from '../../signals.js';
import { refusal, type ToolAnswer } from './mcp-answer.js';

/** How a call is worked on: `now`, or in turn with the others that are, as it uses the engine. */
export type Turn = 'now' | 'in turn';

/** The calls of an agent: each ends within its limit, and it does not take all of the engine by many at once. */
export class Calls {
  readonly #log: (text: string) => void;
  readonly #limitMs: number;
  /** How many more may be worked on. */
  #free: number;
  /** What those do that wait, once it is their turn. */
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
          message: `the call took more than ${this.#limitMs / 1000} s, with those before it`,
          hint: 'narrow the range, filter earlier, or make one call at a time',
        });
      if (error instanceof AplKernelError) return refusal(error);
      this.#log(error instanceof Error ? (error.stack ?? error.message) : String(error));
      return refusal({ message: 'the call failed, and not for what it asked', hint: undefined });
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
