import { Transform } from 'node:stream';

/**
 * Joins surrogate pairs in JSON escapes. Programs that cut a string inside a pair send half of it, and the engine would drop the whole
 * event: such a half becomes U+FFFD. Pairs become plain characters, so that a small body with them needs no engine.
 */
export class Halves extends Transform {
  /** Bytes received minus bytes sent. */
  saved = 0;
  /** An incomplete escape, as Latin-1: one character per byte. */
  #rest = '';

  override _transform(
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: (error: null, out: Buffer) => void,
  ): void {
    const isPlain = this.#rest === '' && !chunk.includes('\\u') && chunk.at(-1) !== backslash;
    const text = isPlain ? '' : this.#rest + chunk.toString('latin1');
    this.#rest = begunIn(text);
    done(null, isPlain ? chunk : this.#joined(text.slice(0, text.length - this.#rest.length)));
  }

  override _flush(done: (error: null, out: Buffer) => void): void {
    done(null, this.#joined(this.#rest));
  }

  #joined(text: string): Buffer {
    const joined = text.replace(escapes, (found, high, low, half) => {
      if (half !== undefined) return '\\ufffd';
      if (high === undefined) return found;
      return Buffer.from(String.fromCharCode(parseInt(high, 16), parseInt(low, 16))).toString('latin1');
    });
    this.saved += text.length - joined.length;
    return Buffer.from(joined, 'latin1');
  }
}

const backslash = 0x5c;

/** Matches escapes one after another, so none starts inside another; the groups are the halves of a pair. */
const escapes =
  /\\(?:u([dD][89abAB][\da-fA-F]{2})\\u([dD][c-fC-F][\da-fA-F]{2})|u([dD][89a-fA-F][\da-fA-F]{2})|.)/gs;

/** An escape at the end of a chunk that may continue or be followed by its other half. */
const begun = /\\(?:u[\da-fA-F]{0,3}|u[dD][89abAB][\da-fA-F]{2}(?:\\(?:u[\da-fA-F]{0,3})?)?)?$/;

function begunIn(text: string): string {
  const found = begun.exec(text.slice(-longestBegun));
  if (found === null) return '';
  const at = text.length - found[0].length;
  let first = at;
  while (text.charCodeAt(first - 1) === backslash) first -= 1;
  // In a run of backslashes, every second one is escaped and starts nothing.
  return (at - first) % 2 === 0 ? found[0] : (begun.exec(found[0].slice(1))?.[0] ?? '');
}

const longestBegun = 11;
