import { present } from '../../present.js';
import type { Diagnostic, Expr, ParameterDecl, Pipeline, Query, Span, Statement } from './ast.js';
import { limitFinding } from './diagnostics.js';
import { missing } from './nodes.js';
import { parseExpression, parseType } from './readers/read-expression.js';
import { parseOperators, parsePipeline } from './readers/read-pipeline.js';
import { isMaterialize, startsQualified, startsSource, takeTranslated } from './readers/read-source.js';
import { separatorAdvice } from './readers/separators.js';
import { takeStrayBracket } from './readers/typos.js';
import { limits } from './syntax-limits.js';
import type { Token } from './tokens/lexer.js';
import type { Offers } from './tokens/offers.js';
import { TokenStream } from './tokens/token-stream.js';

export interface Parsed {
  readonly query: Query;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Parses one query: `let`, `set` and `declare` statements and a pipeline, separated by `;`. Never throws. The language:
 * https://axiom.co/docs/apl/introduction
 */
export function parseQuery(text: string): Parsed {
  if (text.length > limits.text.most) return tooLong(text);
  const stream = new TokenStream(text);
  return { query: parseStatements(stream, text.length), diagnostics: stream.diagnostics };
}

/** A query's source with its tree, parsed once on first use. */
export class QueryText {
  readonly text: string;
  #parsed: Parsed | undefined;

  constructor(text: string, parsed?: Parsed) {
    this.text = text;
    this.#parsed = parsed;
  }

  get tree(): Query {
    return this.#read().query;
  }

  get diagnostics(): readonly Diagnostic[] {
    return this.#read().diagnostics;
  }

  /** Pipeline, without the statements before it; undefined if there are only statements. */
  get pipeline(): Pipeline | undefined {
    const statement = this.tree.statements.find(each => each.kind === 'query');
    return statement?.kind === 'query' ? statement.pipeline : undefined;
  }

  #read(): Parsed {
    this.#parsed ??= parseQuery(this.text);
    return this.#parsed;
  }
}

/** Returns an empty query for a source that is too long to parse. */
function tooLong({ length: to }: string): Parsed {
  const span = { from: limits.text.most, to };
  const pipeline: Pipeline = { source: { kind: 'missing', ...span }, operators: [], ...span };
  const query: Query = { statements: [{ kind: 'query', pipeline, ...span }], from: 0, to };
  return { query, diagnostics: [limitFinding(limits.text, span)] };
}

/**
 * Parses a query from existing tokens, without comments: those of `text` between `from` and `to`. Offsets are relative to the start of
 * `text`. `offers` collects completions at the end.
 */
export function parseTokens(
  text: string,
  tokens: readonly Token[],
  { from, to }: Span,
  offers?: Offers,
): Query {
  return { ...parseStatements(new TokenStream(text, tokens, to, offers), to), from };
}

function parseStatements(stream: TokenStream, to: number): Query {
  const statements: Statement[] = [];
  offerStatement(stream);
  while (!stream.done) {
    if (stream.takeSymbol(';') !== undefined) {
      offerStatement(stream);
      continue;
    }
    const mark = stream.mark;
    statements.push(parseStatement(stream));
    if (!stream.done && !stream.isSymbol(';')) {
      const isLet = statements.at(-1)?.kind === 'let';
      stream.expected('`;` or `|`', 'after the statement', separatorAdvice(stream, undefined, isLet));
      stream.skipTo(';');
    }
    if (stream.mark === mark) stream.next();
  }
  return { statements, from: 0, to };
}

function offerStatement(stream: TokenStream): void {
  stream.offer({ kind: 'source', statement: true });
}

function parseStatement(stream: TokenStream): Statement {
  const isLet = stream.isWord('let') || (stream.isKeyword('let') && stream.isSymbol('=', 2));
  if (isLet && !stream.isSymbol('|', 1)) return parseLet(stream);
  const isOpen = stream.offersAt(1);
  if (stream.isWord('set') && (stream.peek(1).kind === 'word' || isOpen)) return parseSet(stream);
  if (stream.isWord('declare') && (stream.isWord('query_parameters', 1) || isOpen))
    return parseParameters(stream);
  const foreign = takeTranslated(stream);
  const pipeline =
    foreign === undefined ? parseWhole(stream) : { ...foreign, source: foreign, operators: [] };
  return { kind: 'query', pipeline, from: pipeline.from, to: pipeline.to };
}

