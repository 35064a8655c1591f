import { isUtf8 } from 'node:buffer';
import { Transform } from 'node:stream';
import { plural } from '../../../text.js';
import { LocalError } from '../../local-errors.js';

/**
 * Returns the WHATWG name of the encoding of a text that begins with `start`: the requested one, otherwise detected from its byte order
 * mark or bytes. With `isCut`, more text follows, so `start` may end within a character.
 */
export function encodingOf(start: Buffer, named?: string, isCut = false): string {
  if (named !== undefined) return knownEncoding(named);
  const [first, second] = start;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const unmarked = unmarkedUtf16.find(each => looksLikeUtf16(start, each));
  if (unmarked !== undefined) return unmarked.encoding;
  const text = isCut ? start.subarray(0, start.findLastIndex(isAlone) + 1 || start.length) : start;
  if (isUtf8(text)) return 'utf-8';
  return legacyEncodings.find(({ fits }) => fits(text))?.encoding ?? 'utf-8';
}

/** Whether a byte is a whole character, such as a line feed, a space or a comma, in every encoding below. */
function isAlone(byte: number): boolean {
  return byte < 0x30;
}

/** Encodings that can be detected. The first match wins, as later ones accept the bytes of earlier ones. */
const legacyEncodings = [
  { encoding: 'shift_jis', label: 'Shift_JIS', fits: looksLikeShiftJis },
  { encoding: 'euc-kr', label: 'EUC-KR', fits: mostly('euc-kr', isHangul) },
  { encoding: 'euc-jp', label: 'EUC-JP', fits: looksLikeEucJp },
  { encoding: 'gb18030', label: 'GB18030', fits: mostly('gb18030', isCommonInGb) },
  { encoding: 'big5', label: 'Big5', fits: looksLikeBig5 },
  { encoding: 'windows-1252', label: 'Windows-1252', fits: looksLikeWindows },
];

/** UTF-16 without a byte order mark, with the index of the byte in each pair that is zero for Latin letters. */
const unmarkedUtf16 = [
  { encoding: 'utf-16le', zero: 1 },
  { encoding: 'utf-16be', zero: 0 },
];

/** Whether at least every fourth pair of bytes contains a zero, always at the same index, and there is no line feed across a pair. */
function looksLikeUtf16(start: Buffer, { encoding, zero }: (typeof unmarkedUtf16)[number]): boolean {
  if (!start.includes(0)) return false;
  const pairs = Math.floor(start.length / 2);
  const zeros = (parity: number) =>
    start.reduce((count, byte, index) => count + (byte === 0 && index % 2 === parity ? 1 : 0), 0);
  if (pairs < fewestPairs || zeros(1 - zero) > 0 || zeros(zero) * 4 < pairs) return false;
  const text = new TextDecoder(encoding).decode(start.subarray(0, pairs * 2));
  const ends = start.subarray(0, pairs * 2).filter(byte => byte === 0x0a).length;
  return ends === text.split('\n').length - 1 && !/[^\P{Cc}\t\n\r]/u.test(text);
}

/** Minimum number of byte pairs for detecting UTF-16. */
const fewestPairs = 4;

/** Returns a note that an encoding was detected, undefined for Unicode. */
export function detectedNote(encoding: string): string | undefined {
  const found = legacyEncodings.find(each => each.encoding === encoding);
  return (
    found &&
    `The text is read as ${found.label} because it is not UTF-8: set another encoding with \`--encoding\`.`
  );
}

function knownEncoding(label: string): string {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    throw new LocalError('invalid', 'invalid-request', `Unknown encoding ${JSON.stringify(label)}.`, {
      hint: 'Use a WHATWG encoding name, such as windows-1252, iso-8859-2, utf-16le, shift_jis or gb18030.',
    });
  }
}

/**
 * Whether a text without any non-ASCII UTF-8 character has letters of Windows-1252, a superset of Latin-1, within words, or symbols in
 * typical positions.
 */
function looksLikeWindows(start: Buffer): boolean {
  const text = start.toString('latin1');
  const isSeen = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/.test(text);
  return !isSeen && windowsText.some(each => each.test(text)) && !/[\x81\x8d\x8f\x90\x9d]/.test(text);
}

