import { present } from '../../present.js';
import { resultsSchema } from '../results/sent-names.js';

/** The engine's counts of one statement. */
export interface OperatorCounts {
  /** Rows made by sources other than Parquet files and results, before any filter. */
  readonly generatedRows: number;
  /** Rows left of all sources after the filters that follow them directly. */
  readonly matchedRows: number;
  /** Nothing was scanned: the answer came from constants or from the statistics of the files. */
  readonly unscanned: boolean;
  /** The engine could not write what it counted: the others are not known. */
  readonly uncounted?: true;
}

/** The counts of a statement without a profile: the engine writes none if it has nothing to scan. */
export const noCounts: OperatorCounts = { generatedRows: 0, matchedRows: 0, unscanned: true };

/** Those of a statement whose profile could not be written. */
export const notCounted: OperatorCounts = { ...noCounts, uncounted: true };

/**
 * Returns the counts in a profile written by the engine as JSON with OPERATOR_TYPE, _NAME, _CARDINALITY and
 * EXTRA_INFO.
 */
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

/** Operators that pass rows on one by one, so that what leaves them is still "the rows that match". */
const rowwise = new Set(['PROJECTION', 'FILTER', 'UNNEST', 'LIMIT', 'STREAMING_LIMIT']);

/** Constants, and answers from statistics. */
const constants = new Set(['DUMMY_SCAN', 'COLUMN_DATA_SCAN']);

/** Rows that another operator has counted already, and none at all. */
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

/** From an operator down to its source, as long as each only passes rows on. */
function chainFrom(operator: unknown): unknown[] {
  const chain = [operator];
  for (let at = operator; rowwise.has(typeOf(at)) && childrenOf(at).length === 1; ) {
    at = childrenOf(at)[0];
    chain.push(at);
  }
  return chain;
}

/** A generator may multiply rows above its scan (UNNEST), also between filters; the most rows that reach one of them count. */
function generatedBy(chain: readonly unknown[]): number {
  const lastFilter = chain.findIndex(each => typeOf(each) === 'FILTER');
  return Math.max(0, ...chain.slice(lastFilter + 1).map(rowsOf));
}

/** For a small limit the engine finds the rows first and then fetches their other columns, by their place in the file. */
function fetchesLate(operator: unknown): boolean {
  return (
    typeOf(operator) === 'HASH_JOIN' &&
    /file_row_number/.test(JSON.stringify(property(operator, 'extra_info')))
  );
}

/** The rows of files and of results are counted before the engine reads them. */
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
