import type { Plot } from './model.js';

/** Returns the largest of any number of values; -Infinity of none. */
export function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
}

/**
 * Returns the ends of an axis for values that marks stand at: from zero, unless the axis is logarithmic or all values are far from
 * it. What stands on a logarithmic axis begins below the least value. Without values it is an axis for 1.
 */
export function endsFor(
  values: readonly number[],
  { mark, isLog, isNarrow = false }: Pick<Plot, 'mark' | 'isLog'> & { readonly isNarrow?: boolean },
): Pick<Plot, 'low' | 'high'> {
  const some = values.length > 0 ? values : [1];
  const all = isLog || isNarrow ? some : [0, ...some];
  const [least, most] = [smallest(all), largest(all)];
  if (isLog) return { low: mark === 'bars' || mark === 'area' ? logFoot(least) : least, high: most };
  return least === most ? { low: 0, high: 1 } : { low: least, high: most };
}

/** Returns the power of ten at which marks of a logarithmic axis begin whose least value is this, so that it has a length too. */
export function logFoot(least: number): number {
  return Math.max(Number.MIN_VALUE, 10 ** Math.floor(Math.log10(least / 1.5)));
}

/** Returns the smallest of any number of values; Infinity of none. */
export function smallest(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
}

/** Returns the places of the `most` greatest values, the greatest first; equal ones keep their order, and NaN comes last. */
export function greatestOf(values: ArrayLike<number>, most: number): readonly number[] {
  const kept: number[] = [];
  const at = (place: number) => {
    const value = values[place] ?? Number.NaN;
    return Number.isNaN(value) ? Number.NEGATIVE_INFINITY : value;
  };
  for (let place = 0; place < values.length; place++) {
    const isFull = kept.length === most;
    if (isFull && at(place) <= at(kept[most - 1] ?? 0)) continue;
    if (isFull) kept.pop();
    const before = kept.findIndex(other => at(other) < at(place));
    kept.splice(before < 0 ? kept.length : before, 0, place);
  }
  return kept;
}

/** Returns the greatest magnitude of any number of values; 0 of none. */
export function greatestSize(values: Iterable<number>): number {
  let most = 0;
  for (const value of values) most = Math.max(most, Math.abs(value));
  return most;
}
