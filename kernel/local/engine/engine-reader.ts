import type { CellForm, Columns, DeclaredColumn } from './engine-columns.js';
import type { OperatorCounts } from './engine-profile.js';
import type { RequestContext } from './engine-request.js';

/**
 * How the engine hands over a result: `streamed`, as it makes it, so that it never holds all of it; or `whole`, without planning
 * the statement twice, which takes 2 ms less.
 */
export type Delivery = 'streamed' | 'whole';

/** One result to be read: these columns, of the first `limit` rows. */
export interface ResultOrder {
  readonly sql: string;
  readonly fields: readonly DeclaredColumn[];
  readonly limit: number;
  /** The most bytes of its cells. */
  readonly mostBytes: number;
  /** The column that holds the time; -1 without one. */
  readonly time: number;
  readonly delivery: Delivery;
  /** What is asked for; a reader that has no Arrow columns gives JSON. */
  readonly form: CellForm;
}

/** A result up to its row limit. */
export interface ReadResult {
  readonly columns: Columns;
  readonly counts: OperatorCounts;
  /** The row limit was reached and rows were left out. */
  readonly cut: boolean;
  /** The time of the first row that was cut, in nanoseconds. */
  readonly cutTime?: bigint;
}

/** Runs the statements of one query, in this process or another. */
export interface Reader {
  /** Runs a statement for its effect. */
  execute(sql: string): Promise<OperatorCounts>;
  read(order: ResultOrder): Promise<ReadResult>;
  /** Loads a kernel's result, an Arrow stream, into a table. */
  load(table: string, body: Uint8Array): Promise<void>;
}

/** Leases a reader to `work`; the temporary table of this name is dropped at the end. */
export interface ReaderSource {
  reading<T>(
    work: (reader: Reader) => Promise<T>,
    temporary: string | undefined,
    context?: RequestContext,
  ): Promise<T>;
}
