import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ADDED, FLAGGED, PARTIAL, type Run, thinned } from '../../../kernel/result/chart/thin.js';

const runOf = (values: readonly (number | null)[]): Run => ({
  length: values.length,
  t: Float64Array.from(values.keys()),
  v: Float64Array.from(values, v => v ?? Number.NaN),
  marks: new Uint8Array(values.length),
});

test('does not change a line that fits', () => {
  const run = { ...runOf([1, null, 3]), marks: Uint8Array.of(0, ADDED, PARTIAL) };
  expect(thinned(run, 3)).toEqual([
    { t: 0, v: 1, partial: false },
    { t: 1, v: null, partial: false, added: true },
    { t: 2, v: 3, partial: true },
  ]);
});

test('keeps the lowest, the highest and a break of each run of neighbors, in order', () => {
  const values = [5, 9, 1, 5, 5, 5, null, 5, 8, 2, 5, 5];
  expect(thinned(runOf(values), 6).map(({ t, v }) => [t, v])).toEqual([
    [0, 5],
    [1, 9],
    [2, 1],
    [6, null],
    [8, 8],
    [9, 2],
    [11, 5],
  ]);
});

test('keeps the first anomaly of each run of neighbors', () => {
  const run = runOf([5, 9, 1, 5, 5, 5, 4, 5, 8, 2, 5, 5]);
  run.marks.set([FLAGGED, FLAGGED], 3);
  run.marks[8] = FLAGGED;
  const flagged = thinned(run, 6).filter(point => point.flagged);
  expect(flagged.map(({ t, v }) => [t, v])).toEqual([
    [3, 5],
    [8, 8],
  ]);
});

test('keeps extremes and ends, and at most two more points than requested', () => {
  const value = fc.oneof(fc.integer({ min: -1000, max: 1000 }), fc.constant(null));
  fc.assert(
    fc.property(
      fc.array(value, { minLength: 1, maxLength: 400 }),
      fc.integer({ min: 3, max: 60 }),
      (values, most) => {
        const kept = thinned(runOf(values), most);
        const numbers = (each: readonly (number | null)[]) => each.filter(v => v !== null);
        expect(Math.max(...numbers(kept.map(point => point.v)))).toBe(Math.max(...numbers(values)));
        expect(Math.min(...numbers(kept.map(point => point.v)))).toBe(Math.min(...numbers(values)));
        expect(kept.some(point => point.v === null)).toBe(values.includes(null));
        expect([kept[0]?.t, kept.at(-1)?.t]).toEqual([0, values.length - 1]);
        expect(kept.length).toBeLessThanOrEqual(
          Math.max(values.length <= most ? values.length : 0, most + 2),
        );
      },
    ),
  );
});
