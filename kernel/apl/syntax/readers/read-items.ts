import { present } from '../../../present.js';
import type {
  Assignment,
  ColumnDecl,
  DefaultedAssignment,
  Expr,
  Identifier,
  OrderedPattern,
  ParsePiece,
  SortKey,
  TypedAssignment,
} from '../ast.js';
import { identifier } from '../nodes.js';
import type { TokenStream } from '../tokens/token-stream.js';
import { parseExpression, parseType } from './read-expression.js';
import { expectPattern, parsePattern } from './read-pattern.js';
import { takeAlias, takeDirection } from './typos.js';

/** Parses `a, b`, each by `parse`; a comma is allowed before the words of later clauses. */
export function parseList<T>(stream: TokenStream, parse: () => T, laterWords: readonly string[] = []): T[] {
  const items = [parse()];
  while (stream.takeSymbol(',') !== undefined) {
    if (atStageEnd(stream) && stream.offering === undefined) break;
    if (startsClause(stream, laterWords)) break;
    items.push(parse());
  }
  return items;
}

/** True if a word starts the next clause, and is not a name. */
function startsClause(stream: TokenStream, laterWords: readonly string[]): boolean {
  const isWord = laterWords.some(word => stream.isWord(word));
  return isWord && (stream.peek(1).kind === 'word' || stream.isQuotedName(1));
}

/** True if a stage can end here. */
export function atStageEnd(stream: TokenStream): boolean {
  const token = stream.peek();
  return stream.done || (token.kind === 'symbol' && stageEnds.has(token.text));
}

const stageEnds = new Set(['|', ';', ')', ']', '}']);

/** Parses `expr`, `name = expr` or `(a, b) = expr`. */
export function parseAssignment(stream: TokenStream, context: string): Assignment {
  const from = stream.peek().from;
  const names = takeTargets(stream);
  if (names.length === 0 && stream.clause?.offers === 'new names') stream.offering?.stop();
  const value = stream.withComparing(false, parseExpression, context);
  const alias = names.length === 0 ? takeAlias(stream, value) : undefined;
  if (alias !== undefined) names.push(alias);
  return { names, value, from, to: Math.max(value.to, stream.lastEnd) };
}

/** Parses `name = expr default=value`. */
export function parseDefaulted(stream: TokenStream, context: string): DefaultedAssignment {
  const assignment = parseAssignment(stream, context);
  stream.offering?.addWords('default=');
  if (!stream.isWord('default') || !stream.isSymbol('=', 1)) return assignment;
  const { from } = stream.peek();
  stream.skip(2);
  const fallback = parseExpression(stream, 'after `default=`');
  const to = stream.lastEnd;
  return { ...assignment, fallback, defaultSpan: { from, to }, to };
}

/** Parses `name = expr to typeof(type)`. */
export function parseTyped(stream: TokenStream, context: string): TypedAssignment {
  const assignment = parseAssignment(stream, context);
  stream.offering?.addWords('to typeof(');
  if (stream.takeKeyword('to') === undefined) return assignment;
  const type = parseExpression(stream, 'after `to`');
  const to = stream.lastEnd;
  if (type.kind === 'typeof') return { ...assignment, ...present({ type: type.type }), to };
  if (type.kind !== 'missing') {
    stream.report(
      'error',
      'expected',
      type,
      'expected `typeof(…)` after `to`',
      'For example: mv-expand x to typeof(long).',
    );
  }
  return { ...assignment, to };
}

/** Parses a value, its direction, and the position of its nulls. */
export function parseSortKey(stream: TokenStream, context: string): SortKey {
  const from = stream.peek().from;
  const value = parseExpression(stream, context);
  stream.offering?.addWords('asc', 'desc');
  const word = stream.takeWord('asc') ?? stream.takeWord('desc');
  const direction = word?.text ?? takeDirection(stream);
  const nulls = parseNulls(stream);
  return {
    value,
    ...present({ descending: direction === undefined ? undefined : direction === 'desc', nulls }),
    from,
    to: stream.lastEnd,
  };
}

function parseNulls(stream: TokenStream): 'first' | 'last' | undefined {
  stream.offering?.addWords('nulls first', 'nulls last');
  if (!stream.isKeyword('nulls')) return undefined;
  if (stream.offersAt(1)) {
    stream.next();
    stream.offering?.addWords('first', 'last');
    stream.offering?.stop();
  }
  const end = ends.find(each => stream.isKeyword(each, 1));
  if (end === undefined) return undefined;
  stream.takeKeyword('nulls');
  stream.takeKeyword(end);
  return end;
}

const ends = ['first', 'last'] as const;

const orders = ['asc', 'desc', 'granny-asc', 'granny-desc'] as const;

