/** Names and strings as written in a query: the inverse of the lexer. */

/** Returns a name in brackets and quotes; it may contain any characters. */
export function quotedName(name: string): string {
  return `['${quoteInner(name, "'")}']`;
}

/** Returns a string literal on one line, without invisible characters. */
export function writtenText(value: string): string {
  return `"${quoteInner(value, '"')}"`;
}

/** Returns the inside of a string literal; control and invisible characters are escaped. */
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

/** Printable ASCII without a backslash, the common case: completion writes thousands of names per keystroke. */
const unescaped = /^[ -[\]-~]*$/;

function codeEscape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff
    ? `\\U${code.toString(16).padStart(8, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`;
}
