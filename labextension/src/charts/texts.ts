/** A moment in UTC, to the millisecond where it has any. */
export function momentText(t: number): string {
  return new Date(t)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.000Z$|Z$/, '');
}

/** A number: thousands apart, seven digits at most. */
export function numberText(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 7 });
}

/** What `%time` takes for the stretch between two moments, in milliseconds since 1970, which it holds whole. */
export function timeRange(from: number, to: number): string {
  return [Math.floor(from), Math.ceil(to)]
    .map(t => new Date(t).toISOString().replace('.000Z', 'Z'))
    .join('..');
}
