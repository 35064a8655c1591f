import { type Habit, habitOf } from '../../hints/habits.js';
import { translatedQuery } from '../../hints/languages/recognize.js';
import type { SourceRow } from '../../operators/grammar.js';
import { sourceNamed } from '../../operators/operator-rows.js';
import type { Source } from '../ast.js';
import { dataset, identifier, missing } from '../nodes.js';
import { limits } from '../syntax-limits.js';
import { quotedName } from '../tokens/quote.js';
import type { TokenStream } from '../tokens/token-stream.js';
import { type OpenNode, parseClauses } from './clauses.js';
import { parseExpression } from './read-expression.js';
import { closeList } from './read-items.js';
import { parsePattern } from './read-pattern.js';
import { parsePipeline } from './read-pipeline.js';
import { takeSqlComment, takeUnquotedName } from './typos.js';

/** Parses a dataset, a `let` name, an inline table, or a query in parentheses. */
export function parseSource(stream: TokenStream): Source {
  const token = stream.peek();
  const { from } = token;
  if (isMaterialize(stream)) stream.next();
  if (stream.isSymbol('(')) return parseParenthesised(stream);
  if (startsSource(stream)) return stream.nested(parseWordSource, tooDeep);
  if (token.kind === 'string') return stringSource(stream);
  const other = takeTableCall(stream) ?? takeQualified(stream) ?? takeOtherLanguage(stream);
  if (other !== undefined) return other;
  const unquoted = takeUnquoted(stream);
  if (unquoted !== undefined) return unquoted;
  const name = takeUnquotedName(stream);
  if (name !== undefined) return dataset(name, name);
  const mark = stream.mark;
  const pattern = parsePattern(stream);
  if (pattern === undefined) return missingSource(stream);
  if (pattern.exact && stream.isSymbol('(')) return parseImplicitPrint(stream, mark);
  const span = { from, to: stream.lastEnd };
  if (!pattern.exact) return { kind: 'pattern', pattern, ...span };
  const quoted = token.kind === 'symbol';
  return dataset(identifier(pattern.parts[0] ?? '', quoted, span), span);
}

/** True for `materialize(T | …)` as in Kusto: it is read as the query itself, as every use reads the same data. */
export function isMaterialize(stream: TokenStream): boolean {
  return stream.isWord('materialize') && stream.isSymbol('(', 1);
}

/** True if a word introduces a source and is not the name of a dataset. */
export function startsSource(stream: TokenStream): boolean {
  const { kind, text } = stream.peek();
  const row = kind === 'word' ? sourceNamed(text.toLowerCase())?.row : undefined;
  if (row === undefined) return false;
  // A dataset may be called `Search`, but only an operator can follow it.
  const isOther =
    sourceNamed(text) === undefined && stream.peek(1).kind === 'symbol' && !stream.isSymbol('(', 1);
  return !isOther && introduces(stream, row);
}

function introduces(stream: TokenStream, { clauses }: SourceRow): boolean {
  const [first, second] = clauses;
  if (first?.takes === 'columns') return stream.isSymbol('(', 1);
  if (first?.takes === 'name')
    return stream.peek(1).kind === 'word' && (stream.isKeyword(second?.word ?? '', 2) || stream.offersAt(2));
  return !stream.isSymbol('|', 1) && !stream.isSymbol(';', 1);
}

/** Reports nesting that would overflow the stack, and skips it. */
export function tooDeep(stream: TokenStream): Source {
  const token = stream.peek();
  stream.reportLimit(token, limits.queryNesting);
  stream.skipTo(';');
  return missing(token);
}

function parseWordSource(stream: TokenStream): Source {
  const { from } = stream.peek();
  const text = stream.peek().text.toLowerCase();
  const named = sourceNamed(text);
  if (named === undefined) return missingSource(stream);
  stream.takeKeyword(text);
  const { kind, row } = named;
  const node: OpenNode = { kind, from, to: from };
  parseClauses(stream, row.clauses, text, node);
  node.to = stream.lastEnd;
  return node as unknown as Source;
}

