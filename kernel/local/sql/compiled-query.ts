import type { FieldMeta, Order, QueryRequest, StatusMessage } from '../../api/wire.js';
import type { TypeName } from '../../apl/catalog/entry.js';
import type { DatasetSchema, ExternalFile, Relation } from '../../apl/plan/plan.js';
import type { Diagnostic } from '../../apl/syntax/ast.js';
import type { Dialect } from './dialect.js';
import type { TextListsOf, textListField } from './rewrite/elements.js';
import type { PlacesOf, placeField } from './rewrite/placed.js';
import type { Page } from './rewrite/rewrite-pages.js';

/** The temporary table for rows that all tables of a query read. */
export const sharedTable = 'shared';

/** The most rows that one request returns. */
export const mostRowLimit = 10_000_000;

/** A compiled request for the engine: tables to run in order, and notices for the reader. */
export interface CompiledQuery {
  readonly tables: readonly CompiledTable[];
  /** Names of the datasets read. */
  readonly datasets: readonly string[];
  /** A SELECT whose rows are stored in the temporary table {@link sharedTable} while the query runs, as all its tables read them. */
  readonly shared?: string;
  readonly notices: readonly StatusMessage[];
  /** Rows that the query makes itself, besides those of datasets (default: few). */
  readonly made?: number;
}

/**
 * One result table. `sql` is a SELECT whose columns are in the order of `fields`, with these engine types: bool BOOLEAN,
 * long BIGINT, real DOUBLE, string VARCHAR, datetime TIMESTAMP_NS, timespan BIGINT (nanoseconds), dynamic JSON text.
 */
export interface CompiledTable {
  /** `0`, `1`, … or `_totals`. */
  readonly name: string;
  readonly sql: string;
  readonly times?: CompiledTimes;
  /** SELECTs, written on demand, that go on where `sql` and those before them end; run only while rows are missing. */
  readonly further?: readonly (() => string)[];
  /** `sql` over the stored rows. */
  readonly sharedSql?: string;
  readonly fields: readonly CompiledField[];
  readonly order: readonly Order[];
  /** Names of the fields grouped by. */
  readonly groups: readonly string[];
  /** The engine may hold all rows before it gives the first: they are groups, which it holds anyway, or few. */
  readonly whole: boolean;
  /** `size` is in nanoseconds when the field is a time. */
  readonly buckets?: { readonly field: string; readonly size: bigint | number };
  readonly sources: readonly string[];
  /** The half-open window read; nanoseconds since 1970 or RFC 3339. */
  readonly range?: { readonly field: string; readonly start: bigint | string; readonly end: bigint | string };
  /** The SQL fetches `rows` + 1; the row beyond `rows` is cut, and a message says so. */
  readonly rowLimit?: { readonly rows: number; readonly reason: LimitReason };
  /** Set when the rows are in the order of time, so that another request can continue where this one ends. */
  readonly page?: CompiledPage;
}

/** How to read `sql` in two steps: the times of its rows in order, and then the rows from the lowest to the highest of them. */
export interface CompiledTimes {
  readonly sql: string;
  readonly between: (low: bigint, high: bigint) => string;
}

/** Where the effective limit comes from. A limit of the query itself leaves out nothing that was asked for. */
export type LimitReason = 'query' | 'default' | 'request' | 'server';

/** A page of rows. `exactSql` returns a SELECT that puts rows of equal times in a fixed order, given the time of the last row. */
export interface CompiledPage {
  readonly page: Page;
  readonly exactSql: (last: bigint | undefined) => string;
  /** The cursor that the page begins at. */
  readonly cursor?: string;
  /** Whether each row has its own cursor, in a field of its own. */
  readonly ofRows: boolean;
}

/** The field with the cursor of each row. */
export const cursorField = '_cursor';

export interface CompiledField {
  readonly name: string;
  readonly type: TypeName;
  readonly agg?: {
    readonly name: string;
    readonly args?: readonly unknown[];
    readonly fields?: readonly string[];
  };
  readonly meta?: FieldMeta;
}

/** Which rows of a scan pass. */
export interface ScanFilter {
  /**
   * Returns the condition in SQL, given the SQL of each field that is scanned. `apart` returns a condition as one that the engine applies after
   * it has read: that of a pattern is prepared anew for each file that it applies it to while it reads, and stands behind a cheaper one then.
   */
  readonly sql: (columns: readonly string[], apart?: (condition: string) => string) => string;
  /** What holds for every row that passes. */
  readonly lookups: readonly Lookup[];
}

/** A field has one of the values: it is that string or integer, or its text has that word, a run of letters and digits of ASCII in any case. */
export interface Lookup {
  readonly field: string;
  readonly kind: 'string' | 'long' | 'term';
  readonly values: readonly (string | bigint)[];
}

