/** String columns: strings, stored once each in a dictionary while that pays, and cells kept as the JSON text they arrived in. */
import { type Data, Dictionary, Int32, makeData, Utf8, Vector } from 'apache-arrow';
import { compactEnd } from './compact.js';
import {
  type ByteStrings,
  BytesStore,
  type ColumnBuilder,
  fitted,
  grown,
  type Validity,
} from './decode-store.js';
import { BACKSLASH, COMMA, type JsonBytes, NULL_START, QUOTE, unescapeString } from './json-bytes.js';

/** Maximum number of distinct values in a dictionary: beyond it, the index would not fit the processor's caches. */
const MAX_DISTINCT = 1 << 16;
/** Rows to read before a dictionary is abandoned for too few repetitions. */
const TRIAL_ROWS = 1024;
/** A longer search means that strings were made to collide; the dictionary is then abandoned. */
const MAX_PROBES = 256;
/** The index of a null row. */
const NO_ENTRY = -1;

/** Strings: in a dictionary until more than half of the values are new, then as plain utf8. */
export class StringBuilder implements ColumnBuilder {
  #rowsHint: number;
  #dictionary: StringDictionary | undefined;
  #plain: BytesStore | undefined;

  constructor(rowsHint: number) {
    this.#rowsHint = rowsHint;
    this.#dictionary = new StringDictionary(rowsHint);
  }

  read(json: JsonBytes, row: number): boolean {
    const { bytes } = json;
    const from = json.pos + 1;
    if (bytes[from - 1] !== QUOTE) return false;
    if (this.#plain !== undefined) {
      const end = this.#plain.pushSimpleString(bytes, from);
      if (end >= 0) {
        json.pos = end + 1;
        return true;
      }
    }
    let hash = 0;
    let p = from;
    let c = bytes[p] as number;
    while (c !== QUOTE && c !== BACKSLASH && c >= 0x20) {
      hash = (Math.imul(hash, 31) + c) | 0;
      c = bytes[++p] as number;
    }
    if (c === QUOTE) {
      json.pos = p + 1;
      this.#add(bytes, from, p, hash, row);
      return true;
    }
    json.string();
    const text = unescapeString(bytes, from, json.pos - 1);
    this.#add(text, 0, text.length, hashOf(text, 0, text.length), row);
    return true;
  }

  readUsual(json: JsonBytes, row: number, stop: number): number {
    const next = this.#plain === undefined ? this.#internUsual(json, row, stop) : row;
    return this.#plain === undefined ? next : this.#pushUsual(json, this.#plain, next, stop);
  }

  /** Reserves space for `rows` rows in total. */
  reserve(rows: number): void {
    this.#rowsHint = rows;
    this.#dictionary?.reserve(rows);
    this.#plain?.reserve(rows);
  }

  /** Appends `rows` strings; the first is for row `first` of the column. */
  takeRows(strings: ByteStrings, rows: number, first: number): void {
    const { lengths, starts, pieceOf, pieces } = strings;
    let row = 0;
    for (; row < rows && this.#dictionary !== undefined; row++) {
      const length = lengths[row] as number;
      if (length < 0) {
        this.skipNull(first + row);
        continue;
      }
      const source = pieces[pieceOf[row] as number] as Uint8Array;
      const from = starts[row] as number;
      this.#add(source, from, from + length, hashOf(source, from, from + length), first + row);
    }
    this.#plain?.pushRows(strings, row, rows);
  }

  skipNull(row: number): void {
    if (this.#dictionary !== undefined) this.#dictionary.setIndex(row, NO_ENTRY);
    else this.#plain?.push(NOTHING, 0, 0);
  }

  finish(rows: number, validity: Validity): Data {
    const dictionary = this.#dictionary;
    if (dictionary !== undefined && (dictionary.size === 0 || dictionary.size * 2 > rows)) this.#spread(rows);
    if (this.#plain !== undefined) return utf8Data(this.#plain, rows, validity);
    return (dictionary as StringDictionary).finish(rows, validity);
  }

  /** Interns simple strings while there is a dictionary. */
  #internUsual(json: JsonBytes, row: number, stop: number): number {
    const { bytes } = json;
    let next = row;
    let p = json.pos;
    while (p < stop && bytes[p] === QUOTE) {
      const from = p + 1;
      let hash = 0;
      let end = from;
      let c = bytes[end] as number;
      while (c !== QUOTE && c !== BACKSLASH && c >= 0x20) {
        hash = (Math.imul(hash, 31) + c) | 0;
        c = bytes[++end] as number;
      }
      if (c !== QUOTE || bytes[end + 1] !== COMMA) break;
      this.#add(bytes, from, end, hash, next++);
      p = end + 2;
    }
    json.pos = p;
    return next;
  }

  #pushUsual(json: JsonBytes, plain: BytesStore, row: number, stop: number): number {
    const { bytes } = json;
    let next = row;
    let p = json.pos;
    while (p < stop && bytes[p] === QUOTE) {
      const end = plain.pushSimpleString(bytes, p + 1);
      if (end < 0) break;
      if (bytes[end + 1] !== COMMA) {
        plain.pop();
        break;
      }
      next++;
      p = end + 2;
    }
    json.pos = p;
    return next;
  }

