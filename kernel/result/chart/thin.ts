/** One point of a line: a value, or null where the line breaks. */
export interface Point {
  /** Milliseconds since 1970. */
  readonly t: number;
  readonly v: number | null;
  /** True for a bin that the searched range covers in part. */
  readonly partial: boolean;
  /** True for a stand-in for missing bins, which is not a row of the result. */
  readonly added?: true;
  /** Where its bin ends, for bins of their own width. */
  readonly end?: number;
}

/**
 * Returns at most about `most` points in order: of each run of neighbours the least and the greatest value, and a break where
 * the run has one. The first and the last point stay.
 */
export function thinned(points: readonly Point[], most: number): readonly Point[] {
  if (points.length <= most) return points;
  const length = Math.ceil(points.length / Math.max(1, Math.floor(most / 3)));
  const kept = new Set([0, points.length - 1]);
  for (let from = 0; from < points.length; from += length)
    for (const index of extremes(points, from, Math.min(points.length, from + length))) kept.add(index);
  return points.filter((_, index) => kept.has(index));
}

/** As `thinned`, for lines that have the same moments: all of them keep the same. */
export function thinnedTogether(
  lines: readonly (readonly Point[])[],
  most: number,
): readonly (readonly Point[])[] {
  if (lines.every(points => points.length <= most)) return lines;
  const each = Math.floor(most / Math.max(1, lines.length));
  const kept = new Set(lines.flatMap(points => thinned(points, each).map(({ t }) => t)));
  return lines.map(points => points.filter(({ t }) => kept.has(t)));
}

function extremes(points: readonly Point[], from: number, to: number): readonly number[] {
  let least: number | undefined;
  let greatest: number | undefined;
  let gap: number | undefined;
  for (let index = from; index < to; index++) {
    const v = points[index]?.v ?? null;
    if (v === null) {
      gap ??= index;
      continue;
    }
    if (least === undefined || v < (points[least]?.v ?? v)) least = index;
    if (greatest === undefined || v > (points[greatest]?.v ?? v)) greatest = index;
  }
  return [least, greatest, gap].filter(index => index !== undefined);
}

/**
 * Returns about `most` dots at most: of those that would cover each other the first, and every least and greatest value of both
 * axes.
 */
export function spread<T extends { readonly t: number; readonly v: number }>(
  dots: readonly T[],
  most: number,
): readonly T[] {
  if (dots.length <= most) return dots;
  const [left, right] = ends(dots, dot => dot.t);
  const [low, high] = ends(dots, dot => dot.v);
  const kept = new Set([left, right, low, high]);
  const taken = new Set<number>();
  const side = Math.floor(Math.sqrt(most));
  const cell = (value: number, from: number, to: number) =>
    to === from ? 0 : Math.min(side - 1, Math.floor(((value - from) / (to - from)) * side));
  for (const dot of dots) {
    const place = cell(dot.t, left.t, right.t) * side + cell(dot.v, low.v, high.v);
    if (!taken.has(place)) kept.add(dot);
    taken.add(place);
  }
  return dots.filter(dot => kept.has(dot));
}

function ends<T>(all: readonly T[], of: (each: T) => number): readonly [T, T] {
  return [all.reduce((a, b) => (of(b) < of(a) ? b : a)), all.reduce((a, b) => (of(b) > of(a) ? b : a))];
}
