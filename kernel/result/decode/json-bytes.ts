/** A reader of JSON that is still bytes: it validates, skips and searches without creating JavaScript values. */
import { AplKernelError } from '../../errors.js';
import type { Steps } from './decode-slices.js';

/** The response body is not what the query API sends: malformed JSON, or JSON that is not a table. `offset` is in bytes. */
export class DecodeError extends AplKernelError {
  readonly offset: number;

  constructor(message: string, offset: number, cause?: unknown) {
    super('decode', `${message} (at byte ${offset} of the response)`, {
      hint: 'The response was truncated or modified in transit, or the address is not a query service. Run the cell again; if it fails the same way, check the address and any proxy in between.',
      cause,
    });
    this.offset = offset;
  }
}

/** The bytes of JSON's punctuation and of the first letters of literals. */
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const MINUS = 0x2d;
export const DOT = 0x2e;
export const ZERO = 0x30;
export const NINE = 0x39;
export const OPEN_ARRAY = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_ARRAY = 0x5d;
export const NULL_START = 0x6e;
export const PLUS = 0x2b;
export const COLON = 0x3a;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
const FALSE_START = 0x66;
const TRUE_START = 0x74;

const BOM = [0xef, 0xbb, 0xbf];
const EOF_NAME = 'the end of the response';
/** Longer than any token but a string or a number; errors in those are at their last byte. */
const LONGEST_TOKEN = 16;
const decoder = new TextDecoder();

/** A position in JSON bytes. Every method starts at `pos` and leaves it after what it consumed. */
export class JsonBytes {
  bytes: Uint8Array;
  pos: number;
  /** Position of `bytes` in the response. */
  base = 0;
  /** False if more bytes may follow. */
  isWhole = true;
  #mark = 0;
  /** `bytes` as a Buffer, for `ascii`, and the `bytes` that it is of. */
  #ascii: Buffer = Buffer.alloc(0);
  #asciiOf: Uint8Array = this.#ascii;

  constructor(bytes: Uint8Array, pos = 0) {
    this.bytes = bytes;
    this.pos = pos;
  }

  /** The position in the response. */
  get offset(): number {
    return this.base + this.pos;
  }

  /** Reads a small value, again with more bytes if it ends where they end, since a number may continue. */
  *part<T>(read: () => T): Steps<T> {
    for (;;) {
      const from = this.pos;
      try {
        const value = read();
        if (this.isWhole || this.pos < this.bytes.length) return value;
      } catch (error) {
        if (!this.isCut(error)) throw error;
      }
      this.pos = from;
      yield* this.more();
    }
  }

  /** Calls `read` with each key of the object at `pos`; `read` consumes the value. */
  *members(read: (key: string) => Steps<void>): Steps<void> {
    yield* this.part(() => this.expect(OPEN_OBJECT));
    if (yield* this.part(() => this.accept(CLOSE_OBJECT))) return;
    do yield* read(yield* this.part(() => this.key()));
    while (yield* this.part(() => this.another(CLOSE_OBJECT)));
  }

  /** Calls `read` with the index of each element of the array at `pos`; `read` consumes the element. */
  *items(read: (index: number) => Steps<void>): Steps<void> {
    yield* this.part(() => this.expect(OPEN_ARRAY));
    if (yield* this.part(() => this.accept(CLOSE_ARRAY))) return;
    let index = 0;
    do yield* read(index++);
    while (yield* this.part(() => this.another(CLOSE_ARRAY)));
  }

  /** Appends more bytes to those from `pos` on. */
  more(): Steps<void> {
    throw new RangeError('there are no more bytes');
  }

  /** Retains the bytes from `pos` on, for `rewind`, until `release`. */
  mark(): void {
    this.#mark = this.pos;
  }

  /** Goes back to where `mark` was called. */
  rewind(): void {
    this.pos = this.#mark;
  }

  /** Releases the bytes after the mark. */
  release(): void {}

  /** Returns whether missing bytes may have caused a failure. */
  isCut(error: unknown): boolean {
    const end = this.base + this.bytes.length - LONGEST_TOKEN;
    return !this.isWhole && error instanceof DecodeError && error.offset >= end;
  }

  /** Returns the next byte that is not white space, without consuming it; NaN at the end. */
  peek(): number {
    const { bytes } = this;
    let p = this.pos;
    let c = bytes[p] as number;
    while (c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09) c = bytes[++p] as number;
    this.pos = p;
    return p < bytes.length ? c : Number.NaN;
  }

  /** Consumes a byte order mark. */
  skipBom(): void {
    if (!this.isWhole && this.bytes.length < this.pos + BOM.length) this.fail('more has to arrive');
    if (BOM.every((byte, at) => this.bytes[this.pos + at] === byte)) this.pos += BOM.length;
  }

  /** Consumes `byte`, or fails naming what was expected. */
  expect(byte: number): void {
    if (this.peek() !== byte) this.fail(`expected \`${String.fromCharCode(byte)}\`, found ${this.found()}`);
    this.pos++;
  }

