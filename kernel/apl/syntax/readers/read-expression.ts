import { present } from '../../../present.js';
import type { TypeName } from '../../catalog/entry.js';
import type { Argument, BinaryOperator, Expr, Identifier, ListOperator, Span, Subquery } from '../ast.js';
import {
  binary,
  call,
  identifier,
  index,
  list,
  literal,
  member,
  missing,
  nameExpr,
  paren,
  subquery,
  unary,
} from '../nodes.js';
import { limits } from '../syntax-limits.js';
import { typeNamed } from '../syntax-types.js';
import type { Token } from '../tokens/lexer.js';
import type { Advice, TokenStream } from '../tokens/token-stream.js';
import { parseDynamic } from './dynamic.js';
import { numberLiteral, rawLiteral, timespanLiteral } from './literals.js';
import { parsePipeline } from './read-pipeline.js';
import { startsSource } from './read-source.js';
import {
  argumentAdvice,
  listAdvice,
  literalAdvice,
  rangeAdvice,
  reportCase,
  takeDoubledQuote,
  takeExclamation,
  takeInterval,
  takeIsNull,
  takeLike,
  takeLogic,
  takeNegation,
  takeOddComparison,
  takePhrase,
  takePower,
  takeRangeSign,
  takeSqlComment,
  takeUnit,
  takeUnquotedName,
} from './typos.js';

/**
 * Parses one expression; if there is none, reports that and returns `missing`. `context` completes "expected an expression …". With level
 * `comparison`, `and` and `or` are left to the caller; with `sum`, so are comparisons.
 */
export function parseExpression(
  stream: TokenStream,
  context: string,
  level: 'or' | 'comparison' | 'sum' = 'or',
): Expr {
  if (level === 'sum') return parseAdditive(stream, context);
  return level === 'or' ? parseOr(stream, context) : parseComparison(stream, context);
}

/** Parses comma-separated `[name =] expr` items through `)`. */
export function parseArguments(stream: TokenStream, callee: string): Argument[] {
  const args: Argument[] = [];
  const start = stream.peek(-2);
  const call = { callee, argument: 0, outer: stream.call };
  stream.call = call;
  while (stream.offering !== undefined || (!stream.done && !stream.isSymbol(')'))) {
    const from = stream.peek().from;
    const named = stream.peek().kind === 'word' && stream.isSymbol('=', 1) ? stream.takeName() : undefined;
    if (named !== undefined) stream.next();
    const value = parseArgument(stream, callee);
    args.push({ from, to: value.to, ...present({ name: named }), value });
    if (stream.takeSymbol(',') === undefined) break;
    call.argument += 1;
  }
  stream.call = call.outer;
  if (stream.takeSymbol(')') !== undefined) return args;
  const last = args.at(-1)?.value;
  const first = args.length > 1 || last === undefined ? '' : stream.source.slice(last.from, last.to);
  const advice = closeAdvice(stream) ?? argumentAdvice(stream, { name: callee, ...start }, first);
  stream.expected('`,` or `)`', `in the arguments of \`${callee}\``, advice);
  stream.skipTo(')', '|', ';');
  stream.takeSymbol(')');
  return args;
}

/** Returns advice for a bracket left open at the end of the query or its operator. */
function closeAdvice(stream: TokenStream): Advice | undefined {
  const hint = 'Close it: write `)`.';
  const at = stream.lastEnd;
  return stream.done || stream.isSymbol('|') ? { hint, instead: ')', from: at, to: at } : undefined;
}

/** Parses a value, or the query of `toscalar(T | count)`. */
function parseArgument(stream: TokenStream, callee: string): Expr {
  const isSource = callee === 'toscalar' && startsSource(stream);
  const isQuery = isSource || (!stream.done && stream.reaches('|', ',', ';') && stream.closes);
  if (isQuery) return subquery(parsePipeline(stream));
  return parseOr(stream, `as an argument of \`${callee}\``);
}

function parseOr(stream: TokenStream, context: string): Expr {
  return stream.nested(parseDisjunction, tooDeep, context);
}

function parseDisjunction(stream: TokenStream, context: string): Expr {
  let left = parseAnd(stream, context);
  for (let or = takeLogic(stream, 'or'); or !== undefined; or = takeLogic(stream, 'or'))
    left = binary('or', or, left, parseAnd(stream, 'after `or`'));
  return left;
}

