/**
 * The LZ4 frame format (https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md) as Arrow uses it to compress buffers:
 * every Arrow library reads it. Free of Node.js, so that a front end can decode with the same code.
 */

/** Returns the bytes as one LZ4 frame of independent blocks; the same bytes always give the same frame. */
export function encodeLz4(bytes: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [HEADER];
  for (let from = 0; from < bytes.length; from += BLOCK_SIZE) {
    const block = bytes.subarray(from, from + BLOCK_SIZE);
    const packed = encodeBlock(block);
    const isSmaller = packed.length < block.length;
    parts.push(littleEndian(isSmaller ? packed.length : block.length | STORED), isSmaller ? packed : block);
  }
  return joined([...parts, littleEndian(0)]);
}

/** Returns the bytes in an LZ4 frame, with or without sizes and checksums, which are skipped; throws a RangeError if it is damaged. */
export function decodeLz4(frame: Uint8Array): Uint8Array {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (view.getUint32(0, true) !== MAGIC) throw new RangeError('this is not an LZ4 frame');
  const flags = view.getUint8(4);
  const blockSize = 1 << (8 + 2 * ((view.getUint8(5) >> 4) & 7));
  const blockChecksum = flags & 0x10 ? 4 : 0;
  let at = 7 + (flags & 0x08 ? 8 : 0) + (flags & 0x01 ? 4 : 0);
  const blocks: { readonly bytes: Uint8Array; readonly isStored: boolean; readonly length: number }[] = [];
  for (let word = view.getUint32(at, true); word !== 0; word = view.getUint32(at, true)) {
    const bytes = frame.subarray(at + 4, at + 4 + (word & ~STORED));
    const isStored = (word & STORED) !== 0;
    const length = isStored ? bytes.length : decodedLength(bytes);
    if (length > blockSize) damaged();
    blocks.push({ bytes, isStored, length });
    at += 4 + bytes.length + blockChecksum;
  }
  // Allocated to exact size: a table retains the buffers of all its columns.
  const out = new Uint8Array(blocks.reduce((sum, { length }) => sum + length, 0));
  let used = 0;
  for (const { bytes, isStored, length } of blocks) {
    if (isStored) out.set(bytes, used);
    else decodeBlock(bytes, out, used);
    used += length;
  }
  return out;
}

const MAGIC = 0x184d2204;
const BLOCK_SIZE = 4 * 1024 * 1024;
/** The bit in a block's size that marks the block as uncompressed. */
const STORED = 0x80000000;
/** Magic number, version 1, independent blocks of at most 4 MiB, and the checksum of the descriptor. */
const HEADER = Uint8Array.of(0x04, 0x22, 0x4d, 0x18, 0x60, 0x70, 0x73);

const MIN_MATCH = 4;
const MAX_DISTANCE = 65_535;
/** The format requires the last five bytes to be literals, and forbids a match that starts in the last twelve. */
const LAST_LITERALS = 5;
const MATCH_LIMIT = 12;
const HASH_BITS = 15;
/** Earlier positions with the same hash to try for a longer match. */
const MAX_TRIES = 32;

/** Returns one block: runs of literals, each followed by a copy of earlier bytes. */
function encodeBlock(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(bytes.length + Math.ceil(bytes.length / 255) + 16);
  const finder = new MatchFinder(bytes);
  let used = 0;
  let literals = 0;
  let at = 0;
  while (at < bytes.length - MATCH_LIMIT) {
    const { length, distance } = finder.find(at);
    if (length < MIN_MATCH) {
      at += 1;
      continue;
    }
    used = writeSequence(out, used, bytes.subarray(literals, at), length - MIN_MATCH);
    out[used++] = distance & 0xff;
    out[used++] = distance >> 8;
    if (length - MIN_MATCH >= 15) used = writeLength(out, used, length - MIN_MATCH - 15);
    finder.skip(at + 1, at + length);
    at += length;
    literals = at;
  }
  return out.subarray(0, writeSequence(out, used, bytes.subarray(literals), 0));
}

/** The last position of each hash. A new table for each block would cost more than compressing a short one, so positions continue. */
const newest = new Int32Array(1 << HASH_BITS);
let nextStart = 1;

/** Returns the first position of a block: lower ones belong to other blocks. */
function startOf(length: number): number {
  if (nextStart + length > MAX_PLACE) {
    newest.fill(0);
    nextStart = 1;
  }
  const start = nextStart;
  nextStart += length;
  return start;
}

