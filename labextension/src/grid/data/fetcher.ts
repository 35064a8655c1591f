import type { Rows } from './grid-rows.js';

/** Rows beyond those in view to fetch in advance. */
const ROWS_AHEAD = 250;

/** Rows to fetch, from `from` up to `to`. */
interface RowRange {
  readonly rows: Rows;
  readonly from: number;
  readonly to: number;
}

/**
 * Fetches the rows in view, then some ahead of the scroll direction. Only one request is in flight at a time, and the next is for the rows
 * needed by then: fast scrolling skips the rest, and does not wait for rows already out of view.
 */
export class Fetcher {
  /** Called when rows have arrived and all of those in view are loaded, before the next are fetched. */
  readonly #arrived: (rows: Rows) => unknown;
  readonly #failed: (error: unknown) => void;
  #request: RowRange | undefined;
  #visible: RowRange | undefined;
  #isFetching = false;

  constructor(arrived: (rows: Rows) => unknown, failed: (error: unknown) => void) {
    this.#arrived = arrived;
    this.#failed = failed;
  }

  /** Fetches the rows in view, from `from` up to `to`. */
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
        // Rows scrolled past in the meantime need no frame.
        if (this.#visible !== undefined && missing(this.#visible) === undefined)
          await this.#arrived(this.#visible.rows);
      } catch (error) {
        this.#failed(error);
      }
    }
    this.#isFetching = false;
  }

  /** Returns the next request, without rows that have arrived by now. */
  #take(): RowRange | undefined {
    const request = this.#request === undefined ? undefined : missing(this.#request);
    this.#request = undefined;
    return request;
  }
}

/** Returns the part of a request whose rows exist and are missing; undefined if there is none. */
function missing({ rows, ...asked }: RowRange): RowRange | undefined {
  const [from, to] = [Math.max(asked.from, 0), Math.min(asked.to, rows.count)];
  return from >= to || rows.has(from, to) ? undefined : { rows, from, to };
}
