import type { TypeName } from '../../apl/catalog/entry.js';
import type { DatasetSchema, FieldSchema } from '../../apl/plan/plan.js';
import { sqlTypes } from '../duckdb/duckdb-types.js';
import type { ExaminedBlocks, MeasuredCatalog } from '../engine/scans.js';
import type { FarSource, FieldBounds, RowGroup, ScanFilter } from '../sql/compiled-query.js';
import type { Places } from '../sql/rewrite/placed.js';
import { resultTable } from './sent-names.js';
import type { ResultTable } from './tables.js';
import type { ReadableResults, UploadedResult } from './uploaded.js';

/** The catalog of the datasets plus the results named in a request. */
export class CatalogWithResults implements MeasuredCatalog {
  readonly results: ReadonlyMap<string, DatasetSchema>;
  readonly far?: FarSource;
  /** The results that a query reads. */
  readonly scanned = new Set<UploadedResult>();
  readonly #datasets: MeasuredCatalog;
  readonly #uploaded: ReadonlyMap<string, UploadedResult>;

  constructor(datasets: MeasuredCatalog, results: ReadableResults) {
    this.#datasets = datasets;
    if (datasets.far !== undefined) this.far = datasets.far;
    this.#uploaded = new Map([...results.values()].map(({ uploaded }) => [uploaded.key, uploaded]));
    this.results = new Map(
      [...results].map(([name, { uploaded, rowField }]) => [name, schemaOf(uploaded, rowField)]),
    );
  }

  names(): string[] {
    return this.#datasets.names();
  }

  schema(name: string): DatasetSchema | undefined {
    return this.#datasets.schema(name);
  }

  /** Results ignore the time range: their rows were selected when they were made. */
  scan(name: string, fields: readonly string[], startNs: bigint, endNs: bigint, filter?: ScanFilter): string {
    const uploaded = this.#uploaded.get(name);
    if (uploaded === undefined) return this.#datasets.scan(name, fields, startNs, endNs, filter);
    this.scanned.add(uploaded);
    return scanSql(uploaded, fields, filter);
  }

  rowGroups(name: string, startNs: bigint, endNs: bigint): readonly RowGroup[] {
    return this.#uploaded.has(name) ? [] : this.#datasets.rowGroups(name, startNs, endNs);
  }

  rowCount(name: string, startNs: bigint, endNs: bigint): number | undefined {
    return this.#uploaded.has(name) ? undefined : this.#datasets.rowCount(name, startNs, endNs);
  }

  /** The rows of a result keep their order if a sort leaves them equal. */
  places(name: string): Places | undefined {
    return this.#uploaded.has(name) ? 'timeless' : this.#datasets.places?.(name);
  }

  textLists(name: string): ReadonlySet<string> {
    return (this.#uploaded.has(name) ? undefined : this.#datasets.textLists?.(name)) ?? new Set();
  }

  bounds(name: string): FieldBounds | undefined {
    return this.#uploaded.has(name) ? undefined : this.#datasets.bounds?.(name);
  }

  fetched(): ExaminedBlocks | undefined {
    return this.#datasets.fetched?.();
  }

  mostRows(name: string): number | undefined {
    return this.#uploaded.get(name)?.sent.rows;
  }

  examined(name: string, startNs: bigint, endNs: bigint, filter?: ScanFilter): ExaminedBlocks {
    const uploaded = this.#uploaded.get(name);
    return uploaded === undefined
      ? this.#datasets.examined(name, startNs, endNs, filter)
      : { blocks: 1, rows: uploaded.sent.rows };
  }
}

/** Returns the fields of a result as a query sees them. */
function schemaOf({ key, sent }: UploadedResult, rowField: string | undefined): DatasetSchema {
  const rows: FieldSchema[] = rowField === undefined ? [] : [{ name: rowField, type: 'long' }];
  return { name: key, fields: [...sent.fields, ...rows], open: false };
}

/** Returns a SELECT of fields from a table of results; a name without a field selects the row number. */
export function scanSql(
  { sent, table }: ResultTable,
  fields: readonly string[],
  filter?: ScanFilter,
): string {
  const values = fields.map(name => {
    const index = sent.fields.findIndex(field => field.name === name);
    // Rows keep their insertion order and are never deleted, so the rowid serves as row number, also as a tie-breaker.
    return index < 0 ? 'rowid::BIGINT' : columnSql(index, sent.fields[index]?.type);
  });
  const columns = values.length === 0 ? ['1 AS f0'] : values.map((value, index) => `${value} AS f${index}`);
  const only = filter === undefined ? '' : ` WHERE ${filter.sql(values)}`;
  return `SELECT ${columns.join(', ')} FROM ${resultTable(table)}${only}`;
}

/** Casts a string column, which may be an ENUM in the engine. */
function columnSql(index: number, type: TypeName | undefined): string {
  return type === 'string' ? `c${index}::${sqlTypes.string}` : `c${index}`;
}
