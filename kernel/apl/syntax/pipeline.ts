import type {
  Assignment,
  ColumnDecl,
  Expr,
  FieldPattern,
  Identifier,
  Literal,
  Operator,
  Option,
  Pipeline,
  SortKey,
  Source,
  Span,
  UnionClause,
} from './ast.js';
import { parseExpression, parseType } from './expression.js';
import { operatorParsers } from './operators.js';
import { parseSearch } from './search.js';
import { takeAlias, takeDirection } from './slips.js';
import type { TokenStream } from './stream.js';

/** Parses a source and the operators behind it, up to `)`, `;` or the end. */
export function parsePipeline(stream: TokenStream): Pipeline {
  return stream.nested(
    () => {
      const from = stream.peek().from;
      const source = parseSource(stream);
      const operators = parseOperators(stream);
      return { source, operators, from, to: stream.lastEnd };
    },
    () => tooDeep(stream),
  );
}

/** Parses the `| operator …` stages that follow a source. */
export function parseOperators(stream: TokenStream): Operator[] {
  const operators: Operator[] = [];
  for (;;) {
    takeStraySemicolon(stream);
    if (stream.takeSymbol('|') === undefined && !missingPipe(stream)) return operators;
    operators.push(parseOperator(stream));
    if (atStageEnd(stream) || startsOperator(stream)) continue;
    stream.expected('`|`', 'before the next operator');
    stream.skipTo('|', ';');
    if (stream.isSymbol(')') || stream.isSymbol(']') || stream.isSymbol('}')) return operators;
  }
}

function startsOperator(stream: TokenStream): boolean {
  const word = stream.hyphenatedWord();
  return word !== undefined && Object.hasOwn(operatorParsers, word.text);
}

/** An operator where a pipe should be is read as if the pipe were there. */
function missingPipe(stream: TokenStream): boolean {
  if (!startsOperator(stream)) return false;
  const token = stream.peek();
  stream.report('error', 'missing-pipe', token, `a \`|\` is missing before \`${token.text}\``);
  return true;
}

/** A dataset, a `let` name, an inline table, or a query in parentheses. */
export function parseSource(stream: TokenStream): Source {
  const token = stream.peek();
  const { from } = token;
  if (stream.isSymbol('(')) return parseParenthesised(stream);
  if (token.kind === 'word') {
    const special = Object.hasOwn(specialSources, token.text) ? specialSources[token.text] : undefined;
    if (special?.applies(stream) === true) return special.parse(stream);
  }
  if (token.kind === 'string') return stringSource(stream);
  const unquoted = takeUnquoted(stream);
  if (unquoted !== undefined) return unquoted;
  const mark = stream.mark;
  const pattern = parsePattern(stream);
  if (pattern === undefined) {
    stream.expected(
      'a dataset',
      'here',
      "A query starts with a dataset, such as ['sample-http-logs'], or with print, datatable, union or search.",
    );
    stream.skipTo('|', ';');
    return { kind: 'missing', from, to: from };
  }
  if (pattern.exact && stream.isSymbol('(')) return parseImplicitPrint(stream, mark);
  const span = { from, to: stream.lastEnd };
  if (!pattern.exact) return { kind: 'pattern', pattern, ...span };
  const quoted = token.kind === 'symbol';
  return { kind: 'dataset', name: { name: pattern.parts[0] as string, quoted, ...span }, ...span };
}

/** `http-logs` without quotes, and `select` from SQL. */
function takeUnquoted(stream: TokenStream): Source | undefined {
  const word = stream.hyphenatedWord();
  if (word === undefined) return undefined;
  const { text, span } = word;
  if (
    /^select$/i.test(text) &&
    !stream.isSymbol('|', 1) &&
    !stream.isSymbol(';', 1) &&
    stream.peek(1).text !== ''
  ) {
    const hint = "Start with the dataset: ['logs'] | where … | project ….";
    stream.report('error', 'sql', span, 'this is SQL, not APL', hint);
    stream.skipTo(';');
    return { kind: 'missing', ...span };
  }
  if (word.tokens === 1) return undefined;
  stream.skip(word.tokens);
  stream.report(
    'error',
    'unquoted-name',
    span,
    `\`${text}\` needs quotes, for it contains \`-\``,
    `Write ['${text}'].`,
  );
  return { kind: 'dataset', name: { name: text, quoted: true, ...span }, ...span };
}

/** `a, b` where each is read by `parse`. */
export function parseList<T>(stream: TokenStream, parse: () => T): T[] {
  const items = [parse()];
  while (stream.takeSymbol(',') !== undefined) {
    if (atStageEnd(stream)) break;
    items.push(parse());
  }
  return items;
}

