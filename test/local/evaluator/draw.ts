import { type Draw, times } from './expressions.js';
import { dynamicOf, int64, type Json, type Type, type Value } from './values.js';

const values: Readonly<Record<Type, readonly Value[]>> = {
  long: [null, 0n, 1n, -1n, 2n, 3n, 7n, -5n, 100n, int64.greatest, int64.least, int64.greatest - 1n],
  real: [null, 0, -0, 1, -1.5, 2.25, 1e300, -1e300, 5e-324, Number.NaN, Infinity, -Infinity],
  string: [null, '', 'a', 'b', 'B', 'ab', 'ä', '10', '9', '😀', "it's", 'a\\b'],
  bool: [null, true, false],
  datetime: [null, 0n, -1n, 1n, 1_772_600_767_123_456_789n, 1_772_600_767_000_000_000n, times.least],
  timespan: [null, 0n, 1n, -1n, 60_000_000_000n, 1_500n, 86_400_000_000_000n],
  dynamic: (
    [
      null,
      1n,
      10n,
      9n,
      2.5,
      true,
      'a',
      '10',
      [],
      [1n, 2n, 10n],
      ['a', 1n, null],
      [[1n], {}],
      { a: 1n },
      { b: [1n], c: null },
    ] as Json[]
  ).map(dynamicOf),
};

/** Returns a generator seeded with `seed` (Mulberry32). */
export function drawFrom(seed: number): Draw {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const pick: Draw['pick'] = choices => {
    const found = choices[Math.floor(next() * choices.length)];
    return found as NonNullable<typeof found>;
  };
  return { pick, value: type => pick(values[type]) };
}
