/** Returns the largest of any number of values; -Infinity of none. */
export function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
}

/** Returns the power of ten at which marks of a logarithmic axis begin whose least value is this, so that it has a length too. */
export function logFoot(least: number): number {
  return Math.max(Number.MIN_VALUE, 10 ** Math.floor(Math.log10(least / 1.5)));
}

/** Returns the smallest of any number of values; Infinity of none. */
export function smallest(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
}
