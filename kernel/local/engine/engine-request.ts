/** An engine's context for a request: its client, the rows it reads, its signal, and the observer of its progress. */
export interface RequestContext {
  /** The query's client: clients take turns. */
  readonly client?: string;
  /** Rows that it reads or generates, as far as known in advance (default: few). */
  readonly rows?: number;
  readonly signal?: AbortSignal;
  readonly watch?: Watch;
}

/** Receives functions that report on a query: one while it waits, another while it runs. */
export interface Watch {
  /** `before` returns the number of queries ahead of it. */
  waits(before: () => number): unknown;
  /**
   * `share` returns the fraction done, from 0 to 1, undefined if the engine cannot tell; `rows` the approximate number of rows, 0 if
   * unknown.
   */
  runs(share: () => number | undefined, rows: () => number): unknown;
  /** Reports a retry because something elsewhere does not respond; `reason` is a sentence without a period. */
  isHeldUp(reason: string): unknown;
}

/** The watch of a query that nobody follows. */
export const watchUnseen: Watch = {
  waits: () => undefined,
  runs: () => undefined,
  isHeldUp: () => undefined,
};
