import { lineWords } from '../../operators/operator-rows.js';
import type { Query } from '../../syntax/ast.js';
import { splitCell } from '../../syntax/cell.js';
import { type Parsed, parseQuery } from '../../syntax/parse.js';
import { visitQuery } from '../../syntax/syntax-walk.js';
import { type Token, tokenize } from '../../syntax/tokens/lexer.js';
import { spacingOf } from './spacing.js';

/**
 * Formats a query or a cell: one operator per line, long lists broken, comments and magic lines unchanged. An operator that does not parse
 * is left as is, and so is a whole statement if formatting would change its meaning.
 */
export function format(text: string): string {
  const { statements } = splitCell(text);
  let output = '';
  let at = 0;
  for (const { from, to } of statements) {
    output += tidyGap(text.slice(at, from), at === 0) + formatStatement(text.slice(from, to));
    at = to;
  }
  return statements.length === 0
    ? text
    : output + tidyGap(text.slice(at), false).trimEnd() + finalBreak(text);
}

/** Maximum length of an unbroken line, in characters. */
const width = 100;
const indentStep = 4;

function finalBreak(text: string): string {
  return text.endsWith('\n') ? '\n' : '';
}

/** Tidies the text between statements: `;`, magic lines, `name <<`, and at most one blank line. */
function tidyGap(gap: string, first: boolean): string {
  const lines = gap
    .replaceAll('\r', '')
    .split('\n')
    .map(line => line.trim());
  const text = lines.join('\n').replace(/\n{3,}/g, '\n\n');
  if (first) return withArrow(text.trimStart());
  const semicolons = /^[\s;]*;/.exec(text)?.[0];
  if (semicolons === undefined) return withArrow(text);
  const rest = text.slice(semicolons.length);
  return `;${withArrow(rest.startsWith('\n') ? rest : `\n${rest.trimStart()}`)}`;
}

function withArrow(gap: string): string {
  return gap.replace(/\s*<<\s*$/, ' << ');
}

function formatStatement(text: string): string {
  const parsed = parseQuery(text);
  const unread = unreadPlaces(parsed);
  const formatted = new Layout(text, tokenize(text), parsed.query, unread).toString();
  const again = parseQuery(formatted);
  const sound = unreadPlaces(again).length === unread.length && sameTree(parsed.query, again.query);
  return sound ? formatted : text;
}

/** Returns the positions of errors and of unknown operators: what follows them cannot be laid out. */
function unreadPlaces({ query, diagnostics }: Parsed): readonly number[] {
  const places = diagnostics.filter(({ severity }) => severity === 'error').map(({ from }) => from);
  visitQuery(query, {
    operator: operator => {
      if (operator.kind === 'unknown') places.push(operator.word.from);
    },
  });
  return places;
}

/** True if two queries differ only in positions. */
export function sameTree(a: Query, b: Query): boolean {
  // An explicit stack instead of recursion: a chain of ten thousand `or` is one deep tree.
  const pending: [unknown, unknown][] = [[a, b]];
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [left, right] = pair;
    if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) {
      if (!Object.is(left, right)) return false;
      continue;
    }
    const [ours, theirs] = [left, right].map(node => new Map(Object.entries(node)));
    for (const key of new Set([...(ours?.keys() ?? []), ...(theirs?.keys() ?? [])]))
      if (!placeKeys.has(key)) pending.push([ours?.get(key), theirs?.get(key)]);
  }
  return true;
}

const placeKeys = new Set(['from', 'to', 'operatorSpan', 'word', 'orderSpan', 'defaultSpan']);

/** The lines of one statement: their breaks and indentation. */
class Layout {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  readonly #spaced: (index: number) => boolean;
  /** First token that is not a comment. */
  readonly #first: number;
  /** Indentation of the tokens that start a line. */
  readonly #breaks = new Map<number, number>();
  /** End of each token if all were on one line. */
  readonly #ends: number[] = [];
  /** Tokens of operators that could not be parsed. */
  readonly #kept = new Set<number>();
  /** Closing bracket for the one at this index. */
  readonly #closers = new Map<number, number>();

