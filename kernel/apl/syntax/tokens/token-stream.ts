import { present } from '../../../present.js';
import { oneLine, visible } from '../../../text.js';
import { parseTimespan } from '../../../time.js';
import type { Clause } from '../../operators/grammar.js';
import type { Diagnostic, Identifier, Span } from '../ast.js';
import type { DiagnosticCode } from '../codes.js';
import { finding } from '../diagnostics.js';
import { identifier } from '../nodes.js';
import { type Limit, limits } from '../syntax-limits.js';
import { type Token, tokenize } from './lexer.js';
import type { Offers, OpenCall, OperandSlot, Slot } from './offers.js';
import { quotedName } from './quote.js';

/** A hint for a diagnostic, and a replacement for the text from there to `to`, by default one token. */
export interface Advice {
  readonly hint: string;
  readonly instead?: string;
  /** Start of the span that `instead` replaces; the next token's span if absent. */
  readonly from?: number;
  readonly to?: number;
}

/** The parser's position in the tokens of one text, and its diagnostics so far. */
export class TokenStream {
  readonly source: string;
  readonly tokens: readonly Token[];
  readonly diagnostics: Diagnostic[] = [];
  /** True if `=` can only be a typo for `==`. */
  comparing = false;
  /** The clause being read, and its open calls. */
  clause: Clause | undefined;
  call: OpenCall | undefined;
  readonly #offers: Offers | undefined;
  #at = 0;
  #depth = 0;
  readonly #end: Token;
  /** Position of an error -> its index in `diagnostics`; stale once that list was truncated and has grown again. */
  readonly #errorIndexes = new Map<number, number>();

  /** `tokens` are existing tokens without comments, for a part of `source` that ends at `to`. `offers` collects completions at its end. */
  constructor(source: string, tokens?: readonly Token[], to: number = source.length, offers?: Offers) {
    this.source = source;
    this.#offers = offers;
    this.tokens = tokens ?? tokenize(source).filter(token => token.kind !== 'comment');
    this.#end = { kind: 'symbol', from: to, to, text: '' };
    for (const token of this.tokens) {
      if (token.problem !== undefined || token.kind === 'error') this.#reportProblem(token);
      if (token.kind === 'string' && token.text.length > limits.literal.most)
        this.reportLimit(token, limits.literal);
    }
  }

