import { present } from '../../present.js';
import type { ChartOptions } from '../operators/drawing.js';
import { clauseWords } from '../operators/operator-rows.js';
import type { Diagnostic, Span } from './ast.js';
import { lateMagic } from './diagnostics.js';
import { parseQuery, QueryText } from './parse.js';
import { readDirectives } from './readers/charting.js';
import { type Token, tokenize } from './tokens/lexer.js';

/** A `%name args` or `%%name args` line. */
export interface MagicLine extends Span {
  readonly name: string;
  /** True for `%%name`, which applies only to this cell. */
  readonly cell: boolean;
  readonly args: string;
}

/** One query of a cell, as it will be sent. */
export interface CellQuery extends Span {
  /** From `name << query`. */
  readonly name?: string;
  /** Statements shared by the cell's queries (`let`, `set`, `declare`), then the query. */
  readonly text: string;
  /** The same source with its tree. */
  readonly parsed: QueryText;
  /** True if the cell ends in `;`, which hides its result. */
  readonly silent: boolean;
  /** Options from `// @viz` and similar lines above it. */
  readonly chart: ChartOptions;
  /** Spans of `text` copied from the cell: offset in `text`, offset in the cell, length. */
  readonly segments: readonly { readonly text: number; readonly cell: number; readonly length: number }[];
}

export interface Cell {
  readonly magics: readonly MagicLine[];
  readonly queries: readonly CellQuery[];
  /** Statements that apply to the queries below them: `let`, `set`, `declare query_parameters`. */
  readonly shared: readonly Span[];
  readonly diagnostics: readonly Diagnostic[];
  /** Options from `// @viz` and similar lines among its magic lines, for all of its queries. */
  readonly chart: ChartOptions;
}

/**
 * Splits a notebook cell: magic lines first, then queries. A blank line or `;` ends a query unless it clearly continues; `let`,
 * `set` and `declare` statements belong to every query below them. Never throws.
 */
export function parseCell(source: string): Cell {
  const { magics, end } = takeMagics(source);
  const { chart, diagnostics: found } = readDirectives(source.slice(0, end));
  const diagnostics = [...found];
  let inherited = chart;
  const statements = splitStatements(source, tokenize(source, end));
  const queries: CellQuery[] = [];
  const shared: Span[] = [];
  for (const [index, statement] of statements.entries()) {
    reportLateMagic(source, statement, diagnostics);
    const own = directivesOf(source, statement, diagnostics);
    if (isShared(statement)) {
      shared.push(statement.span);
      inherited = { ...inherited, ...own };
    } else {
      const silent = index === statements.length - 1 && statement.semicolon;
      queries.push(toQuery(source, statement, shared, silent, { ...inherited, ...own }));
    }
  }
  if (queries.length === 0) diagnostics.push(...definitionErrors(source, shared));
  return { magics, queries, shared, diagnostics, chart };
}

/** Returns the errors in the definitions of a cell without a query. */
function definitionErrors(source: string, shared: readonly Span[]): readonly Diagnostic[] {
  if (shared.length === 0) return [];
  // Statements keep their offsets; a span ends before its semicolon.
  const text = shared.reduce(
    (before, { from, to }) => (before && `${before};`).padEnd(from, '\n') + source.slice(from, to),
    '',
  );
  return parseQuery(`${text};\nprint 0`).diagnostics.filter(({ severity }) => severity === 'error');
}

/** A statement of a cell; `from` is after the `name <<` of a named result, and `result` is the span of that name. */
export interface CellStatement extends Span {
  readonly result?: Span;
  /** Tokens of the statement, without comments. */
  readonly tokens: readonly Token[];
}

/**
 * Splits like `parseCell`, but into spans, for an editor that colors and folds the text. The cell may be part of a longer text. Never
 * throws.
 */
export function splitCell(
  source: string,
  from = 0,
  to = source.length,
): {
  readonly magics: readonly MagicLine[];
  readonly statements: readonly CellStatement[];
  /** Tokens after the last magic line. */
  readonly tokens: readonly Token[];
} {
  const text = source.slice(0, to);
  const { magics, end } = takeMagics(text, from);
  const tokens = tokenize(text, end);
  return { magics, tokens, statements: splitStatements(text, tokens).map(toCellStatement) };
}

/** True for a statement that declares parameters, which apply to the whole notebook. */
export function declares({ tokens: [first] }: Pick<CellStatement, 'tokens'>): boolean {
  return first?.text === 'declare';
}