const MAX_PLACE = 0x7fffffff;

/** Earlier occurrences of four bytes, newest first. */
class MatchFinder {
  readonly #bytes: Uint8Array;
  readonly #start: number;
  readonly #older: Int32Array;
  #length = 0;
  #distance = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#start = startOf(bytes.length);
    this.#older = new Int32Array(bytes.length);
  }

  /** Finds the longest match of the bytes at `at` with earlier ones, and remembers that position; the length is 0 if there is none. */
  find(at: number): { readonly length: number; readonly distance: number } {
    const hash = this.#hash(at);
    this.#length = 0;
    let candidate = (newest[hash] as number) - this.#start;
    for (let tries = 0; candidate >= 0 && at - candidate <= MAX_DISTANCE && tries < MAX_TRIES; tries++) {
      this.#try(candidate, at);
      candidate = this.#older[candidate] as number;
    }
    this.#remember(hash, at);
    return { length: this.#length, distance: this.#distance };
  }

  /** Remembers the positions of copied bytes. */
  skip(from: number, to: number): void {
    const end = Math.min(to, this.#bytes.length - MATCH_LIMIT);
    for (let at = from; at < end; at++) this.#remember(this.#hash(at), at);
  }

  #try(candidate: number, at: number): void {
    const bytes = this.#bytes;
    const most = bytes.length - LAST_LITERALS - at;
    let length = 0;
    while (length < most && bytes[candidate + length] === bytes[at + length]) length++;
    if (length <= this.#length) return;
    this.#length = length;
    this.#distance = at - candidate;
  }

  #remember(hash: number, at: number): void {
    this.#older[at] = (newest[hash] as number) - this.#start;
    newest[hash] = this.#start + at;
  }

  #hash(at: number): number {
    const bytes = this.#bytes as Record<number, number> & Uint8Array;
    const word =
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24);
    return Math.imul(word, 0x9e3779b1) >>> (32 - HASH_BITS);
  }
}

/** Writes a token with both lengths, and the literals. */
function writeSequence(out: Uint8Array, from: number, literals: Uint8Array, copied: number): number {
  let used = from;
  out[used++] = (Math.min(literals.length, 15) << 4) | Math.min(copied, 15);
  if (literals.length >= 15) used = writeLength(out, used, literals.length - 15);
  out.set(literals, used);
  return used + literals.length;
}

function writeLength(out: Uint8Array, from: number, length: number): number {
  let used = from;
  let rest = length;
  for (; rest >= 255; rest -= 255) out[used++] = 255;
  out[used++] = rest;
  return used;
}

/** Calls `run` with each run of a block: the start and end of its literals, then how many bytes are copied from how far back. */
function eachRun(
  block: Uint8Array,
  run: (from: number, to: number, copied: number, distance: number) => void,
): void {
  let at = 0;
  const length = (start: number) => {
    let sum = start;
    if (start < 15) return sum;
    for (let byte = 255; byte === 255; ) {
      byte = block[at++] ?? damaged();
      sum += byte;
    }
    return sum;
  };
  while (at < block.length) {
    const token = block[at++] as number;
    const literals = length(token >> 4);
    const from = at;
    at += literals;
    if (at > block.length) damaged();
    const to = at;
    if (at === block.length) {
      run(from, to, 0, 0);
      return;
    }
    const distance = (block[at++] as number) | ((block[at++] ?? damaged()) << 8);
    run(from, to, length(token & 15) + MIN_MATCH, distance);
  }
}

function decodedLength(block: Uint8Array): number {
  let sum = 0;
  eachRun(block, (from, to, copied) => {
    sum += to - from + copied;
  });
  return sum;
}

/** Writes a block's bytes at `start`. */
function decodeBlock(block: Uint8Array, out: Uint8Array, start: number): void {
  let used = start;
  eachRun(block, (from, to, copied, distance) => {
    out.set(block.subarray(from, to), used);
    used += to - from;
    if (copied > 0 && (distance === 0 || distance > used)) damaged();
    for (const end = used + copied; used < end; used++) out[used] = out[used - distance] as number;
  });
}

function damaged(): never {
  throw new RangeError('the LZ4 frame is damaged');
}

function littleEndian(word: number): Uint8Array {
  return Uint8Array.of(word, word >> 8, word >> 16, word >>> 24);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let used = 0;
  for (const part of parts) {
    out.set(part, used);
    used += part.length;
  }
  return out;
}
