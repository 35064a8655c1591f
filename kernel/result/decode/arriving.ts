/** Streaming JSON whose bytes are released once they are read. */
import { isUtf8 } from 'node:buffer';
import type { Steps } from './decode-slices.js';
import { JsonBytes } from './json-bytes.js';

/** The bytes of a response from `pos` on, as far as they have been requested; only those after a mark are retained. */
export class ArrivingJson extends JsonBytes {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #windowBytes: number;
  readonly #wellFormed = new WellFormed();
  /** The buffer behind `bytes`. */
  #window: Buffer = NOTHING;
  /** Start of the retained part of `bytes`. */
  #retainedFrom: number | undefined;
  #retained: Retained[] = [];
  /** Bytes to read next: they were read before, or did not fit. */
  #again: Uint8Array[] = [];
  #ended = false;
  /** Buffers to reuse. */
  readonly #spare: Buffer[] = [];

  /** `windowBytes` is how many bytes are read at a time. */
  constructor(source: AsyncIterable<Uint8Array>, windowBytes = 2 ** 20) {
    super(NOTHING);
    this.#windowBytes = windowBytes;
    this.#source = source[Symbol.asyncIterator]();
    this.isWhole = false;
  }

  override *more(): Steps<void> {
    const rest = this.bytes.subarray(this.pos);
    // The window doubles for a cell that exceeds it, so that few bytes are read again.
    const window = this.#buffer(Math.max(rest.length * 2, this.#windowBytes));
    const used = yield* this.#fill(window, copyInto(window, rest, 0));
    this.base += this.pos;
    this.#leave();
    this.#show(window.subarray(0, used), window);
  }

  override mark(): void {
    this.release();
    this.#retainedFrom = this.pos;
  }

  override rewind(): void {
    const [first = NOTHING, ...others] = [
      ...this.#retained.map(({ bytes }) => bytes),
      this.bytes.subarray(this.#retainedFrom),
    ];
    this.base +=
      (this.#retainedFrom ?? 0) - this.#retained.reduce((total, { bytes }) => total + bytes.length, 0);
    this.#again.unshift(...others);
    this.#retained = [];
    this.#retainedFrom = 0;
    this.#show(first, NOTHING);
  }

  override release(): void {
    this.#spare.push(...this.#retained.map(({ window }) => window));
    this.#retained = [];
    this.#retainedFrom = undefined;
  }

  /** Returns all bytes from `pos` on. */
  *rest(): Steps<Uint8Array> {
    const parts: Uint8Array[] = [];
    this.release();
    for (;;) {
      parts.push(Buffer.from(this.bytes.subarray(this.pos)));
      this.pos = this.bytes.length;
      if (this.isWhole) return Buffer.concat(parts);
      yield* this.more();
    }
  }

  #show(bytes: Uint8Array, window: Buffer): void {
    this.bytes = bytes;
    this.#window = window;
    this.pos = 0;
    this.isWhole = this.#ended && this.#again.length === 0;
  }

  /** Fills at least three quarters of a buffer, or less at the end; returns how many bytes are used. */
  *#fill(window: Buffer, from: number): Steps<number> {
    let used = from;
    while (used < window.length * 0.75 && !(this.#ended && this.#again.length === 0)) {
      if (this.#again.length === 0) yield this.#source.next().then(next => this.#take(next));
      const piece = this.#again.shift() ?? NOTHING;
      const room = window.length - used;
      used = copyInto(window, piece.subarray(0, room), used);
      if (piece.length > room) this.#again.unshift(piece.subarray(room));
    }
    return used;
  }

  #take({ done, value }: IteratorResult<Uint8Array>): void {
    this.#ended = done === true;
    this.#again.push(done ? this.#wellFormed.end() : this.#wellFormed.take(value));
  }

  /** Retains the bytes read since the mark; without a mark, recycles the buffer. */
  #leave(): void {
    const window = this.#window;
    if (this.#retainedFrom !== undefined) {
      this.#retained.push({ window, bytes: this.bytes.subarray(this.#retainedFrom, this.pos) });
      this.#retainedFrom = 0;
    } else if (window.length > 0) this.#spare.push(window);
  }

  #buffer(bytes: number): Buffer {
    const spare = this.#spare.pop();
    return spare !== undefined && spare.length >= bytes ? spare : Buffer.allocUnsafeSlow(bytes);
  }
}

interface Retained {
  readonly window: Buffer;
  readonly bytes: Uint8Array;
}

const NOTHING = Buffer.alloc(0);

function copyInto(target: Buffer, bytes: Uint8Array, at: number): number {
  target.set(bytes, at);
  return at + bytes.length;
}

/** Replaces invalid UTF-8 by U+FFFD, as any JSON parser would. */
class WellFormed {
  /** The beginning of a character that continues in the next piece. */
  #begun: Uint8Array = NOTHING;

  take(piece: Uint8Array): Uint8Array {
    const bytes = this.#begun.length === 0 ? piece : Buffer.concat([this.#begun, piece]);
    const end = bytes.length - begunBytes(bytes);
    this.#begun = Buffer.from(bytes.subarray(end));
    return wellFormed(bytes.subarray(0, end));
  }

  end(): Uint8Array {
    return wellFormed(this.#begun);
  }
}

function wellFormed(bytes: Uint8Array): Uint8Array {
  if (isUtf8(bytes)) return bytes;
  return Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
}

/** Returns how many bytes at the end belong to an incomplete character. */
function begunBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}