/** `expr`, `name = expr` or `(a, b) = expr`. */
export function parseAssignment(stream: TokenStream, context: string): Assignment {
  const from = stream.peek().from;
  const names = takeTargets(stream);
  const value = stream.withComparing(false, () => parseExpression(stream, context));
  const alias = names.length === 0 ? takeAlias(stream, value) : undefined;
  if (alias !== undefined) names.push(alias);
  return { names, value, from, to: Math.max(value.to, stream.lastEnd) };
}

export function parseAssignments(stream: TokenStream, context: string): Assignment[] {
  return parseList(stream, () => parseAssignment(stream, context));
}

/** `status*`, `['geo.']*`, `*`, `a.b`; undefined, with nothing consumed, where no name or star starts. */
export function parsePattern(stream: TokenStream): FieldPattern | undefined {
  const from = stream.peek().from;
  const parts: string[] = [''];
  let end = from;
  for (;;) {
    const adjacent = parts.length === 1 && parts[0] === '' ? true : stream.peek().from === end;
    if (!adjacent) break;
    const dot = stream.isSymbol('.') && parts.join('') !== '' ? stream.next() : undefined;
    const star = stream.takeSymbol('*');
    const name = star === undefined ? stream.takeName() : undefined;
    if (dot !== undefined) parts[parts.length - 1] += '.';
    if (star !== undefined) parts.push('');
    else if (name !== undefined) parts[parts.length - 1] += name.name;
    else break;
    end = stream.lastEnd;
  }
  if (parts.length === 1 && parts[0] === '') return undefined;
  return { parts, exact: parts.length === 1, from, to: end };
}

export function expectPattern(stream: TokenStream, context: string): FieldPattern {
  const pattern = parsePattern(stream);
  if (pattern !== undefined) return pattern;
  const from = stream.peek().from;
  stream.expected('a field', context);
  return { parts: [''], exact: true, from, to: from };
}

/** `name=value` words such as `kind=inner`, as many as stand here and bear one of `names`. */
export function parseOptions(stream: TokenStream, names: readonly string[]): Option[] {
  const options: Option[] = [];
  while (stream.peek().kind === 'word' && stream.isSymbol('=', 1) && names.includes(stream.peek().text)) {
    const name = stream.takeName() as Identifier;
    stream.next();
    const value = parseOptionValue(stream, name.name);
    options.push({ name, value, from: name.from, to: stream.lastEnd });
  }
  return options;
}

/** `(a: string, b: long)`. */
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
  if (stream.expectSymbol(')', 'to close the column list') === undefined) {
    stream.skipTo(')', '|', ';');
    stream.takeSymbol(')');
  }
  return columns;
}

export function parseSortKey(stream: TokenStream, context: string): SortKey {
  const from = stream.peek().from;
  const value = parseExpression(stream, context);
  const word = stream.takeWord('asc') ?? stream.takeWord('desc');
  const direction = word?.text ?? takeDirection(stream);
  let nulls: 'first' | 'last' | undefined;
  if (stream.isWord('nulls') && (stream.isWord('first', 1) || stream.isWord('last', 1))) {
    stream.next();
    nulls = stream.next().text as 'first' | 'last';
  }
  return {
    value,
    ...(direction === undefined ? {} : { descending: direction === 'desc' }),
    ...(nulls === undefined ? {} : { nulls }),
    from,
    to: stream.lastEnd,
  };
}

/** `[withsource=f] T1, (T2 | …), github*`. */
export function parseUnion(stream: TokenStream): UnionClause {
  const options = parseOptions(stream, ['withsource', 'kind', 'isfuzzy']);
  return { options, tables: parseList(stream, () => parseSource(stream)) };
}

/** True where a stage may end. */
export function atStageEnd(stream: TokenStream): boolean {
  const token = stream.peek();
  return stream.done || (token.kind === 'symbol' && stageEnds.has(token.text));
}

const stageEnds = new Set(['|', ';', ')', ']', '}']);

function parseOperator(stream: TokenStream): Operator {
  const word = stream.hyphenatedWord();
  if (word === undefined) return missingOperator(stream);
  const known = Object.hasOwn(operatorParsers, word.text) ? word : shorterWord(stream);
  const parse = known === undefined ? undefined : operatorParsers[known.text];
  if (known === undefined || parse === undefined) {
    stream.skip(word.tokens);
    stream.skipTo('|', ';');
    return { kind: 'unknown', word: word.span, from: word.span.from, to: stream.lastEnd };
  }
  stream.skip(known.tokens);
  reportOldSpelling(stream, known.text, known.span);
  const rest = parse(stream, known.text);
  const span = { from: known.span.from, to: Math.max(stream.lastEnd, known.span.to) };
  return Object.assign(rest, { word: known.span, ...span });
}

