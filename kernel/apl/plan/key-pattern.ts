/** What stands between the pairs of a text, between a key and its value, and around what may hold either. */
export interface PairDelimiters {
  readonly pair: string;
  readonly separator: string;
  readonly open: string;
  readonly close: string;
}

/** The regular expression whose first group is the value of a key, with its quotes: the first that is not within the quotes of another. */
export function keyPattern(key: string, delimiters: PairDelimiters): string {
  const { pair, separator, open, close } = delimiters;
  const [p, s] = [pair, separator].map(escapeRegex);
  const space = /^\s$/.test(pair) ? `[^\\S${inClass(pair)}]*` : '\\s*';
  const quoted = quotedText(open, close);
  const name = escapeRegex(key);
  const named = `(?:${name}|${escapeRegex(open)}${name}${escapeRegex(close)})`;
  const value = `(${quoted}|${without(pair) ?? '.*?'})`;
  const before = pairBefore(delimiters, space);
  const start = before === undefined ? `(?:^|${p})` : `^(?:${before}${p})*?`;
  return `(?s)${start}${space}${named}${space}${s}${space}${value}${space}(?:${p}|$)`;
}

/** The regular expression of a text in quotes, whose first group is what they hold. */
export function wholeQuoted({ open, close }: PairDelimiters): string {
  return `(?s)^${escapeRegex(open)}(.*)${escapeRegex(close)}$`;
}

export function escapeRegex(literal: string): string {
  return literal.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');
}

/** A pair with its quotes; undefined for delimiters that no classes of characters can tell from other text. */
function pairBefore({ pair, separator, open, close }: PairDelimiters, space: string): string | undefined {
  const [rest, key] = [without(pair), without(pair, separator)];
  if (rest === undefined || key === undefined || [...separator].length !== 1) return undefined;
  const quoted = quotedText(open, close);
  const plain = `${notBegun(pair, `\\s${inClass(open)}`)}${rest}`;
  return `(?:${quoted})?${key}(?:${escapeRegex(separator)}${space}(?:${quoted}${rest}|${plain})?)?`;
}

function quotedText(open: string, close: string): string {
  return `${escapeRegex(open)}[^${inClass(close)}]*${escapeRegex(close)}`;
}

/** Text without a delimiter of one character, or of two that differ, and without some other character. */
function without(delimiter: string, other = ''): string | undefined {
  const [first = '', second, third] = [...delimiter];
  if (second === undefined) return `[^${inClass(first + other)}]*`;
  if (third !== undefined || second === first) return undefined;
  return `(?:[^${inClass(first + other)}]|${escapeRegex(first)}+[^${inClass(delimiter + other)}])*${escapeRegex(first)}*`;
}

/** A character outside of a class that does not begin a delimiter. */
function notBegun(delimiter: string, others: string): string {
  const [first = '', second] = [...delimiter];
  const single = `[^${others}${inClass(first)}]`;
  return second === undefined
    ? single
    : `(?:${single}|${escapeRegex(first)}+[^${others}${inClass(delimiter)}])`;
}

function inClass(characters: string): string {
  return characters.replace(/[\\^\][-]/g, '\\$&');
}
