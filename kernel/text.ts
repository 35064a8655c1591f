/** Output of untrusted text: made visible, escaped and cut. Imports nothing from Node.js or other folders. */

/**
 * Returns the text on one line, with every control, bidirectional override and invisible character replaced by a visible mark: `↵` for a
 * newline (also CRLF), `⇥` for a tab, `⟨U+202E⟩` and the like for the rest.
 */
export function visible(text: string): string {
  return PRINTABLE_ASCII.test(text) ? text : text.replace(INVISIBLE, mark);
}

/** Isolates a text with right-to-left letters, so that it does not reorder the text around it. */
export function isolated(text: string): string {
  return RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text;
}

/** Like `isolated`, for each run of right-to-left words in a sentence. */
export function isolatedWords(text: string): string {
  return RIGHT_TO_LEFT.test(text) ? text.replace(RIGHT_TO_LEFT_WORDS, isolated) : text;
}

/** Like `isolated`, for each name in backticks. */
export function isolatedNames(text: string): string {
  return text.replace(/`([^`]+)`/g, (_, name: string) => `\`${isolated(name)}\``);
}

/** Like `visibleLines`, for text already processed here: the marks of `isolated` stay, or are replaced by those of `around`. */
export function visibleAgain(text: string, around = isolated, write = visibleLines): string {
  const parts = text.split(/\u2068([^\u2066-\u2069\u202a-\u202e\n]*)\u2069/);
  return parts.map((part, at) => (at % 2 === 0 ? write(part) : around(write(part)))).join('');
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const RIGHT_TO_LEFT_WORDS = new RegExp(`${RIGHT_TO_LEFT.source}+(?: +${RIGHT_TO_LEFT.source}+)*`, 'gu');

/** Returns a field's name with leading, trailing and unusual spaces made visible. */
export function shownName(name: string): string {
  return visible(name).replace(/^ +| +$|(?! )\p{Zs}/gu, spaces => '\u2423'.repeat(spaces.length));
}

/** Like `visible`, for text of several lines: newlines and tabs are unchanged. */
export function visibleLines(text: string): string {
  if (PRINTABLE_ASCII.test(text)) return text;
  return text.replace(INVISIBLE, character =>
    /[\n\t]/.test(character) ? character.slice(-1) : mark(character),
  );
}

/** Escapes text for HTML content and quoted attributes, with invisible characters made visible as by `visibleLines`. */
export function escapeHtml(text: string): string {
  return visibleLines(text).replace(/[&<>"'`]/g, character => `&#${character.charCodeAt(0)};`);
}

/** HTML classes that exclude LaTeX: they are recognized by MathJax as loaded in notebooks and in pages made from them. */
export const NO_LATEX = 'tex2jax_ignore mathjax_ignore';

/**
 * Escapes text for one line of Markdown, or for a table cell: nothing in it is markup, HTML, a link or LaTeX. Notebooks look for LaTeX in
 * rendered Markdown, in which no escapes are left, but not across elements.
 */
export function escapeMarkdown(text: string): string {
  const dollar = /\$.*\$/s.test(text) ? '<span>\\$</span>' : '\\$';
  return visible(text)
    .replace(/[\\`*_{}[\]<>#|~!&$:@]/g, (sign, at: number, whole: string) => {
      if (sign === '$') return dollar;
      if (sign === '\\')
        return AFTER_BACKSLASH.test(whole.slice(at + 1, at + 6)) ? '<span>&#92;</span>' : '&#92;';
      // Two of them around a number are the placeholder for LaTeX that notebooks hide from Markdown.
      return sign === '@' && whole[at + 1] === '@' ? '&#64;' : `\\${sign}`;
    })
    .replace(/\bwww\./gi, match => `${match.slice(0, -1)}\\.`)
    .replace(/\s+/g, ' ')
    .replace(/^(\d*)([+\-.)])(?= |$)/, '$1\\$2');
}

/**
 * Like `escapeMarkdown`, for a table cell that people also read as source, as in a chat: a text that cannot be taken for markup, a link or
 * LaTeX is unchanged except for `|`.
 */
export function escapeMarkdownCell(text: string): string {
  return mayBeMarkup(text) ? escapeMarkdown(text) : visible(text).replace(/\s+/g, ' ').replaceAll('|', '\\|');
}

/** Like `escapeMarkdown`, for a paragraph or an item that people also read as source, as in a cell. */
export function escapeMarkdownLine(text: string): string {
  if (!mayBeMarkup(text) && !BLOCK.test(text)) return visible(text).replace(/\s+/g, ' ');
  return escapeMarkdown(text).replace(/^ ?[-=]/, sign => `\\${sign.trim()}`);
}

/** Beginning of anything but a paragraph. */
const BLOCK = /^\s*(?:[#>+*=-]|\d+[.)]|\[)|^(?: {4}|\t)/;

/** Anything within a cell, other than pairs of signs, that Markdown, its dialects or LaTeX in it may interpret. */
const MARKUP = new RegExp(
  [
    /[`$]|<[a-z/!?]|&(?:#|\w+;)|\](?:\(|\[|:)/,
    /\\(?:[!-/:-@[-`{-~]|begin|(?:eq)?ref)/,
    /:\/\/|www\.|\w@\w|@@|mailto:|:(?=[\w+-]*[a-z])[\w+-]+:|:1\d\d\d?:/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'is',
);

/** Beginning and end of what a pair of signs may enclose. */
const PAIRS: readonly (readonly [RegExp, RegExp])[] = [
  [/\*/, /\*/],
  [/~/, /~/],
  [/(?:^|[^a-z0-9])_/i, /_(?:[^a-z0-9]|$)/i],
  [/_(?:[^a-z0-9]|$)/i, /_/],
];

/** Whether Markdown may change a text. A pattern for both signs of a pair would take time that grows with the square of its length. */
function mayBeMarkup(text: string): boolean {
  if (MARKUP.test(text)) return true;
  return PAIRS.some(([begin, end]) => {
    const found = begin.exec(text);
    return found !== null && end.test(text.slice(found.index + found[0].length));
  });
}

/** A rendered span of a Markdown line. */
export interface MarkdownPart {
  readonly kind: 'text' | 'code' | 'break';
  readonly text: string;
}

/** Returns the parts of a Markdown line: code spans, line breaks, and text with the escapes of `escapeMarkdown` undone. */
export function* markdownParts(line: string): Generator<MarkdownPart, void> {
  const pattern = /(`+)( ?)(.+?)\2\1(?!`)|\\([!-/:-@[-`{-~])|&#(\d+);|<\/?span>| {2}(\n)/g;
  let at = 0;
  for (const match of line.matchAll(pattern)) {
    const [whole, , , code, sign, entity, newline] = match;
    yield { kind: 'text', text: line.slice(at, match.index) };
    if (code !== undefined) yield { kind: 'code', text: code };
    else if (newline !== undefined) yield { kind: 'break', text: newline };
    else
      yield { kind: 'text', text: sign ?? (entity === undefined ? '' : String.fromCharCode(Number(entity))) };
    at = match.index + whole.length;
  }
  yield { kind: 'text', text: line.slice(at) };
}

/** After a backslash, the beginning of LaTeX or of an escape in it. */
const AFTER_BACKSLASH = /^(?:[\\$()[\]]|begin|(?:eq)?ref)/;

/** Returns text as HTML, with text in backticks as code. */
export function withCode(text: string): string {
  const parts = text.split(/`([^`]+)`/).map(escapeHtml);
  return parts.map((part, index) => (index % 2 === 0 ? part : `<code>${part}</code>`)).join('');
}

/** Cuts a string to at most `limit` UTF-16 units, with an ellipsis if it was longer; never splits a character. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = limit - 1;
  const splitsPair = /[\ud800-\udbff]/.test(text.charAt(end - 1));
  return `${text.slice(0, splitsPair ? end - 1 : end)}\u2026`;
}

/** Cuts untrusted words in a sentence (names, paths, values) to 200 characters each, with an ellipsis. */
export function cutWords(sentence: string): string {
  return sentence.replace(/[^\s`"']{201,}/g, word => cut(word, 200));
}

/** Returns the text on one line for a sentence or a list: white space collapsed, made visible, and cut to the limit. */
export function oneLine(text: string, limit = Number.POSITIVE_INFINITY): string {
  return cut(visible(text.replace(/\s+/g, ' ').trim()), limit);
}

/**
 * Escapes text for a spreadsheet cell: adds an apostrophe if it would be taken for a formula, or already has that apostrophe, so removing
 * one restores every text.
 */
export function spreadsheetText(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/**
 * Replaces likely access tokens by `***`: those of Axiom by prefix, and the text after the word Bearer if it has at least `bearerLength`
 * characters; anything shorter may be a word.
 */
export function withoutTokens(text: string, bearerLength = BEARER_LENGTH): string {
  return replaceTokens(text, bearerLength, () => '***');
}

/** Removes the secret parts of a URL in a path: user, password, query and fragment; other text is unchanged. */
export function withoutCredentials(text: string): string {
  return text.replace(/(https?:[\\/]+)(?:[^\\/?#@]*@)?([^?#]*).*$/s, '$1$2');
}

/** Like `withoutTokens`, but with an asterisk for each character of the token, which preserves offsets. */
export function maskedTokens(text: string): string {
  return replaceTokens(text, BEARER_LENGTH, token => '*'.repeat(token.length));
}

/** Removes likely access tokens from all strings and names in a JSON value. */
export function withoutTokensIn(value: unknown): unknown {
  if (typeof value === 'string') return withoutTokens(value);
  if (Array.isArray(value)) return value.map(withoutTokensIn);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [withoutTokens(name), withoutTokensIn(each)]),
  );
}

function replaceTokens(text: string, bearerLength: number, mark: (token: string) => string): string {
  return text
    .replace(AXIOM_TOKEN, mark)
    .replace(BEARER_TOKEN, (whole, before: string, token: string) =>
      token.length < bearerLength ? whole : before + mark(token),
    );
}

/** Formats a count with thousands separators, for sentences (never for table cells). */
export function formatCount(count: number): string {
  return String(count).replace(THOUSANDS, ',');
}

/** Formats a count with its noun: `1 row`, `2,000 rows`. */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : nouns}`;
}

const AXIOM_TOKEN = /(?<![a-z])xa[ap]t-[\w-]+/g;
const BEARER_TOKEN = /\b(bearer\s+)([\w.~+/=-]+)/gi;
/** Few words are that long, and no token is shorter. */
const BEARER_LENGTH = 16;

/** Matches between the groups of three digits before the point; an `Intl` formatter would add 20 ms to each start. */
const THOUSANDS = /\B(?<!\.\d*)(?=(?:\d{3})+(?!\d))/g;

/**
 * Text that spreadsheets evaluate or split, also after white space and with full-width signs, and with any number of leading apostrophes.
 */
const FORMULA = /^'*[\s\p{Cf}\p{Cc}]*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]/u;
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

/**
 * Controls, format characters, lone surrogates and characters that fonts leave blank. Emoji and some scripts need variation selectors and
 * joiners, so those are excluded between non-ASCII characters. `\r\n` is one line break.
 */
const INVISIBLE =
  /\r\n|(?![\ufe00-\ufe0f])(?!(?<=[^\0-\x7f])[\u200c\u200d](?=[^\0-\x7f]))[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

function mark(character: string): string {
  const code = character.codePointAt(0) as number;
  if (code === 0x0a || character === '\r\n') return '\u21b5';
  if (code === 0x09) return '\u21e5';
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, '0')}\u27e9`;
}

/** Returns the share of an import read so far, given from 0 to 1, and the approximate number of rows if the total `rows` is not 0. */
export function partRead(share: number, rows: number): string {
  // Rounded down: 100 % means that all of it was read.
  const part = `${Math.floor(share * 100)} %`;
  const about = Number((share * rows).toPrecision(2));
  return about < 1 ? part : `${part}, about ${plural(Math.round(about), 'row')}`;
}

/** Returns a number of bytes in decimal units: `12.3 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const place = Math.min(Math.max(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), 0), units.length - 1);
  const value = bytes / 1000 ** place;
  return `${value < 100 && place > 0 ? Number(value.toFixed(1)) : Math.round(value)} ${units[place]}`;
}
