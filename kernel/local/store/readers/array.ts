import { createReadStream } from 'node:fs';
import { Transform } from 'node:stream';
import { writeCopy } from '../bounds/copies.js';

/**
 * Writes the values of a JSON array one per line, so that a value that is not JSON is the only one lost. Returns false when the
 * file, or these of its bytes, the last one included, are not one array from beginning to end.
 */
export async function writeArrayAsLines(
  file: string,
  target: string,
  bytes: { readonly start?: number; readonly end?: number } = {},
): Promise<boolean> {
  const splitter = new ArraySplitter();
  await writeCopy(target, [createReadStream(file, bytes), splitter]);
  return splitter.whole;
}

const byteOf = (character: string) => character.charCodeAt(0);
const [newline, carriageReturn, space, quote, backslash, comma] = [...'\n\r "\\,'].map(byteOf);
const opening = new Set([...'[{'].map(byteOf));
const closing = new Set([...']}'].map(byteOf));
const white = new Set([...' \t\n\r'].map(byteOf));
const byteOrderMark = new Set([0xef, 0xbb, 0xbf]);

/** Stands for a line break within a string. Neither is allowed there, so the value stays as wrong as it was. */
const wrong = 1;

/** Blanks the brackets of the outermost array, and turns its commas into line breaks. */
class ArraySplitter extends Transform {
  #depth = 0;
  #inText = false;
  #escaped = false;
  #ended = false;
  #strayed = false;

  /** Whether all that has come is one array and nothing else. */
  get whole(): boolean {
    return this.#ended && !this.#strayed;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    for (let index = 0; index < chunk.length; index++) chunk[index] = this.#next(chunk[index] ?? 0);
    this.push(chunk);
    done();
  }

  override _flush(done: () => void): void {
    this.push('\n');
    done();
  }

  #next(byte: number): number {
    if (this.#inText) return this.#nextOfText(byte);
    if (this.#depth === 0) return this.#nextOutside(byte);
    if (byte === quote) this.#inText = true;
    else if (opening.has(byte)) this.#depth++;
    else if (closing.has(byte) && --this.#depth === 0) {
      this.#ended = true;
      return space ?? byte;
    } else if (byte === comma && this.#depth === 1) return newline ?? byte;
    return byte === newline || byte === carriageReturn ? (space ?? byte) : byte;
  }

  #nextOfText(byte: number): number {
    if (this.#escaped) this.#escaped = false;
    else if (byte === backslash) this.#escaped = true;
    else if (byte === quote) this.#inText = false;
    return byte === newline || byte === carriageReturn ? wrong : byte;
  }

  /** Before the array and after it. */
  #nextOutside(byte: number): number {
    if (byte === byteOf('[') && !this.#ended) this.#depth = 1;
    else if (!white.has(byte) && (this.#ended || !byteOrderMark.has(byte))) this.#strayed = true;
    return space ?? byte;
  }
}
