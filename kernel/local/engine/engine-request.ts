/** What an engine knows of a request: its client, how much it reads, its signal, and who watches its progress. */
export interface RequestContext {
  /** Whose query it is: clients take turns. */
  readonly client?: string;
  /** Rows that it reads or makes, as far as is known beforehand (default: few). */
  readonly rows?: number;
  readonly signal?: AbortSignal;
  readonly watch?: Watch;
}

/** Receives the way to ask about a query: one while it waits, another while it runs. */
export interface Watch {
  /** `before` returns how many queries come first. */
  waits(before: () => number): unknown;
  /**
   * `share` returns the part that is done, from 0 to 1, undefined if the engine cannot tell; `rows` about how many rows there
   * are, 0 if that is not known.
   */
  runs(share: () => number | undefined, rows: () => number): unknown;
  /** Something elsewhere does not answer and is asked again: a sentence without an end says why. */
  isHeldUp(reason: string): unknown;
}

/** The watch of a query that nobody asks about. */
export const watchUnseen: Watch = {
  waits: () => undefined,
  runs: () => undefined,
  isHeldUp: () => undefined,
};
