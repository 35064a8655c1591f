import type { FieldMeta, Order, QueryRequest, StatusMessage } from '../../api/wire.js';
import type { TypeName } from '../../apl/catalog/entry.js';
import type { DatasetSchema, ExternalFile, Relation } from '../../apl/plan/plan.js';
import type { Diagnostic } from '../../apl/syntax/ast.js';
import type { Dialect } from './dialect.js';
import type { storedField, TextListsOf, textListField } from './rewrite/elements.js';
import type { PlacesOf, placeField } from './rewrite/placed.js';
import type { Page } from './rewrite/rewrite-pages.js';

/** The temporary table for rows shared by all tables of a query. */
export const sharedTable = 'shared';

/** Maximum rows returned for one request. */
export const mostRowLimit = 10_000_000;

/** A compiled request for the engine: tables to run in order, and notices for the reader. */
export interface CompiledQuery {
  readonly tables: readonly CompiledTable[];
  /** Names of the datasets read. */
  readonly datasets: readonly string[];
  /** A SELECT whose rows are stored in the temporary table {@link sharedTable} during the query, since all its tables read them. */
  readonly shared?: string;
  readonly notices: readonly StatusMessage[];
  /** Rows that the query generates, besides those of datasets (default: few). */
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
  /** SELECTs, written on demand, that continue after `sql` and those before them; run only while rows are missing. */
  readonly further?: readonly (() => string)[];
  /** `sql` over the stored rows. */
  readonly sharedSql?: string;
  readonly fields: readonly CompiledField[];
  readonly order: readonly Order[];
  /** Names of the grouping fields. */
  readonly groups: readonly string[];
  /** Whether the engine may hold all rows before returning the first: they are few, or groups, which it holds anyway. */
  readonly whole: boolean;
  /** `size` is in nanoseconds if the field is a time. */
  readonly buckets?: { readonly field: string; readonly size: bigint | number };
  readonly sources: readonly string[];
  /** The half-open time window, in nanoseconds since 1970 or RFC 3339. */
  readonly range?: { readonly field: string; readonly start: bigint | string; readonly end: bigint | string };
  /** The SQL fetches `rows` + 1 rows; the last is cut, and a message reports it. */
  readonly rowLimit?: { readonly rows: number; readonly reason: LimitReason };
  /** Set if the rows are in time order, so another request can continue after this one. */
  readonly page?: CompiledPage;
}

/** A way to read `sql` in two steps: the times of its rows in order, then the rows from the lowest to the highest of these times. */
export interface CompiledTimes {
  readonly sql: string;
  readonly between: (low: bigint, high: bigint) => string;
}

/** Origin of the effective limit. A limit in the query itself omits nothing that was requested. */
export type LimitReason = 'query' | 'default' | 'request' | 'server';

