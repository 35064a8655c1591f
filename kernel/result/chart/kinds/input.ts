/** A result as charts see it: its columns by role, and the facts that decide its shape. */
import type { ChartOptions } from '../../../apl/operators/drawing.js';
import type { ArrowTable, QueryResult } from '../../result.js';
import type { SpotlightEntry } from '../../spotlight.js';
import { columnsOf, isAggregation, isNumber, type Roles, rolesOf } from '../chart-columns.js';
import type { Facts } from '../chart-shapes.js';
import { type ChartColumn, numbersOf } from '../chart-values.js';
import { axisOf, binCount } from '../time/bins.js';
import { type Histograms, histograms, spotlightIn, type Unfolded, unfolded } from '../unfold.js';

/** A result as charts see it. */
export interface ChartInput {
  readonly result: QueryResult;
  readonly table: ArrowTable;
  readonly flat: Unfolded | undefined;
  readonly histograms: Histograms | undefined;
  /** Findings of `spotlight`, in a result of one row. */
  readonly spotlight: readonly SpotlightEntry[] | undefined;
  /** The roles of the columns, except the column of histograms. */
  readonly roles: Roles;
  readonly facts: Facts;
  /** When the query ran, in milliseconds since 1970. */
  readonly now: number;
}

/** Returns a result as charts see it; undefined for one without rows. */
export function chartInput(result: QueryResult, now: number, options: ChartOptions): ChartInput | undefined {
  const flat = unfolded(result);
  const seen = flat?.result ?? result;
  const table = seen.tables[0];
  if (table === undefined || table.data.numRows === 0) return undefined;
  const isAsked = options.kind !== undefined;
  const found = histograms(table);
  const spotlight = spotlightIn(table);
  const all = columnsOf(table);
  const columns = all.filter(column => column.field !== found?.column.field);
  const roles = rolesOf(table, columns, new Set(seen.reading?.keyColumns), isAsked);
  const { time } = roles;
  const facts: Facts = {
    rows: table.data.numRows,
    timestamps: time === undefined ? 0 : timestampsOf(seen, table, time, now),
    measures: roles.measures.length,
    keys: roles.keys.length,
    lists:
      spotlight !== undefined ? 'spotlight' : found !== undefined ? 'histograms' : (flat?.kind ?? 'none'),
    isBinned: isBinned(table, roles.keys),
    isAggregate: isAsked || isAggregation(table, all),
  };
  return { result: seen, table, flat, histograms: found, spotlight, roles, facts, now };
}

/** Returns whether a key is a number in bins of one width. */
function isBinned({ info }: ArrowTable, keys: readonly ChartColumn[]): boolean {
  return keys.some(key => key.field.name === info.buckets?.field && isNumber(key));
}

/**
 * Returns the number of timestamps a result is drawn along, 2 for any more: its own, or the bins of the searched range if it has only one.
 */
function timestampsOf(result: QueryResult, table: ArrowTable, time: ChartColumn, now: number): number {
  const times = numbersOf(time);
  const first = times.find(t => !Number.isNaN(t));
  if (first === undefined) return 0;
  if (times.some(t => t < first || t > first)) return 2;
  const axis = axisOf(result, table, Float64Array.of(first), now);
  return axis === undefined ? 1 : Math.max(1, binCount(axis));
}