  /** Consumes `byte` if it is next. */
  accept(byte: number): boolean {
    if (this.peek() !== byte) return false;
    this.pos++;
    return true;
  }

  /** Returns, after an element of a list, true if another follows, and false if `close` ended the list. */
  another(close: number): boolean {
    const c = this.peek();
    if (c !== COMMA && c !== close) {
      this.fail(`expected \`,\` or \`${String.fromCharCode(close)}\`, found ${this.found()}`);
    }
    this.pos++;
    return c === COMMA;
  }

  /** Consumes the key at `pos` and the colon after it. */
  key(): string {
    this.peek();
    const from = this.pos;
    this.string();
    const key = this.#parse(from, this.pos) as string;
    this.expect(COLON);
    return key;
  }

  /** Yields each key of the object at `pos`, which is complete; the caller consumes the value. */
  *keys(): Generator<string, void> {
    this.expect(OPEN_OBJECT);
    if (this.accept(CLOSE_OBJECT)) return;
    do yield this.key();
    while (this.another(CLOSE_OBJECT));
  }

  /** Yields the index of each element of the array at `pos`, which is complete; the caller consumes the element. */
  *elements(): Generator<number, void> {
    this.expect(OPEN_ARRAY);
    if (this.accept(CLOSE_ARRAY)) return;
    let index = 0;
    do yield index++;
    while (this.another(CLOSE_ARRAY));
  }

  /** Reads the value at `pos` as a JavaScript value; for the envelope, never for cells. */
  value(): unknown {
    this.peek();
    const from = this.pos;
    this.skip();
    return this.#parse(from, this.pos);
  }

  /** Consumes a string; returns true if it has escapes. */
  string(): boolean {
    const { bytes } = this;
    if (bytes[this.pos] !== QUOTE) this.fail(`expected a string, found ${this.found()}`);
    let p = this.pos + 1;
    let escaped = false;
    for (let c = bytes[p] as number; c !== QUOTE; c = bytes[p] as number) {
      if (c === BACKSLASH) {
        escaped = true;
        p = this.#escape(p);
      } else if (c >= 0x20) p++;
      else this.#failInString(p);
    }
    this.pos = p + 1;
    return escaped;
  }

  /** Consumes a number by JSON's grammar; returns true if it has neither fraction nor exponent. */
  number(): boolean {
    const { bytes } = this;
    const from = this.pos;
    let p = bytes[from] === MINUS ? from + 1 : from;
    const leadingZero = bytes[p] === ZERO;
    const digits = this.#digits(p);
    if (leadingZero && digits > p + 1) this.fail('a number may not start with 0', p);
    p = digits;
    const integral = p;
    if (bytes[p] === DOT) p = this.#digits(p + 1);
    if (((bytes[p] as number) | 0x20) === 0x65) {
      p++;
      if (bytes[p] === PLUS || bytes[p] === MINUS) p++;
      p = this.#digits(p);
    }
    if (p >= bytes.length && !this.isWhole) this.fail('more has to arrive', p);
    this.pos = p;
    return p === integral;
  }

  /** Consumes `true`, `false` or `null`, whichever is at `pos`. */
  literal(): 'true' | 'false' | 'null' {
    const c = this.bytes[this.pos];
    const word = c === TRUE_START ? 'true' : c === FALSE_START ? 'false' : 'null';
    for (let i = 0; i < word.length; i++) {
      if (this.bytes[this.pos + i] !== word.charCodeAt(i))
        this.fail(`expected a value, found ${this.found()}`);
    }
    this.pos += word.length;
    return word;
  }

  /** Consumes one value of any kind and depth, checking it against JSON's grammar. */
  skip(): void {
    const closers: number[] = [];
    do {
      if (this.#openOrSkipScalar(closers)) continue;
      this.#closeEnded(closers);
    } while (closers.length > 0);
  }

  /** Returns the source of a byte range, with escapes as written. */
  text(from: number, to: number): string {
    return decoder.decode(this.bytes.subarray(from, to));
  }

  /** Like `text`, for ASCII only; faster for a few bytes. */
  ascii(from: number, to: number): string {
    const { bytes } = this;
    if (this.#asciiOf !== bytes) {
      this.#asciiOf = bytes;
      this.#ascii = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    return this.#ascii.toString('latin1', from, to);
  }

  /** Returns the source at `pos`, for a message. */
  found(): string {
    const c = this.peek();
    if (Number.isNaN(c)) return EOF_NAME;
    return c > 0x20 && c < 0x7f
      ? `\`${String.fromCharCode(c)}\``
      : `byte 0x${c.toString(16).padStart(2, '0')}`;
  }

  fail(message: string, offset = this.pos): never {
    throw new DecodeError(`The response is not valid JSON: ${message}`, this.base + offset);
  }

  /** Opens an array or object (true: an element follows) or consumes a scalar or an empty container (false). */
  #openOrSkipScalar(closers: number[]): boolean {
    const c = this.peek();
    if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
      this.pos++;
      const close = c + 2;
      if (this.accept(close)) return false;
      closers.push(close);
      if (c === OPEN_OBJECT) this.#skipKey();
      return true;
    }
    if (c === QUOTE) this.string();
    else if (c === MINUS || (c >= ZERO && c <= NINE)) this.number();
    else this.literal();
    return false;
  }

