/**
 * The time axis of a chart: the searched range, the bins that it holds, and which of them are cut off by its ends.
 */
import type { Point } from '../thin.js';

/** Bins of one width; `first` and `last` are the numbers of those that the searched range touches, counted from `origin`. */
export interface Grid {
  readonly origin: number;
  readonly size: number;
  readonly first: number;
  readonly last: number;
}

/** Milliseconds since 1970. `until`, the end of the searched part, is before `end` when the range ends in the future. */
export interface TimeAxis {
  readonly start: number;
  readonly end: number;
  readonly until: number;
  /** False when the times of the result lie outside of the searched range, so that it says nothing about them. */
  readonly isSearched: boolean;
  /** Absent when the times have no common distance. */
  readonly grid?: Grid;
}

/** The range that was searched, in milliseconds since 1970. */
export interface Searched {
  readonly start: number;
  readonly end: number;
  readonly now: number;
}

/** Returns the axis for the moments of a result, in ascending order; undefined when there are too few to draw along. */
export function timeAxis(
  moments: readonly number[],
  size: number | undefined,
  searched: Searched | undefined,
): TimeAxis | undefined {
  const [first, last] = [moments[0], moments.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const width = regularSize(moments, size);
  const reach = width ?? widestGap(moments);
  const isSearched = searched !== undefined && first > searched.start - reach && last < searched.end;
  const start = isSearched ? searched.start : first;
  const end = isSearched ? searched.end : last + (width ?? 0);
  const until = isSearched && searched.now > last ? Math.min(end, searched.now) : end;
  if (start === end) return undefined;
  const axis = { start, end, until, isSearched };
  return width === undefined ? axis : { ...axis, grid: gridOf(first, width, start, until) };
}

/** Whether only a part of the bin was searched. */
export function isPartial({ start, until, grid, isSearched }: TimeAxis, t: number): boolean {
  if (grid === undefined || !isSearched) return false;
  const slack = grid.size * SLACK;
  return t < start - slack || t + grid.size > until + slack;
}

/** How many bins the searched range touches; 0 when they have no width. */
export function binCount({ grid }: TimeAxis): number {
  return grid === undefined ? 0 : grid.last - grid.first + 1;
}

/**
 * Returns the points with stand-ins for the missing bins between them: zeros where `fill` is 0, else a break. A run of
 * missing bins needs two zeros, or one break.
 */
export function withMissing(points: readonly Point[], axis: TimeAxis, fill: 0 | null): readonly Point[] {
  const { grid } = axis;
  if (grid === undefined) return points;
  const filled: Point[] = [];
  let next = fill === 0 ? grid.first : undefined;
  for (const point of points) {
    const bin = binNumber(grid, point.t);
    if (next !== undefined && next < bin) filled.push(...run(next, bin - 1, axis, grid, fill));
    filled.push(point);
    next = bin + 1;
  }
  if (fill === 0 && next !== undefined) filled.push(...run(next, grid.last, axis, grid, fill));
  return filled;
}

/** Returns a point for every bin, as the parts of a stack need it: stand-ins where there is none, also at both ends. */
export function everyBin(points: readonly Point[], axis: TimeAxis, fill: 0 | null): readonly Point[] {
  const { grid } = axis;
  if (grid === undefined) return points;
  const known = new Map(points.map(point => [binNumber(grid, point.t), point]));
  return Array.from({ length: grid.last - grid.first + 1 }, (_, index) => {
    const bin = grid.first + index;
    const t = grid.origin + bin * grid.size;
    return known.get(bin) ?? { t, v: fill, partial: isPartial(axis, t), added: true };
  });
}

/** Narrows the bins to those between the first and the last moment. */
export function betweenRows(axis: TimeAxis, moments: readonly number[]): TimeAxis {
  const { grid } = axis;
  const [first, last] = [moments[0], moments.at(-1)];
  if (grid === undefined || first === undefined || last === undefined) return axis;
  return { ...axis, grid: { ...grid, first: binNumber(grid, first), last: binNumber(grid, last) } };
}

/** A part of a bin that is only rounding. */
const SLACK = 1e-6;

function binNumber({ origin, size }: Grid, t: number): number {
  return Math.round((t - origin) / size);
}

function gridOf(origin: number, size: number, start: number, until: number): Grid {
  const first = Math.floor((start - origin) / size + SLACK);
  return { origin, size, first: Math.min(first, 0), last: Math.ceil((until - origin) / size - SLACK) - 1 };
}

function widestGap(moments: readonly number[]): number {
  return moments.slice(1).reduce((widest, t, index) => Math.max(widest, t - (moments[index] ?? t)), 0);
}

/** The width of the bins, stated or found: every distance is a multiple of it. Undefined for uneven bins such as months. */
function regularSize(moments: readonly number[], stated: number | undefined): number | undefined {
  const gaps = moments.slice(1).map((t, index) => t - (moments[index] ?? t));
  const size = stated ?? (gaps.length < 2 ? undefined : gaps.reduce((a, b) => Math.min(a, b)));
  if (size === undefined || !(size > 0)) return undefined;
  const isMultiple = (gap: number) => Math.abs(gap / size - Math.round(gap / size)) < 1e-3;
  return gaps.every(isMultiple) ? size : undefined;
}

/** The ends of a run of missing bins; one that is cut off by the range stands for itself. */
function run(from: number, to: number, axis: TimeAxis, grid: Grid, v: 0 | null): readonly Point[] {
  if (from > to) return [];
  const numbers = v === null ? [from] : [from, from + 1, to - 1, to].filter(bin => bin >= from && bin <= to);
  return [...new Set(numbers)].map(bin => {
    const t = grid.origin + bin * grid.size;
    return { t, v, partial: isPartial(axis, t), added: true };
  });
}
