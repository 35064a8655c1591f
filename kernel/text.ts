/** Untrusted text on its way out: made visible, escaped and cut. Imports nothing from Node.js or other folders. */

/**
 * The text on one line, in which every control, bidirectional override and invisible character shows as a mark of its own:
 * `↵` for a newline, of Windows too, `⇥` for a tab, `⟨U+202E⟩` for the others.
 */
export function visible(text: string): string {
  return PRINTABLE_ASCII.test(text) ? text : text.replace(INVISIBLE, mark);
}

/**
 * A text beside others in a line: one with letters that are written from right to left is isolated, so that it moves nothing around it.
 */
export function isolated(text: string): string {
  return RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text;
}

/** As `isolated`, of each run of words from right to left in a sentence. */
export function isolatedWords(text: string): string {
  return RIGHT_TO_LEFT.test(text) ? text.replace(RIGHT_TO_LEFT_WORDS, isolated) : text;
}

/** As `isolated`, of each name in backticks. */
export function isolatedNames(text: string): string {
  return text.replace(/`([^`]+)`/g, (_, name: string) => `\`${isolated(name)}\``);
}

/**
 * As `visibleLines`, of text that was written by us before: what `isolated` has put around a text stays, or is put by `around` in its
 * place.
 */
export function visibleAgain(text: string, around = isolated, write = visibleLines): string {
  const parts = text.split(/\u2068([^\u2066-\u2069\u202a-\u202e\n]*)\u2069/);
  return parts.map((part, at) => (at % 2 === 0 ? write(part) : around(write(part)))).join('');
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const RIGHT_TO_LEFT_WORDS = new RegExp(`${RIGHT_TO_LEFT.source}+(?: +${RIGHT_TO_LEFT.source}+)*`, 'gu');

/** A field's name in which spaces at its ends, and spaces that are not the usual one, can be seen. */
export function shownName(name: string): string {
  return visible(name).replace(/^ +| +$|(?! )\p{Zs}/gu, spaces => '\u2423'.repeat(spaces.length));
}

/** As `visible`, for text of several lines: newlines and tabs stay what they are. */
export function visibleLines(text: string): string {
  if (PRINTABLE_ASCII.test(text)) return text;
  return text.replace(INVISIBLE, character =>
    /[\n\t]/.test(character) ? character.slice(-1) : mark(character),
  );
}

/** Text for HTML content and for quoted attributes alike, with invisible characters made visible as by `visibleLines`. */
export function escapeHtml(text: string): string {
  return visibleLines(text).replace(/[&<>"'`]/g, character => `&#${character.charCodeAt(0)};`);
}

/** Classes of HTML that LaTeX is not looked for in: MathJax, as notebooks and pages made of them load it, goes by them. */
export const NO_LATEX = 'tex2jax_ignore mathjax_ignore';

/**
 * Text for one line of Markdown, or for a cell of a table in it: nothing in it is markup, HTML, a link or LaTeX. Notebooks look for
 * LaTeX in what Markdown has become, where no escape is left, but not across elements.
 */
export function escapeMarkdown(text: string): string {
  const dollar = /\$.*\$/s.test(text) ? '<span>\\$</span>' : '\\$';
  return visible(text)
    .replace(/[\\`*_{}[\]<>#|~!&$:@]/g, (sign, at: number, whole: string) => {
      if (sign === '$') return dollar;
      if (sign === '\\')
        return AFTER_BACKSLASH.test(whole.slice(at + 1, at + 6)) ? '<span>&#92;</span>' : '&#92;';
      // Two of them around a number stand for the LaTeX that notebooks keep from Markdown.
      return sign === '@' && whole[at + 1] === '@' ? '&#64;' : `\\${sign}`;
    })
    .replace(/\bwww\./gi, match => `${match.slice(0, -1)}\\.`)
    .replace(/\s+/g, ' ')
    .replace(/^(\d*)([+\-.)])(?= |$)/, '$1\\$2');
}

/**
 * As `escapeMarkdown`, for a cell of a table that people also read as it is written, as in a chat: a text in which nothing can be
 * taken for markup, a link or LaTeX keeps all its characters, but for a `|`.
 */
export function escapeMarkdownCell(text: string): string {
  return MARKUP.test(text) ? escapeMarkdown(text) : visible(text).replace(/\s+/g, ' ').replaceAll('|', '\\|');
}

/** As `escapeMarkdown`, for a paragraph or an item that people also read as it is written, as in the source of a cell. */
export function escapeMarkdownLine(text: string): string {
  if (!MARKUP.test(text) && !BLOCK.test(text)) return visible(text).replace(/\s+/g, ' ');
  return escapeMarkdown(text).replace(/^ ?[-=]/, sign => `\\${sign.trim()}`);
}

/** What begins anything but a paragraph. */
const BLOCK = /^\s*(?:[#>+*=-]|\d+[.)]|\[)|^(?: {4}|\t)/;

/** What Markdown, its dialects or LaTeX in it may take for more than text, within a cell. */
const MARKUP = new RegExp(
  [
    /[`$]|<[a-z/!?]|&(?:#|\w+;)|\](?:\(|\[|:)/,
    /\\(?:[!-/:-@[-`{-~]|begin|(?:eq)?ref)/,
    // Two of them may enclose something.
    /\*.*\*|~.*~|(?:^|[^a-z0-9])_.*_(?:[^a-z0-9]|$)|_(?:[^a-z0-9]|$).*_/,
    /:\/\/|www\.|\w@\w|@@|mailto:|:[\w+-]*[a-z][\w+-]*:|:1\d\d\d?:/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'is',
);

/** A span of a line of Markdown as it is shown. */
export interface MarkdownPart {
  readonly kind: 'text' | 'code' | 'break';
  readonly text: string;
}

/** The parts of a line of Markdown: spans of code, line breaks, and text with what `escapeMarkdown` writes taken back. */
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

/** What begins LaTeX, or is taken for an escape in it, after a backslash. */
const AFTER_BACKSLASH = /^(?:[\\$()[\]]|begin|(?:eq)?ref)/;

/** HTML of text in which backticks enclose code. */
export function withCode(text: string): string {
  const parts = text.split(/`([^`]+)`/).map(escapeHtml);
  return parts.map((part, index) => (index % 2 === 0 ? part : `<code>${part}</code>`)).join('');
}

/** At most `limit` UTF-16 units, with an ellipsis for what was cut; never half a character. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = limit - 1;
  const splitsPair = /[\ud800-\udbff]/.test(text.charAt(end - 1));
  return `${text.slice(0, splitsPair ? end - 1 : end)}\u2026`;
}

/** A sentence in which words of strangers are at most 200 characters each, with an ellipsis for what was cut: names, paths, values. */
export function cutWords(sentence: string): string {
  return sentence.replace(/[^\s`"']{201,}/g, word => cut(word, 200));
}

/** The text on one line for a sentence or a list: white space shrunk to single spaces, visible, and cut to a limit if there is one. */
export function oneLine(text: string, limit = Number.POSITIVE_INFINITY): string {
  return cut(visible(text.replace(/\s+/g, ' ').trim()), limit);
}

/**
 * Text for a cell of a spreadsheet: with an apostrophe before it if it would be taken for a formula, or for a text that already
 * has this apostrophe, so that taking one away gives back every text.
 */
export function spreadsheetText(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/**
 * The text with `***` in place of what looks like an access token: one of Axiom by its prefix, and what follows the word Bearer if it
 * has so many characters; shorter than `bearerLength` it may be a word.
 */
export function withoutTokens(text: string, bearerLength = BEARER_LENGTH): string {
  return replaceTokens(text, bearerLength, () => '***');
}

/** The address in a path without what may be secret of it: user, password, query and fragment; other text as it is. */
export function withoutCredentials(text: string): string {
  return text.replace(/(https?:[\\/]+)(?:[^\\/?#@]*@)?([^?#]*).*$/s, '$1$2');
}

/** As `withoutTokens`, with as many asterisks as the token has characters, so that places in the text stay what they are. */
export function maskedTokens(text: string): string {
  return replaceTokens(text, BEARER_LENGTH, token => '*'.repeat(token.length));
}

/** A value of JSON in which no text or name holds what looks like an access token. */
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

/** A count with thousands separators, for sentences (never for cells of a table). */
export function formatCount(count: number): string {
  return String(count).replace(THOUSANDS, ',');
}

/** A count with its noun: `1 row`, `2,000 rows`. */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : nouns}`;
}

const AXIOM_TOKEN = /(?<![a-z])xa[ap]t-[\w-]+/g;
const BEARER_TOKEN = /\b(bearer\s+)([\w.~+/=-]+)/gi;
/** Few words are as long, and no token is shorter. */
const BEARER_LENGTH = 16;

/** Between the groups of three digits before the point; a formatter of `Intl` would take 20 ms of each start. */
const THOUSANDS = /\B(?<!\.\d*)(?=(?:\d{3})+(?!\d))/g;

/** What spreadsheets evaluate or split, also after white space and in full-width signs, with any number of apostrophes before it. */
const FORMULA = /^'*[\s\p{Cf}\p{Cc}]*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]/u;
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

/**
 * Controls, format characters, halves of characters and what fonts leave blank. Emoji need variation selectors and joiners,
 * and so do some scripts: those two stay where they stand between characters that are not ASCII. `\r\n` is one line break.
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

/** Says which share, from 0 to 1, of an import has been read, and about how many rows that is unless `rows`, those of all of it, is 0. */
export function partRead(share: number, rows: number): string {
  // What is left must be seen: 100 % is all of it.
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