/** Spellings that are still read. */
const oldSpellings: Readonly<Record<string, string>> = { filter: 'where', mvexpand: 'mv-expand' };

function reportOldSpelling(stream: TokenStream, word: string, span: Span): void {
  const today = Object.hasOwn(oldSpellings, word) ? oldSpellings[word] : undefined;
  if (today === undefined) return;
  stream.report('hint', 'old-spelling', span, `\`${word}\` is an old spelling`, `Write \`${today}\`.`);
}

/** `limit-1` is not an operator, but `limit` is. */
function shorterWord(stream: TokenStream): { text: string; span: Span; tokens: number } | undefined {
  const token = stream.peek();
  if (!Object.hasOwn(operatorParsers, token.text)) return undefined;
  return { text: token.text, span: { from: token.from, to: token.to }, tokens: 1 };
}

function missingOperator(stream: TokenStream): Operator {
  const { from } = stream.peek();
  const hint = stream.isSymbol('|')
    ? 'Remove one of the two pipes.'
    : 'Operators are where, extend, project, summarize, sort, limit and more: `%help operators`.';
  stream.expected('an operator', 'after `|`', hint);
  stream.skipTo('|', ';');
  return { kind: 'unknown', word: { from, to: from }, from, to: Math.max(from, stream.lastEnd) };
}

/** `T; | where …`: the semicolon is a slip, for nothing can start with a pipe. */
function takeStraySemicolon(stream: TokenStream): void {
  if (!stream.isSymbol(';') || !stream.isSymbol('|', 1)) return;
  const token = stream.next();
  stream.report(
    'warning',
    'stray-semicolon',
    token,
    'the `;` ends the query, but a pipe follows',
    'It is ignored here; remove it.',
  );
}

interface SpecialSource {
  readonly applies: (stream: TokenStream) => boolean;
  readonly parse: (stream: TokenStream) => Source;
}

const specialSources: Readonly<Record<string, SpecialSource>> = {
  datatable: { applies: stream => stream.isSymbol('(', 1), parse: parseDatatable },
  print: { applies: stream => !stream.isSymbol('|', 1), parse: parsePrint },
  range: { applies: stream => stream.peek(1).kind === 'word' && stream.isWord('from', 2), parse: parseRange },
  externaldata: { applies: stream => stream.isSymbol('(', 1), parse: parseExternalData },
  union: { applies: stream => !stream.isSymbol('|', 1) && !stream.isSymbol(';', 1), parse: parseUnionSource },
  search: {
    applies: stream => !stream.isSymbol('|', 1) && !stream.isSymbol(';', 1),
    parse: parseSearchSource,
  },
};

function parseDatatable(stream: TokenStream): Source {
  const from = stream.next().from;
  const columns = parseColumns(stream, 'after `datatable`');
  const values: Expr[] = [];
  if (stream.expectSymbol('[', 'before the values') !== undefined) {
    while (!stream.done && !stream.isSymbol(']')) {
      values.push(parseExpression(stream, 'in the table'));
      if (stream.takeSymbol(',') === undefined) break;
    }
    if (stream.expectSymbol(']', 'to close the table') === undefined) {
      stream.skipTo(']', '|', ';');
      stream.takeSymbol(']');
    }
  }
  return { kind: 'datatable', columns, values, from, to: stream.lastEnd };
}

function parsePrint(stream: TokenStream): Source {
  const from = stream.next().from;
  const items = parseAssignments(stream, 'after `print`');
  return { kind: 'print', items, from, to: stream.lastEnd };
}

/** A call where a dataset should be: its value is what was meant. */
function parseImplicitPrint(stream: TokenStream, mark: number): Source {
  stream.rewind(mark);
  const value = parseExpression(stream, 'here');
  const span = { from: value.from, to: value.to };
  stream.report(
    'hint',
    'implicit-print',
    span,
    'an expression stands where a dataset should',
    'It is read as `print …`.',
  );
  return { kind: 'print', items: [{ names: [], value, ...span }], ...span };
}

function parseRange(stream: TokenStream): Source {
  const from = stream.next().from;
  const name = stream.expectName('a column name', 'after `range`');
  stream.takeWord('from');
  const start = parseExpression(stream, 'after `from`');
  if (stream.takeWord('to') === undefined) stream.expected('`to`', 'in `range`');
  const end = parseExpression(stream, 'after `to`');
  if (stream.takeWord('step') === undefined) stream.expected('`step`', 'in `range`');
  const step = parseExpression(stream, 'after `step`');
  return { kind: 'range', name, start, end, step, from, to: stream.lastEnd };
}

