import type {
  Assignment,
  ExpandItem,
  Expr,
  Operator,
  Option,
  ParsePiece,
  ReorderItem,
  SeriesAggregate,
} from './ast.js';
import { parseArguments, parseExpression, parseType } from './expression.js';
import {
  atStageEnd,
  expectPattern,
  parseAssignment,
  parseAssignments,
  parseColumns,
  parseList,
  parseOptions,
  parseSortKey,
  parseSource,
  parseUnion,
  parseWithOptions,
} from './pipeline.js';
import { parseSearch } from './search.js';
import { takeGroup } from './slips.js';
import type { TokenStream } from './stream.js';

type Bare<T> = T extends unknown ? Omit<T, 'word' | 'from' | 'to'> : never;
type Rest = Bare<Operator>;
type OperatorParser = (stream: TokenStream, word: string) => Rest;

/** Operator word -> the parser of what follows it. */
export const operatorParsers: Readonly<Record<string, OperatorParser>> = {
  where: parseWhere,
  filter: parseWhere,
  extend: stream => ({ kind: 'extend', items: parseAssignments(stream, 'after `extend`') }),
  'extend-valid': stream => ({
    kind: 'extend-valid',
    items: parseAssignments(stream, 'after `extend-valid`'),
  }),
  project: stream => ({ kind: 'project', items: parseAssignments(stream, 'after `project`') }),
  'project-away': stream => ({
    kind: 'project-away',
    patterns: parseList(stream, () => expectPattern(stream, 'after `project-away`')),
  }),
  'project-keep': stream => ({
    kind: 'project-keep',
    patterns: parseList(stream, () => expectPattern(stream, 'after `project-keep`')),
  }),
  'project-rename': stream => ({
    kind: 'project-rename',
    items: parseAssignments(stream, 'after `project-rename`'),
  }),
  'project-reorder': stream => ({
    kind: 'project-reorder',
    items: parseList(stream, () => parseReorderItem(stream)),
  }),
  summarize: parseSummarize,
  sort: parseSort,
  order: parseSort,
  limit: parseLimit,
  take: parseLimit,
  top: parseTop,
  sample: stream => ({ kind: 'sample', proportion: parseExpression(stream, 'after `sample`') }),
  count: () => ({ kind: 'count' }),
  getschema: () => ({ kind: 'getschema' }),
  distinct: parseDistinct,
  join: (stream, word) => parseJoin(stream, word),
  lookup: (stream, word) => parseJoin(stream, word),
  union: stream => ({ kind: 'union', union: parseUnion(stream) }),
  search: stream => ({ kind: 'search', search: parseSearch(stream) }),
  'make-series': parseMakeSeries,
  'mv-expand': parseExpand,
  mvexpand: parseExpand,
  parse: (stream, word) => parseParse(stream, word),
  'parse-where': (stream, word) => parseParse(stream, word),
  'parse-kv': parseParseKv,
  redact: parseRedact,
};

function parseWhere(stream: TokenStream, word: string): Rest {
  const predicate = stream.withComparing(true, () => parseExpression(stream, `after \`${word}\``));
  return { kind: 'where', predicate };
}

const reorderWords = new Set(['asc', 'desc', 'granny-asc', 'granny-desc']);

function parseReorderItem(stream: TokenStream): ReorderItem {
  const pattern = expectPattern(stream, 'after `project-reorder`');
  const word = stream.hyphenatedWord();
  if (word === undefined || !reorderWords.has(word.text))
    return { pattern, from: pattern.from, to: pattern.to };
  stream.skip(word.tokens);
  return {
    pattern,
    order: word.text as NonNullable<ReorderItem['order']>,
    from: pattern.from,
    to: stream.lastEnd,
  };
}

function parseSummarize(stream: TokenStream): Rest {
  const aggregates = stream.isWord('by') ? [] : parseAssignments(stream, 'after `summarize`');
  takeGroup(stream);
  const hasBy = stream.takeWord('by') !== undefined;
  const by = hasBy ? parseAssignments(stream, 'after `by`') : [];
  return { kind: 'summarize', aggregates, by, hasBy };
}

function parseSort(stream: TokenStream, word: string): Rest {
  if (stream.takeWord('by') === undefined)
    stream.expected('`by`', `after \`${word}\``, `Write \`${word} by field desc\`.`);
  return { kind: 'sort', keys: parseList(stream, () => parseSortKey(stream, `after \`${word} by\``)) };
}

function parseLimit(stream: TokenStream, word: string): Rest {
  return {
    kind: 'limit',
    count: atStageEnd(stream) ? undefined : parseExpression(stream, `after \`${word}\``),
  };
}

function parseTop(stream: TokenStream): Rest {
  const count = parseExpression(stream, 'after `top`');
  if (stream.takeWord('by') === undefined)
    stream.expected('`by`', 'after the number of `top`', 'For example: top 10 by duration.');
  return { kind: 'top', count, key: parseSortKey(stream, 'after `by`') };
}

function parseDistinct(stream: TokenStream): Rest {
  if (stream.isSymbol('*')) {
    stream.next();
    return { kind: 'distinct', items: [], all: true };
  }
  return { kind: 'distinct', items: parseAssignments(stream, 'after `distinct`'), all: false };
}

function parseJoin(stream: TokenStream, word: string): Rest {
  const options = parseOptions(stream, ['kind', 'hint', 'strategy']);
  const right = parseSource(stream);
  let on: Expr[] = [];
  if (stream.takeWord('on') !== undefined)
    on = parseList(stream, () => parseExpression(stream, 'after `on`'));
  else
    stream.expected(
      '`on` and the fields to join by',
      `after the table of \`${word}\``,
      `For example: ${word} (T) on trace_id.`,
    );
  return { kind: word === 'lookup' ? 'lookup' : 'join', options, right, on };
}