const windowsText = [
  // Letters within words, and apostrophes.
  /[A-Za-z][\x92\xc0-\xd6\xd8-\xf6\xf8-\xfe]|[\xc0-\xd6\xd8-\xf6\xf8-\xfe][a-z]/,
  // Currency symbols before or after numbers, degrees, micro.
  /[\x80\xa3\xa5] ?\d|\d ?(?:\x80|[\xa3\xb0\xb5][A-Za-z]?)(?![\w\x80-\xff])/,
  // Pounds, copyright and trademarks standing alone.
  /(?<![\w\x80-\xff])[\xa3\xa9\xae](?![\w\x80-\xff])/,
  // Trademarks behind a word.
  /[a-z\d][\x99\xae](?![\w\x80-\xff])/,
  // Dashes between words and numbers, as these bytes are letters in other encodings; no-break spaces.
  /[a-z\d] \x96 [A-Za-z\d]|\d\x96\d|[a-z]\x96[A-Z]|[A-Za-z\d][,.:]?\xa0(?![A-Za-z\x80-\xff])/,
];

/**
 * Whether all complete lines of a text are Shift_JIS and everything non-ASCII is Japanese: other encodings would mostly yield half-width
 * katakana.
 */
function looksLikeShiftJis(start: Buffer): boolean {
  const beyond = beyondAscii('shift_jis', start) ?? '';
  const words = beyond.match(/[\u3041-\u30ff\u4e00-\u9fff]/g)?.length ?? 0;
  // An apostrophe of Windows-1252 followed by a letter would be a kanji.
  const isQuoted = /[A-Za-z]{2}[\x91-\x94][A-Za-z]/.test(start.toString('latin1'));
  const mayBe = !isQuoted || /[\u3041-\u30ff]/.test(beyond);
  return mayBe && !hasAccents(start) && japanese.test(beyond) && words * 2 > beyond.length;
}

/**
 * Whether apparent two-byte characters are accented letters of Western words with the letter after each, as in `São` and `très`: most are
 * next to letters, or none is kana or a first-level kanji.
 */
function hasAccents(start: Buffer): boolean {
  const text = start.toString('latin1');
  const runs = [...text.matchAll(/(?:[\x81-\x9f\xe0-\xfc][\x40-\xfc]|[\xa1-\xdf])+/g)];
  const isBeside = ({ 0: run, index }: RegExpExecArray) =>
    /[A-Za-z]/.test(text.charAt(index - 1) + text.charAt(index + run.length));
  const accents = runs.filter(run => /^(?:.[A-Za-z])+$/.test(run[0]) && isBeside(run));
  const isUsual = runs.some(([run]) => /^(?:[\xe0-\xfc].|[\xa1-\xdf])*[\x81-\x9f]/.test(run));
  return !isUsual || accents.length * 2 > runs.length;
}

/** Whether a text is EUC-JP: a fifth is kana, which does not occur in Chinese or Korean text. */
function looksLikeEucJp(start: Buffer): boolean {
  const beyond = beyondAscii('euc-jp', start) ?? '';
  const kana = beyond.match(/[\u3041-\u30fe]/g)?.length ?? 0;
  return japanese.test(beyond) && beyond.length >= fewestLetters && kana * 5 >= beyond.length;
}

const japanese = /^[\u3000-\u30ff\u4e00-\u9fff\uff01-\uff9f\u2010-\u266f]+$/;

/** Minimum number of two-byte letters for detecting an encoding: fewer may be pairs of accented letters in a Western text. */
const fewestLetters = 8;

/** Returns a test for whether the complete lines of a text are in an encoding and nine out of ten letters are common in it. */
function mostly(encoding: string, isUsual: (letter: string, lead: number, trail: number) => boolean) {
  return (start: Buffer): boolean => {
    if (beyondAscii(encoding, start) === undefined) return false;
    const decoder = new TextDecoder(encoding);
    const text = start.toString('latin1');
    const pairs = [...text.matchAll(/[\x81-\xfe][\x40-\x7e\x80-\xfe]/g)].flatMap(([pair]) => {
      const bytes = Buffer.from(pair, 'latin1');
      const letter = decoder.decode(bytes);
      return /^\p{L}$/u.test(letter) ? [{ letter, lead: bytes[0] ?? 0, trail: bytes[1] ?? 0 }] : [];
    });
    const usual = pairs.filter(({ letter, lead, trail }) => isUsual(letter, lead, trail)).length;
    return usual >= fewestLetters && usual * 10 >= pairs.length * 9;
  };
}