  /** Consumes, after a value, the ends of the containers it completes, up to the start of the next element. */
  #closeEnded(closers: number[]): void {
    for (let close = closers.at(-1); close !== undefined; close = closers.at(-1)) {
      if (this.another(close)) {
        if (close === CLOSE_OBJECT) this.#skipKey();
        return;
      }
      closers.pop();
    }
  }

  #skipKey(): void {
    this.peek();
    this.string();
    this.expect(COLON);
  }

  #digits(from: number): number {
    const { bytes } = this;
    let p = from;
    while ((bytes[p] as number) >= ZERO && (bytes[p] as number) <= NINE) p++;
    if (p === from) {
      this.pos = from;
      this.fail(`expected a digit, found ${this.found()}`);
    }
    return p;
  }

  /** Returns the position after the escape sequence at `p`. */
  #escape(p: number): number {
    const c = this.bytes[p + 1] as number;
    if (c !== 0x75) {
      if (!(c in SIMPLE_ESCAPES)) this.fail('unknown escape in a string', p);
      return p + 2;
    }
    if (Number.isNaN(hex4(this.bytes, p + 2))) this.fail('`\\u` needs four hexadecimal digits', p);
    return p + 6;
  }

  #failInString(p: number): never {
    if (p >= this.bytes.length) this.fail('unterminated string', p);
    this.fail('control character in a string', p);
  }

  #parse(from: number, to: number): unknown {
    try {
      const text = decoder.decode(this.bytes.subarray(from, to));
      return SURROGATE.test(text) ? JSON.parse(text, wholeCharacters) : JSON.parse(text);
    } catch (cause) {
      throw new DecodeError('The response is not valid JSON', this.base + from, cause);
    }
  }
}

const SURROGATE = /\\u[dD][89a-fA-F]/;

/** Replaces lone surrogates, which have no bytes in UTF-8: a name with one would differ from the same name in Arrow. */
function wholeCharacters(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/\p{Cs}/gu, '\ufffd') : value;
}

/** Letter after a backslash -> the byte it represents. */
const SIMPLE_ESCAPES: Readonly<Record<number, number>> = {
  34: 0x22,
  92: 0x5c,
  47: 0x2f,
  98: 0x08,
  102: 0x0c,
  110: 0x0a,
  114: 0x0d,
  116: 0x09,
};

/**
 * Returns the UTF-8 bytes of the string with the validated content `bytes[from..to]`, with escapes resolved and lone surrogates
 * turned into U+FFFD. Never longer than the escaped form.
 */
export function unescapeString(bytes: Uint8Array, from: number, to: number): Uint8Array {
  const out = new Uint8Array(to - from);
  let length = 0;
  for (let p = from; p < to; ) {
    const c = bytes[p] as number;
    if (c !== BACKSLASH) {
      out[length++] = c;
      p++;
    } else if (bytes[p + 1] !== 0x75) {
      out[length++] = SIMPLE_ESCAPES[bytes[p + 1] as number] as number;
      p += 2;
    } else {
      const point = codePoint(bytes, p);
      length = writeUtf8(out, length, point);
      p += point > 0xffff ? 12 : 6;
    }
  }
  return out.subarray(0, length);
}

function codePoint(bytes: Uint8Array, p: number): number {
  const first = hex4(bytes, p + 2);
  if (first < 0xd800 || first > 0xdfff) return first;
  if (first > 0xdbff || bytes[p + 6] !== BACKSLASH || bytes[p + 7] !== 0x75) return 0xfffd;
  const second = hex4(bytes, p + 8);
  if (!(second >= 0xdc00 && second <= 0xdfff)) return 0xfffd;
  return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

function writeUtf8(out: Uint8Array, at: number, point: number): number {
  let length = at;
  if (point < 0x80) out[length++] = point;
  else if (point < 0x800) {
    out[length++] = 0xc0 | (point >> 6);
    out[length++] = 0x80 | (point & 0x3f);
  } else {
    if (point < 0x10000) out[length++] = 0xe0 | (point >> 12);
    else {
      out[length++] = 0xf0 | (point >> 18);
      out[length++] = 0x80 | ((point >> 12) & 0x3f);
    }
    out[length++] = 0x80 | ((point >> 6) & 0x3f);
    out[length++] = 0x80 | (point & 0x3f);
  }
  return length;
}

function hex4(bytes: Uint8Array, from: number): number {
  let value = 0;
  for (let i = 0; i < 4; i++) {
    const c = bytes[from + i] as number;
    const lower = c | 0x20;
    const digit =
      c >= ZERO && c <= NINE ? c - ZERO : lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : Number.NaN;
    value = value * 16 + digit;
  }
  return value;
}