  /** `unread` are the positions of operators to leave unformatted. */
  constructor(text: string, tokens: readonly Token[], query: Query, unread: readonly number[]) {
    this.#text = text;
    this.#tokens = tokens;
    this.#spaced = spacingOf(tokens, query);
    this.#measure();
    this.#first = tokens.findIndex(token => token.kind !== 'comment');
    if (unread.length > 0) this.#keep(unread);
    this.#breakPipes(0, tokens.length, tokens[this.#first]?.text === 'let' ? indentStep : 0);
  }

  toString(): string {
    let output = '';
    let indent = 0;
    for (const [index, token] of this.#tokens.entries()) {
      const previous = this.#tokens[index - 1];
      indent = this.#breaks.get(index) ?? indent;
      const breaks = this.#breaks.has(index) || this.#startsLine(index);
      if (previous !== undefined && this.#kept.has(index))
        output += this.#text.slice(previous.to, token.from);
      else if (index > 0) {
        if (breaks) output += `\n${' '.repeat(this.#indentOf(index, indent))}`;
        else if (this.#spaced(index) || previous === undefined) output += ' ';
      }
      output += this.#text.slice(token.from, token.to).trimEnd();
    }
    return output;
  }

  /** Leaves the operators at these positions unformatted, after their pipes; a pipe in brackets belongs to what is around it. */
  #keep(unread: readonly number[]): void {
    const pipes = this.#find(0, this.#tokens.length, isPipe);
    const starts = [-1, ...pipes, this.#tokens.length];
    for (const place of unread) {
      const next = starts.findIndex(
        start => (this.#tokens[start]?.from ?? this.#text.length + 1) > place && start >= 0,
      );
      for (let at = (starts[next - 1] ?? -1) + 2; at < (starts[next] ?? 0); at += 1) this.#kept.add(at);
    }
  }

  /** True if a token starts a line: a comment on its own line stays there, and whatever follows a comment starts a new one. */
  #startsLine(index: number): boolean {
    const [previous, token] = [this.#tokens[index - 1], this.#tokens[index]];
    if (previous === undefined || token === undefined) return false;
    if (previous.kind === 'comment') return true;
    return token.kind === 'comment' && this.#text.slice(previous.to, token.from).includes('\n');
  }

  /** Returns the indentation of a token; a comment is indented like the line below it. */
  #indentOf(index: number, indent: number): number {
    let next = index;
    while (this.#tokens[next]?.kind === 'comment') next += 1;
    if (next <= this.#first) return 0;
    const known = this.#breaks.get(next);
    return known ?? (this.#breaks.has(index) ? indent : indent + indentStep);
  }

  #measure(): void {
    const open: number[] = [];
    let end = 0;
    for (const [index, token] of this.#tokens.entries()) {
      end += token.to - token.from + (this.#spaced(index) ? 1 : 0);
      this.#ends.push(end);
      if (token.kind !== 'symbol') continue;
      if ('([{'.includes(token.text)) open.push(index);
      else if (')]}'.includes(token.text)) this.#closers.set(open.pop() ?? index, index);
    }
  }

  /** Starts a line at every operator between the tokens. */
  #breakPipes(from: number, to: number, indent: number): void {
    const pipes = this.#find(from, to, isPipe);
    for (const pipe of pipes) this.#breaks.set(pipe, indent);
    const starts = [from, ...pipes];
    for (const [order, start] of starts.entries())
      this.#breakStage(start, starts[order + 1] ?? to, indent, indent);
  }

  /** Breaks a stage that does not fit: before its clauses, then after its commas or before its `and` and `or`. */
  #breakStage(from: number, to: number, indent: number, column: number): void {
    if (this.#fits(from, to, column)) return;
    const clauses = this.#find(from + 2, to, token => token.kind === 'word' && lineWords.has(token.text));
    for (const clause of clauses) this.#breaks.set(clause, indent + 2);
    const starts = [from, ...clauses];
    for (const [order, start] of starts.entries())
      this.#breakList(start, starts[order + 1] ?? to, indent + indentStep, order === 0 ? column : indent + 2);
  }

  #breakList(from: number, to: number, indent: number, column: number): void {
    if (this.#fits(from, to, column)) return;
    const commas = this.#find(from, to, token => token.kind === 'symbol' && token.text === ',');
    const logic = this.#find(from + 1, to, token => token.kind === 'word' && logicWords.has(token.text));
    const starts = commas.length > 0 ? commas.map(comma => this.#afterComma(comma)) : logic;
    for (const start of starts) if (start < to) this.#breaks.set(start, indent);
    const parts = [from, ...starts.filter(start => start < to)];
    if (parts.length === 1) this.#breakBrackets(from, to, indent - indentStep, column);
    else
      for (const [order, start] of parts.entries())
        this.#breakList(start, parts[order + 1] ?? to, indent + indentStep, order === 0 ? column : indent);
  }

  /** Returns the index after a comma and the comment on its line. */
  #afterComma(comma: number): number {
    let at = comma + 1;
    while (this.#tokens[at]?.kind === 'comment' && !this.#startsLine(at)) at += 1;
    return at;
  }

  /** Breaks the widest pair of brackets: its contents go on lines of their own. */
  #breakBrackets(from: number, to: number, indent: number, column: number): void {
    const opens = this.#find(from, to, token => token.kind === 'symbol' && '([{'.includes(token.text));
    const widths = opens.map(open => this.#width(open, (this.#closers.get(open) ?? open) + 1));
    const open = opens[widths.indexOf(Math.max(...widths))];
    const close = open === undefined ? undefined : this.#closers.get(open);
    if (open === undefined || close === undefined || close <= open + 2) return;
    const inner = indent + indentStep;
    this.#breaks.set(open + 1, inner);
    this.#breaks.set(close, indent + indentStep / 2);
    const piped = this.#find(open + 1, close, isPipe);
    if (piped.length > 0) this.#breakPipes(open + 1, close, inner);
    else this.#breakItems(open + 1, close, inner);
    this.#breakList(from, open, indent + indentStep, column);
  }

  /** Lays out the items in broken brackets, each on its own line if they do not fit on one. */
  #breakItems(from: number, to: number, indent: number): void {
    if (this.#fits(from, to, indent)) return;
    const commas = this.#find(from, to, token => token.kind === 'symbol' && token.text === ',');
    const starts = commas.map(comma => this.#afterComma(comma)).filter(start => start < to);
    for (const start of starts) this.#breaks.set(start, indent);
    const parts = [from, ...starts];
    for (const [order, start] of parts.entries())
      this.#breakList(start, parts[order + 1] ?? to, indent + indentStep, indent);
  }

  /** True if the tokens fit on a line starting at `column`, and no comment breaks it before its end. */
  #fits(from: number, to: number, column: number): boolean {
    let end = to;
    while (end > from && this.#tokens[end - 1]?.kind === 'comment') end -= 1;
    for (let at = from; at < end; at += 1) if (this.#tokens[at]?.kind === 'comment') return false;
    return column + this.#width(from, end) <= width;
  }

  #width(from: number, to: number): number {
    if (to <= from) return 0;
    const first = this.#tokens[from];
    const start = (this.#ends[from] ?? 0) - (first === undefined ? 0 : first.to - first.from);
    return (this.#ends[to - 1] ?? 0) - start;
  }

  /** Returns the tokens outside brackets, between `from` and `to`, that pass the test. */
  #find(from: number, to: number, test: (token: Token) => boolean): number[] {
    const found: number[] = [];
    for (let at = from; at < to; at += 1) {
      const token = this.#tokens[at];
      if (token !== undefined && test(token)) found.push(at);
      at = Math.max(at, this.#closers.get(at) ?? at);
    }
    return found;
  }
}

function isPipe(token: Token): boolean {
  return token.kind === 'symbol' && token.text === '|';
}

const logicWords = new Set(['and', 'or']);