function parseMakeSeries(stream: TokenStream): Rest {
  const aggregates = parseList(stream, () => parseSeriesAggregate(stream));
  const on = parseAxis(stream);
  const range = parseSeriesRange(stream);
  const step =
    range.step ??
    (stream.takeWord('step') === undefined ? undefined : parseExpression(stream, 'after `step`'));
  const by = stream.takeWord('by') === undefined ? [] : parseAssignments(stream, 'after `by`');
  return { kind: 'make-series', aggregates, on, ...range, ...(step === undefined ? {} : { step }), by };
}

function parseAxis(stream: TokenStream): Expr {
  if (stream.takeWord('on') !== undefined) return parseExpression(stream, 'after `on`', 'sum');
  stream.expected(
    '`on` and a time field',
    'in `make-series`',
    'For example: make-series count() on _time step 5m.',
  );
  const { from } = stream.peek();
  return { kind: 'missing', from, to: from };
}

function parseSeriesAggregate(stream: TokenStream): SeriesAggregate {
  const assignment: Assignment = parseAssignment(stream, 'after `make-series`');
  if (!stream.isWord('default') || !stream.isSymbol('=', 1)) return assignment;
  stream.skip(2);
  return { ...assignment, fallback: parseExpression(stream, 'after `default=`'), to: stream.lastEnd };
}

/** `from a to b`, `in range(a, b, s)`, or nothing. */
function parseSeriesRange(stream: TokenStream): { start?: Expr; stop?: Expr; step?: Expr } {
  if (stream.takeWord('in') !== undefined) {
    if (stream.takeWord('range') === undefined) stream.expected('`range(start, stop, step)`', 'after `in`');
    if (stream.expectSymbol('(', 'after `range`') === undefined) return {};
    const [start, stop, step] = parseArguments(stream, 'range').map(argument => argument.value);
    return { ...(start && { start }), ...(stop && { stop }), ...(step && { step }) };
  }
  const start = stream.takeWord('from') && parseExpression(stream, 'after `from`');
  const stop = stream.takeWord('to') && parseExpression(stream, 'after `to`');
  return { ...(start && { start }), ...(stop && { stop }) };
}

function parseExpand(stream: TokenStream): Rest {
  const options: Option[] = parseOptions(stream, ['kind', 'bagexpansion', 'with_itemindex']);
  const items = parseList(stream, () => parseExpandItem(stream));
  const limit = stream.takeWord('limit') === undefined ? undefined : parseExpression(stream, 'after `limit`');
  return { kind: 'mv-expand', options, items, ...(limit === undefined ? {} : { limit }) };
}

function parseExpandItem(stream: TokenStream): ExpandItem {
  const item = parseAssignment(stream, 'after `mv-expand`');
  if (stream.takeWord('to') === undefined) return { item, from: item.from, to: item.to };
  const type = parseExpression(stream, 'after `to`');
  const to = stream.lastEnd;
  if (type.kind === 'typeof')
    return { item, ...(type.type === undefined ? {} : { type: type.type }), from: item.from, to };
  if (type.kind !== 'missing') {
    stream.report(
      'error',
      'expected',
      type,
      'expected `typeof(…)` after `to`',
      'For example: mv-expand x to typeof(long).',
    );
  }
  return { item, from: item.from, to };
}

function parseParse(stream: TokenStream, word: string): Rest {
  const options = parseOptions(stream, ['kind', 'flags']);
  const subject = parseExpression(stream, `after \`${word}\``);
  if (stream.takeWord('with') === undefined)
    stream.expected('`with` and a pattern', `after the text of \`${word}\``);
  const pieces: ParsePiece[] = [];
  if (atStageEnd(stream)) stream.expected('a text, a field or `*`', 'in the pattern');
  while (!atStageEnd(stream)) {
    const piece = parsePiece(stream);
    if (piece === undefined) break;
    pieces.push(piece);
  }
  return { kind: word === 'parse' ? 'parse' : 'parse-where', options, subject, pieces };
}

function parsePiece(stream: TokenStream): ParsePiece | undefined {
  const token = stream.peek();
  const { from, to } = token;
  if (stream.takeSymbol('*') !== undefined) return { kind: 'star', from, to };
  if (token.kind === 'string') return { kind: 'text', text: stream.next().text, from, to };
  const name = stream.takeName();
  if (name === undefined) {
    stream.expected('a text, a field or `*`', 'in the pattern');
    return undefined;
  }
  const type = stream.takeSymbol(':') === undefined ? 'string' : parseType(stream, 'after `:`');
  return { kind: 'field', name, type, from, to: stream.lastEnd };
}

function parseParseKv(stream: TokenStream): Rest {
  const subject = parseExpression(stream, 'after `parse-kv`');
  if (stream.takeWord('as') === undefined)
    stream.expected('`as` and the keys', 'after the text of `parse-kv`');
  const columns = parseColumns(stream, 'after `as`');
  return { kind: 'parse-kv', subject, columns, options: parseWithOptions(stream) };
}

function parseRedact(stream: TokenStream): Rest {
  const options = parseOptions(stream, ['replaceToken', 'replaceHash', 'redactGroups']);
  const patterns = parseList(stream, () => parseExpression(stream, 'after `redact`'));
  const on =
    stream.takeWord('on') === undefined ? [] : parseList(stream, () => expectPattern(stream, 'after `on`'));
  return { kind: 'redact', options, patterns, on };
}
