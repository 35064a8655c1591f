import { Transform } from 'node:stream';

/**
 * Characters beyond U+FFFF as JSON escapes them, in two halves. Programs that cut a text in the middle of one send a half, for which
 * the engine would leave the event out: it is U+FFFD. Whole ones are written out, as small bodies with them need no engine then.
 */
export class Halves extends Transform {
  /** How many bytes more have come than gone. */
  saved = 0;
  /** The beginning of an escape, as Latin-1, so that each byte is a character. */
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

/** Escapes one after the other, so that none begins in the middle of another; the groups are the halves of a character. */
const escapes =
  /\\(?:u([dD][89abAB][\da-fA-F]{2})\\u([dD][c-fC-F][\da-fA-F]{2})|u([dD][89a-fA-F][\da-fA-F]{2})|.)/gs;

/** An escape at the end of a text that may go on, or be followed by the other half. */
const begun = /\\(?:u[\da-fA-F]{0,3}|u[dD][89abAB][\da-fA-F]{2}(?:\\(?:u[\da-fA-F]{0,3})?)?)?$/;

function begunIn(text: string): string {
  const found = begun.exec(text.slice(-longestBegun));
  if (found === null) return '';
  const at = text.length - found[0].length;
  let first = at;
  while (text.charCodeAt(first - 1) === backslash) first -= 1;
  // Of several backslashes each second one is escaped, and begins nothing.
  return (at - first) % 2 === 0 ? found[0] : (begun.exec(found[0].slice(1))?.[0] ?? '');
}

const longestBegun = 11;
