import type { ScanFilter } from '../../../sql/compiled-query.js';
import { placeField } from '../../../sql/rewrite/placed.js';
import { fileOfPlaceSql, type StoredDataset } from '../stored.js';

/** A query for the row groups with rows that pass a filter. */
export interface Sieve {
  /** Identifies the window and the filter. */
  readonly key: string;
  /** Fields that the filter reads. */
  readonly fields: readonly string[];
  /** Returns the SQL of the numbers of the files with such rows. */
  readonly sql: (dataset: StoredDataset) => string;
}

/** Returns the sieve of a scan, undefined if its filter reads all or none of its fields. */
export function sieveOf(
  fields: readonly string[],
  startNs: bigint,
  endNs: bigint,
  filter: ScanFilter,
): Sieve | undefined {
  const marked = filter.sql(fields.map((_, index) => `"\u0001${index}\u0001"`));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no name of a column has one
  const used = new Set([...marked.matchAll(/"\u0001(\d+)\u0001"/g)].map(([, index]) => Number(index)));
  const read = fields.filter((_, index) => used.has(index));
  if (read.length === 0 || read.length === fields.length) return undefined;
  const sql: ScanFilter['sql'] = values =>
    filter.sql(fields.map(name => values[read.indexOf(name) + 1] ?? 'NULL'));
  const asked: ScanFilter = { ...filter, sql };
  return {
    key: JSON.stringify([String(startNs), String(endNs), marked, fields]),
    fields: read,
    sql: dataset =>
      `SELECT DISTINCT ${fileOfPlaceSql('f0')} FROM (${dataset.scan([placeField, ...read], startNs, endNs, asked)})`,
  };
}