/** Reports nesting that would overflow the stack, and skips it. */
export function tooDeep(stream: TokenStream): Expr {
  const { from, to } = stream.peek();
  stream.reportLimit({ from, to }, limits.nesting);
  stream.skipTo('|', ';');
  return missing({ from, to });
}

function parseAnd(stream: TokenStream, context: string): Expr {
  let left = parseComparison(stream, context);
  for (let and = takeLogic(stream, 'and'); and !== undefined; and = takeLogic(stream, 'and'))
    left = binary('and', and, left, parseComparison(stream, 'after `and`'));
  return left;
}

const symbolComparisons: Readonly<Record<string, BinaryOperator>> = {
  '==': '==',
  '!=': '!=',
  '<>': '!=',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
  '=~': '=~',
  '!~': '!~',
};
const wordComparisons = [
  'contains',
  '!contains',
  'contains_cs',
  '!contains_cs',
  'startswith',
  '!startswith',
  'startswith_cs',
  '!startswith_cs',
  'endswith',
  '!endswith',
  'endswith_cs',
  '!endswith_cs',
  'has',
  '!has',
  'has_cs',
  '!has_cs',
  'hasprefix',
  '!hasprefix',
  'hasprefix_cs',
  '!hasprefix_cs',
  'hassuffix',
  '!hassuffix',
  'hassuffix_cs',
  '!hassuffix_cs',
] as const;
const listOperators = ['in', '!in', 'in~', '!in~', 'has_any', 'has_any_cs', 'has_all', 'has_all_cs'] as const;

const isWordComparison = membership(wordComparisons);
const isListOperator = membership(listOperators);

function parseComparison(stream: TokenStream, context: string): Expr {
  const { from } = stream.peek();
  const isNegated = stream.isWord('not') && !stream.isSymbol('(', 1);
  if (isNegated) {
    stream.next();
    return unary('not', stream.nested(parseComparison, tooDeep, context), from);
  }
  let left = parseAdditive(stream, context);
  for (;;) {
    stream.offering?.addScalar();
    const compared =
      stream.peek().kind === 'symbol' ? compareBySymbol(stream, left) : compareByWord(stream, left);
    if (compared === undefined) return left;
    left = compared;
  }
}

function compareBySymbol(stream: TokenStream, left: Expr): Expr | undefined {
  const odd = stream.comparing || stream.isSymbol('==') ? takeOddComparison(stream) : undefined;
  const token = odd?.token ?? stream.peek();
  const operator = odd?.operator ?? symbolComparisons[token.text];
  if (operator === undefined) return singleEquals(stream, left);
  if (odd === undefined) stream.next();
  offerCompared(stream, left);
  return binary(operator, token, left, parseAdditive(stream, `after \`${token.text}\``));
}

/** Offers the values of the field on the left. */
function offerCompared(stream: TokenStream, left: Expr, tables = false): void {
  if (stream.offering === undefined) return;
  const compared = pathOf(left);
  stream.offerOperand(present({ compared, tables: tables || undefined }));
}

/** Returns the keys of `a.b['c']`. */
function pathOf(expr: Expr): readonly string[] | undefined {
  if (expr.kind === 'name') return [expr.name];
  const path = expr.kind === 'member' || expr.kind === 'index' ? pathOf(expr.object) : undefined;
  if (path === undefined) return undefined;
  if (expr.kind === 'member') return [...path, expr.member.name];
  const key = expr.kind === 'index' && expr.index.kind === 'literal' ? expr.index.value : undefined;
  return typeof key === 'string' ? [...path, key] : undefined;
}

function compareByWord(stream: TokenStream, left: Expr): Expr | undefined {
  const token = stream.peek();
  if (token.kind !== 'word') return undefined;
  const word = token.text.toLowerCase();
  const phrase = takePhrase(stream);
  if (phrase !== undefined) return compareByPhrase(stream, left, phrase);
  if (!isComparison(word)) return compareByHabit(stream, left);
  if (word !== token.text) reportCase(stream, token);
  if (isListOperator(word)) return parseList(stream, word, left);
  if (word === 'matches' || word === '!matches') return parseMatches(stream, left);
  if (word === 'between' || word === '!between') return parseBetween(stream, left);
  stream.next();
  offerCompared(stream, left);
  if (!isWordComparison(word)) return undefined;
  return binary(word, token, left, parseAdditive(stream, `after \`${token.text}\``));
}