/** Parses a pipeline up to the end of the statement: a stray closing bracket does not end it. */
function parseWhole(stream: TokenStream): Pipeline {
  const { source, operators, from } = parsePipeline(stream);
  const all = [...operators];
  while (takeStrayBracket(stream) !== undefined) all.push(...parseOperators(stream));
  return { source, operators: all, from, to: stream.lastEnd };
}

function parseLet(stream: TokenStream): Statement {
  const { from } = stream.peek();
  stream.takeKeyword('let');
  const name = stream.expectName('a name', 'after `let`');
  stream.expectSymbol('=', 'after the name');
  stream.offerOperand({ tables: true });
  const value = parseLetValue(stream);
  return { kind: 'let', name, value, tabular: 'source' in value, from, to: stream.lastEnd };
}

/** Parses a table or a scalar, depending on what follows. */
function parseLetValue(stream: TokenStream): Expr | Pipeline {
  if (isLambda(stream)) return refuseLambda(stream);
  const next = stream.peek(1);
  const isOperator = next.kind === 'symbol' && next.text !== '(' && next.text !== '[';
  if ((startsSource(stream) && !isOperator) || isMaterialize(stream) || startsQualified(stream))
    return parsePipeline(stream);
  const mark = stream.mark;
  const found = stream.diagnostics.length;
  const value = parseExpression(stream, 'after `=`');
  if (!stream.isSymbol('|') && !(value.kind === 'paren' && stream.diagnostics.length > found)) return value;
  stream.rewind(mark);
  stream.diagnostics.length = found;
  return parsePipeline(stream);
}

/** True for `(x:long) { … }`, `() { … }` or `view () { … }`. */
function isLambda(stream: TokenStream): boolean {
  const at = stream.isWord('view') ? 1 : 0;
  if (!stream.isSymbol('(', at)) return false;
  return (
    stream.isSymbol(')', at + 1) || (stream.peek(at + 1).kind === 'word' && stream.isSymbol(':', at + 2))
  );
}

function refuseLambda(stream: TokenStream): Expr {
  const { from, to } = stream.peek();
  stream.report(
    'error',
    'no-functions',
    { from, to },
    'APL does not support user-defined functions',
    'Name a value or a query with `let`, and repeat the expression wherever you need it.',
  );
  stream.skipTo(';');
  return missing({ from, to });
}

function parseSet(stream: TokenStream): Statement {
  const { from } = stream.next();
  stream.offering?.addWords('stricttypes');
  const name = stream.expectName('an option', 'after `set`');
  const value = stream.takeSymbol('=') === undefined ? undefined : parseExpression(stream, 'after `=`');
  return { kind: 'set', name, ...present({ value }), from, to: stream.lastEnd };
}

function parseParameters(stream: TokenStream): Statement {
  const { from } = stream.next();
  stream.offering?.addWords('query_parameters');
  stream.next();
  const params: ParameterDecl[] = [];
  stream.expectSymbol('(', 'after `query_parameters`');
  while (!stream.done && !stream.isSymbol(')')) {
    const name = stream.expectName('a parameter name', 'in `query_parameters`');
    if (name.name === '') break;
    stream.expectSymbol(':', 'after the parameter name');
    const type = parseType(stream, 'after `:`');
    const fallback = stream.takeSymbol('=') === undefined ? undefined : parseExpression(stream, 'after `=`');
    params.push({
      name,
      type,
      ...present({ fallback }),
      from: name.from,
      to: stream.lastEnd,
    });
    if (stream.takeSymbol(',') === undefined) break;
  }
  if (stream.expectSymbol(')', 'to close `query_parameters`') === undefined) stream.skipTo(';');
  return { kind: 'parameters', params, from, to: stream.lastEnd };
}
