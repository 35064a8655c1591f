/** Downsampling that keeps every extreme. */

/** One point of a line: a value, or null at a break of the line. */
export interface Point {
  /** Milliseconds since 1970. */
  readonly t: number;
  readonly v: number | null;
  /** True for a bin that the searched range covers in part. */
  readonly partial: boolean;
  /** True for a stand-in for missing bins, which is not a row of the result. */
  readonly added?: true;
  /** True for a value that the query marks as an anomaly. */
  readonly flagged?: true;
  /** End of its bin, if bins have different widths. */
  readonly end?: number;
}

/** The points of a line before thinning: an array for each member, NaN for a break. */
export interface Run {
  readonly length: number;
  readonly t: Float64Array;
  readonly v: Float64Array;
  /** For each point, the sum of `PARTIAL`, `ADDED` and `FLAGGED`. */
  readonly marks: Uint8Array;
}

export const PARTIAL = 1;
export const ADDED = 2;
export const FLAGGED = 4;

/**
 * Returns about `most` points at most, in order: from each group of neighbors the least and the greatest value, and the first break and
 * the first anomaly, if any. The first and the last point are kept.
 */
export function thinned(run: Run, most: number): readonly Point[] {
  return thinnedIndexes(run, most).map(index => pointAt(run, index));
}

/** Like `thinned`, for lines with the same timestamps: all of them keep the same points. */
export function thinnedTogether(runs: readonly Run[], most: number): readonly (readonly Point[])[] {
  const isFew = runs.every(run => run.length <= most);
  const each = Math.floor(most / Math.max(1, runs.length));
  const kept = new Set(
    runs.flatMap(run => thinnedIndexes(run, isFew ? most : each).map(index => run.t[index])),
  );
  return runs.map(run => indexesOf(run, t => kept.has(t)).map(index => pointAt(run, index)));
}

/** Returns the indexes of the points to keep, in order. */
function thinnedIndexes(run: Run, most: number): readonly number[] {
  if (run.length <= most) return indexesOf(run, () => true);
  const length = Math.ceil(run.length / Math.max(1, Math.floor(most / 3)));
  const kept = new Set([0, run.length - 1]);
  for (let from = 0; from < run.length; from += length)
    for (const index of extremes(run, from, Math.min(run.length, from + length))) kept.add(index);
  return [...kept].sort((a, b) => a - b);
}

function indexesOf({ t, length }: Run, holds: (t: number) => boolean): readonly number[] {
  const found: number[] = [];
  for (let index = 0; index < length; index++) if (holds(t[index] ?? 0)) found.push(index);
  return found;
}

function pointAt({ t, v, marks }: Run, index: number): Point {
  const value = v[index] ?? Number.NaN;
  const mark = marks[index] ?? 0;
  return {
    t: t[index] ?? 0,
    v: Number.isNaN(value) ? null : value,
    partial: (mark & PARTIAL) !== 0,
    ...((mark & ADDED) === 0 ? undefined : { added: true }),
    ...((mark & FLAGGED) === 0 ? undefined : { flagged: true }),
  };
}

/** Returns the first least, the first greatest, the first break and the first anomaly of a group. */
function extremes({ v, marks }: Run, from: number, to: number): readonly number[] {
  let [least, greatest, gap, anomaly] = [-1, -1, -1, -1];
  for (let index = from; index < to; index++) {
    const value = v[index] ?? Number.NaN;
    if (Number.isNaN(value)) gap = gap < 0 ? index : gap;
    else {
      if (least < 0 || value < (v[least] ?? value)) least = index;
      if (greatest < 0 || value > (v[greatest] ?? value)) greatest = index;
      if (anomaly < 0 && (marks[index] ?? 0) >= FLAGGED) anomaly = index;
    }
  }
  return [least, greatest, gap, anomaly].filter(index => index >= 0);
}

/** Dots before thinning: their coordinates on both axes. */
export interface Dots {
  readonly x: Float64Array;
  readonly y: Float64Array;
}

/**
 * Returns the indexes of about `most` dots at most, in order: the first of those that would cover each other, and the least and the
 * greatest value of each axis.
 */
export function spread({ x, y }: Dots, most: number): readonly number[] {
  if (x.length <= most) return [...x.keys()];
  const [left, right] = ends(x);
  const [low, high] = ends(y);
  const kept = new Set([left, right, low, high]);
  const side = Math.floor(Math.sqrt(most));
  const taken = new Uint8Array(side * side);
  const across = cells(x, [left, right], side);
  const up = cells(y, [low, high], side);
  for (let dot = 0; dot < x.length; dot++) {
    const place = across(dot) * side + up(dot);
    if (taken[place] === 0) kept.add(dot);
    taken[place] = 1;
  }
  return [...kept].sort((a, b) => a - b);
}

/** Returns a function that gives the interval of a dot, of `side` intervals of equal length. */
function cells(
  values: Float64Array,
  [first, last]: readonly [number, number],
  side: number,
): (dot: number) => number {
  const [from, to] = [values[first] ?? 0, values[last] ?? 0];
  if (from === to) return () => 0;
  return dot => Math.min(side - 1, Math.floor((((values[dot] ?? 0) - from) / (to - from)) * side));
}

/** Returns the indexes of the least and the greatest value. */
function ends(values: Float64Array): readonly [number, number] {
  let [least, greatest] = [0, 0];
  for (const [index, value] of values.entries()) {
    if (value < (values[least] ?? value)) least = index;
    if (value > (values[greatest] ?? value)) greatest = index;
  }
  return [least, greatest];
}
