import { UNITS } from '../../../time.js';
import type { Span } from '../ast.js';

/**
 * `word` covers names, keywords and word operators such as `contains`, `!in~`; `raw` is the unquoted contents of `datetime(…)` and
 * `timespan(…)`; `error` is text that starts no token.
 */
export type TokenKind = 'word' | 'string' | 'number' | 'timespan' | 'raw' | 'symbol' | 'comment' | 'error';

export interface Token extends Span {
  readonly kind: TokenKind;
  /** Source text, except for strings: their value with escapes resolved. */
  readonly text: string;
  /** Problem with the token itself, such as an unterminated string. */
  readonly problem?: 'unterminated' | 'typographic' | 'suffix' | 'prefixed' | 'backticks';
}

/** Returns every token of `source` after `start`, comments included, in order and without overlap; never throws. */
export function tokenize(source: string, start = 0): Token[] {
  const tokens: Token[] = [];
  let at = start;
  while (at < source.length) {
    const code = source.charCodeAt(at);
    if (isSpace(code)) {
      at += 1;
      continue;
    }
    const token = readToken(source, at, code);
    tokens.push(token);
    at = token.to;
    if (token.kind === 'word' && rawLiteralNames.has(token.text)) at = readRawLiteral(source, at, tokens);
  }
  return tokens;
}

/** True for a character that can start a name. */
function isNameStart(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    code === 95 ||
    code === 36 ||
    isLetterBeyondAscii(code)
  );
}

const rawLiteralNames = new Set(['datetime', 'date', 'timespan', 'time']);
const negatableWords = /^!(?:contains|startswith|endswith|hasprefix|hassuffix|has|in|matches|between)/;
const secondCharacters = new Set(['=', '~', '.', '<', '>', '&']);
const twoCharacterSymbols = new Set(['==', '!=', '<>', '<=', '>=', '=~', '!~', '..', '<<', '=>', '&&']);
const oneCharacterSymbols = new Set('|,;()[]{}.<>=+-*/%:?!~'.split(''));
/** Opening quote -> closing quotes. Typographic quotes come from documents and chats; they are accepted, and flagged. */
const closingQuotes: Readonly<Record<string, string>> = {
  "'": "'",
  '"': '"',
  '‘': '’‘',
  '’': '’',
  '“': '”“',
  '”': '”',
};

function readToken(source: string, from: number, code: number): Token {
  if (code === 104 || code === 72) {
    const text = readPrefixed(source, from);
    if (text !== undefined) return text;
  }
  if (isNameStart(code)) return readWord(source, from);
  if (isDigit(code) || (code === dot && startsFraction(source, from))) return readNumber(source, from);
  const char = source.charAt(from);
  const next = source[from + 1] ?? '';
  if (char === '/' && next === '/') return readComment(source, from);
  if (char === '/' && next === '*') return readBlockComment(source, from);
  if (closingQuotes[char] !== undefined) return readString(source, from);
  if (char === '@' && closingQuotes[next] !== undefined) return readVerbatim(source, from);
  if (char === '`') {
    const quoted = source.startsWith('```', from) ? readFenced(source, from) : readBackticks(source, from);
    if (quoted !== undefined) return quoted;
  }
  if (char === '!' && negatableWords.test(source.slice(from, from + 12))) return readWord(source, from);
  if (secondCharacters.has(next) && twoCharacterSymbols.has(char + next))
    return { kind: 'symbol', from, to: from + 2, text: char + next };
  if (oneCharacterSymbols.has(char)) return { kind: 'symbol', from, to: from + 1, text: char };
  const to = from + ((source.codePointAt(from) ?? 0) > 0xffff ? 2 : 1);
  return { kind: 'error', from, to, text: source.slice(from, to) };
}

function readComment(source: string, from: number): Token {
  let to = from + 2;
  while (to < source.length && !isLineBreak(source.charCodeAt(to))) to += 1;
  return { kind: 'comment', from, to, text: source.slice(from, to) };
}

/** Reads a block comment, an error here: one token, for a single error instead of one per word. */
function readBlockComment(source: string, from: number): Token {
  const end = source.indexOf('*/', from + 2);
  const to = end < 0 ? source.length : end + 2;
  return { kind: 'error', from, to, text: source.slice(from, to) };
}

/** Reads `h"…"` and `h@'…'`, which hide a string from the logs of other services; flags a problem. */
function readPrefixed(source: string, from: number): Token | undefined {
  const isVerbatim = source[from + 1] === '@';
  const quote = source[from + (isVerbatim ? 2 : 1)];
  if (quote !== "'" && quote !== '"') return undefined;
  const token = isVerbatim ? readVerbatim(source, from + 1) : readString(source, from + 1);
  return { ...token, from, problem: token.problem ?? 'prefixed' };
}