function parseExternalData(stream: TokenStream): Source {
  const from = stream.next().from;
  const columns = parseColumns(stream, 'after `externaldata`');
  const urls: Literal[] = [];
  if (stream.expectSymbol('[', 'before the addresses') !== undefined) {
    while (stream.peek().kind === 'string') {
      const token = stream.next();
      urls.push({ kind: 'literal', type: 'string', value: token.text, from: token.from, to: token.to });
      if (stream.takeSymbol(',') === undefined) break;
    }
    stream.expectSymbol(']', 'after the addresses');
  }
  return { kind: 'externaldata', columns, urls, options: parseWithOptions(stream), from, to: stream.lastEnd };
}

/** `with (format="csv", ignoreFirstRecord=true)`, or nothing. */
export function parseWithOptions(stream: TokenStream): Option[] {
  if (stream.takeWord('with') === undefined || stream.expectSymbol('(', 'after `with`') === undefined)
    return [];
  const options: Option[] = [];
  while (stream.peek().kind === 'word') {
    const name = stream.takeName() as Identifier;
    stream.expectSymbol('=', `after \`${name.name}\``);
    options.push({ name, value: parseOptionValue(stream, name.name), from: name.from, to: stream.lastEnd });
    if (stream.takeSymbol(',') === undefined) break;
  }
  stream.expectSymbol(')', 'to close `with (`');
  return options;
}

/** A bare word such as `case_sensitive` or `leftouter`, a string, or a number. */
function parseOptionValue(stream: TokenStream, name: string): Expr {
  const word = stream.hyphenatedWord();
  if (word !== undefined && word.text !== 'true' && word.text !== 'false') {
    stream.skip(word.tokens);
    return { kind: 'name', name: word.text, quoted: false, ...word.span };
  }
  const token = stream.peek();
  if (token.kind === 'string' || token.kind === 'number' || token.kind === 'word') {
    return parseOptionLiteral(stream);
  }
  if (stream.isQuotedName()) return { kind: 'name', ...(stream.takeName() as Identifier) };
  stream.expected('a value', `for \`${name}\``);
  return { kind: 'missing', from: token.from, to: token.from };
}

function parseOptionLiteral(stream: TokenStream): Expr {
  const token = stream.next();
  const { from, to, text } = token;
  if (token.kind === 'string') return { kind: 'literal', type: 'string', value: text, from, to };
  if (token.kind === 'word') return { kind: 'literal', type: 'bool', value: text === 'true', from, to };
  return { kind: 'literal', type: 'real', value: Number(text), from, to };
}

function parseUnionSource(stream: TokenStream): Source {
  const from = stream.next().from;
  const union = parseUnion(stream);
  return { kind: 'union', union, from, to: stream.lastEnd };
}

function parseSearchSource(stream: TokenStream): Source {
  const from = stream.next().from;
  const search = parseSearch(stream);
  return { kind: 'search', search, from, to: stream.lastEnd };
}

function parseParenthesised(stream: TokenStream): Source {
  const from = stream.next().from;
  const pipeline = parsePipeline(stream);
  if (stream.expectSymbol(')', 'to close the query in parentheses') === undefined) {
    stream.skipTo(')', '|', ';');
    stream.takeSymbol(')');
  }
  return { kind: 'paren', pipeline, from, to: stream.lastEnd };
}

/** `"dataset"` without brackets is a habit from SQL. */
function stringSource(stream: TokenStream): Source {
  const { from, to, text } = stream.next();
  stream.report(
    'error',
    'dataset-in-quotes',
    { from, to },
    'a dataset name in quotes needs brackets',
    `Write ['${text}'].`,
  );
  return { kind: 'dataset', name: { name: text, quoted: true, from, to }, from, to };
}

/** `name =` or `(a, b) =`, consumed with the sign; none when an expression starts here. */
function takeTargets(stream: TokenStream): Identifier[] {
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

/** `a.b = …` names the flat field `a.b`. */
function takeDottedTarget(stream: TokenStream): Identifier | undefined {
  const mark = stream.mark;
  const pattern = parsePattern(stream);
  if (pattern?.exact === true && stream.takeSymbol('=') !== undefined) {
    return { name: pattern.parts[0] as string, quoted: true, from: pattern.from, to: pattern.to };
  }
  stream.rewind(mark);
  return undefined;
}

function tooDeep(stream: TokenStream): Pipeline {
  const { from, to } = stream.peek();
  stream.report(
    'error',
    'too-deep',
    { from, to },
    'queries are nested too deeply',
    'Name inner queries with `let`.',
  );
  stream.skipTo(';');
  return { source: { kind: 'missing', from, to }, operators: [], from, to };
}
