/** A token of another language. `from` and `to` are its span in the text. */
export interface LanguageToken {
  readonly kind: 'word' | 'number' | 'single' | 'double' | 'tick' | 'sign' | 'end';
  /** For a quoted string, the text inside the quotes. */
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

const pattern =
  /(?<space>\s+|--[^\n]*|\/\*[\s\S]*?\*\/)|'(?<single>(?:[^'\\]|\\.|'')*)'|"(?<double>(?:[^"\\]|\\.|"")*)"|`(?<tick>[^`]*)`|(?<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]))|(?<word>[\p{L}_@$][\w\p{L}@$]*(?:\.[\p{L}_@$*][\w\p{L}@$]*)*|\d\w*)|(?<sign><=|>=|<>|!=|!~|=~|==|\|\||\|=|\|~|::|\.\.|[\s\S])/gu;

const kinds = ['single', 'double', 'tick', 'number', 'word', 'sign'] as const;

/**
 * Reads the tokens of a text in another language. Once something cannot be translated, `reason` is set and no tokens are left, so any
 * reading loop ends.
 */
export class LanguageReader {
  readonly text: string;
  readonly #tokens: readonly LanguageToken[];
  readonly #end: LanguageToken;
  #at = 0;
  reason: string | undefined;

  constructor(text: string) {
    this.text = text;
    this.#end = { kind: 'end', text: '', from: text.length, to: text.length };
    this.#tokens = [...text.matchAll(pattern)].flatMap(match => {
      const kind = kinds.find(each => match.groups?.[each] !== undefined);
      if (kind === undefined) return [];
      const from = match.index;
      return [{ kind, text: unescaped(match.groups?.[kind] ?? '', kind), from, to: from + match[0].length }];
    });
    if (levelsOf(this.#tokens) > mostLevels) this.reason = 'It is nested too deeply to translate.';
  }

  /** Gives up, with a sentence as the reason. Returns an empty string in place of a translation. */
  fail(reason: string): string {
    this.reason ??= reason;
    return '';
  }

  peek(ahead = 0): LanguageToken {
    return (this.reason === undefined ? this.#tokens[this.#at + ahead] : undefined) ?? this.#end;
  }

  next(): LanguageToken {
    const token = this.peek();
    this.#at += 1;
    return token;
  }

  get done(): boolean {
    return this.peek().kind === 'end';
  }

  isWord(words: readonly string[], ahead = 0): boolean {
    const { kind, text } = this.peek(ahead);
    return kind === 'word' && words.includes(text.toLowerCase());
  }

  /** Consumes one of several words, in any case; returns it in lower case. */
  takeWord(...words: readonly string[]): string | undefined {
    return this.isWord(words) ? this.next().text.toLowerCase() : undefined;
  }

  /** Consumes a sequence of words, or none of them. */
  takeWords(...words: readonly string[]): boolean {
    if (!words.every((word, ahead) => this.isWord([word], ahead))) return false;
    for (const _ of words) this.next();
    return true;
  }

  isSign(...signs: readonly string[]): boolean {
    const { kind, text } = this.peek();
    return kind === 'sign' && signs.includes(text);
  }

  takeSign(...signs: readonly string[]): string | undefined {
    return this.isSign(...signs) ? this.next().text : undefined;
  }

  /** Consumes a required sign. */
  expect(sign: string): void {
    if (this.takeSign(sign) === undefined) this.fail(`\`${sign}\` is missing before ${this.shown()}.`);
  }

  /** Returns the next token for messages. */
  shown(): string {
    const { kind, from, to } = this.peek();
    return kind === 'end' ? 'its end' : `\`${this.text.slice(from, to)}\``;
  }

  /** Returns the result of `read` for each item between commas. */
  list<T>(read: () => T): readonly T[] {
    const found = [read()];
    while (this.takeSign(',') !== undefined) found.push(read());
    return found;
  }
}

/** The readers recurse for each level; this many fit on any stack. */
const mostLevels = 100;

/** Returns an upper bound on nesting: parentheses, keywords that open a nested part, and prefix operators before a value. */
function levelsOf(tokens: readonly LanguageToken[]): number {
  let [open, deepest, parts, before] = [0, 0, 0, 0];
  for (const { kind, text } of tokens) {
    const isPrefix = kind === 'sign' ? '!-+'.includes(text) : kind === 'word' && /^not$/i.test(text);
    before = isPrefix || text === '(' ? before + Number(isPrefix) : 0;
    if (kind === 'sign' && text === '(') open += 1;
    if (kind === 'sign' && text === ')') open -= 1;
    if (kind === 'word' && /^(?:case|select)$/i.test(text)) parts += 1;
    deepest = Math.max(deepest, open + parts + before);
  }
  return deepest;
}

function unescaped(text: string, kind: LanguageToken['kind']): string {
  if (kind === 'single') return text.replaceAll("''", "'").replace(/\\(.)/g, escaped);
  return kind === 'double' ? text.replaceAll('""', '"').replace(/\\(.)/g, escaped) : text;
}

/** Unescapes quotes and backslashes; other backslashes stay, as they belong to patterns. */
function escaped(whole: string, character: string): string {
  return character === '"' || character === "'" || character === '\\' ? character : whole;
}
