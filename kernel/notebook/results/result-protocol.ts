/**
 * Messages through which a front end reads a result in the kernel: plain types, shared by kernel and extension. A comm of the target
 * {@link RESULTS_TARGET} is opened with {@link OpenData}; every request gets one {@link Reply} with the same `id`. Every reply
 * covers all rows of the result, never only those of a page. Replies may arrive out of order.
 */

/** Target of the comm. */
export const RESULTS_TARGET = 'apl.results';

/** Reference to a result in the metadata of an output: `metadata.apl.result`. */
export interface ResultReference {
  /** Valid for the life of one kernel; another kernel replies `gone`. */
  readonly id: string;
  /** Rows in the kernel when the output was created. */
  readonly rows: number;
  /** Columns of the result; the Arrow stream in the notebook may contain only the first of them. */
  readonly columns: number;
  /** Rows of the Arrow stream in the notebook; 0 if there is none. */
  readonly rowsInNotebook: number;
}

/** The data of comm_open. The kernel replies with a {@link ReadyReply}, or with `gone` before closing the comm. */
export interface OpenData {
  readonly result: string;
}

/** Selection and order of rows. */
export interface View {
  /** The first key takes precedence; ties retain the order of the result. Nulls are smallest. */
  readonly sort?: readonly SortKey[];
  /** A row must match all of them. */
  readonly filters?: readonly Filter[];
  /** Rows with this text in any column, in any case; empty or absent for all rows. */
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

/** `==` with null matches a missing value. `contains` searches for text in any case, in the cell as shown in JSON. */
export type FilterOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'contains' | '!contains';

/**
 * The value of a cell: a string, also for timestamps (RFC 3339), durations (`1h30m0s`, `1.02:03:04.5`), and integers beyond 2^53;
 * the JSON text of a dynamic value.
 */
export type FilterValue = string | number | boolean | null;

export type Request =
  /** Reads `limit` rows of `view` from `offset` on (at most 10,000); `columns` by name (default: all). */
  | ({
      readonly id: number;
      readonly op: 'page';
      readonly offset: number;
      readonly limit: number;
      readonly columns?: readonly string[];
    } & View)
  /** Profiles the values of one column in the rows of `view`. */
  | ({ readonly id: number; readonly op: 'profile'; readonly column: string } & View)
  /** Sends the whole result to the engine, so that the next view of it need not wait for that; gets no reply. */
  | { readonly id: number; readonly op: 'prepare' }
  /** Cancels the request `of`, which gets the error `canceled`; gets no reply itself. */
  | { readonly id: number; readonly op: 'cancel'; readonly of: number };

export type Reply = ReadyReply | PageReply | ProfileReply | ErrorReply;

/** The kernel's first message on a new comm. */
export interface ReadyReply {
  readonly kind: 'ready';
  readonly rows: number;
  readonly columns: readonly ColumnInfo[];
  /** Sentences about the result as a whole, such as limits reached. */
  readonly notes: readonly string[];
}

/** One page; the message's only binary buffer is an Arrow IPC stream of its rows, with the fields of the result. */
export interface PageReply {
  readonly kind: 'page';
  readonly id: number;
  readonly offset: number;
  /** Rows in the buffer: fewer than requested at the end of the view. */
  readonly count: number;
  /** Rows of the result that match filters and search. */
  readonly rows: number;
  /** Rows of the result. */
  readonly totalRows: number;
}

/** A column of a result. */
export interface ColumnInfo {
  readonly name: string;
  /** The language type of its values, which filters compare with. */
  readonly type: 'bool' | 'long' | 'real' | 'string' | 'datetime' | 'timespan' | 'dynamic';
  /** The unit from the service or an aggregation, such as `ms` or `bytes`. */
  readonly unit?: string;
  readonly description?: string;
}

export interface ProfileReply {
  readonly kind: 'profile';
  readonly id: number;
  readonly column: string;
  /** Rows of the view, on which `nulls` and the rest are based. */
  readonly rows: number;
  readonly nulls: number;
  /** Exact number of different values, without nulls. */
  readonly distinct: number;
  /** Values as text, in the format of filters; null if there are none, or if the type has no order. */
  readonly min: string | null;
  readonly max: string | null;
  /** The most frequent values, without nulls, at most ten. */
  readonly top: readonly { readonly value: string; readonly count: number }[];
  /** For numbers, timestamps and durations: equal bins from `min` to `max`, half open except for the last; absent if all are null. */
  readonly histogram?: readonly Bin[];
}

export interface Bin {
  /** As text, like `min`. */
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

/** A failed request. `id` is absent if the comm could not be opened. */
export interface ErrorReply {
  readonly kind: 'error';
  readonly id?: number;
  /** `gone`: the kernel no longer has the result, or never had it. `canceled`: a `cancel` took effect. */
  readonly code: 'gone' | 'canceled' | 'invalid' | 'failed';
  /** Error message of the kernel; `hint` says what to do. */
  readonly message: string;
  readonly hint?: string;
  /** Position of the error in the expression `filter` of the request. */
  readonly at?: { readonly filter: number; readonly from: number };
}
