/** Delimiters between pairs, between a key and its value, and the quotes around either. */
export interface PairDelimiters {
  readonly pair: string;
  readonly separator: string;
  readonly open: string;
  readonly close: string;
}

/**
 * Returns the regular expression whose first group is the value of a key, including quotes: the first one outside the quotes of other
 * pairs. A string without quotes needs only the plain form, which takes half of the time in long strings.
 */
export function keyPattern(key: string, delimiters: PairDelimiters, isPlain: boolean): string {
  const { pair, separator, open, close } = delimiters;
  const [p, s] = [pair, separator].map(escapeRegex);
  const space = /^\s$/.test(pair) ? `[^\\S${inClass(pair)}]*` : '\\s*';
  const quoted = quotedText(open, close);
  const name = escapeRegex(key);
  const named = `(?:${name}|${escapeRegex(open)}${name}${escapeRegex(close)})`;
  const value = `(${quoted}|${without(pair) ?? '.*?'})`;
  const before = isPlain ? undefined : pairBefore(delimiters, space);
  const start = before === undefined ? `(?:^|${p})` : `^(?:${before}${p})*?`;
  return `(?s)${start}${space}${named}${space}${s}${space}${value}${space}(?:${p}|$)`;
}

/** Returns the regular expression of a quoted string, whose first group is its content. */
export function wholeQuoted({ open, close }: PairDelimiters): string {
  return `(?s)^${escapeRegex(open)}(.*)${escapeRegex(close)}$`;
}

export function escapeRegex(literal: string): string {
  return literal.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');
}

/** Returns the pattern of a pair with its quotes; undefined for delimiters that character classes cannot exclude. */
function pairBefore({ pair, separator, open, close }: PairDelimiters, space: string): string | undefined {
  const [rest, key] = [without(pair), without(pair, separator)];
  if (rest === undefined || key === undefined || [...separator].length !== 1) return undefined;
  const quoted = quotedText(open, close);
  const [first = '', second] = [...pair];
  // A value may consist of starts of the delimiter.
  const starts = second === undefined ? '' : `|${escapeRegex(first)}+`;
  const plain = `${notBegun(pair, `\\s${inClass(open)}`)}${rest}${starts}`;
  return `(?:${quoted})?${key}(?:${escapeRegex(separator)}${space}(?:${quoted}${rest}|${plain})?)?`;
}

function quotedText(open: string, close: string): string {
  return `${escapeRegex(open)}[^${inClass(close)}]*${escapeRegex(close)}`;
}

/** Returns the pattern of text without a delimiter of one character, or of two different ones, and without `other`; undefined for longer delimiters. */
function without(delimiter: string, other = ''): string | undefined {
  const [first = '', second, third] = [...delimiter];
  if (second === undefined) return `[^${inClass(first + other)}]*`;
  if (third !== undefined || second === first) return undefined;
  return `(?:[^${inClass(first + other)}]|${escapeRegex(first)}+[^${inClass(delimiter + other)}])*${escapeRegex(first)}*`;
}

/** Returns the pattern of a character outside a class that does not start a delimiter. */
function notBegun(delimiter: string, others: string): string {
  const [first = '', second] = [...delimiter];
  const single = `[^${others}${inClass(first)}]`;
  return second === undefined ? single : `(?:${single}|${escapeRegex(first)}+[^${inClass(delimiter)}])`;
}

function inClass(characters: string): string {
  return characters.replace(/[\\^\][-]/g, '\\$&');
}