/** Reads a name in backticks, as in other languages, and flags a problem; returns undefined if they are not closed on the line. */
function readBackticks(source: string, from: number): Token | undefined {
  const inside = /^[^`\n\r]+(?=`)/.exec(source.slice(from + 1, from + 1 + longestName))?.[0];
  if (inside === undefined) return undefined;
  return { kind: 'word', from, to: from + inside.length + 2, text: inside, problem: 'backticks' };
}

const longestName = 256;

function readWord(source: string, from: number): Token {
  const to = skipName(source, from + 1);
  const text = source.slice(from, to);
  if (source.charCodeAt(to) === tilde && (text === 'in' || text === '!in'))
    return { kind: 'word', from, to: to + 1, text: `${text}~` };
  return { kind: 'word', from, to, text };
}

const tilde = 126;

function readNumber(source: string, from: number): Token {
  if (source[from] === '0' && /^0[xX][0-9a-fA-F]/.test(source.slice(from, from + 3)))
    return readHex(source, from);
  let to = skipDigits(source, from);
  if (source[to] === '.' && endsFraction(source.charCodeAt(to + 1))) to = skipDigits(source, to + 1);
  const end = skipName(source, to);
  const exponentEnd = end === to ? undefined : exponentFrom(source, to);
  if (exponentEnd !== undefined)
    return { kind: 'number', from, to: exponentEnd, text: source.slice(from, exponentEnd) };
  const text = source.slice(from, end);
  if (end === to) return { kind: 'number', from, to, text };
  if (UNITS.has(source.slice(to, end))) return { kind: 'timespan', from, to: end, text };
  return { kind: 'number', from, to: end, text, problem: 'suffix' };
}

/** True for `.5`, if nothing before the dot can own it. */
function startsFraction(source: string, at: number): boolean {
  if (!isDigit(source.charCodeAt(at + 1))) return false;
  const before = source.charCodeAt(at - 1);
  return !isNamePart(before) && !')]}.'.includes(source[at - 1] ?? ' ');
}

/** True for `1.5` and `10.`, but not for the `1` of `1..5` or one followed by a name. */
function endsFraction(next: number): boolean {
  return isDigit(next) || !(next === dot || isNameStart(next));
}

const dot = 46;

/** Returns the end of the exponent that starts at `at`. */
function exponentFrom(source: string, at: number): number | undefined {
  const exponent = /^[eE][+-]?\d+(?![A-Za-z_])/.exec(source.slice(at, at + 24));
  return exponent === null ? undefined : at + exponent[0].length;
}

function readHex(source: string, from: number): Token {
  const to = skipName(source, from + 2);
  const text = source.slice(from, to);
  return /^0[xX][0-9a-fA-F]+$/.test(text)
    ? { kind: 'number', from, to, text }
    : { kind: 'number', from, to, text, problem: 'suffix' };
}

/** Reads a quoted string with backslash escapes, up to the closing quote or, with a problem, to the end of the line. */
function readString(source: string, from: number): Token {
  const quote = source.charAt(from);
  const closing = closingQuotes[quote] ?? quote;
  const problem = quote === "'" || quote === '"' ? undefined : 'typographic';
  let value = '';
  let at = from + 1;
  let plainFrom = at;
  while (at < source.length) {
    const char = source.charAt(at);
    if (closing.includes(char))
      return finishString(from, at + 1, value + source.slice(plainFrom, at), problem);
    if (char === '\n' || char === '\r') break;
    if (char === '\\') {
      const escaped = readEscape(source, at);
      value += source.slice(plainFrom, at) + escaped.value;
      at = escaped.to;
      plainFrom = at;
    } else at += 1;
  }
  return finishString(from, at, value + source.slice(plainFrom, at), 'unterminated');
}

function finishString(from: number, to: number, text: string, problem: Token['problem']): Token {
  return problem === undefined
    ? { kind: 'string', from, to, text }
    : { kind: 'string', from, to, text, problem };
}

const simpleEscapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\x07',
  '0': '\0',
  '\\': '\\',
  "'": "'",
  '"': '"',
};