  #add(source: Uint8Array, from: number, to: number, hash: number, row: number): void {
    const dictionary = this.#dictionary;
    if (dictionary === undefined) {
      this.#plain?.push(source, from, to);
      return;
    }
    const index = dictionary.intern(source, from, to, hash);
    if (index === NO_ENTRY) {
      this.#spread(row);
      this.#plain?.push(source, from, to);
      return;
    }
    dictionary.setIndex(row, index);
    const { size } = dictionary;
    if (size > MAX_DISTINCT || (row >= TRIAL_ROWS && size * 2 > row)) this.#spread(row + 1);
  }

  /** Abandons the dictionary: every row gets its own copy. */
  #spread(rows: number): void {
    this.#plain = (this.#dictionary as StringDictionary).spread(rows, this.#rowsHint);
    this.#dictionary = undefined;
  }
}

/** Cells of any kind, kept as their JSON text, digit for digit. */
export class JsonTextBuilder implements ColumnBuilder {
  readonly #texts: BytesStore;

  constructor(rowsHint: number) {
    this.#texts = new BytesStore(rowsHint, Math.min(rowsHint, 4096) * 16);
  }

  read(json: JsonBytes): true {
    const from = json.pos;
    json.skip();
    this.take(json.bytes, from, json.pos);
    return true;
  }

  readUsual(json: JsonBytes, row: number, stop: number, validity: Validity): number {
    const { bytes } = json;
    let next = row;
    let p = json.pos;
    while (p < stop) {
      const end = compactEnd(bytes, p);
      if (end < 0 || bytes[end] !== COMMA) break;
      if (bytes[p] === NULL_START) {
        validity.clear(next);
        this.skipNull();
      } else this.take(bytes, p, end);
      next++;
      p = end + 1;
    }
    json.pos = p;
    return next;
  }

  /** Appends the document `source[from..to]`. */
  take(source: Uint8Array, from: number, to: number): void {
    this.#texts.push(source, from, to);
  }

  skipNull(): void {
    this.#texts.push(NOTHING, 0, 0);
  }

  /** Reserves space for `rows` rows in total. */
  reserve(rows: number): void {
    this.#texts.reserve(rows);
  }

  finish(rows: number, validity: Validity): Data {
    return utf8Data(this.#texts, rows, validity);
  }
}

const NOTHING = new Uint8Array(0);

function utf8Data(store: BytesStore, rows: number, validity: Validity): Data {
  return makeData({ type: new Utf8(), length: rows, ...store.finish(), ...validity.finish(rows) });
}

/** Distinct strings numbered in order of appearance, found by an open-addressing hash table, and a number per row. */
class StringDictionary {
  readonly #values = new BytesStore(256, 4096);
  #hashes = new Int32Array(256);
  /** Entry + 1; 0 is a free slot. */
  #slots = new Int32Array(1024);
  #indices: Int32Array;

  constructor(rowsHint: number) {
    this.#indices = new Int32Array(Math.max(rowsHint, 16));
  }

  get size(): number {
    return this.#values.length;
  }

  reserve(rows: number): void {
    if (rows > this.#indices.length) this.#indices = grown(this.#indices, rows);
  }

  setIndex(row: number, index: number): void {
    if (row >= this.#indices.length) this.#indices = grown(this.#indices);
    this.#indices[row] = index;
  }

  /** Returns the number of the string `source[from..to]`, adding it if it is new; NO_ENTRY if the search is too long. */
  intern(source: Uint8Array, from: number, to: number, hash: number): number {
    const mask = this.#slots.length - 1;
    let slot = spreadBits(hash) & mask;
    let probes = 0;
    for (let entry = this.#slots[slot] as number; entry !== 0; entry = this.#slots[slot] as number) {
      if (this.#hashes[entry - 1] === hash && this.#values.equals(entry - 1, source, from, to))
        return entry - 1;
      if (++probes > MAX_PROBES) return NO_ENTRY;
      slot = (slot + 1) & mask;
    }
    const index = this.#values.length;
    this.#values.push(source, from, to);
    if (index >= this.#hashes.length) this.#hashes = grown(this.#hashes);
    this.#hashes[index] = hash;
    this.#slots[slot] = index + 1;
    if (this.#values.length * 2 > this.#slots.length) this.#rehash();
    return index;
  }

  /** Returns the strings row by row; null rows are empty. */
  spread(rows: number, rowsHint: number): BytesStore {
    const plain = new BytesStore(Math.max(rowsHint, rows), rows * 16);
    for (let row = 0; row < rows; row++) {
      const index = this.#indices[row] as number;
      if (index === NO_ENTRY) plain.push(NOTHING, 0, 0);
      else plain.pushFrom(this.#values, index);
    }
    return plain;
  }

  finish(rows: number, validity: Validity): Data {
    for (let row = 0; row < rows; row++) if (this.#indices[row] === NO_ENTRY) this.#indices[row] = 0;
    const values = makeData({ type: new Utf8(), length: this.size, nullCount: 0, ...this.#values.finish() });
    return makeData({
      type: new Dictionary(new Utf8(), new Int32()),
      length: rows,
      data: fitted(this.#indices, rows),
      dictionary: new Vector([values]),
      ...validity.finish(rows),
    });
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 4);
    const mask = slots.length - 1;
    for (let index = 0; index < this.size; index++) {
      let slot = spreadBits(this.#hashes[index] as number) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = index + 1;
    }
    this.#slots = slots;
  }
}

function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0;
  for (let at = from; at < to; at++) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0;
  return hash;
}

/** Mixes in the high bits: the low bits of the hash depend on the last bytes alone. */
function spreadBits(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return mixed ^ (mixed >>> 13);
}
