import type { CellForm, Columns, DeclaredColumn } from './engine-columns.js';
import type { OperatorCounts } from './engine-profile.js';
import type { RequestContext } from './engine-request.js';

/**
 * How the engine delivers a result: `streamed` as it is computed, without ever holding all of it, or `whole`, without planning the
 * statement twice, which saves 2 ms.
 */
export type Delivery = 'streamed' | 'whole';

/** Describes a result to read: these columns, of the first `limit` rows. */
export interface ResultOrder {
  readonly sql: string;
  readonly fields: readonly DeclaredColumn[];
  readonly limit: number;
  /** Maximum size of the cells, in bytes. */
  readonly mostBytes: number;
  /** Index of the time column; -1 without one. */
  readonly time: number;
  readonly delivery: Delivery;
  /** The requested form; a reader without Arrow columns returns JSON. */
  readonly form: CellForm;
}

/** A result up to its row limit. */
export interface ReadResult {
  readonly columns: Columns;
  readonly counts: OperatorCounts;
  /** Whether rows beyond the row limit were left out. */
  readonly cut: boolean;
  /** The time of the first row left out, in nanoseconds. */
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

/** Leases a reader to `work`; drops the temporary table of this name at the end. */
export interface ReaderSource {
  reading<T>(
    work: (reader: Reader) => Promise<T>,
    temporary: string | undefined,
    context?: RequestContext,
  ): Promise<T>;
}
