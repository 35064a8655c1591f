import { isUtf8 } from 'node:buffer';
import { Transform } from 'node:stream';
import { LocalError } from '../../errors.js';

/** Returns the encoding of a text that begins like this, as WHATWG names it: the one that is named, else that of its mark or its bytes. */
export function encodingOf(start: Buffer, named?: string): string {
  if (named !== undefined) return knownEncoding(named);
  const [first, second] = start;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (isUtf8(start)) return 'utf-8';
  return legacyEncodings.find(({ fits }) => fits(start))?.encoding ?? 'utf-8';
}

/** The encodings that spreadsheets write and that a text may be known by, the likeliest first. */
const legacyEncodings = [
  { encoding: 'windows-1252', label: 'Windows-1252', fits: looksLikeWindows },
  { encoding: 'shift_jis', label: 'Shift_JIS', fits: looksLikeShiftJis },
];

/** Says that an encoding was detected; undefined for Unicode. */
export function detectedNote(encoding: string): string | undefined {
  const found = legacyEncodings.find(each => each.encoding === encoding);
  return (
    found && `The text is read as ${found.label}, as it is not UTF-8: \`--encoding\` names another encoding.`
  );
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
  const text = start.toString('latin1');
  const isSeen = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/.test(text);
  return (
    !isSeen &&
    /[A-Za-z][\xc0-\xd6\xd8-\xf6\xf8-\xfe]|[\xc0-\xd6\xd8-\xf6\xf8-\xfe][a-z]/.test(text) &&
    !/[\x81\x8d\x8f\x90\x9d]/.test(text)
  );
}

/** Whether all whole lines of a text are Shift_JIS, and all that is beyond ASCII in them is Japanese: other encodings would mostly be katakana of half the width. */
function looksLikeShiftJis(start: Buffer): boolean {
  const end = start.lastIndexOf(0x0a) + 1 || start.length;
  try {
    const text = new TextDecoder('shift_jis', { fatal: true }).decode(start.subarray(0, end));
    const beyond = text.replace(/\p{ASCII}/gu, '');
    const words = beyond.match(/[\u3041-\u30ff\u4e00-\u9fff]/g)?.length ?? 0;
    return (
      /^[\u3000-\u30ff\u4e00-\u9fff\uff01-\uff9f\u2010-\u266f]+$/.test(beyond) && words * 2 > beyond.length
    );
  } catch {
    return false;
  }
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