/** Reads an escape; an unknown one keeps its backslash, so `'\d+'` means what its author intended. */
function readEscape(source: string, at: number): { value: string; to: number } {
  const next = source[at + 1];
  if (next === undefined) return { value: '\\', to: at + 1 };
  const simple = simpleEscapes[next];
  if (simple !== undefined) return { value: simple, to: at + 2 };
  const hex = /^\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/.exec(source.slice(at, at + 10));
  const digits = hex?.[1] ?? hex?.[2] ?? hex?.[3];
  const point = digits === undefined ? Number.NaN : Number.parseInt(digits, 16);
  if (hex !== null && point <= 0x10ffff)
    return { value: String.fromCodePoint(point), to: at + hex[0].length };
  return { value: '\\', to: at + 1 };
}

/** Reads `@'…'`: no escapes, but a doubled quote is one quote. */
function readVerbatim(source: string, from: number): Token {
  const closing = closingQuotes[source.charAt(from + 1)] ?? source.charAt(from + 1);
  let value = '';
  let at = from + 2;
  while (at < source.length && !isLineBreak(source.charCodeAt(at))) {
    const char = source.charAt(at);
    if (closing.includes(char)) {
      if (source[at + 1] !== char) return finishString(from, at + 1, value, undefined);
      at += 1;
    }
    value += char;
    at += 1;
  }
  return finishString(from, at, value, 'unterminated');
}

function readFenced(source: string, from: number): Token {
  const end = source.indexOf('```', from + 3);
  if (end < 0) return finishString(from, source.length, source.slice(from + 3), 'unterminated');
  return finishString(from, end + 3, source.slice(from + 3, end), undefined);
}

/** Reads the unquoted contents of the parentheses after `datetime` and the like as one token, if they start like a literal. */
function readRawLiteral(source: string, at: number, tokens: Token[]): number {
  const match = /^\s*\(\s*(?=[-+]?\d)/.exec(source.slice(at, at + 64));
  if (match === null) return at;
  const open = source.indexOf('(', at);
  const from = at + match[0].length;
  rawLiteralText.lastIndex = from;
  const text = rawLiteralText.exec(source)?.[0];
  if (text === undefined || source[from + text.length] !== ')') return at;
  const to = from + text.trimEnd().length;
  tokens.push({ kind: 'symbol', from: open, to: open + 1, text: '(' });
  tokens.push({ kind: 'raw', from, to, text: source.slice(from, to) });
  return to;
}

/** Characters of such a literal; excludes parentheses, to stop early if one is missing. */
const rawLiteralText = /[-+\dTZ:.\s/a-z\u00b5\u03bc]+/y;

/** True for white space of any script, and zero-width characters that documents and chats leave beside words. */
function isSpace(code: number): boolean {
  if (code <= 0xa0) return code === 32 || (code >= 9 && code <= 13) || code === 0x85 || code === 0xa0;
  return (code >= 0x2000 && code <= 0x200b) || otherSpaces.has(code);
}

const otherSpaces = new Set([0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x2060, 0x3000, 0xfeff]);

function isLineBreak(code: number): boolean {
  return code === 10 || code === 13;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isNamePart(code: number): boolean {
  return isNameStart(code) || isDigit(code);
}

/** True for letters of other scripts; not for their spaces, punctuation and signs, nor surrogates (emoji). */
function isLetterBeyondAscii(code: number): boolean {
  if (code < 0xaa || code === 0x3000) return false;
  if (code < 0x100) return !signsOfLatin1.has(code);
  if (code >= 0xff00) return !isFullwidthSign(code);
  return (
    !(code >= 0x2000 && code <= 0x206f) &&
    !(code >= 0x2190 && code <= 0x2bff) &&
    !(code >= 0xd800 && code <= 0xdfff) &&
    code !== 0x1680 &&
    code !== 0xfeff
  );
}

/** `«`, the soft hyphen, `±`, `»`, `×`, `÷`. */
const signsOfLatin1 = new Set([0xab, 0xad, 0xb1, 0xbb, 0xd7, 0xf7]);

/** True for `｜`, `＝`, `（` and other full-width ASCII signs from Chinese and Japanese keyboards. */
function isFullwidthSign(code: number): boolean {
  const sign = code - 0xfee0;
  if (sign < 0x21 || sign > 0x7e) return false;
  return !(sign >= 48 && sign <= 57) && !/[A-Za-z_]/.test(String.fromCharCode(sign));
}

function skipName(source: string, at: number): number {
  let to = at;
  while (to < source.length && isNamePart(source.charCodeAt(to))) to += 1;
  return to;
}

function skipDigits(source: string, at: number): number {
  let to = at;
  while (isDigit(source.charCodeAt(to))) to += 1;
  return to;
}
