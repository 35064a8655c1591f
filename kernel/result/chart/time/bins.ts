/** The time axis of a chart: the searched range, its bins, and which of them its ends cut off. */
import { DataType } from 'apache-arrow';
import type { ArrowTable, QueryResult } from '../../result.js';
import { ADDED, FLAGGED, PARTIAL, type Run } from '../thin.js';
import { greatestSize } from '../units.js';

/** Bins of one width; `first` and `last` are the numbers of the outermost bins that the searched range touches, counted from `origin`. */
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
  /** False if the times of the result are outside of the searched range, which then says nothing about them. */
  readonly isSearched: boolean;
  /** Absent if the times have no common distance. */
  readonly grid?: Grid;
}

/** The searched range, in milliseconds since 1970. */
interface Searched {
  readonly start: number;
  readonly end: number;
  readonly now: number;
}

/** Returns the axis for the timestamps of a result, in ascending order; undefined if there are too few to draw along. */
export function axisOf(
  result: QueryResult,
  table: ArrowTable,
  timestamps: Float64Array,
  now: number,
): TimeAxis | undefined {
  const nanos = binNanos(table);
  return timeAxis(timestamps, nanos && nanos / NANOS_PER_MS, searchedRange(result, table, now));
}

/** Returns the width of the bins of time, in nanoseconds; undefined for a result without them, such as one by bins of a number. */
export function binNanos({ info: { buckets }, data }: ArrowTable): number | undefined {
  const field = data.schema.fields.find(({ name }) => name === buckets?.field);
  const isTime = field !== undefined && DataType.isTimestamp(field.type);
  return isTime && buckets !== undefined && buckets.size > 0 ? buckets.size : undefined;
}

const NANOS_PER_MS = 1e6;

/** Returns the range that the service reports, otherwise the requested one if it is absolute. */
function searchedRange({ provenance }: QueryResult, { info }: ArrowTable, now: number): Searched | undefined {
  const start = Date.parse(info.range?.start ?? provenance.startTime);
  const end = Date.parse(info.range?.end ?? provenance.endTime);
  return Number.isFinite(start) && start < end ? { start, end, now } : undefined;
}

function timeAxis(
  timestamps: Float64Array,
  size: number | undefined,
  searched: Searched | undefined,
): TimeAxis | undefined {
  const [first, last] = [timestamps[0], timestamps.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const gaps = timestamps.slice(1).map((t, at) => t - (timestamps[at] ?? 0));
  const width = regularSize(gaps, size);
  const reach = width ?? greatestSize(gaps);
  const isSearched = searched !== undefined && first > searched.start - reach && last < searched.end;
  const start = isSearched ? searched.start : first;
  const end = isSearched ? searched.end : last + (width ?? 0);
  const until = isSearched && searched.now > last ? Math.min(end, searched.now) : end;
  if (start === end) return undefined;
  const axis = { start, end, until, isSearched };
  return width === undefined ? axis : { ...axis, grid: gridOf(first, width, start, until) };
}

/** Returns whether only part of the bin was searched. */
function isPartial({ start, until, grid, isSearched }: TimeAxis, t: number): boolean {
  if (grid === undefined || !isSearched) return false;
  const slack = grid.size * SLACK;
  return t < start - slack || t + grid.size > until + slack;
}

/** Returns how many bins the searched range touches; 0 if they have no width. */
export function binCount({ grid }: TimeAxis): number {
  return grid === undefined ? 0 : grid.last - grid.first + 1;
}

/** Returns the values of one line, in order of time, as a run without stand-ins; values flagged -1 or 1 are anomalies. */
export function runOf(t: Float64Array, v: Float64Array, axis: TimeAxis, flags?: Float64Array): Run {
  const marks = new Uint8Array(t.length);
  for (let index = 0; index < t.length; index++) {
    if (isPartial(axis, t[index] ?? 0)) marks[index] = PARTIAL;
    if (flags !== undefined && Math.abs(flags[index] ?? 0) === 1)
      marks[index] = (marks[index] ?? 0) + FLAGGED;
  }
  return { length: t.length, t, v, marks };
}

/**
 * Returns ascending timestamps with those of stand-ins for the missing bins between them, and if `fill` is 0, up to both ends of the axis.
 * Consecutive missing bins need two zeros at each end, or one break.
 */
export function withMissing(timestamps: Float64Array, { grid }: TimeAxis, fill: 0 | null): Float64Array {
  const [first] = timestamps;
  if (grid === undefined || first === undefined) return timestamps;
  const all: number[] = [];
  const addBins = (from: number, to: number) => {
    for (const bin of fill === null ? [from] : new Set([from, from + 1, to - 1, to]))
      if (bin >= from && bin <= to) all.push(grid.origin + bin * grid.size);
  };
  let next = fill === 0 ? grid.first : binNumber(grid, first);
  for (const t of timestamps) {
    const bin = binNumber(grid, t);
    if (next < bin) addBins(next, bin - 1);
    all.push(t);
    next = bin + 1;
  }
  if (fill === 0) addBins(next, grid.last);
  return Float64Array.from(all);
}

/** Returns a run with a point at each of these timestamps: a stand-in, zero or a break, for each bin that it lacks. */
export function atEach(timestamps: Float64Array, run: Run, axis: TimeAxis, fill: 0 | null): Run {
  const { grid } = axis;
  if (grid === undefined) return run;
  const t = timestamps.slice();
  const v = new Float64Array(t.length).fill(fill ?? Number.NaN);
  const marks = Uint8Array.from(t, time => ADDED + (isPartial(axis, time) ? PARTIAL : 0));
  let at = 0;
  for (const [index, time] of t.entries()) {
    const own = run.t[at];
    if (own === undefined || binNumber(grid, own) !== binNumber(grid, time)) continue;
    t[index] = own;
    v[index] = run.v[at] ?? Number.NaN;
    marks[index] = run.marks[at] ?? 0;
    at += 1;
  }
  return { length: t.length, t, v, marks };
}

/** Narrows the bins to those between the first and the last timestamp. */
export function betweenRows(axis: TimeAxis, timestamps: Float64Array): TimeAxis {
  const { grid } = axis;
  const [first, last] = [timestamps[0], timestamps.at(-1)];
  if (grid === undefined || first === undefined || last === undefined) return axis;
  return { ...axis, grid: { ...grid, first: binNumber(grid, first), last: binNumber(grid, last) } };
}

/** A fraction of a bin that is only a rounding error. */
const SLACK = 1e-6;

function binNumber({ origin, size }: Grid, t: number): number {
  return Math.round((t - origin) / size);
}

function gridOf(origin: number, size: number, start: number, until: number): Grid {
  const first = Math.floor((start - origin) / size + SLACK);
  return { origin, size, first: Math.min(first, 0), last: Math.ceil((until - origin) / size - SLACK) - 1 };
}

/**
 * Returns the width of the bins, stated or found: every gap between two timestamps is a multiple of it. Undefined for uneven bins such as
 * months.
 */
function regularSize(gaps: Float64Array, stated: number | undefined): number | undefined {
  const size = stated ?? (gaps.length < 2 ? undefined : gaps.reduce((least, gap) => Math.min(least, gap)));
  if (size === undefined || !(size > 0)) return undefined;
  return gaps.every(gap => Math.abs(gap / size - Math.round(gap / size)) < 1e-3) ? size : undefined;
}
