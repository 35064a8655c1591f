import type { Rows } from './rows.js';

/** Rows beyond those in sight that are fetched before they are reached. */
const ROWS_AHEAD = 250;

/** Rows to fetch, from one up to another. */
interface Wish {
  readonly rows: Rows;
  readonly from: number;
  readonly to: number;
}

/**
 * Fetches the rows in sight, then some ahead of a reader who scrolls. One request is under way at a time, and the next is for
 * what is wanted by then: whoever scrolls fast passes over the rest, and need not wait for rows left long ago.
 */
export class Fetcher {
  /** Called when rows have arrived and all of those in sight are here, before the next are fetched. */
  readonly #arrived: (rows: Rows) => unknown;
  readonly #failed: (error: unknown) => void;
  #wish: Wish | undefined;
  #sight: Wish | undefined;
  #isFetching = false;

  constructor(arrived: (rows: Rows) => unknown, failed: (error: unknown) => void) {
    this.#arrived = arrived;
    this.#failed = failed;
  }

  /** The rows from one up to another are in sight. */
  see(rows: Rows, from: number, to: number): void {
    const sight = { rows, from, to };
    this.#wish = missing(sight) ?? missing(this.#ahead(sight));
    this.#sight = sight;
    if (!this.#isFetching) void this.#fetch();
  }

  #ahead({ rows, from, to }: Wish): Wish {
    return from < (this.#sight?.from ?? 0)
      ? { rows, from: from - ROWS_AHEAD, to: from }
      : { rows, from: to, to: to + ROWS_AHEAD };
  }

  async #fetch(): Promise<void> {
    this.#isFetching = true;
    for (let wish = this.#take(); wish !== undefined; wish = this.#take()) {
      const { rows, from, to } = wish;
      try {
        await rows.load(from, to);
        // A frame for rows that were scrolled past meanwhile would be one for nothing.
        if (this.#sight !== undefined && missing(this.#sight) === undefined)
          await this.#arrived(this.#sight.rows);
      } catch (error) {
        this.#failed(error);
      }
    }
    this.#isFetching = false;
  }

  /** What came with an earlier wish is no wish any more. */
  #take(): Wish | undefined {
    const wish = this.#wish === undefined ? undefined : missing(this.#wish);
    this.#wish = undefined;
    return wish;
  }
}

/** The part of a wish that exists; undefined where all of it is here. */
function missing({ rows, ...asked }: Wish): Wish | undefined {
  const [from, to] = [Math.max(asked.from, 0), Math.min(asked.to, rows.count)];
  return from >= to || rows.has(from, to) ? undefined : { rows, from, to };
}