/** Returns a test for whether a word is one of these. */
function membership<T extends string>(words: readonly T[]): (word: string) => word is T {
  const known = new Set<string>(words);
  return (word): word is T => known.has(word);
}

function isComparison(word: string): boolean {
  return isWordComparison(word) || isListOperator(word) || /^!?(?:matches|between)$/.test(word);
}

/** Parses `x not in (…)`, `x is null`, `x like …`: reports it, and reads the intended APL. */
function compareByHabit(stream: TokenStream, left: Expr): Expr | undefined {
  const isNull = takeIsNull(stream);
  if (isNull !== undefined) {
    return binary(isNull.negated ? '!=' : '==', isNull, left, literal('dynamic', null, isNull));
  }
  const like = takeLike(stream);
  if (like !== undefined) return binary('contains', like, left, parseAdditive(stream, 'after `like`'));
  if (takeNegation(stream) === undefined) return undefined;
  return unary('not', compareByWord(stream, left) ?? left, left.from);
}

/** Parses `x starts with y`, `x is true`: reports it, and reads the intended APL. */
function compareByPhrase(
  stream: TokenStream,
  left: Expr,
  { token, operator }: { readonly token: Token; readonly operator: string },
): Expr {
  if (isListOperator(operator))
    return list(operator, token, left, parseListItems(stream, operator, left, token), stream.lastEnd);
  const right = parseAdditive(stream, `after \`${operator}\``);
  const known = isWordComparison(operator) ? operator : symbolComparisons[operator];
  const pattern = operator.startsWith('!') ? '!matches regex' : 'matches regex';
  return binary(known ?? pattern, token, left, right);
}

/** Reports `where a = 1`, a typo with its own message; elsewhere `=` belongs to the caller. */
function singleEquals(stream: TokenStream, left: Expr): Expr | undefined {
  if (!stream.isSymbol('=') || !stream.comparing) return undefined;
  const token = stream.next();
  stream.report(
    'error',
    'single-equals',
    token,
    '`=` assigns a name and does not compare',
    'Write `==` to compare.',
    '==',
  );
  return binary('==', token, left, parseAdditive(stream, 'after `==`'));
}

function parseList(stream: TokenStream, operator: ListOperator, left: Expr): Expr {
  const token = stream.next();
  const items = parseListItems(stream, operator, left, token);
  return list(operator, token, left, items, stream.lastEnd);
}

function parseListItems(
  stream: TokenStream,
  operator: ListOperator,
  left: Expr,
  token: Token,
): (Expr | Subquery)[] {
  const bracket = stream.takeSymbol('[');
  if (bracket !== undefined) reportBracket(stream, operator, bracket);
  else if (stream.peek().kind === 'string') return parseBareList(stream, operator);
  else if (stream.takeSymbol('(') === undefined) {
    const advice = rangeAdvice(stream, operator, token) ?? listAdvice(stream, left);
    stream.expected('`(`', `after \`${operator}\``, advice);
    return [];
  }
  const close = bracket === undefined ? ')' : ']';
  const items: (Expr | Subquery)[] = [];
  offerCompared(stream, left, true);
  while (!stream.done && !stream.isSymbol(close)) {
    items.push(parseListItem(stream, operator));
    if (stream.takeSymbol(',') === undefined) break;
    offerCompared(stream, left, true);
  }
  if (stream.takeSymbol(close) === undefined) {
    const advice = rangeAdvice(stream, operator, token) ?? closeAdvice(stream);
    stream.expected(`\`${close}\``, `to close the list of \`${operator}\``, advice);
    stream.skipTo(close, '|', ';');
    stream.takeSymbol(close);
  }
  return items;
}

function reportBracket(stream: TokenStream, operator: string, { from, to }: Token): void {
  const mark = stream.mark;
  stream.skipTo(']', '|', ';');
  const isClosed = stream.isSymbol(']');
  const span = { from, to: isClosed ? stream.peek().to : to };
  const instead = isClosed ? `(${stream.source.slice(to, span.to - 1)})` : undefined;
  stream.rewind(mark);
  const message = `the list of \`${operator}\` needs parentheses`;
  stream.report('error', 'expected', span, message, undefined, instead);
}

