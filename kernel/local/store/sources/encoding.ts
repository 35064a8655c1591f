import { isUtf8 } from 'node:buffer';
import { Transform } from 'node:stream';
import { LocalError } from '../../errors.js';

/** Returns the encoding of a text that begins like this, as WHATWG names it: the one that is named, else that of its mark or its bytes. */
export function encodingOf(start: Buffer, named?: string): string {
  if (named !== undefined) return knownEncoding(named);
  const [first, second] = start;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return looksLikeWindows(start) ? 'windows-1252' : 'utf-8';
}

function knownEncoding(label: string): string {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    throw new LocalError('invalid', 'invalid-request', `There is no encoding ${JSON.stringify(label)}.`, {
      hint: 'Encodings have the names of the WHATWG, such as windows-1252, iso-8859-2, utf-16le, shift_jis, gb18030.',
    });
  }
}

/** Whether a text without one character of UTF-8 beyond ASCII has letters of Windows-1252, which holds those of Latin-1, within words. */
function looksLikeWindows(start: Buffer): boolean {
  if (isUtf8(start)) return false;
  const text = start.toString('latin1');
  const isSeen = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/.test(text);
  return (
    !isSeen &&
    /[A-Za-z][\xc0-\xd6\xd8-\xf6\xf8-\xfe]|[\xc0-\xd6\xd8-\xf6\xf8-\xfe][a-z]/.test(text) &&
    !/[\x81\x8d\x8f\x90\x9d]/.test(text)
  );
}

/** Turns a text into UTF-8 without a mark at its beginning. One that is UTF-8 keeps its bytes, the wrong ones too. */
export function toUtf8(encoding: string): Transform {
  return encoding === 'utf-8' ? withoutMark() : decoded(encoding);
}

function decoded(encoding: string): Transform {
  const decoder = new TextDecoder(encoding);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(null, Buffer.from(decoder.decode(chunk, { stream: true })));
    },
    flush(done) {
      done(null, Buffer.from(decoder.decode()));
    },
  });
}

function withoutMark(): Transform {
  let isFirst = true;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const marked = isFirst && chunk.toString('latin1', 0, 3) === '\xef\xbb\xbf';
      isFirst = false;
      done(null, marked ? chunk.subarray(3) : chunk);
    },
  });
}