/** Returns a cell with `%apl` and `%%apl`, which have no effect, replaced by spaces to preserve offsets. */
export function withoutPrefix(source: string): string {
  const prefixes = takeMagics(source).magics.filter(magic => magic.name.toLowerCase() === 'apl');
  return prefixes.reduce((text, { from, cell }) => {
    const length = cell ? '%%apl'.length : '%apl'.length;
    return text.slice(0, from) + ' '.repeat(length) + text.slice(from + length);
  }, source);
}

/** Returns a query with a prelude, which is not part of the cell. */
export function preceded(query: CellQuery, prelude: string): CellQuery {
  const { name, silent, chart, from, to } = query;
  const segments = query.segments.map(each => ({ ...each, text: each.text + prelude.length }));
  const parsed = prelude === '' ? query.parsed : new QueryText(prelude + query.text);
  return { ...present({ name }), silent, chart, from, to, parsed, text: parsed.text, segments };
}

/** Maps an offset in a query's source to an offset in the cell. */
export function toCellOffset(query: CellQuery, offset: number): number {
  const segment = query.segments.findLast(candidate => candidate.text <= offset) ?? query.segments[0];
  return segment === undefined ? query.from : segment.cell + Math.min(offset - segment.text, segment.length);
}

/** Returns `incomplete` if the text ends inside a bracket or a fenced string, or after a pipe, a comma or an operator, else `complete`. */
export function completeness(source: string): 'complete' | 'incomplete' {
  const { end } = takeMagics(source);
  const tokens = tokenize(source.slice(end)).filter(token => token.kind !== 'comment');
  const last = tokens.at(-1);
  if (last === undefined) return 'complete';
  if (last.kind === 'string' && last.problem === 'unterminated') return 'incomplete';
  return bracketDepth(tokens) > 0 || continuesAfter(last) ? 'incomplete' : 'complete';
}

interface Statement {
  readonly span: Span;
  /** Without comments. */
  readonly tokens: readonly Token[];
  readonly semicolon: boolean;
}

/** Reads magic lines, blank lines and comments up to the first line of APL; `end` is the start of that line. */
function takeMagics(source: string, from = 0): { magics: MagicLine[]; end: number } {
  const magics: MagicLine[] = [];
  let at = from;
  let end = from;
  while (at < source.length) {
    const lineEnd = lineEndAt(source, at);
    const line = source.slice(at, lineEnd);
    const match = /^[ \t]*(%%?)([A-Za-z_][\w-]*)/.exec(line);
    if (match !== null) {
      const [start, percent, name = ''] = match;
      const args = line.slice(start.length).trim();
      magics.push({ name, cell: percent === '%%', args, from: at + line.indexOf('%'), to: lineEnd });
      end = Math.min(lineEnd + 1, source.length);
    } else if (line.trim() !== '' && !line.trimStart().startsWith('//')) break;
    at = lineEnd + 1;
  }
  return { magics, end };
}

function lineEndAt(source: string, at: number): number {
  const newline = source.indexOf('\n', at);
  return newline < 0 ? source.length : newline;
}

function splitStatements(source: string, all: readonly Token[]): Statement[] {
  const statements: Statement[] = [];
  let code: Token[] = [];
  let from: number | undefined;
  let depth = 0;
  let nextCode = 0;
  const flush = (to: number, semicolon: boolean): void => {
    depth = 0;
    if (code.length === 0) return;
    statements.push({ span: { from: from ?? to, to }, tokens: code, semicolon });
    code = [];
    from = undefined;
  };
  for (let index = 0; index < all.length; index += 1) {
    const token = all[index];
    if (token === undefined) break;
    const previous = all[index - 1];
    if (previous !== undefined && depth === 0 && isBlankBetween(source, previous, token)) {
      nextCode = codeFrom(all, Math.max(nextCode, index));
      if (isBoundary(code, all[nextCode])) flush(previous.to, false);
    }
    if (token.text === ';' && token.kind === 'symbol' && depth === 0 && nextText(all, index + 1) !== '|') {
      flush(previous?.to ?? token.from, true);
      continue;
    }
    depth = Math.max(0, depth + bracketChange(token));
    from ??= token.from;
    if (token.kind !== 'comment') code.push(token);
  }
  flush(all.at(-1)?.to ?? 0, false);
  return statements;
}

/** Returns the index of the first token at or after `at` that is not a comment. */
function codeFrom(tokens: readonly Token[], at: number): number {
  let index = at;
  while (tokens[index]?.kind === 'comment') index += 1;
  return index;
}

function nextText(tokens: readonly Token[], from: number): string | undefined {
  const token = tokens[codeFrom(tokens, from)];
  return token?.kind === 'symbol' ? token.text : undefined;
}

/** True if there is a blank line between two tokens: only white space separates them, so two line breaks are enough. */
function isBlankBetween(source: string, previous: Token, token: Token): boolean {
  let breaks = 0;
  for (let at = previous.to; at < token.from; at += 1) if (source.charCodeAt(at) === 10) breaks += 1;
  return breaks > 1;
}

