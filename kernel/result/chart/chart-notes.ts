/**
 * What a chart says about values that it draws differently from the table, or not at all.
 */
import { formatCount, plural } from '../../text.js';
import { nameOf } from './chart-columns.js';
import type { ChartColumn } from './chart-values.js';

/** Returns the sentences among these, in order; a condition that does not hold leaves its sentence out. */
export function notes(...parts: readonly (string | false | readonly string[])[]): readonly string[] {
  return parts.flatMap(part => (part === false ? [] : part));
}

/** Names of columns, for a sentence. */
export function namesOf(columns: readonly ChartColumn[]): string {
  return columns.map(nameOf).join(', ');
}

/** Says that only the first `shown` of `all` are drawn; false if all are. */
export function firstOf(shown: number, all: number, what: string): string | false {
  return shown < all && `the first ${formatCount(shown)} of ${formatCount(all)} ${what}`;
}

/** Names columns that are not drawn; false without columns. */
export function notDrawn(columns: readonly ChartColumn[]): string | false {
  return columns.length > 0 && `not drawn: ${namesOf(columns)}`;
}

/** Names measures without a value; false without measures. */
export function withoutValues(measures: readonly ChartColumn[]): string | false {
  return measures.length > 0 && `no value in any row: ${namesOf(measures)}`;
}

/** Returns why nothing is drawn of measures that have no value. */
export function noValue(measures: readonly ChartColumn[]): string {
  return `No chart: ${namesOf(measures)} ${measures.length === 1 ? 'has' : 'have'} no value in any row.`;
}

/** Counts rows that are not drawn, as they lack what places them; false if there are none. */
export function rowsWithout(count: number, what: string): string | false {
  return count > 0 && `not drawn: ${plural(count, 'row')} without ${what}`;
}

/** Says why an axis that was to be logarithmic is not. */
export const NO_LOG = 'no log axis: there are values of 0 or less';

/** Says why measures that were to be stacked are not. */
export function notStacked(isGrouped: boolean, lacking: string, measures: readonly ChartColumn[]): string {
  return isGrouped
    ? `not stacked: values of ${namesOf(measures)} do not add up`
    : `nothing to stack: ${lacking}`;
}
