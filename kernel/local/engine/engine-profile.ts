import { present } from '../../present.js';
import { resultsSchema } from '../results/sent-names.js';

/** The engine's counts for one statement. */
export interface OperatorCounts {
  /** Rows produced by sources other than Parquet files and results, before any filter. */
  readonly generatedRows: number;
  /** Rows left from all sources after the filters directly above them. */
  readonly matchedRows: number;
  /** Nothing was scanned: the result came from constants or from file statistics. */
  readonly unscanned: boolean;
  /** The engine could not write its counts: the others are unknown. */
  readonly uncounted?: true;
}

/** Counts of a statement without a profile: the engine writes none if it has nothing to scan. */
export const noCounts: OperatorCounts = { generatedRows: 0, matchedRows: 0, unscanned: true };

/** Counts of a statement whose profile could not be written. */
export const notCounted: OperatorCounts = { ...noCounts, uncounted: true };

/** Returns the counts from a profile that the engine wrote as JSON with OPERATOR_TYPE, _NAME, _CARDINALITY and EXTRA_INFO. */
export function operatorCounts(profile: unknown): OperatorCounts {
  return sumCounts(childrenOf(profile).map(countsBelow));
}

/** Adds up the counts of several parts of a query. */
export function sumCounts(all: readonly OperatorCounts[]): OperatorCounts {
  return {
    generatedRows: all.reduce((total, each) => total + each.generatedRows, 0),
    matchedRows: all.reduce((total, each) => total + each.matchedRows, 0),
    unscanned: all.every(each => each.unscanned),
    ...present({ uncounted: all.some(each => each.uncounted) || undefined }),
  };
}

/** Operators that pass rows on one by one, so their output still counts as matching rows. */
const rowwise = new Set(['PROJECTION', 'FILTER', 'UNNEST', 'LIMIT', 'STREAMING_LIMIT']);

/** Constants, and results from statistics. */
const constants = new Set(['DUMMY_SCAN', 'COLUMN_DATA_SCAN']);

/** Rows already counted at another operator, or none at all. */
const counted = new Set(['CTE_SCAN', 'REC_CTE_SCAN', 'DELIM_SCAN', 'EMPTY_RESULT']);

function countsBelow(operator: unknown): OperatorCounts {
  const chain = chainFrom(operator);
  const source = chain.at(-1);
  const children = childrenOf(source).slice(fetchesLate(source) ? 1 : 0);
  if (children.length > 0) return sumCounts(children.map(countsBelow));
  if (counted.has(typeOf(source))) return { ...noCounts, unscanned: false };
  if (constants.has(typeOf(source)) && !chain.some(each => typeOf(each) === 'UNNEST')) return noCounts;
  const generatedRows = isStored(source) ? 0 : generatedBy(chain);
  return { generatedRows, matchedRows: rowsOf(operator), unscanned: false };
}

/** Returns the operators down to the source, as long as each only passes rows on. */
function chainFrom(operator: unknown): unknown[] {
  const chain = [operator];
  for (let at = operator; rowwise.has(typeOf(at)) && childrenOf(at).length === 1; ) {
    at = childrenOf(at)[0];
    chain.push(at);
  }
  return chain;
}

/** Returns the largest row count below the last filter: a generator may multiply rows above its scan (UNNEST), also between filters. */
function generatedBy(chain: readonly unknown[]): number {
  const lastFilter = chain.findIndex(each => typeOf(each) === 'FILTER');
  return Math.max(0, ...chain.slice(lastFilter + 1).map(rowsOf));
}

/**
 * Returns whether a join only fetches columns: for a small limit, the engine first finds the rows, then reads the remaining columns by row
 * number.
 */
function fetchesLate(operator: unknown): boolean {
  return (
    typeOf(operator) === 'HASH_JOIN' &&
    /file_row_number/.test(JSON.stringify(property(operator, 'extra_info')))
  );
}

/** Rows of files and results are counted before the engine reads them. */
function isStored(operator: unknown): boolean {
  const table = textOf(property(operator, 'extra_info'), 'Table');
  return /PARQUET/.test(textOf(operator, 'operator_name')) || table.includes(`.${resultsSchema}.`);
}

function childrenOf(operator: unknown): readonly unknown[] {
  const children = property(operator, 'children');
  return Array.isArray(children) ? children : [];
}

function typeOf(operator: unknown): string {
  return textOf(operator, 'operator_type');
}

function rowsOf(operator: unknown): number {
  return Number(property(operator, 'operator_cardinality') ?? 0);
}

function textOf(operator: unknown, key: string): string {
  return String(property(operator, key) ?? '').trim();
}

function property(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
