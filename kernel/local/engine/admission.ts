import { cancelledError, EngineError } from './failure.js';

/** Lends a fixed set of resources that serve one query each; further queries wait in order, and are refused beyond a number. */
export class Admission<T> {
  readonly #idle: T[];
  readonly #waiting: Waiter<T>[] = [];
  readonly #queue: number;
  #closed = false;

  constructor(all: readonly T[], queue: number) {
    this.#idle = [...all];
    this.#queue = queue;
  }

  /** Throws EngineError when too many wait, when `signal` is aborted, and after `close`. */
  async acquire(signal: AbortSignal | undefined): Promise<T> {
    if (this.#closed || signal?.aborted) throw cancelledError();
    const free = this.#idle.pop();
    if (free !== undefined) return free;
    if (this.#waiting.length >= this.#queue) {
      throw new EngineError('engine-busy', 'Too many queries are waiting.', {
        hint: 'Try again when others have finished.',
      });
    }
    return new Promise<T>((resolve, reject) => {
      const waiter: Waiter<T> = { resolve, reject };
      this.#waiting.push(waiter);
      signal?.addEventListener('abort', () => this.#abandon(waiter), { once: true });
    });
  }

  release(each: T): void {
    const next = this.#waiting.shift();
    if (next) next.resolve(each);
    else this.#idle.push(each);
  }

  /** Refuses all queries that wait or arrive later. */
  close(): void {
    this.#closed = true;
    for (const waiter of this.#waiting.splice(0)) waiter.reject(cancelledError());
  }

  #abandon(waiter: Waiter<T>): void {
    const index = this.#waiting.indexOf(waiter);
    if (index < 0) return;
    this.#waiting.splice(index, 1);
    waiter.reject(cancelledError());
  }
}

interface Waiter<T> {
  readonly resolve: (each: T) => void;
  readonly reject: (error: Error) => void;
}
