/**
 * Names and texts as a query spells them: the inverse of what the lexer reads.
 */

/** A name in brackets and quotes, which may hold anything. */
export function quotedName(name: string): string {
  return `['${quoteInner(name, "'")}']`;
}

/** A text as a string literal on one line, in which no character is invisible. */
export function writtenText(value: string): string {
  return `"${quoteInner(value, '"')}"`;
}

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

/** Printable ASCII without a backslash, which most texts are: completion writes thousands of names at every keystroke. */
const unescaped = /^[ -[\]-~]*$/;

function codeEscape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff
    ? `\\U${code.toString(16).padStart(8, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`;
}
