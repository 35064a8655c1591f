/**
 * The JSON shapes of the query API, for both ends: the client that reads them and the local service that writes them.
 * Spelling is the API's own.
 */

/** Types of a result field. `timespan` cells are integer nanoseconds; `unknown` and unions such as `integer|float` carry any JSON. */
export type WireType =
  | 'datetime'
  | 'string'
  | 'boolean'
  | 'integer'
  | 'float'
  | 'timespan'
  | 'dynamic'
  | 'array'
  | 'map'
  | 'unknown'
  | (string & {});

export interface QueryRequest {
  readonly apl: string;
  readonly startTime?: string;
  readonly endTime?: string;
  readonly cursor?: string;
  readonly includeCursor?: boolean;
  readonly includeCursorField?: boolean;
  readonly defaultLimit?: number;
  readonly defaultOrder?: readonly Order[];
  readonly libraries?: readonly string[];
  readonly queryOptions?: Readonly<Record<string, unknown>>;
  readonly variables?: Readonly<Record<string, unknown>>;
}

export interface Order {
  readonly field: string;
  readonly desc: boolean;
}

export interface FieldMeta {
  readonly name: string;
  readonly type: string;
  readonly unit: string;
  readonly hidden: boolean;
  readonly description: string;
}

export interface ResultField {
  readonly name: string;
  readonly type: WireType;
  readonly agg?: { readonly name: string; readonly args?: readonly unknown[]; readonly fields?: readonly string[] };
}

export interface ResultTable {
  readonly name: string;
  readonly sources: readonly { readonly name: string }[];
  readonly fields: readonly ResultField[];
  readonly order: readonly Order[];
  readonly groups: readonly { readonly name: string }[];
  readonly range?: { readonly field: string; readonly start: string; readonly end: string };
  /** `size` is in nanoseconds when the field is a time, else a number. */
  readonly buckets?: { readonly field: string; readonly size: number };
  /** Column-major: one array per field, all of equal length. */
  readonly columns: readonly (readonly unknown[])[];
}

export interface StatusMessage {
  readonly priority: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  readonly count: number;
  readonly code: string;
  readonly msg: string;
}

export interface QueryStatus {
  /** Microseconds. */
  readonly elapsedTime: number;
  readonly minCursor?: string;
  readonly maxCursor?: string;
  readonly blocksExamined: number;
  readonly blocksCached: number;
  readonly blocksMatched: number;
  readonly rowsExamined: number;
  readonly rowsMatched: number;
  readonly numGroups: number;
  readonly isPartial: boolean;
  readonly isEstimate?: boolean;
  readonly cacheStatus: number;
  readonly minBlockTime: string;
  readonly maxBlockTime: string;
  readonly messages?: readonly StatusMessage[];
}

export interface TabularResult {
  readonly format: 'tabular';
  readonly status: QueryStatus;
  readonly tables: readonly ResultTable[];
  readonly datasetNames: readonly string[];
  readonly fieldsMetaMap: Readonly<Record<string, readonly FieldMeta[]>>;
}

export interface ErrorBody {
  readonly code: number | string;
  readonly message: string;
  readonly detail?: {
    readonly errorType?: string;
    readonly compileErrorCode?: string;
    /** One-based line and column of the APL text. */
    readonly line?: number;
    readonly column?: number;
    readonly message?: string;
  };
}

export interface StarredQuery {
  readonly id?: string;
  readonly dataset?: string;
  readonly kind: 'apl';
  readonly name: string;
  readonly who: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly query: QueryRequest;
}

export interface DatasetInfo {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly created?: string;
  readonly who?: string;
  readonly kind?: string;
}