/** The rows of a row group and the times that they span, in nanoseconds since 1970. */
export interface RowGroup {
  readonly rows: number;
  readonly minNs: bigint;
  readonly maxNs: bigint;
  /** Every row is known to have a time within that span. */
  readonly timed: boolean;
  /** The rows are computed when they are read, and their number is an estimate. */
  readonly computed?: boolean;
}

/** Returns the row groups with rows in [startNs, endNs), in no particular order; none if nothing is known of them. */
export type RowGroupsOf = (name: string, startNs: bigint, endNs: bigint) => readonly RowGroup[];

/**
 * Returns how many rows a dataset has in [startNs, endNs); undefined if that cannot be told without reading them. If it is told, it
 * counts as a scan of them.
 */
export type RowCountOf = (name: string, startNs: bigint, endNs: bigint) => number | undefined;

/** The datasets that a query may read. */
export interface DatasetCatalog {
  /** Results of the kernel by the names that they have in the query; `scan` knows them by the name in their schema. */
  readonly results?: ReadonlyMap<string, DatasetSchema>;
  names(): string[];
  schema(name: string): DatasetSchema | undefined;
  /**
   * Returns a SELECT with columns f0..fn in the order of `fields`, restricted to `_time` in [startNs, endNs), nanoseconds since
   * 1970, and to the rows that pass `filter`: next to the scan, the engine can apply it while it reads. A field that the dataset
   * does not have is a typed null.
   */
  scan(name: string, fields: readonly string[], startNs: bigint, endNs: bigint, filter?: ScanFilter): string;
  /** The same, of rows that another scan of the query reads too: they count once. */
  rescan?(
    name: string,
    fields: readonly string[],
    startNs: bigint,
    endNs: bigint,
    filter?: ScanFilter,
  ): string;
  readonly rowGroups?: RowGroupsOf;
  readonly rowCount?: RowCountOf;
  /** What `scan` knows of the places of rows, which are the field {@link placeField}. */
  readonly places?: PlacesOf;
  /** The fields of a dataset that hold lists of texts alone, which `scan` gives as such by the name of {@link textListField}. */
  readonly textLists?: TextListsOf;
  /** The fields of a dataset that hold reals of which none is NaN, and all can be squared; see `squareable`. */
  boundedReals?(name: string): ReadonlySet<string>;
  /** The most rows that a table has; undefined if that is not known. */
  mostRows?(name: string): number | undefined;
  /** The engine that some of its datasets are in. */
  readonly far?: FarSource;
}

/** Where rows are computed: by another engine, here, or by whichever computes what they are for. */
export type Side = 'far' | 'here' | 'any';

/** A part of a query that another engine computes. */
export interface FarPart {
  /** A SELECT in the engine's SQL, which gives one row more than `mostRows` if there are more. */
  readonly sql: string;
  /** Its columns in order: their names, and the types of their values. */
  readonly fields: readonly { readonly name: string; readonly type: TypeName }[];
  readonly mostRows: number;
  /** What the engine has no SQL for, in words, if the query goes on with that. */
  readonly because?: string;
}

/**
 * Another engine. Of its datasets {@link DatasetCatalog.scan} returns SELECTs in its own SQL; what it has no SQL for is computed here,
 * over the rows that it gives.
 */
export interface FarSource {
  readonly dialect: Dialect;
  /** The side of a relation that reads no other. */
  sideOf(leaf: Relation): Side;
  /** Returns a SELECT of a table of this machine that becomes a part of the engine's statement; undefined for a dataset of the engine. */
  scan?(name: string, fields: readonly string[], filter?: ScanFilter): string | undefined;
  /** The most rows that it may give for one part. */
  readonly mostRows: number;
  /**
   * Returns what scans the rows of a part here, by the names of their fields and {@link placeField}, which holds their order. If they
   * are not here yet the text is empty, as it is for a dataset that is to be read first.
   */
  rows(part: FarPart): (fields: readonly string[], filter?: ScanFilter) => string;
}

/** A dataset computed by the engine instead of read from files. `scan` is as in {@link DatasetCatalog}. */
export interface BuiltinDataset {
  readonly schema: DatasetSchema;
  readonly description: string;
  /** About how many rows are computed for the parts of a window (default: few). */
  rowGroups?(startNs: bigint, endNs: bigint): readonly RowGroup[];
  scan(fields: readonly string[], startNs: bigint, endNs: bigint, filter?: ScanFilter): string;
}

/**
 * Turns a request into SQL, or returns the errors of its APL; `nowNs` is fixed for the whole request. `external` returns
 * the file of an address of `externaldata`.
 */
export type Compile = (
  request: QueryRequest,
  catalog: DatasetCatalog,
  nowNs: bigint,
  external?: (address: string) => ExternalFile,
) =>
  | { readonly ok: true; readonly compiled: CompiledQuery }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };
