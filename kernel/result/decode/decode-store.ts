/**
 * The growing buffers of Arrow columns: 64-bit integers written as two words, validity bits, byte strings.
 */

import type { Data } from 'apache-arrow';
import { BACKSLASH, type JsonBytes, QUOTE } from './json-bytes.js';

/** Anything that `grown` can double. */
type Growable = Uint8Array | Int32Array | Float64Array;

/** Returns a copy with twice the capacity. */
export function grown<T extends Growable>(array: T, atLeast = 0): T {
  const Constructor = array.constructor as new (length: number) => T;
  const bigger = new Constructor(Math.max(array.length * 2, atLeast));
  bigger.set(array);
  return bigger;
}

/**
 * Returns the first `length` elements: a view if little is wasted, or if the buffer is so large that its untouched pages take no memory;
 * otherwise a copy, to free the spare memory.
 */
export function fitted<T extends Growable>(array: T, length: number): T {
  const isView = length * 1.25 >= array.length || array.byteLength > LARGE_BYTES;
  return (isView ? array.subarray(0, length) : array.slice(0, length)) as T;
}

/** Allocations this large are mapped from the system and returned to it individually. */
const LARGE_BYTES = 2 ** 25;

/** Signed 64-bit integers by row, without a BigInt for each. */
export class Int64Store {
  #words: Int32Array;

  constructor(rowsHint: number) {
    this.#words = new Int32Array(Math.max(rowsHint, 16) * 2);
  }

  /** Reserves space for `row`. */
  reserve(row: number): void {
    if (row * 2 >= this.#words.length) this.#words = grown(this.#words);
  }

  /** Stores an integer of at most 53 bits. */
  setSafe(row: number, value: number): void {
    this.#words[row * 2] = value;
    this.#words[row * 2 + 1] = Math.floor(value / 4294967296);
  }

  /** Stores `high * 1e9 + low` exactly (|high| < 2^48, |low| <= 1e9); returns false if that exceeds 64 bits. */
  setBillions(row: number, high: number, low: number): boolean {
    const upper = Math.floor(high / 65536);
    const upperProduct = upper * 1e9;
    const upperWhole = Math.floor(upperProduct / 65536);
    const lower = (upperProduct - upperWhole * 65536) * 65536 + (high - upper * 65536) * 1e9 + low;
    const word = upperWhole + Math.floor(lower / 4294967296);
    if (word < -2147483648 || word > 2147483647) return false;
    this.#words[row * 2] = lower;
    this.#words[row * 2 + 1] = word;
    return true;
  }

  /** Stores a BigInt; returns false if it exceeds 64 bits. */
  setBig(row: number, value: bigint): boolean {
    if (BigInt.asIntN(64, value) !== value) return false;
    this.#words[row * 2] = Number(BigInt.asIntN(32, value));
    this.#words[row * 2 + 1] = Number(value >> 32n);
    return true;
  }

  values(rows: number): BigInt64Array {
    const words = fitted(this.#words, rows * 2);
    return new BigInt64Array(words.buffer as ArrayBuffer, words.byteOffset, rows);
  }
}

/** Bitmap of the rows with a value. Costs nothing until the first null. */
export class Validity {
  #bits: Uint8Array | undefined;
  #nulls = 0;

  /** Marks `row` as null; called at most once for a row. */
  clear(row: number): void {
    const index = row >> 3;
    let bits = this.#bits ?? new Uint8Array(1024).fill(0xff);
    if (index >= bits.length) {
      const before = bits.length;
      bits = grown(bits, index + 1).fill(0xff, before);
    }
    bits[index] = (bits[index] as number) & ~(1 << (row & 7));
    this.#bits = bits;
    this.#nulls++;
  }

  finish(rows: number): { readonly nullCount: number; readonly nullBitmap?: Uint8Array } {
    if (this.#bits === undefined) return { nullCount: 0 };
    const length = (rows + 7) >> 3;
    const bits =
      this.#bits.length >= length ? this.#bits : grown(this.#bits, length).fill(0xff, this.#bits.length);
    return { nullCount: this.#nulls, nullBitmap: fitted(bits, length) };
  }
}

/** Byte strings of rows, in pieces of memory; a null has the length -1 and no bytes. */
export interface ByteStrings {
  readonly lengths: Int32Array;
  /** Offset of each in its piece. */
  readonly starts: Int32Array;
  /** Index of the piece of each. */
  readonly pieceOf: Int32Array;
  readonly pieces: readonly Uint8Array[];
}

/** Byte strings one after another, with the offsets that Arrow needs. */
export class BytesStore {
  #bytes: Uint8Array;
  #ends: Int32Array;
  #count = 0;
  #used = 0;
  #countHint: number;

  /** `countHint`: the approximate number of strings; `bytesHint`: the size of the first buffer. */
  constructor(countHint: number, bytesHint: number) {
    this.#countHint = countHint;
    this.#bytes = new Uint8Array(Math.max(bytesHint, 256));
    this.#ends = new Int32Array(Math.max(countHint, 16) + 1);
  }

  get length(): number {
    return this.#count;
  }

  /** Appends `source[from..to]`. Throws a RangeError beyond the 2 GiB that Arrow's utf8 can address. */
  push(source: Uint8Array, from: number, to: number): void {
    const end = this.#used + to - from;
    if (end > this.#bytes.length) this.#growBytes(end);
    copy(source, from, to, this.#bytes, this.#used);
    this.#end(end);
  }

  /** Reserves space for `count` byte strings in total, of any length. */
  reserve(count: number): void {
    this.#countHint = count;
    if (count >= this.#ends.length) this.#ends = grown(this.#ends, count + 1);
  }

  /** Appends the byte strings of some rows; a null is empty. Adjacent ones are copied at once. */
  pushRows({ lengths, starts, pieceOf, pieces }: ByteStrings, from: number, to: number): void {
    let needed = this.#used;
    for (let row = from; row < to; row++) needed += Math.max(lengths[row] as number, 0);
    if (needed > this.#bytes.length) this.#growBytes(needed);
    if (this.#count + to - from >= this.#ends.length) this.reserve((this.#count + to - from) * 2);
    const ends = this.#ends;
    let [used, count] = [this.#used, this.#count];
    for (let row = from; row < to; ) {
      const piece = pieceOf[row] as number;
      const start = starts[row] as number;
      const first = used;
      for (; row < to; row++) {
        const length = lengths[row] as number;
        if (length > 0) {
          if (starts[row] !== start + used - first || pieceOf[row] !== piece) break;
          used += length;
        }
        ends[++count] = used;
      }
      copy(pieces[piece] as Uint8Array, start, start + used - first, this.#bytes, first);
    }
    this.#used = used;
    this.#count = count;
  }

  /**
   * Appends the simple string that starts at `source[from]`, copying while searching for the closing quote, and returns
   * the position of that quote; -1, with nothing appended, if an escape, a control character or the end comes first.
   */
  pushSimpleString(source: Uint8Array, from: number): number {
    let p = from;
    for (let out = this.#used; ; ) {
      const bytes = this.#bytes;
      const room = bytes.length - out;
      const stop = Math.min(source.length, p + room);
      let c = 0;
      while (p < stop) {
        c = source[p] as number;
        if (c === QUOTE || c === BACKSLASH || c < 0x20) break;
        bytes[out++] = c;
        p++;
      }
      if (p < stop) {
        if (c !== QUOTE) return -1;
        this.#end(out);
        return p;
      }
      if (p >= source.length) return -1;
      this.#growBytes(out + 1);
    }
  }

  /** Removes the last byte string. */
  pop(): void {
    this.#used = this.#ends[--this.#count] as number;
  }

  /** Returns whether entry `index` holds the same bytes as `source[from..to]`. */
  equals(index: number, source: Uint8Array, from: number, to: number): boolean {
    const start = this.#ends[index] as number;
    const length = (this.#ends[index + 1] as number) - start;
    if (length !== to - from) return false;
    const bytes = this.#bytes;
    for (let i = 0; i < length; i++) if (bytes[start + i] !== source[from + i]) return false;
    return true;
  }

  /** Appends entry `index` of another store. */
  pushFrom(other: BytesStore, index: number): void {
    this.push(other.#bytes, other.#ends[index] as number, other.#ends[index + 1] as number);
  }

  finish(): { readonly data: Uint8Array; readonly valueOffsets: Int32Array } {
    return { data: fitted(this.#bytes, this.#used), valueOffsets: fitted(this.#ends, this.#count + 1) };
  }

  #end(end: number): void {
    if (this.#count + 1 >= this.#ends.length) this.#ends = grown(this.#ends);
    this.#ends[++this.#count] = end;
    this.#used = end;
  }

  #growBytes(needed: number): void {
    if (needed > 0x7fffffff) throw new RangeError('a column has more than 2 GiB of text');
    const bigger = new Uint8Array(Math.min(Math.max(this.#nextLength(), needed), 0x7fffffff));
    bigger.set(this.#bytes);
    this.#bytes = bigger;
  }

  /** Returns twice the length, unless the strings so far predict the total: unused space would be copied, or kept for nothing. */
  #nextLength(): number {
    const { length } = this.#bytes;
    if (this.#count < ENOUGH || this.#count >= this.#countHint) return length * 2;
    const expected = (this.#used / this.#count) * this.#countHint * 1.1;
    return Math.min(Math.max(expected, length * 1.25), length * 64);
  }
}

/** Number of byte strings from which the length of the remaining ones is estimated. */
const ENOUGH = 1024;

/** Copies bytes; short runs one by one, which is cheaper than through a view. */
function copy(source: Uint8Array, from: number, to: number, target: Uint8Array, at: number): void {
  if (to - from > 64) {
    target.set(source.subarray(from, to), at);
    return;
  }
  let out = at;
  for (let p = from; p < to; p++) target[out++] = source[p] as number;
}

/** Collects cells one by one, in row order. */
export interface ColumnBuilder {
  /** Consumes the cell at `json.pos`, which is not `null`; returns false if it does not fit the type (then everything is discarded). */
  read(json: JsonBytes, row: number): boolean;
  /**
   * Consumes cells in their usual form, each directly followed by its comma, from the row `row` on, up to the first that is in another
   * form or begins at `stop`; nulls only if they are recorded in `validity`. Returns the row after them.
   */
  readUsual(json: JsonBytes, row: number, stop: number, validity: Validity): number;
  skipNull(row: number): void;
  finish(rows: number, validity: Validity): Data;
}
