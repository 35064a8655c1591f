/**
 * The messages by which a front end reads a result that the kernel holds: plain types, shared by kernel and extension. A comm of
 * the target {@link RESULTS_TARGET} is opened with {@link OpenData}; every request is answered by one {@link Reply} of the same `id`.
 * All rows of the result count in every answer, never only those of a page. Answers may come in another order than the requests.
 */

/** The target of the comm. */
export const RESULTS_TARGET = 'apl.results';

/** Where the metadata of an output names its result: `metadata.apl.result`. */
export interface ResultReference {
  /** Valid for the life of one kernel; another kernel answers `gone`. */
  readonly id: string;
  /** Rows that the kernel held when the output was made. */
  readonly rows: number;
  /** Columns of the result; the Arrow stream in the notebook may have only the first of them. */
  readonly columns: number;
  /** Rows of the Arrow stream in the notebook; 0 if there is none. */
  readonly rowsInNotebook: number;
}

/** The data of comm_open. The kernel answers with a {@link ReadyReply}, or with a `gone` and closes the comm. */
export interface OpenData {
  readonly result: string;
}

/** Which rows, and in which order. */
export interface View {
  /** The first key decides; equal rows keep the order of the result. Nulls are smallest. */
  readonly sort?: readonly SortKey[];
  /** A row passes all of them. */
  readonly filters?: readonly Filter[];
  /** Rows that hold this text in some column, in any case; empty or absent: all rows. */
  readonly search?: string;
}

export interface SortKey {
  readonly column: string;
  readonly descending: boolean;
}

/** A comparison with a value, or a condition written in APL, such as `status >= 500 and uri has "login"`. */
export type Filter =
  | { readonly column: string; readonly op: FilterOperator; readonly value: FilterValue }
  | { readonly expression: string };

/** `==` with null: the cell has no value. `contains` looks for text in any case, in the cell as it is shown in JSON. */
export type FilterOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'contains' | '!contains';

/**
 * The value of a cell: a text, also for times (RFC 3339), durations (`1h30m0s`, `1.02:03:04.5`), and integers beyond 2^53; a dynamic one as
 * its JSON text.
 */
export type FilterValue = string | number | boolean | null;

export type Request =
  /** The rows of `view` from `offset` on, `limit` of them (10,000 at most); `columns` by name (default: all). */
  | ({
      readonly id: number;
      readonly op: 'page';
      readonly offset: number;
      readonly limit: number;
      readonly columns?: readonly string[];
    } & View)
  /** The values of one column, in the rows of `view`. */
  | ({ readonly id: number; readonly op: 'profile'; readonly column: string } & View)
  /** Hands the whole result to the engine, so that the next view of it need not wait for that; this one has no answer. */
  | { readonly id: number; readonly op: 'prepare' }
  /** Gives up on the request `of`, which is answered with the error `cancelled`; this one has no answer. */
  | { readonly id: number; readonly op: 'cancel'; readonly of: number };

export type Reply = ReadyReply | PageReply | ProfileReply | ErrorReply;

/** The first message of the kernel on a new comm. */
export interface ReadyReply {
  readonly kind: 'ready';
  readonly rows: number;
  readonly columns: readonly ColumnInfo[];
  /** Sentences about the result as a whole, such as limits that were hit. */
  readonly notes: readonly string[];
}

/** One page; the message's only binary buffer is an Arrow IPC stream of its rows, with the fields of the result. */
export interface PageReply {
  readonly kind: 'page';
  readonly id: number;
  readonly offset: number;
  /** Rows in the buffer: less than asked for at the end of the view. */
  readonly count: number;
  /** Rows of the result that pass filters and search. */
  readonly rows: number;
  /** Rows of the result. */
  readonly totalRows: number;
}

/** A column of a result. */
export interface ColumnInfo {
  readonly name: string;
  /** The type of its values in the language, which filters compare with. */
  readonly type: 'bool' | 'long' | 'real' | 'string' | 'datetime' | 'timespan' | 'dynamic';
  /** The unit from the service or an aggregation, such as `ms` or `bytes`. */
  readonly unit?: string;
  readonly description?: string;
}

export interface ProfileReply {
  readonly kind: 'profile';
  readonly id: number;
  readonly column: string;
  /** Rows of the view; `nulls` and the rest count among them. */
  readonly rows: number;
  readonly nulls: number;
  /** The number of different values, nulls left out; exact. */
  readonly distinct: number;
  /** Values as text, as a filter takes them; null without a value, or if the type has no order. */
  readonly min: string | null;
  readonly max: string | null;
  /** The most frequent values, nulls left out, ten at most. */
  readonly top: readonly { readonly value: string; readonly count: number }[];
  /** Of numbers, times and durations: equal bins from `min` to `max`, half open but for the last; absent if all are null. */
  readonly histogram?: readonly Bin[];
}

export interface Bin {
  /** As text, like `min`. */
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

/** A request that failed. `id` is absent when the comm could not be opened. */
export interface ErrorReply {
  readonly kind: 'error';
  readonly id?: number;
  /** `gone`: the kernel no longer has the result, or never did. `cancelled`: a `cancel` took effect. */
  readonly code: 'gone' | 'cancelled' | 'invalid' | 'failed';
  /** What went wrong, in the kernel's words; `hint` says what to do. */
  readonly message: string;
  readonly hint?: string;
  /** Where in the expression `filter` of the request the error is. */
  readonly at?: { readonly filter: number; readonly from: number };
}