function isHangul(letter: string): boolean {
  return /[\uac00-\ud7a3]/.test(letter);
}

/** Whether a character is in the first level of GB 2312, which modern texts use. */
function isCommonInGb(_letter: string, lead: number, trail: number): boolean {
  return lead >= 0xb0 && lead <= 0xd7 && trail >= 0xa1;
}

/** Whether most of a text is in the first level of Big5, and some trail bytes are invalid in every EUC encoding. */
function looksLikeBig5(start: Buffer): boolean {
  const isCommon = (_letter: string, lead: number) => lead >= 0xa4 && lead <= 0xc6;
  const pairs = start.toString('latin1').match(/[\xa4-\xc6][\x40-\x7e\xa1-\xfe]/g) ?? [];
  const low = pairs.filter(([, trail = '']) => trail < '\x7f').length;
  return low * 5 >= pairs.length && mostly('big5', isCommon)(start);
}

/**
 * Returns the non-ASCII characters in the complete lines of a text, undefined if the lines are not in the encoding, or most of these
 * characters are within Latin words.
 */
function beyondAscii(encoding: string, start: Buffer): string | undefined {
  const end = start.lastIndexOf(0x0a) + 1 || start.length;
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(start.subarray(0, end));
    const within = text.match(/(?<=[A-Za-z])\P{ASCII}+(?=[A-Za-z])/gu)?.length ?? 0;
    const runs = text.match(/\P{ASCII}+/gu)?.length ?? 0;
    return within * 2 > runs ? undefined : text.replace(/\p{ASCII}/gu, '');
  } catch {
    return undefined;
  }
}

/**
 * Converts a text to UTF-8 without a byte order mark; `broken` counts lines with invalid bytes. UTF-8 text keeps its bytes, even invalid
 * ones.
 */
export function toUtf8(encoding: string, broken: BrokenLines): Transform {
  return encoding === 'utf-8' ? withoutMark() : decoded(encoding, broken);
}

/** Counts the lines of a text with a replacement character for invalid bytes. */
export class BrokenLines {
  #lines = 0;
  #isBroken = false;

  add(text: string): void {
    if (!this.#isBroken && !text.includes('\ufffd')) return;
    for (const [index, line] of text.split('\n').entries()) {
      if (index > 0) this.#isBroken = false;
      if (this.#isBroken || !line.includes('\ufffd')) continue;
      this.#isBroken = true;
      this.#lines += 1;
    }
  }

  /** Returns a note on the number of lines with invalid bytes, none if there are none. */
  notes(encoding: string): string[] {
    if (this.#lines === 0) return [];
    const label = legacyEncodings.find(each => each.encoding === encoding)?.label ?? encoding;
    return [
      `Bytes that are not ${label} become \ufffd in ${plural(this.#lines, 'line')}: set another encoding with \`--encoding\`.`,
    ];
  }
}

function decoded(encoding: string, broken: BrokenLines): Transform {
  const decoder = new TextDecoder(encoding);
  const read = (text: string) => {
    broken.add(text);
    return Buffer.from(text);
  };
  let rest: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = Buffer.concat([rest, chunk]);
      const end = encoding === 'gb18030' ? wholeLines(bytes) : bytes.length;
      rest = bytes.subarray(end);
      done(null, read(decoder.decode(bytes.subarray(0, end), { stream: true })));
    },
    flush(done) {
      done(null, read(decoder.decode(rest)));
    },
  });
}

/**
 * Returns the length of the complete lines, or of all bytes if a line is long: Node.js fails on an invalid character of GB18030 that is in
 * two chunks.
 */
function wholeLines(bytes: Buffer): number {
  const end = bytes.lastIndexOf(0x0a) + 1;
  return bytes.length - end > longestRest ? bytes.length : end;
}

const longestRest = 2 ** 20;

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