/** Parses a pattern, and the sort order of the fields it matches. */
export function parseOrdered(stream: TokenStream, context: string): OrderedPattern {
  const pattern = expectPattern(stream, context);
  stream.offering?.addWords(...orders);
  const word = stream.hyphenatedWord();
  const order = orders.find(each => each === word?.text);
  if (word === undefined || order === undefined) return { pattern, from: pattern.from, to: pattern.to };
  stream.skip(word.tokens);
  return { pattern, order, orderSpan: word.span, from: pattern.from, to: stream.lastEnd };
}

/** Parses `(a: string, b: long)`. */
export function parseColumns(stream: TokenStream, context: string): ColumnDecl[] {
  if (stream.expectSymbol('(', context) === undefined) return [];
  const columns: ColumnDecl[] = [];
  while (!stream.done && !stream.isSymbol(')')) {
    const name = stream.expectName('a column name', context);
    if (name.name === '') break;
    const type = stream.takeSymbol(':') === undefined ? 'string' : parseType(stream, 'after `:`');
    columns.push({ name, type, from: name.from, to: stream.lastEnd });
    if (stream.takeSymbol(',') === undefined) break;
  }
  closeList(stream, ')', 'to close the column list');
  return columns;
}

/** Parses `[expr, …]`. */
export function parseValues(stream: TokenStream): Expr[] {
  const values: Expr[] = [];
  if (stream.expectSymbol('[', 'before the values') === undefined) return values;
  while (stream.offering !== undefined || (!stream.done && !stream.isSymbol(']'))) {
    values.push(parseExpression(stream, 'in the table'));
    if (stream.takeSymbol(',') === undefined) break;
  }
  closeList(stream, ']', 'to close the table');
  return values;
}

/** Consumes the bracket that closes a list; if it is missing, skips to the next one. */
export function closeList(stream: TokenStream, close: string, context: string): void {
  if (stream.expectSymbol(close, context) !== undefined) return;
  stream.skipTo(close, '|', ';');
  stream.takeSymbol(close);
}

/** Parses the pattern of `parse`, up to the end of the stage; commas are allowed between its pieces. */
export function parsePieces(stream: TokenStream): ParsePiece[] {
  const pieces: ParsePiece[] = [];
  if (atStageEnd(stream)) stream.expected('a string, a field or `*`', 'in the pattern');
  while (!atStageEnd(stream)) {
    const piece = parsePiece(stream);
    if (piece === undefined) break;
    pieces.push(piece);
    stream.takeSymbol(',');
  }
  stream.offering?.stop();
  return pieces;
}

function parsePiece(stream: TokenStream): ParsePiece | undefined {
  const token = stream.peek();
  const { from, to } = token;
  if (stream.takeSymbol('*') !== undefined) return { kind: 'star', from, to };
  if (token.kind === 'string') return { kind: 'text', text: stream.next().text, from, to };
  const name = stream.takeName();
  if (name === undefined) {
    stream.expected('a string, a field or `*`', 'in the pattern');
    return undefined;
  }
  const type = stream.takeSymbol(':') === undefined ? 'string' : parseType(stream, 'after `:`');
  return { kind: 'field', name, type, from, to: stream.lastEnd };
}

/** Consumes `name =`, `"any name" =` or `(a, b) =`; returns no names if an expression starts here. */
function takeTargets(stream: TokenStream): Identifier[] {
  const token = stream.peek();
  if (token.kind === 'string' && stream.isSymbol('=', 1)) {
    stream.skip(2);
    return [identifier(token.text, true, token)];
  }
  const mark = stream.mark;
  const single = stream.takeName();
  if (single !== undefined && stream.takeSymbol('=') !== undefined) return [single];
  stream.rewind(mark);
  const dotted = takeDottedTarget(stream);
  if (dotted !== undefined) return [dotted];
  if (stream.takeSymbol('(') === undefined) return [];
  const names: Identifier[] = [];
  for (let name = stream.takeName(); name !== undefined; name = stream.takeName()) {
    names.push(name);
    if (stream.takeSymbol(',') === undefined) break;
  }
  if (names.length > 0 && stream.takeSymbol(')') !== undefined && stream.takeSymbol('=') !== undefined)
    return names;
  stream.rewind(mark);
  return [];
}

/** Consumes `a.b = …`, which names the flat field `a.b`. */
function takeDottedTarget(stream: TokenStream): Identifier | undefined {
  const mark = stream.mark;
  const pattern = parsePattern(stream);
  if (pattern?.exact === true && stream.takeSymbol('=') !== undefined) {
    return identifier(pattern.parts[0] ?? '', true, pattern);
  }
  stream.rewind(mark);
  return undefined;
}
