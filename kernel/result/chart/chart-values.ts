/** The values of a column as charts need them, in arrays filled once: a result has millions of rows, and each is read many times. */
import { type Data, DataType, type Field, type Vector } from 'apache-arrow';
import { cellText, exactInt64 } from '../display/display-text.js';

/** One column with its description. */
export interface ChartColumn {
  readonly field: Field;
  readonly vector: Vector;
}

/**
 * Returns the drawable numbers of a column by row: times in milliseconds since 1970, durations in seconds, both with fractions; NaN for a
 * null and for a value that no axis can show.
 */
export function numbersOf({ field: { type }, vector }: ChartColumn): Float64Array {
  const before = known.get(vector);
  if (before !== undefined) return before;
  const divisor = DataType.isTimestamp(type)
    ? PER_SECOND[type.unit] / 1000
    : DataType.isDuration(type)
      ? PER_SECOND[type.unit]
      : 1;
  const all = new Float64Array(vector.length);
  let start = 0;
  for (const chunk of vector.data) {
    readInto(all.subarray(start, start + chunk.length), chunk, divisor);
    start += chunk.length;
  }
  known.set(vector, all);
  return all;
}

/** Returns a drawable number, in seconds for a duration; null for a null and for a value that no axis can show. */
export function numberAt(column: ChartColumn, row: number): number | null {
  const value = numbersOf(column)[row] ?? Number.NaN;
  return Number.isNaN(value) ? null : value;
}

/** Returns the times of a column in milliseconds since 1970, ascending and without duplicates. */
export function distinctTimes(column: ChartColumn): Float64Array {
  const times = numbersOf(column).filter(t => !Number.isNaN(t));
  return times.sort().filter((t, at) => t !== times[at - 1]);
}

/** Returns the drawable numbers of the given rows, in their order. */
export function valuesIn(column: ChartColumn, rows: Uint32Array): Float64Array {
  const values = numbersOf(column);
  const found = new Float64Array(rows.length);
  for (let at = 0; at < rows.length; at++) found[at] = values[rows[at] ?? 0] ?? Number.NaN;
  return found;
}

/** Returns the numbers of all rows. */
export function allRows(count: number): Uint32Array {
  const rows = new Uint32Array(count);
  for (let row = 0; row < count; row++) rows[row] = row;
  return rows;
}

/** Groups of rows: the group number of each row, in row order, counted from 0 in order of appearance. */
export interface GroupNumbers {
  readonly numbers: Uint32Array;
  readonly count: number;
}

/** Returns the groups of rows. Different groups never share a number, even if their keys look the same. */
export function groupNumbers(keys: readonly ChartColumn[], rows: Uint32Array): GroupNumbers {
  let found: GroupNumbers = { numbers: new Uint32Array(rows.length), count: Math.min(1, rows.length) };
  for (const key of keys) {
    const own = identities(key);
    const seen = new Map<number, number>();
    // Neither factor exceeds the number of rows, so the pair is an exact number.
    const width = key.vector.length + 1;
    const numbers = new Uint32Array(rows.length);
    for (let at = 0; at < rows.length; at++)
      numbers[at] = numberIn(seen, (found.numbers[at] ?? 0) * width + own(rows[at] ?? 0));
    found = { numbers, count: seen.size };
  }
  return found;
}

/** Returns the rows of a group, out of the rows whose groups are given. */
export function rowsOfGroup(rows: Uint32Array, { numbers }: GroupNumbers, group: number): Uint32Array {
  return rows.filter((_, at) => numbers[at] === group);
}

/**
 * Returns the size of each group: the sum of its values, each mapped by `of`, or the greatest if they do not add up; NaN without values.
 */
export function sizesOf(
  { numbers, count }: GroupNumbers,
  values: Float64Array,
  adds: boolean,
  of: (value: number) => number = Number,
): Float64Array {
  const sizes = new Float64Array(count).fill(Number.NaN);
  for (let at = 0; at < values.length; at++) {
    const value = values[at] ?? Number.NaN;
    if (Number.isNaN(value)) continue;
    const group = numbers[at] ?? 0;
    const before = sizes[group] ?? Number.NaN;
    if (adds) sizes[group] = of(value) + (Number.isNaN(before) ? 0 : before);
    else sizes[group] = Number.isNaN(before) ? value : Math.max(before, value);
  }
  return sizes;
}

/** Returns the indexes of the `most` greatest values, greatest first; ties keep their order, and NaN comes last. */
export function greatestOf(values: ArrayLike<number>, most: number): readonly number[] {
  const kept: number[] = [];
  const at = (place: number) => {
    const value = values[place] ?? Number.NaN;
    return Number.isNaN(value) ? Number.NEGATIVE_INFINITY : value;
  };
  for (let place = 0; place < values.length; place++) {
    const isFull = kept.length === most;
    if (isFull && at(place) <= at(kept[most - 1] ?? 0)) continue;
    if (isFull) kept.pop();
    const before = kept.findIndex(other => at(other) < at(place));
    kept.splice(before < 0 ? kept.length : before, 0, place);
  }
  return kept;
}

/** Returns the index of a value among the distinct values seen so far. */
function numberIn<T>(seen: Map<T, number>, value: T): number {
  const known = seen.get(value);
  if (known !== undefined) return known;
  seen.set(value, seen.size);
  return seen.size - 1;
}

/** Returns a function that identifies the value of a row: equal values have equal numbers, and a null has 0. */
function identities({ field, vector }: ChartColumn): (row: number) => number {
  const { type } = field;
  const seen = new Map<string | bigint, number>();
  const isExact = DataType.isTimestamp(type) || DataType.isDuration(type);
  const plain = (row: number) =>
    vector.isValid(row)
      ? numberIn(seen, isExact ? exactInt64(vector, row) : (cellText(vector, row, field) ?? '')) + 1
      : 0;
  const [only] = vector.data;
  if (!DataType.isDictionary(vector.type) || only === undefined || vector.data.length > 1) return plain;
  // Each dictionary entry is read only once.
  const codes = only.values as Int32Array;
  const known = new Uint32Array(only.dictionary?.length ?? 0);
  return row => {
    if (!only.getValid(row)) return 0;
    const code = codes[row] ?? 0;
    const before = known[code] ?? 0;
    if (before !== 0) return before;
    const number = plain(row);
    known[code] = number;
    return number;
  };
}

/** By Arrow's units: second, millisecond, microsecond, nanosecond. */
const PER_SECOND = [1, 1e3, 1e6, 1e9] as const;

const known = new WeakMap<Vector, Float64Array>();

function readInto(target: Float64Array, chunk: Data, divisor: number): void {
  const plain = plainNumbers(chunk.values);
  const hasNulls = chunk.nullCount > 0;
  for (let row = 0; row < target.length; row++) {
    const value = hasNulls && !chunk.getValid(row) ? Number.NaN : plain(row) / divisor;
    target[row] = Number.isFinite(value) ? value : Number.NaN;
  }
}

/** Reads 64-bit integers in halves, without creating a BigInt: only the sum is rounded, as by `Number`. */
function plainNumbers(values: unknown): (row: number) => number {
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
    const halves = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
    const isSigned = values instanceof BigInt64Array;
    return row => {
      const high = halves[2 * row + 1] ?? 0;
      return (isSigned ? high | 0 : high) * 2 ** 32 + (halves[2 * row] ?? 0);
    };
  }
  const plain = values as ArrayLike<number>;
  return row => plain[row] ?? Number.NaN;
}