/** Parses and reports `in "a", "b"`. */
function parseBareList(stream: TokenStream, operator: string): Expr[] {
  const { from } = stream.peek();
  const items: Expr[] = [];
  do items.push(parsePrimary(stream, `in the list of \`${operator}\``));
  while (stream.peek(1).kind === 'string' && stream.takeSymbol(',') !== undefined);
  const span = { from, to: stream.lastEnd };
  const instead = `(${stream.source.slice(from, span.to)})`;
  const message = `the list of \`${operator}\` needs parentheses`;
  stream.report('error', 'expected', span, message, undefined, instead);
  return items;
}

/** Parses a value, or a query: `in (dataset | distinct id)`. */
function parseListItem(stream: TokenStream, operator: string): Expr {
  // Scans ahead instead of trying to parse: nested lists would be parsed twice at each level.
  const isQuery =
    stream.peek().kind !== 'number' && stream.peek().kind !== 'string' && stream.reaches('|', ',', ';');
  if (!isQuery && !opensQuery(stream) && !startsSource(stream))
    return parseOr(stream, `in the list of \`${operator}\``);
  return subquery(parsePipeline(stream));
}

/** True for `((T | …))`: the list's parentheses, doubled. */
function opensQuery(stream: TokenStream): boolean {
  if (!stream.isSymbol('(')) return false;
  const mark = stream.mark;
  stream.next();
  const opens = startsSource(stream) || stream.reaches('|', ',', ';');
  stream.rewind(mark);
  return opens;
}

/** Parses `matches regex "…"`; a missing `regex` is reported. */
function parseMatches(stream: TokenStream, left: Expr): Expr {
  const token = stream.next();
  stream.offering?.addWords('regex');
  stream.offering?.stop();
  const regex = stream.takeKeyword('regex');
  if (regex === undefined) {
    stream.report(
      'warning',
      'matches-without-regex',
      token,
      `\`${token.text}\` is followed by \`regex\` in APL`,
      `It is read as \`${token.text} regex\`; use \`contains\` for plain text.`,
      `${token.text} regex`,
    );
  }
  const operator: BinaryOperator =
    token.text.toLowerCase() === 'matches' ? 'matches regex' : '!matches regex';
  return binary(
    operator,
    { from: token.from, to: regex?.to ?? token.to },
    left,
    parseAdditive(stream, 'after `matches regex`'),
  );
}

function parseBetween(stream: TokenStream, value: Expr): Expr {
  const token = stream.next();
  const { from } = stream.peek();
  const isOpen = stream.takeSymbol('(') !== undefined;
  if (!isOpen && (stream.done || stream.isSymbol('|'))) stream.expectSymbol('(', `after \`${token.text}\``);
  const low = parseAdditive(stream, `as the lower end of \`${token.text}\``);
  const isMisspelled = stream.isSymbol('..') ? !isOpen : takeRangeSign(stream);
  if (stream.takeSymbol('..') === undefined && !isMisspelled)
    stream.expectSymbol('..', 'between the two ends');
  const high = parseAdditive(stream, `as the upper end of \`${token.text}\``);
  if (isOpen) stream.expectSymbol(')', `to close \`${token.text}\``);
  if (isMisspelled) {
    const [lower, upper] = [low, high].map(end => stream.source.slice(end.from, end.to));
    stream.reportSpelling({ from, to: stream.lastEnd }, `(${lower} .. ${upper})`);
  }
  return {
    kind: 'between',
    negated: token.text.startsWith('!'),
    value,
    low,
    high,
    from: value.from,
    to: stream.lastEnd,
  };
}

function parseAdditive(stream: TokenStream, context: string): Expr {
  let left = parseMultiplicative(stream, context);
  while (stream.isSymbol('+') || stream.isSymbol('-')) {
    if (takeSqlComment(stream, 'word')) continue;
    const token = stream.next();
    const operator = token.text === '+' ? '+' : '-';
    left = binary(operator, token, left, parseMultiplicative(stream, `after \`${operator}\``));
  }
  return left;
}

function parseMultiplicative(stream: TokenStream, context: string): Expr {
  let left = parseUnary(stream, context);
  while (stream.isSymbol('*') || stream.isSymbol('/') || stream.isSymbol('%')) {
    const token = takePower(stream) ?? stream.next();
    const operator = token.text === '*' ? '*' : token.text === '/' ? '/' : '%';
    left = binary(operator, token, left, parseUnary(stream, `after \`${operator}\``));
  }
  return left;
}

function parseUnary(stream: TokenStream, context: string): Expr {
  const signs: Token[] = [];
  for (let sign = takeSign(stream); sign !== undefined; sign = takeSign(stream)) signs.push(sign);
  let operand = parsePostfix(stream, context);
  for (const sign of signs.reverse()) {
    operand = unary(sign.text === '-' || sign.text === '+' ? sign.text : 'not', operand, sign.from);
  }
  return operand;
}

function takeSign(stream: TokenStream): Token | undefined {
  const isSign =
    stream.isSymbol('-') || stream.isSymbol('+') || (stream.isWord('not') && !stream.isSymbol('(', 1));
  return isSign ? stream.next() : takeExclamation(stream);
}

function parsePostfix(stream: TokenStream, context: string): Expr {
  let value = parsePrimary(stream, context);
  for (;;) {
    if (stream.isSymbol('.')) {
      stream.next();
      offerMember(stream, value, false);
      const name = stream.expectName('a name', 'after `.`');
      value = member(value, name, Math.max(name.to, stream.lastEnd));
    } else if (stream.isSymbol('[') && value.kind !== 'missing' && !startsName(stream)) {
      stream.next();
      offerMember(stream, value, true);
      value = parseIndex(stream, value);
    } else return value;
  }
}

/** True for a bracketed name at the start of a line: it is another field or query, not a key of the value above it. */
function startsName(stream: TokenStream): boolean {
  return stream.startsLine && stream.isQuotedName();
}

/** Parses `[key]`, or `[start:end]`, a slice of an array. */
function parseIndex(stream: TokenStream, value: Expr): Expr {
  const { from } = stream.peek();
  const start = stream.isSymbol(':') ? undefined : parseOr(stream, 'as an index');
  const colon = stream.takeSymbol(':');
  const end =
    colon === undefined || stream.isSymbol(']') ? undefined : parseOr(stream, 'as the end of a slice');
  if (stream.expectSymbol(']', 'to close the index') === undefined) stream.skipTo(']', '|', ';', ')');
  const to = stream.lastEnd;
  if (colon === undefined) return index(value, start ?? missing({ from, to: from }), to);
  const bounds = [
    start ?? literal('long', 0n, { from, to: from }),
    end ?? literal('long', endless, { from: colon.to, to: colon.to }),
  ];
  const args = [value, ...bounds].map(each => ({ from: each.from, to: each.to, value: each }));
  return { ...call(identifier('array_slice', false, colon), args, to), from: value.from };
}

/** An index past the end of any array. */
const endless = 0x7fff_ffffn;

function offerMember(stream: TokenStream, object: Expr, bracket: boolean): void {
  const path = stream.offering === undefined ? undefined : pathOf(object);
  if (path !== undefined) stream.offer({ kind: 'member', path, bracket });
}

function parseNumber(stream: TokenStream): Expr {
  const number = stream.next();
  const timespan = takeUnit(stream, number);
  return timespan === undefined ? numberLiteral(stream, number) : timespanLiteral(stream, timespan);
}

function parsePrimary(stream: TokenStream, context: string): Expr {
  const token = stream.peek();
  const { from } = token;
  switch (token.kind) {
    case 'string': {
      const whole = takeDoubledQuote(stream, stream.next());
      return literal('string', whole.text, whole);
    }
    case 'number':
      return parseNumber(stream);
    case 'timespan':
      stream.next();
      return timespanLiteral(stream, token);
    case 'word':
      if (!token.text.startsWith('!')) return parseWord(stream);
      break;
    case 'symbol':
      if (token.text === '(') return parseParen(stream);
      if (token.text === '*') return { kind: 'star', from, to: stream.next().to };
      if (stream.isQuotedName() || stream.isOpenQuotedName()) return parseQuoted(stream);
      if (token.text === '[') return parseBracket(stream, context);
      break;
    case 'raw':
    case 'comment':
    case 'error':
      stream.next();
      return missing(token);
  }
  stream.offerOperand();
  const advice = token.kind === 'symbol' ? (literalAdvice(stream) ?? literalHints[token.text]) : undefined;
  stream.expected('an expression', context, advice);
  return missing({ from, to: from });
}

const parameters = 'Write a parameter by its name: `%param x=5` above, then `where field == x`.';

/** Hints for the literals of other languages, by first character. */
const literalHints: Readonly<Record<string, string>> = {
  '{': `Write a map as dynamic({"a": 1}), or as bag_pack('a', x) if it contains fields, and a parameter by its name.`,
  ':': parameters,
  '?': parameters,
  '/': "Write a regular expression as a string: `matches regex 'a.*b'`.",
};

/** Parses a name missing its quotes, or an array missing its word. */
function parseBracket(stream: TokenStream, context: string): Expr {
  const name = takeUnquotedName(stream);
  if (name !== undefined) return nameExpr(name);
  const { from } = stream.peek();
  stream.expected(
    'an expression',
    context,
    literalAdvice(stream) ?? "Write an array as dynamic([1, 2]), and a quoted name as ['name'].",
  );
  return missing({ from, to: from });
}

function parseQuoted(stream: TokenStream): Expr {
  const callee = stream.takeName();
  if (callee === undefined) return missing({ from: stream.lastEnd, to: stream.lastEnd });
  if (stream.isSymbol('(') && stream.peek().from === callee.to) return parseCall(stream, callee);
  return nameExpr(callee);
}

function parseCall(stream: TokenStream, callee: Identifier): Expr {
  stream.next();
  const args = parseArguments(stream, callee.name);
  return call(callee, args, stream.lastEnd);
}

function parseParen(stream: TokenStream): Expr {
  const from = stream.next().from;
  const inner = stream.withComparing(true, parseOr, 'in the parentheses');
  if (stream.takeSymbol(')') === undefined) {
    const hint = stream.isSymbol(',')
      ? 'A list is allowed only after `in`, `has_any` or `has_all`.'
      : undefined;
    stream.expected('`)`', 'to close the parenthesis', hint ?? closeAdvice(stream));
    stream.skipTo(')', '|', ';');
    stream.takeSymbol(')');
  }
  return paren(inner, { from, to: stream.lastEnd });
}

/** Parses a keyword literal, a call, or a name. */
function parseWord(stream: TokenStream): Expr {
  const token = stream.next();
  const { text } = token;
  const interval = takeInterval(stream, token);
  if (interval !== undefined) return timespanLiteral(stream, interval);
  if (!stream.isSymbol('(')) {
    if (text === 'true' || text === 'false') return literal('bool', text === 'true', token);
    if (text === 'null') return literal('dynamic', null, token);
    return nameExpr(identifier(text, false, token));
  }
  if (text === 'dynamic') return parseDynamic(stream, token);
  if (text === 'typeof') return parseTypeof(stream, token);
  if ((text === 'datetime' || text === 'date') && stream.peek(1).kind === 'raw')
    return rawLiteral(stream, token, 'datetime');
  if ((text === 'timespan' || text === 'time') && stream.peek(1).kind === 'raw')
    return rawLiteral(stream, token, 'timespan');
  return parseCall(stream, identifier(text, false, token));
}

function parseTypeof(stream: TokenStream, word: Token): Expr {
  stream.next();
  stream.offer({ kind: 'type' });
  const name = stream.expectName('a type', 'in `typeof`');
  const type = typeNamed(name.name);
  if (type === undefined && name.name !== '') reportType(stream, name);
  stream.expectSymbol(')', 'to close `typeof`');
  return { kind: 'typeof', type, from: word.from, to: stream.lastEnd };
}

/** Reports an unknown type name. */
function reportType(stream: TokenStream, name: Span & { readonly name: string }): void {
  stream.report(
    'error',
    'unknown-type',
    name,
    `\`${name.name}\` is not a type`,
    'Types: bool, long, real, string, datetime, timespan, dynamic.',
  );
}

/** Parses a type name in a declaration; a missing or unknown one is read as `string`. */
export function parseType(stream: TokenStream, context: string): TypeName {
  stream.offer({ kind: 'type' });
  const name = stream.expectName('a type', context);
  const type = typeNamed(name.name);
  if (type === undefined && name.name !== '') reportType(stream, name);
  return type ?? 'string';
}