/** A page of rows. `exactSql` returns a SELECT with a fixed order for rows of equal times, given the time of the last row. */
export interface CompiledPage {
  readonly page: Page;
  readonly exactSql: (last: bigint | undefined) => string;
  /** The cursor at which the page begins. */
  readonly cursor?: string;
  /** Whether each row has a cursor, in an additional field. */
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

/** The filter of a scan. */
export interface ScanFilter {
  /**
   * Returns the condition as SQL, given the SQL of each scanned field. `apart` wraps a condition so that the engine applies it after
   * reading: a regular expression pushed into the scan is recompiled for every file, so it is kept out, behind a cheaper condition.
   */
  readonly sql: (columns: readonly string[], apart?: (condition: string) => string) => string;
  /** Facts about every row that passes. */
  readonly lookups: readonly Lookup[];
}

/**
 * A field has one of these values: it equals that string or integer, or its text contains that word, a run of ASCII letters and digits in
 * any case.
 */
export interface Lookup {
  readonly field: string;
  readonly kind: 'string' | 'long' | 'term';
  readonly values: readonly (string | bigint)[];
}

/** The rows of a row group and their time range, in nanoseconds since 1970. */
export interface RowGroup {
  readonly rows: number;
  readonly minNs: bigint;
  readonly maxNs: bigint;
  /** Whether every row is known to have a time in that range. */
  readonly timed: boolean;
  /** The rows are computed on reading, and their number is an estimate. */
  readonly computed?: boolean;
}

/** Returns the row groups with rows in [startNs, endNs), in no particular order; none if nothing is known about them. */
export type RowGroupsOf = (name: string, startNs: bigint, endNs: bigint) => readonly RowGroup[];

/**
 * Returns the number of rows of a dataset in [startNs, endNs); undefined if it cannot be determined without reading them. A defined result
 * counts as a scan of the rows.
 */
export type RowCountOf = (name: string, startNs: bigint, endNs: bigint) => number | undefined;

/** Fields by facts about their values. */
export interface FieldBounds {
  /** Reals that are never NaN and can all be squared, see `squareable`, and integers that a double represents. */
  readonly bounded: ReadonlySet<string>;
  /** Fields without nulls. */
  readonly filled: ReadonlySet<string>;
  /** Dynamic fields whose JSON `scan` returns as a string under the name of {@link storedField}. */
  readonly stored: ReadonlySet<string>;
}

/** The datasets available to a query. */
export interface DatasetCatalog {
  /** Results of the kernel by their names in the query; `scan` uses the names in their schemas. */
  readonly results?: ReadonlyMap<string, DatasetSchema>;
  names(): string[];
  schema(name: string): DatasetSchema | undefined;
  /**
   * Returns a SELECT with columns f0..fn in the order of `fields`, restricted to `_time` in [startNs, endNs), in nanoseconds since 1970,
   * and to the rows that pass `filter`, which the engine can apply while reading. A field missing from the dataset is a typed null.
   */
  scan(name: string, fields: readonly string[], startNs: bigint, endNs: bigint, filter?: ScanFilter): string;
  /** Returns the same for rows that another scan of the query reads too, so they count once. */
  rescan?(
    name: string,
    fields: readonly string[],
    startNs: bigint,
    endNs: bigint,
    filter?: ScanFilter,
  ): string;
  readonly rowGroups?: RowGroupsOf;
  readonly rowCount?: RowCountOf;
  /** Facts known to `scan` about row positions, which are the field {@link placeField}. */
  readonly places?: PlacesOf;
  /** Fields of a dataset that contain only lists of strings, which `scan` returns as lists under the name of {@link textListField}. */
  readonly textLists?: TextListsOf;
  /** Facts about the values of a dataset's fields, undefined if nothing is known. */
  bounds?(name: string): FieldBounds | undefined;
  /** Maximum number of rows in a table; undefined if unknown. */
  mostRows?(name: string): number | undefined;
  /** The external engine that stores some of the datasets. */
  readonly far?: FarSource;
}

/** Place where rows are computed: in the other engine, here, or wherever their consumer is. */
export type Side = 'far' | 'here' | 'any';

/** A part of a query that another engine computes. */
export interface FarPart {
  /** A SELECT in the engine's SQL, which returns one row more than `mostRows` if there are more. */
  readonly sql: string;
  /** Its columns in order: names and value types. */
  readonly fields: readonly { readonly name: string; readonly type: TypeName }[];
  readonly mostRows: number;
  /** The construct that the engine has no SQL for, in words, if the query continues with it. */
  readonly because?: string;
}

/**
 * Another engine. For its datasets, {@link DatasetCatalog.scan} returns SELECTs in its own SQL; anything it has no SQL for is computed
 * here, over the rows that it returns.
 */
export interface FarSource {
  readonly dialect: Dialect;
  /** Returns the side of a relation without inputs. */
  sideOf(leaf: Relation): Side;
  /** Returns a SELECT of a local table, to embed in the engine's statement; undefined for a dataset of the engine. */
  scan?(name: string, fields: readonly string[], filter?: ScanFilter): string | undefined;
  /** Maximum rows that it may return for one part. */
  readonly mostRows: number;
  /**
   * Returns a function that scans the rows of a part here, by the names of their fields and {@link placeField}, which preserves their
   * order. If they have not been loaded yet, the string is empty, as for a dataset that has to be read first.
   */
  rows(part: FarPart): (fields: readonly string[], filter?: ScanFilter) => string;
}

/** A dataset computed by the engine instead of read from files. `scan` is the same as in {@link DatasetCatalog}. */
export interface BuiltinDataset {
  readonly schema: DatasetSchema;
  readonly description: string;
  /** Returns the approximate number of computed rows for the parts of a window (default: few). */
  rowGroups?(startNs: bigint, endNs: bigint): readonly RowGroup[];
  scan(fields: readonly string[], startNs: bigint, endNs: bigint, filter?: ScanFilter): string;
}

/**
 * Compiles a request to SQL, or returns the errors of its APL; `nowNs` is fixed for the whole request. `external` returns the file for an
 * address of `externaldata`.
 */
export type Compile = (
  request: QueryRequest,
  catalog: DatasetCatalog,
  nowNs: bigint,
  external?: (address: string) => ExternalFile,
) =>
  | { readonly ok: true; readonly compiled: CompiledQuery }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };
