/** Notes on values that a chart draws differently from the table, or not at all. */
import { formatCount, plural } from '../../text.js';
import { nameOf } from './chart-columns.js';
import type { ChartColumn } from './chart-values.js';

/** Returns the sentences in order, leaving out those whose condition is false. */
export function notes(...parts: readonly (string | false | readonly string[])[]): readonly string[] {
  return parts.flatMap(part => (part === false ? [] : part));
}

/** Returns the names of columns, for a sentence. */
export function namesOf(columns: readonly ChartColumn[]): string {
  return columns.map(nameOf).join(', ');
}

/** Returns a note that only the first `shown` of `all` are drawn; false if all are. */
export function firstOf(shown: number, all: number, what: string): string | false {
  return shown < all && `the first ${formatCount(shown)} of ${formatCount(all)} ${what}`;
}

/** Returns a note that names columns that are not drawn; false without columns. */
export function notDrawn(columns: readonly ChartColumn[]): string | false {
  return columns.length > 0 && `not drawn: ${namesOf(columns)}`;
}

/** Returns a note that names measures without a value; false without measures. */
export function withoutValues(measures: readonly ChartColumn[]): string | false {
  return measures.length > 0 && `no value in any row: ${namesOf(measures)}`;
}

/** Returns why measures without values are not drawn. */
export function noValue(measures: readonly ChartColumn[]): string {
  return `No chart: ${namesOf(measures)} ${measures.length === 1 ? 'has' : 'have'} no value in any row.`;
}

/** Returns a note that counts rows left out for lack of a position; false if there are none. */
export function rowsWithout(count: number, what: string): string | false {
  return count > 0 && `not drawn: ${plural(count, 'row')} without ${what}`;
}

/** Note if a logarithmic axis was requested but cannot be drawn. */
export const NO_LOG = 'no log axis: some values are 0 or less';

/** Returns why measures are not stacked as requested. */
export function notStacked(isGrouped: boolean, lacking: string, measures: readonly ChartColumn[]): string {
  return isGrouped
    ? `not stacked: values of ${namesOf(measures)} do not add up`
    : `nothing to stack: ${lacking}`;
}
