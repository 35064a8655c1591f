import type { ByteStrings } from '../../../result/decode/decode-store.js';
import type { Copies, Vector } from './read-copies.js';

/** Strings of up to twelve bytes are in the vector itself, longer ones elsewhere. */
const inlineBytes = 12;

/** Strings with gaps of up to this many bytes are in one block of memory: the bytes in between are on the same pages. */
const closest = 8;

/** A range of addresses. */
interface Span {
  readonly from: number;
  to: number;
}

/**
 * The strings of a vector, as positions in a few blocks of memory: the engine writes most of them one after the other, and fetching each
 * separately would take longer than everything else. Reused for the next vector.
 */
export class Texts implements ByteStrings {
  lengths = new Int32Array(2048);
  starts = new Int32Array(2048);
  pieceOf = new Int32Array(2048);
  pieces: Uint8Array[] = [];
  /** Total bytes of all strings. */
  bytes = 0;
  readonly #copies: Copies;

  constructor(copies: Copies) {
    this.#copies = copies;
  }

  /** Reads the strings of the first `rows` rows, valid until the next call. */
  read(vector: Vector, rows: number): this {
    if (rows > this.lengths.length) this.#makeRoom(rows);
    // Each entry has the length, four bytes of the string, and its address; or the length and the string.
    const data = this.#copies.data(vector, rows * 16);
    const words = new Uint32Array(data.buffer, data.byteOffset, rows * 4);
    const valid = this.#copies.validity(vector, rows);
    const spans = this.#locate(words, valid, rows);
    this.pieces = [data, ...spans.map(({ from, to }) => this.#copies.at(from, to - from))];
    return this;
  }

  #makeRoom(rows: number): void {
    this.lengths = new Int32Array(rows);
    this.starts = new Int32Array(rows);
    this.pieceOf = new Int32Array(rows);
  }

  /** Finds the length and position of each string, and the spans of memory that contain the long ones. */
  #locate(words: Uint32Array, valid: Uint8Array | null, rows: number): Span[] {
    const { lengths, starts, pieceOf } = this;
    const spans: Span[] = [];
    let span: Span = { from: 0, to: -closest };
    let bytes = 0;
    for (let row = 0; row < rows; row++) {
      pieceOf[row] = 0;
      if (valid !== null && (((valid[row >> 3] as number) >> (row & 7)) & 1) === 0) {
        lengths[row] = -1;
        continue;
      }
      const length = words[row * 4] as number;
      lengths[row] = length;
      bytes += length;
      if (length <= inlineBytes) {
        starts[row] = row * 16 + 4;
        continue;
      }
      // Addresses have 48 bits.
      const address = (words[row * 4 + 2] as number) + (words[row * 4 + 3] as number) * 0x1_0000_0000;
      if (address < span.from || address >= span.to + closest) {
        span = { from: address, to: address };
        spans.push(span);
      }
      if (address + length > span.to) span.to = address + length;
      starts[row] = address - span.from;
      pieceOf[row] = spans.length;
    }
    this.bytes = bytes;
    return spans;
  }
}