  /** Returns the token `ahead` of the current one; past the last, its text is empty. */
  peek(ahead = 0): Token {
    return this.tokens[this.#at + ahead] ?? this.#end;
  }

  get done(): boolean {
    return this.#at >= this.tokens.length;
  }

  /** Collector of completions, set at the end of the text if completion is requested. */
  get offering(): Offers | undefined {
    return this.#offers !== undefined && this.done ? this.#offers : undefined;
  }

  /** True if the text ends after `ahead` more tokens, and completion is requested there. */
  offersAt(ahead: number): boolean {
    return this.#offers !== undefined && this.#at + ahead === this.tokens.length;
  }

  /** Offers a slot at the end of the text. */
  offer(slot: Slot): void {
    this.offering?.add(slot);
  }

  /** Offers a value in the current clause and call. */
  offerOperand(rest: Omit<OperandSlot, 'kind' | 'clause' | 'call'> = {}): void {
    const offers = this.offering;
    if (offers === undefined) return;
    const { clause, call } = this;
    if (clause?.offers === 'fields' && call === undefined) offers.add({ kind: 'field' });
    else
      offers.add({
        kind: 'operand',
        ...rest,
        ...present({ clause, call }),
      });
  }

  /** End of the last consumed token. */
  get lastEnd(): number {
    return this.tokens[this.#at - 1]?.to ?? 0;
  }

  /** Opaque position for `rewind`. */
  get mark(): number {
    return this.#at;
  }

  rewind(mark: number): void {
    this.#at = mark;
  }

  next(): Token {
    const token = this.peek();
    if (!this.done) this.#at += 1;
    return token;
  }

  isSymbol(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token.kind === 'symbol' && token.text === text && !(text === '' && !this.done);
  }

  isWord(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token.kind === 'word' && token.text === text;
  }

  /** Consumes the symbol if it is next. */
  takeSymbol(text: string): Token | undefined {
    return this.isSymbol(text) ? this.next() : undefined;
  }

  takeWord(text: string): Token | undefined {
    return this.isWord(text) ? this.next() : undefined;
  }

  /** True if the word is next, in any case. */
  isKeyword(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token.kind === 'word' && token.text.toLowerCase() === text;
  }

  /** Consumes a grammar word that cannot be a name; one that is not in lower case is reported. */
  takeKeyword(text: string): Token | undefined {
    if (!this.isKeyword(text)) return undefined;
    const token = this.next();
    if (token.text !== text) this.reportSpelling(token, text);
    return token;
  }

  /** Consumes the symbol, or reports that it is missing. */
  expectSymbol(text: string, context: string): Token | undefined {
    const token = this.takeSymbol(text);
    if (token === undefined) this.expected(`\`${text}\``, context);
    return token;
  }

  /** True if `['name']` or `["name"]` is next. */
  isQuotedName(ahead = 0): boolean {
    return (
      this.isSymbol('[', ahead) && this.peek(ahead + 1).kind === 'string' && this.isSymbol(']', ahead + 2)
    );
  }

  /** Consumes a bare or quoted name; returns undefined, with nothing consumed, if there is none. */
  takeName(): Identifier | undefined {
    if (this.isOpenQuotedName()) return this.#takeOpenName();
    if (this.isQuotedName()) {
      const open = this.next();
      const text = this.next();
      return identifier(text.text, true, { from: open.from, to: this.next().to });
    }
    const token = this.peek();
    if (token.kind !== 'word' || token.text.startsWith('!')) return undefined;
    this.next();
    return identifier(token.text, false, token);
  }

  /** True if `['name'` without a closing bracket is next, which cannot be an index or a list. */
  isOpenQuotedName(): boolean {
    if (!this.isSymbol('[') || this.peek(1).kind !== 'string') return false;
    const third = this.peek(2);
    return third.text !== ']' && third.text !== ',';
  }

  #takeOpenName(): Identifier {
    const { from } = this.next();
    const text = this.next();
    // Without its closing quote, the string extends to the end of the line.
    const [name = '', ...rest] = text.problem === 'unterminated' ? text.text.split(']') : [text.text];
    this.report(
      'error',
      'expected',
      { from, to: text.to },
      'the name in brackets has no closing `]`',
      `Write ${quotedName(name)}.`,
      `${quotedName(name)}${rest.join(']')}`,
    );
    return identifier(text.text, true, { from, to: text.to });
  }

  /** Consumes a name; if it is missing, reports that and returns an empty one. */
  expectName(what: string, context: string): Identifier {
    const name = this.takeName();
    if (name !== undefined) return name;
    this.expected(what, context);
    const from = this.peek().from;
    return identifier('', false, { from, to: from });
  }

  /** Returns `word` and `-word` without a space between, such as `project-away`; nothing is consumed. */
  hyphenatedWord(ahead = 0): { text: string; span: Span; tokens: number } | undefined {
    const first = this.peek(ahead);
    if (first.kind !== 'word') return undefined;
    let { text, to } = first;
    let tokens = 1;
    for (;;) {
      const dash = this.peek(ahead + tokens);
      const word = this.peek(ahead + tokens + 1);
      const joined =
        dash.text === '-' &&
        dash.kind === 'symbol' &&
        dash.from === to &&
        word.kind === 'word' &&
        word.from === dash.to;
      if (!joined) return { text, span: { from: first.from, to }, tokens };
      text += `-${word.text}`;
      to = word.to;
      tokens += 2;
    }
  }

  /** Runs `parse` with `comparing` set, and restores it. */
  withComparing<T>(
    comparing: boolean,
    parse: (stream: TokenStream, context: string) => T,
    context: string,
  ): T {
    const before = this.comparing;
    this.comparing = comparing;
    const value = parse(this, context);
    this.comparing = before;
    return value;
  }

  /** Runs `parse` one level deeper, or `tooDeep` if that would overflow the stack. */
  nested<T>(
    parse: (stream: TokenStream, context: string) => T,
    tooDeep: (stream: TokenStream) => T,
    context = '',
  ): T {
    if (this.#depth >= limits.nesting.most) return tooDeep(this);
    this.#depth += 1;
    const value = parse(this, context);
    this.#depth -= 1;
    return value;
  }

  /** True if the next token is the first of its line. */
  get startsLine(): boolean {
    return this.source.slice(this.lastEnd, this.peek().from).includes('\n');
  }

  /** Skips the rest of the line. */
  skipLine(): void {
    do this.next();
    while (!this.done && !this.startsLine);
  }

  skip(count: number): void {
    this.#at = Math.min(this.#at + count, this.tokens.length);
  }

  /** True if `symbol` comes before any of `others`, outside brackets; nothing is consumed. */
  reaches(symbol: string, ...others: readonly string[]): boolean {
    const mark = this.#at;
    this.skipTo(symbol, ...others);
    const reached = this.isSymbol(symbol);
    this.#at = mark;
    return reached;
  }

  /** True if the open bracket is closed before the query ends; nothing is consumed. */
  get closes(): boolean {
    return this.reaches(')', ';');
  }

  /** Skips to the next of `symbols` outside brackets, or to the end. */
  skipTo(...symbols: readonly string[]): void {
    let depth = 0;
    while (!this.done) {
      const token = this.peek();
      if (token.kind === 'symbol') {
        if (depth === 0 && symbols.includes(token.text)) return;
        if ('([{'.includes(token.text)) depth += 1;
        else if (')]}'.includes(token.text)) {
          if (depth === 0) return;
          depth -= 1;
        }
      }
      this.next();
    }
  }

  /** Reports that `what` was expected here, once per position. */
  expected(what: string, context: string, advice?: Advice | string): void {
    this.offering?.stop();
    const token = this.peek();
    const found = this.done ? 'the query ends here' : `found ${quote(token, this.source)}`;
    const { hint, instead, from, to } = typeof advice === 'string' ? { hint: advice } : (advice ?? {});
    const place = this.done ? this.#endSpan() : token;
    const span = { from: from ?? place.from, to: to ?? place.to };
    if (this.#hasErrorAt(span.from)) return;
    this.report(
      'error',
      'expected',
      span,
      `expected ${what}${context === '' ? '' : ` ${context}`}, ${found}`,
      hint,
      instead,
    );
  }

  report(
    severity: Diagnostic['severity'],
    code: DiagnosticCode,
    span: Span,
    message: string,
    hint?: string,
    instead?: string,
  ): void {
    const { from } = span;
    if (severity === 'error' && !this.#hasErrorAt(from))
      this.#errorIndexes.set(from, this.diagnostics.length);
    this.diagnostics.push(finding(severity, code, span, message, hint, instead));
  }

  /** Reports that a limit of the language is exceeded. */
  reportLimit(span: Span, { code, message, hint }: Limit): void {
    this.report('error', code, span, message, hint);
  }

  /** Drops diagnostics in a span that turns out not to be APL. */
  forget({ from, to }: Span): void {
    const kept = this.diagnostics.filter(each => each.to <= from || each.from >= to);
    this.diagnostics.splice(0, this.diagnostics.length, ...kept);
    this.#errorIndexes.clear();
    for (const [index, each] of kept.entries())
      if (each.severity === 'error' && !this.#errorIndexes.has(each.from))
        this.#errorIndexes.set(each.from, index);
  }

  /** True if there is an error in any part of this span. */
  hasErrorIn({ from, to }: Span): boolean {
    return this.diagnostics.some(each => each.severity === 'error' && each.from >= from && each.from <= to);
  }

  #hasErrorAt(from: number): boolean {
    const found = this.diagnostics[this.#errorIndexes.get(from) ?? -1];
    return found !== undefined && found.from === from && found.severity === 'error';
  }

  #endSpan(): Span {
    const last = this.tokens[this.tokens.length - 1];
    const from = last === undefined ? 0 : last.to;
    return { from, to: from };
  }

  #reportProblem(token: Token): void {
    const shown = oneLine(this.source.slice(token.from, token.to), 40);
    if (token.problem === 'unterminated') {
      this.report(
        'error',
        'unterminated-string',
        token,
        `the string ${shown} has no closing quote`,
        'Close it on the same line; write a line break inside a string as `\\n`.',
        this.source.charAt(token.from - 1) === '['
          ? undefined
          : closed(this.source.slice(token.from, token.to)),
      );
    } else if (token.problem === 'typographic') {
      this.report(
        'warning',
        'typographic-quote',
        token,
        `typographic quotes around ${shown}`,
        'They are read as straight quotes; use \' or ".',
      );
    } else if (token.problem === 'suffix') {
      this.report(
        'error',
        'bad-number',
        token,
        `\`${shown}\` is neither a number nor a name`,
        ...suffixAdvice(token.text),
      );
    } else if (token.problem === 'prefixed') {
      const instead = this.source.slice(token.from + 1, token.to);
      this.reportSpelling(token, instead);
    } else if (token.problem === 'backticks') {
      this.reportSpelling(token, quotedName(token.text));
    } else if (token.kind === 'error') this.#reportBad(token, shown);
  }

  #reportBad(token: Token, shown: string): void {
    const isComment = token.text.startsWith('/*');
    const isBlank = visible(token.text) !== token.text;
    const message = isComment
      ? '`/* … */` is not a comment in APL'
      : isBlank
        ? `unexpected invisible character ${shown}`
        : `unexpected \`${shown}\``;
    const instead = isBlank ? '' : isComment ? this.#asComment(token) : plainOf(token.text);
    const hint = isBlank
      ? 'Remove it.'
      : isComment
        ? 'Write `//` before each line of the comment.'
        : (characterHints[token.text] ?? (instead === undefined ? undefined : `Write \`${instead}\`.`));
    this.report('error', 'bad-character', token, message, hint, instead);
  }

  /** Returns a block comment as a line comment; undefined if code follows it or it has several lines. */
  #asComment({ to, text }: Token): string | undefined {
    const isLast = /^[ \t\r]*(?:\n|$)/.test(this.source.slice(to));
    const held = text.replace(/^\/\*|\*\/$/g, '').trim();
    return isLast && !held.includes('\n') ? `// ${held}` : undefined;
  }

  /** Reports the spelling of another language, with APL's. */
  reportSpelling(span: Span, instead: string): void {
    const written = this.source.slice(span.from, span.to);
    const message = `\`${written}\` is written \`${instead}\` in APL`;
    const space = /\w$/.test(instead) && /^\w/.test(this.source.slice(span.to)) ? ' ' : '';
    this.report('error', 'foreign-operator', span, message, undefined, `${instead}${space}`);
  }
}

/** Returns a string with a closing quote, before any pipe or brackets that follow; undefined if its own quote is unclear. */
function closed(written: string): string | undefined {
  const [, quote, text, rest] = /^(['"])([^'"\\|]*?)['"]?([\s)]*(?:\|.*)?)$/.exec(written) ?? [];
  return quote === undefined || text === '' ? undefined : `${quote}${text}${quote}${rest ?? ''}`;
}

/** Returns the advice for a number with trailing letters: a hint, and the replacement if it is clear. */
function suffixAdvice(text: string): readonly [hint: string, instead?: string] {
  const instead =
    parseTimespan(text) !== undefined
      ? `timespan(${text})`
      : /^\d+(?:_\d+)+$/.test(text)
        ? text.replaceAll('_', '')
        : sizeOf(text);
  if (instead !== undefined) return [`Write ${instead}.`, instead];
  if (/^[1-5]xx$/i.test(text))
    return [`Test a status class as a range, or by its first digit: startswith "${text.charAt(0)}".`];
  if (/^\d+(?:mon|mo|M|y|yr|years?)$/.test(text))
    return ['Months and years have no fixed length: use days, such as 30d.'];
  return ["Timespans end in d, h, m, s, ms, us or ns; quote a name that starts with a digit: ['name']."];
}

/** Returns `10MB` as a number of bytes. */
function sizeOf(text: string): string | undefined {
  const [, digits = '', prefix = '', binary] = /^(\d{1,6})([kmgt])(i?)b?$/i.exec(text) ?? [];
  const power = 'kmgt'.indexOf(prefix.toLowerCase()) + 1;
  if (power === 0 || (!/b$/i.test(text) && prefix !== 'k' && prefix !== 'K' && prefix !== 'G'))
    return undefined;
  return String(BigInt(digits) * BigInt(binary === '' ? 1000 : 1024) ** BigInt(power));
}

/** Returns the APL for a sign of another keyboard or language. */
function plainOf(character: string): string | undefined {
  const plain = plainSigns[character] ?? String.fromCharCode(character.charCodeAt(0) - 0xfee0);
  return /^(?:[!-/:-@[-`{-~]{1,2}|and)$/.test(plain) ? plain : undefined;
}

const characterHints: Readonly<Record<string, string>> = {
  '#': 'A comment starts with `//`.',
  '`': "Quote a name as ['name'].",
  '&': 'Join conditions with `and`.',
  '^': 'Write a power as pow(x, y).',
  '@': "The time field is `_time`, not `@timestamp`. Quote other names with a sign: ['@name'].",
};

/** ASCII equivalents of signs from documents and keyboards; full-width ones are computed. */
const plainSigns: Readonly<Record<string, string>> = {
  '#': '//',
  '&': 'and',
  '\u2010': '-',
  '\u2011': '-',
  '\u2012': '-',
  '\u2013': '-',
  '\u2014': '-',
  '\u2212': '-',
  '\u2260': '!=',
  '\u2264': '<=',
  '\u2265': '>=',
  '\u00d7': '*',
  '\u00f7': '/',
  '\u2026': '..',
  '\u00a6': '|',
  '\u2502': '|',
};

/** Returns the token for messages. */
function quote(token: Token, source: string): string {
  return `\`${oneLine(source.slice(token.from, token.to), 40)}\``;
}