/** Words that can only continue the preceding query. */
const continuations = new Set([...clauseWords, 'and', 'or', 'default']);

/** True if a blank line ends a query, as the code before and after it can stand alone. */
function isBoundary(before: readonly Token[], after: Token | undefined): boolean {
  const last = before.at(-1);
  if (last === undefined || after === undefined || continuesAfter(last)) return false;
  if (after.kind === 'symbol') return after.text === '(' || after.text === '[' || after.text === '%';
  return !(after.kind === 'word' && continuations.has(after.text));
}

const openEnds = new Set([
  '|',
  ',',
  '=',
  '==',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  '=~',
  '!~',
  '+',
  '-',
  '/',
  '%',
  '..',
  '<<',
  ':',
  '.',
]);
const openWords = new Set([
  'where',
  'extend',
  'project',
  'summarize',
  'by',
  'and',
  'or',
  'on',
  'in',
  'contains',
  'has',
  'startswith',
  'endswith',
  'regex',
]);

/** True after a token that cannot end a query. */
function continuesAfter(token: Token): boolean {
  if (token.kind === 'symbol') return openEnds.has(token.text);
  return token.kind === 'word' && openWords.has(token.text);
}

function bracketChange(token: Token): number {
  if (token.kind !== 'symbol') return 0;
  return bracketChanges[token.text] ?? 0;
}

const bracketChanges: Readonly<Record<string, number>> = {
  '(': 1,
  '[': 1,
  '{': 1,
  ')': -1,
  ']': -1,
  '}': -1,
};

function bracketDepth(tokens: readonly Token[]): number {
  return tokens.reduce((depth, token) => Math.max(0, depth + bracketChange(token)), 0);
}

function isShared(statement: Statement): boolean {
  const [first, second] = statement.tokens;
  if (first?.kind !== 'word') return false;
  if (first.text === 'declare') return second?.text === 'query_parameters';
  return (
    (first.text === 'let' || first.text === 'set') &&
    second !== undefined &&
    second.text !== '|' &&
    second.text !== '<<'
  );
}

function toCellStatement({ span, tokens }: Statement): CellStatement {
  const [first, arrow, next] = tokens;
  if (first?.kind !== 'word' || arrow?.text !== '<<') return { ...span, tokens };
  const result = { from: first.from, to: first.to };
  return { result, from: next?.from ?? span.to, to: span.to, tokens: tokens.slice(2) };
}

/** Returns a query whose source and segments are computed on demand: a long file repeats its `let` statements in every query. */
function toQuery(
  source: string,
  statement: Statement,
  shared: readonly Span[],
  silent: boolean,
  chart: ChartOptions,
): CellQuery {
  const [first, arrow] = statement.tokens;
  const named = first?.kind === 'word' && arrow?.text === '<<';
  const from = named ? (statement.tokens[2]?.from ?? statement.span.to) : statement.span.from;
  const to = statement.span.to;
  const sharedCount = shared.length;
  const spans = (): Span[] => [...shared.slice(0, sharedCount), { from, to }];
  let parsed: QueryText | undefined;
  const parse = () =>
    new QueryText(
      spans()
        .map(each => source.slice(each.from, each.to))
        .join(sharedEnd),
    );
  return {
    ...present({ name: named ? first.text : undefined }),
    get parsed() {
      parsed ??= parse();
      return parsed;
    },
    get text() {
      return this.parsed.text;
    },
    get segments() {
      return segmentsOf(spans());
    },
    silent,
    chart,
    from,
    to,
  };
}

/** Separator after a shared statement. */
const sharedEnd = ';\n';

function segmentsOf(spans: readonly Span[]): CellQuery['segments'] {
  let text = 0;
  return spans.map(({ from, to }) => {
    const segment = { text, cell: from, length: to - from };
    text += to - from + sharedEnd.length;
    return segment;
  });
}

/** Returns the options from the comments above a statement's code. */
function directivesOf(source: string, { span }: Statement, diagnostics: Diagnostic[]): ChartOptions {
  const { chart, diagnostics: found } = readDirectives(source.slice(span.from, span.to));
  for (const each of found)
    diagnostics.push({ ...each, from: each.from + span.from, to: each.to + span.from });
  return chart;
}

function reportLateMagic(source: string, statement: Statement, diagnostics: Diagnostic[]): void {
  const token = statement.tokens[0];
  if (token?.text !== '%' || !/^%%?[A-Za-z_]/.test(source.slice(token.from, token.from + 3))) return;
  diagnostics.push(lateMagic({ from: token.from, to: lineEndAt(source, token.from) }));
}
