/** Finds the end of a JSON value without white space, as programs write it: one loop over its bytes, with the position in a register. */
import {
  BACKSLASH,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  DOT,
  MINUS,
  NINE,
  OPEN_ARRAY,
  OPEN_OBJECT,
  PLUS,
  QUOTE,
  ZERO,
} from './json-bytes.js';

/** Closing bytes of the open lists and objects; deeper values are left to the general JSON reader. */
const closers = new Uint8Array(64);

/** Returns the position after the value at `from`; -1 if it contains white space or `\u`, is too deep, ends too early or is not JSON. */
export function compactEnd(bytes: Uint8Array, from: number): number {
  let depth = 0;
  let p = from;
  for (;;) {
    const c = bytes[p] as number;
    if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
      const close = c + 2;
      if (bytes[p + 1] === close) p += 2;
      else {
        closers[depth++] = close;
        p = c === OPEN_OBJECT ? keyEnd(bytes, p + 1) : p + 1;
        if (p < 0) return -1;
        continue;
      }
    } else p = scalarEnd(bytes, p, c);
    if (p < 0) return -1;
    while (depth > 0 && bytes[p] === closers[depth - 1]) {
      depth--;
      p++;
    }
    if (depth === 0) return p;
    if (bytes[p] !== COMMA) return -1;
    p = closers[depth - 1] === CLOSE_OBJECT ? keyEnd(bytes, p + 1) : p + 1;
    if (p < 0) return -1;
  }
}

/** Returns the position after a key and its colon. */
function keyEnd(bytes: Uint8Array, from: number): number {
  if (bytes[from] !== QUOTE) return -1;
  const p = stringEnd(bytes, from);
  return p >= 0 && bytes[p] === COLON ? p + 1 : -1;
}

function scalarEnd(bytes: Uint8Array, from: number, first: number): number {
  if (first === QUOTE) return stringEnd(bytes, from);
  if (first === MINUS || (first >= ZERO && first <= NINE)) return numberEnd(bytes, from);
  for (const word of WORDS) if (first === word[0]) return wordEnd(bytes, from, word);
  return -1;
}

const WORDS = ['null', 'true', 'false'].map(word => Uint8Array.from(word, letter => letter.charCodeAt(0)));

function wordEnd(bytes: Uint8Array, from: number, word: Uint8Array): number {
  for (let at = 1; at < word.length; at++) if (bytes[from + at] !== word[at]) return -1;
  return from + word.length;
}

function stringEnd(bytes: Uint8Array, from: number): number {
  let p = from + 1;
  for (let c = bytes[p] as number; c !== QUOTE; c = bytes[p] as number) {
    if (c === BACKSLASH) {
      if (!ESCAPES.has(bytes[p + 1] as number)) return -1;
      p += 2;
    } else if (c >= 0x20) p++;
    else return -1;
  }
  return p + 1;
}

/** Characters allowed after a backslash, except `u`. */
const ESCAPES = new Set(Array.from('"\\/bfnrt', letter => letter.charCodeAt(0)));

function numberEnd(bytes: Uint8Array, from: number): number {
  const whole = bytes[from] === MINUS ? from + 1 : from;
  let p = digitsEnd(bytes, whole);
  if (p < 0 || (bytes[whole] === ZERO && p > whole + 1)) return -1;
  if (bytes[p] === DOT) {
    p = digitsEnd(bytes, p + 1);
    if (p < 0) return -1;
  }
  if (((bytes[p] as number) | 0x20) !== 0x65) return p;
  const sign = bytes[p + 1];
  return digitsEnd(bytes, sign === PLUS || sign === MINUS ? p + 2 : p + 1);
}

/** Returns the position after at least one digit. */
function digitsEnd(bytes: Uint8Array, from: number): number {
  let p = from;
  while ((bytes[p] as number) >= ZERO && (bytes[p] as number) <= NINE) p++;
  return p === from ? -1 : p;
}
