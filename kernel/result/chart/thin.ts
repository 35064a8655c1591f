/** One point of a line: a value, or null where the line breaks. */
export interface Point {
  /** Milliseconds since 1970. */
  readonly t: number;
  readonly v: number | null;
  /** True for a bin that the searched range covers in part. */
  readonly partial: boolean;
  /** True for a stand-in for missing bins, which is not a row of the result. */
  readonly added?: true;
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
