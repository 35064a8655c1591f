/** What the engine counted while it ran one statement. */
export interface OperatorCounts {
  /** Rows made by sources other than Parquet files, before any filter. */
  readonly generatedRows: number;
  /** Rows left of all sources after the filters that follow them directly. */
  readonly matchedRows: number;
}

/** The counts of a statement that read nothing. */
export const noCounts: OperatorCounts = { generatedRows: 0, matchedRows: 0 };

/** Returns the counts in a profile written by the engine as JSON with OPERATOR_TYPE and OPERATOR_CARDINALITY. */
export function operatorCounts(profile: unknown): OperatorCounts {
  return sum(childrenOf(profile).map(countsBelow));
}

/** Operators that pass rows on one by one, so that what leaves them is still "the rows that match". */
const rowwise = new Set(['PROJECTION', 'FILTER', 'UNNEST', 'LIMIT', 'STREAMING_LIMIT']);

/** Sources of constants and of rows that another operator has counted already. */
const uncounted = new Set(['DUMMY_SCAN', 'CTE_SCAN', 'DELIM_SCAN', 'EMPTY_RESULT', 'COLUMN_DATA_SCAN']);

function countsBelow(operator: unknown): OperatorCounts {
  const chain = chainFrom(operator);
  const source = chain.at(-1);
  if (!source) return noCounts;
  const children = childrenOf(source);
  if (children.length > 0) return sum(children.map(countsBelow));
  if (chain.every(each => uncounted.has(typeOf(each)) || typeOf(each) === 'PROJECTION')) return noCounts;
  return { generatedRows: isParquet(source) ? 0 : generatedBy(chain), matchedRows: rowsOf(operator) };
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

/** A generator may multiply rows above its scan (UNNEST); what counts is what reaches the first filter. */
function generatedBy(chain: readonly unknown[]): number {
  const firstFilter = chain.findLastIndex(each => typeOf(each) === 'FILTER');
  return Math.max(0, ...chain.slice(firstFilter + 1).map(rowsOf));
}

function isParquet(operator: unknown): boolean {
  return /PARQUET/.test(textOf(operator, 'operator_name'));
}

function sum(all: readonly OperatorCounts[]): OperatorCounts {
  return {
    generatedRows: all.reduce((total, each) => total + each.generatedRows, 0),
    matchedRows: all.reduce((total, each) => total + each.matchedRows, 0),
  };
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
