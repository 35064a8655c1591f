import { clauseWords, sources } from '../operators/rows.js';
import { scalarOperators } from './scalar-operators.js';

/** The words of the operators of expressions. */
export const scalarWords: readonly string[] = scalarOperators
  .map(({ name }) => name)
  .filter(name => /^!?[a-z]/.test(name) && name !== 'not');

/** A name as a query spells it: quoted where it is not a plain word. */
export function writtenName(name: string): string {
  return isPlain(name) && !reserved.has(name) ? name : quotedName(name);
}

/** True for a word that needs no quotes, unless it means something else. */
export function isPlain(name: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(name);
}

/** A name in brackets and quotes. */
export function quotedName(name: string): string {
  return `['${quoteInner(name, "'")}']`;
}

/** A text as a string literal on one line, in which no character is invisible. */
export function writtenText(value: string): string {
  return `"${quoteInner(value, '"')}"`;
}

/** Printable ASCII without a backslash, which most texts are: completion writes thousands of names at every keystroke. */
const unescaped = /^[ -[\]-~]*$/;

/** The inside of a string literal; controls and invisible characters are written as escapes. */
export function quoteInner(value: string, quote: string): string {
  if (unescaped.test(value) && !value.includes(quote)) return value;
  return value
    .replaceAll('\\', '\\\\')
    .replaceAll(quote, `\\${quote}`)
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, codeEscape);
}

function codeEscape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff
    ? `\\U${code.toString(16).padStart(8, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`;
}

const reserved = new Set([
  ...scalarWords,
  ...clauseWords,
  ...Object.keys(sources),
  ...['not', 'true', 'false', 'null', 'asc', 'desc', 'matches', 'default', 'let', 'set', 'declare'],
]);