function missingSource(stream: TokenStream): Source {
  const { from } = stream.peek();
  stream.offer({ kind: 'source', statement: false });
  stream.expected(
    'a dataset',
    'here',
    "A query starts with a dataset, such as ['sample-http-logs'], or with print, datatable, union or search.",
  );
  stream.skipTo('|', ';');
  return missing({ from, to: from });
}

/** Parses `table('name')`, the dataset with that name, or `table(name)`, the dataset named by a `let` string or a parameter. */
function takeTableCall(stream: TokenStream): Source | undefined {
  if (!stream.isWord('table') || !stream.isSymbol('(', 1)) return undefined;
  const text = stream.peek(2);
  const isQuoted = stream.isQuotedName(2);
  if (!isQuoted && text.kind !== 'string' && text.kind !== 'word') return undefined;
  if (!stream.isSymbol(')', isQuoted ? 5 : 3)) return undefined;
  const { from } = stream.next();
  stream.next();
  const held = text.kind === 'string' ? undefined : stream.takeName();
  stream.skip(held === undefined ? 2 : 1);
  const span = { from, to: stream.lastEnd };
  if (held === undefined) return dataset(identifier(text.text, true, text), span);
  return { ...dataset(identifier(held.name, false, held), span), held: true };
}

const qualified =
  /(?:(?:cluster|database|workspace|app|resource|adx|arg)\((?:"[^"\n]*"|'[^'\n]*')?\)\.)+(?:\[["']([^"'\]\n]+)["']\]|([A-Za-z_]\w*)(?![\w(]))|(?:external_table|materialized_view|stored_query_result|_GetWatchlist)\(["']([^"'\n]+)["']\)/y;

/** Returns the dataset that a source of Kusto names, such as `cluster('a').database('b').T`, and where its text ends. */
function qualifiedName(stream: TokenStream): { readonly name: string; readonly to: number } | undefined {
  if (stream.peek().kind !== 'word' || !stream.isSymbol('(', 1)) return undefined;
  qualified.lastIndex = stream.peek().from;
  const [, quoted, bare, called] = qualified.exec(stream.source) ?? [];
  const name = quoted ?? bare ?? called;
  return name === undefined ? undefined : { name, to: qualified.lastIndex };
}

/** True if a source of Kusto stands here. */
export function startsQualified(stream: TokenStream): boolean {
  return qualifiedName(stream) !== undefined;
}

/** Reports a source of Kusto and reads the dataset that it names. */
function takeQualified(stream: TokenStream): Source | undefined {
  const found = qualifiedName(stream);
  if (found === undefined) return undefined;
  const span = { from: stream.peek().from, to: found.to };
  while (!stream.done && stream.peek().from < span.to) stream.next();
  const written = stream.source.slice(span.from, span.to);
  const instead = quotedName(found.name);
  const message = `\`${written}\` is written \`${instead}\` in APL`;
  stream.report('error', 'other-language', span, message, 'Datasets are named alone.', instead);
  return dataset(identifier(found.name, true, span), span);
}

/** Reports a statement that is clearly not APL, with its translation if there is one, and skips it. */
export function takeTranslated(stream: TokenStream): Source | undefined {
  const { mark } = stream;
  const { from } = stream.peek();
  stream.skipTo(';');
  const span = { from, to: stream.lastEnd };
  const text = stream.source.slice(from, span.to);
  const habit = habitOf(text) ?? translated(text);
  if (stream.mark === mark || habit === undefined) {
    stream.rewind(mark);
    return undefined;
  }
  stream.forget(span);
  stream.report('error', 'other-language', span, habit.message, habit.hint, habit.instead);
  return missing(span);
}

function translated(text: string): Habit | undefined {
  const query = translatedQuery(text);
  if (query === undefined) return undefined;
  const { language, apl, given, reason } = query;
  const message = `this is ${language}, not APL`;
  if (apl === undefined) return { message, hint: reason ?? beginning };
  return {
    message,
    hint: `In APL${given === undefined ? '' : `, ${given}`}: ${apl.replace(/\n\s*/g, ' ')}`,
    instead: apl,
  };
}

const beginning = "Start with the dataset: ['logs'] | where … | project ….";

/** Reports a query in another language and skips it; a SQL-style comment is skipped only to the end of its line. */
function takeOtherLanguage(stream: TokenStream): Source | undefined {
  const token = stream.peek();
  if (takeSqlComments(stream)) return parseSource(stream);
  if (stream.isSymbol('.') && stream.peek(1).kind === 'word') return refuseCommand(stream);
  const language = otherLanguage(stream);
  if (language === undefined) return undefined;
  stream.report('error', 'other-language', token, `this is ${language}, not APL`, beginning);
  stream.skipTo(';');
  return missing(token);
}

/** Reports `.show tables` and the like. */
function refuseCommand(stream: TokenStream): Source {
  const token = stream.peek();
  const span = { from: token.from, to: stream.peek(1).to };
  const written = stream.source.slice(span.from, span.to);
  const message = `\`${written}\` is a Kusto command, not a query`;
  const hint = 'List datasets with `%datasets` and fields with `%schema`.';
  stream.report('error', 'other-language', span, message, hint);
  stream.skipTo(';');
  return missing(token);
}

function otherLanguage(stream: TokenStream): string | undefined {
  const { kind, text } = stream.peek();
  if (stream.isSymbol('{')) return 'LogQL';
  if (kind !== 'word') return undefined;
  if (stream.isSymbol(':', 1) && stream.peek(2).kind === 'word') return 'MPL, the metrics language';
  if (stream.isSymbol('=', 1) && /^(?:index|source|sourcetype|host)$/i.test(text)) return 'SPL';
  const goesOn = !stream.isSymbol('|', 1) && !stream.isSymbol(';', 1) && stream.peek(1).text !== '';
  if (goesOn && /^select$/i.test(text)) return 'SQL';
  const isStart = /^(?:from|with)$/i.test(text) && stream.peek(1).kind === 'word';
  return isStart ? 'SQL' : undefined;
}

function takeSqlComments(stream: TokenStream): boolean {
  const { mark } = stream;
  while (takeSqlComment(stream));
  return stream.mark !== mark;
}

/** Parses and reports an unquoted `http-logs`. */
function takeUnquoted(stream: TokenStream): Source | undefined {
  const word = stream.hyphenatedWord();
  if (word === undefined) return undefined;
  const { text, span } = word;
  if (word.tokens === 1) return undefined;
  stream.skip(word.tokens);
  stream.report(
    'error',
    'unquoted-name',
    span,
    `\`${text}\` needs quotes because it contains \`-\``,
    `Write ['${text}'].`,
    `['${text}']`,
  );
  return dataset(identifier(text, true, span), span);
}

/** Parses a call in place of a dataset as `print` of the call. */
function parseImplicitPrint(stream: TokenStream, mark: number): Source {
  stream.rewind(mark);
  const value = parseExpression(stream, 'here');
  const span = { from: value.from, to: value.to };
  stream.report(
    'hint',
    'implicit-print',
    span,
    'expected a dataset, found an expression',
    'It is read as `print …`.',
  );
  return { kind: 'print', items: [{ names: [], value, ...span }], ...span };
}

function parseParenthesised(stream: TokenStream): Source {
  const from = stream.next().from;
  const pipeline = parsePipeline(stream);
  closeList(stream, ')', 'to close the query in parentheses');
  return { kind: 'paren', pipeline, from, to: stream.lastEnd };
}

/** Reports `"dataset"` without brackets, a habit from SQL. */
function stringSource(stream: TokenStream): Source {
  const token = stream.next();
  stream.report(
    'error',
    'dataset-in-quotes',
    token,
    'a dataset name in quotes needs brackets',
    `Write ${quotedName(token.text)}.`,
    quotedName(token.text),
  );
  return dataset(identifier(token.text, true, token), token);
}
