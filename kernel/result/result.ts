/**
 * The result of one query as the rest of the kernel sees it: Arrow tables and their description.
 */
import type { Table } from 'apache-arrow';
import type { FieldMeta, QueryStatus, RequestOptions, ResultTable } from '../api/wire.js';

/** A wire table without its cells: name, fields, order, groups, the actual time window, time buckets. */
export type TableInfo = Omit<ResultTable, 'columns'>;

/** One table of a result: the service's description of it, and its cells. */
export interface ArrowTable {
  readonly info: TableInfo;
  readonly data: Table;
}

/** Origin of a result: enough to audit it and to run it again. */
export interface Provenance {
  /** Query as sent. */
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Other members of the request. */
  readonly options?: RequestOptions & { readonly defaultLimit?: number };
  /** RFC 3339 or relative (`now-1h`), as sent. */
  readonly startTime: string;
  readonly endTime: string;
  /** The time range in the user's words, such as `last 1h`. */
  readonly rangeLabel: string;
  /** True if the range is absolute, so that running the query again reads the same window. */
  readonly frozen: boolean;
  /** The window of the same query that the figures are compared with. */
  readonly comparedWith?: { readonly startTime: string; readonly endTime: string };
  readonly profile: string;
  /** True if the service on this machine responded. */
  readonly isLocal: boolean;
  readonly datasets: readonly string[];
  readonly traceId?: string;
  /** Milliseconds from request to decoded result, measured by the client. */
  readonly elapsedMs: number;
  readonly kernelVersion: string;
}

/** A sentence above the table: a limit that was hit, a partial result, a column kept as text. */
export interface Notice {
  readonly level: 'info' | 'warn';
  readonly text: string;
}

/** A reason why the rows of a result are not everything its query would return now. */
export interface Shortfall {
  readonly kind: 'cut' | 'sampled' | 'partial' | 'estimated' | 'replayed';
  /** Contents of the result, as a phrase after `contains`: `the first 1,000 rows, not all of them (the default limit)`. */
  readonly holds: string;
  /** The result through which a query read it: a named one, or one of two that are compared. Absent for its own. */
  readonly through?: string;
  readonly whole?: Whole;
  /** The query itself requests it. */
  readonly isAsked?: true;
  /** No row is missing between the first and the last timestamp: an empty time bin there is empty. */
  readonly isGapless?: true;
}

/** The one-line query that fetches all rows; at most `most` rows if they cannot be fetched page by page. */
export interface Whole {
  readonly query: string;
  readonly most?: number;
}

/** Facts about the rows of a result that follow from its query. */
export interface Reading {
  /**
   * The meaning of a time bin without a row: nothing happened in it, anywhere in the range or only between the first and the last row;
   * or unknown, since an operator after the aggregation may have removed the row.
   */
  readonly missingBins: 'empty' | 'empty-between' | 'unknown';
  /** The query sorts after aggregating. */
  readonly isSorted?: true;
  /** Columns computed from the keys of the aggregation alone. */
  readonly keyColumns: readonly string[];
}

/** The response of a service to one query. `tables[0]` is the result; a table named `_totals` holds the totals of a time-binned one. */
export interface QueryAnswer {
  readonly tables: readonly ArrowTable[];
  readonly status: QueryStatus;
  readonly datasetNames: readonly string[];
  readonly fieldsMetaMap: Readonly<Record<string, readonly FieldMeta[]>>;
  readonly provenance: Provenance;
}

/** A response with the kernel's own notices about it. */
export interface QueryResult extends QueryAnswer {
  readonly notices: readonly Notice[];
  /** Absent if the query was not parsed. */
  readonly reading?: Reading;
  /** Why the rows are incomplete or out of date, besides the reasons that its service reports: `shortfallsOf` returns all. */
  readonly shortfalls?: readonly Shortfall[];
  /** The datasets that the rows come from, including through other results; absent if unknown. */
  readonly sources?: readonly string[];
}
