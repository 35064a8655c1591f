/**
 * The points of a plot where its marks stand: in their bins, side by side or on each other.
 */
import type { Line, Plot, XyChart } from '../model.js';
import { seriesId } from './style.js';

/**
 * A row of a layer: place, value, the id of its line, where its bin ends, what it stands on, and its own value if that is not its
 * height. Lines go by ids.
 */
export interface Datum {
  readonly t: number;
  readonly v: number | null;
  readonly s: string;
  readonly e?: number;
  readonly b?: number;
  readonly w?: number | null;
  /** The segment that the row belongs to. */
  readonly d?: number;
}

/** A datum, or a stand-in for missing bins. */
export interface PlacedPoint {
  readonly datum: Datum;
  readonly partial: boolean;
  /** Whether the result has a value for it. */
  readonly isDatum: boolean;
}

/** Returns the points of each line of a plot, where they are drawn. */
export function placedPoints(plot: Plot, chart: XyChart): readonly (readonly PlacedPoint[])[] {
  const isStacked = plot.arrangement === 'stacked';
  const slots = plot.mark === 'bars' && !isStacked ? plot.lines.length : 1;
  const placed = plot.lines.map((line, index) =>
    placedOf(line, index, chart, { slot: slots === 1 ? 0 : index, slots }),
  );
  return isStacked ? stacked(placed) : placed;
}

/** The greatest sum and the least of a stack. */
export function stackEnds(lines: readonly Line[]): { readonly low: number; readonly high: number } {
  const up = new Map<number, number>();
  const down = new Map<number, number>();
  for (const { points } of lines)
    for (const { t, v } of points) {
      const side = (v ?? 0) < 0 ? down : up;
      side.set(t, (side.get(t) ?? 0) + (v ?? 0));
    }
  const ends = (of: Map<number, number>, choose: (a: number, b: number) => number) =>
    [...of.values()].reduce((a, b) => choose(a, b), 0);
  return { low: ends(down, Math.min), high: ends(up, Math.max) };
}

/** The share of a bin's width that its bars take. */
const BAR_WIDTH = 0.86;

/** The time of a bin is where its searched part begins. */
function placedOf(
  { points }: Line,
  index: number,
  { axis, across }: XyChart,
  { slot, slots }: { readonly slot: number; readonly slots: number },
): readonly PlacedPoint[] {
  return points.map(({ t, v, partial, added, end }) => {
    const from = Math.max(t, axis.start);
    const until = end ?? (axis.grid === undefined ? undefined : Math.min(t + axis.grid.size, axis.until));
    // Buckets of a number stand side by side, bins of time apart.
    const lead = across === undefined ? BAR_WIDTH : 0.97;
    const width = until === undefined ? 0 : ((until - from) * lead) / slots;
    const start = from + width * slot;
    const place = until === undefined ? { t: from } : { t: start, e: start + width };
    return {
      datum: { ...place, v, s: seriesId(index) },
      partial,
      isDatum: v !== null && added !== true,
    };
  });
}

/** Puts each line on those before it, negative values below zero. */
function stacked(placed: readonly (readonly PlacedPoint[])[]): readonly (readonly PlacedPoint[])[] {
  const up = new Map<number, number>();
  const down = new Map<number, number>();
  return placed.map(line =>
    line.map(point => {
      const { t, v } = point.datum;
      if (v === null) return point;
      const side = v < 0 ? down : up;
      const base = side.get(t) ?? 0;
      side.set(t, base + v);
      return { ...point, datum: { ...point.datum, v: base + v, b: base, w: v } };
    }),
  );
}
