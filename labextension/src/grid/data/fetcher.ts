import type { Rows } from './grid-rows.js';

/** Rows beyond those in view that are fetched before they are reached. */
const ROWS_AHEAD = 250;

/** Rows to fetch, from one up to another. */
interface RowRange {
  readonly rows: Rows;
  readonly from: number;
  readonly to: number;
}

/**
 * Fetches the rows in view, then some ahead of a reader who scrolls. One request is under way at a time, and the next is for
 * what is wanted by then: whoever scrolls fast passes over the rest, and need not wait for rows left long ago.
 */
export class Fetcher {
  /** Called when rows have arrived and all of those in view are here, before the next are fetched. */
  readonly #arrived: (rows: Rows) => unknown;
  readonly #failed: (error: unknown) => void;
  #request: RowRange | undefined;
  #visible: RowRange | undefined;
  #isFetching = false;

  constructor(arrived: (rows: Rows) => unknown, failed: (error: unknown) => void) {
    this.#arrived = arrived;
    this.#failed = failed;
  }

  /** The rows from one up to another are in view. */
  see(rows: Rows, from: number, to: number): void {
    const shown = { rows, from, to };
    this.#request = missing(shown) ?? missing(this.#ahead(shown));
    this.#visible = shown;
    if (!this.#isFetching) void this.#fetch();
  }

  #ahead({ rows, from, to }: RowRange): RowRange {
    return from < (this.#visible?.from ?? 0)
      ? { rows, from: from - ROWS_AHEAD, to: from }
      : { rows, from: to, to: to + ROWS_AHEAD };
  }

  async #fetch(): Promise<void> {
    this.#isFetching = true;
    for (let request = this.#take(); request !== undefined; request = this.#take()) {
      const { rows, from, to } = request;
      try {
        await rows.load(from, to);
        // A frame for rows that were scrolled past meanwhile would be one for nothing.
        if (this.#visible !== undefined && missing(this.#visible) === undefined)
          await this.#arrived(this.#visible.rows);
      } catch (error) {
        this.#failed(error);
      }
    }
    this.#isFetching = false;
  }

  /** Rows that have arrived by now are left out. */
  #take(): RowRange | undefined {
    const request = this.#request === undefined ? undefined : missing(this.#request);
    this.#request = undefined;
    return request;
  }
}

/** The part of a request whose rows exist and are missing; undefined if there is none. */
function missing({ rows, ...asked }: RowRange): RowRange | undefined {
  const [from, to] = [Math.max(asked.from, 0), Math.min(asked.to, rows.count)];
  return from >= to || rows.has(from, to) ? undefined : { rows, from, to };
}
