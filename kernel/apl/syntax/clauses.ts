import type { Clause, ListOperand, Operand } from '../operators/grammar.js';
import type { Expr, Literal, OperandNodes } from './ast.js';
import { parseArguments, parseExpression } from './expression.js';
import {
  atStageEnd,
  closeList,
  parseAssignment,
  parseColumns,
  parseDefaulted,
  parseList,
  parseOrdered,
  parsePieces,
  parseSortKey,
  parseTyped,
  parseValues,
} from './items.js';
import { parseEnclosedOptions, parseOptions } from './options.js';
import { expectPattern } from './pattern.js';
import { parseSearch } from './search.js';
import { takeGroup } from './slips.js';
import { parseSource } from './source.js';
import type { TokenStream } from './stream.js';

/** The properties of a node, read by the clauses of its row; `owner` is the word as it was written. */
export function parseClauses(
  stream: TokenStream,
  clauses: readonly Clause[],
  owner: string,
): Record<string, unknown> {
  const node: Record<string, unknown> = {};
  for (const [index, clause] of clauses.entries()) {
    const value = stream.within(clause, () => parseClause(stream, clause, clauses.slice(index + 1), owner));
    if (value !== undefined) node[clause.name] = value;
  }
  return node;
}

function parseClause(
  stream: TokenStream,
  clause: Clause,
  later: readonly Clause[],
  owner: string,
): OperandNodes[Operand] | undefined {
  if (clause.word === undefined ? isAbsent(stream, clause) : !takeWord(stream, clause, later, owner))
    return nothing(stream, clause);
  const context = (clause.context ?? `after \`${clause.word ?? '$'}\``).replace('$', owner);
  const next = later.find(each => each.optional !== true);
  return readers[clause.takes](stream, context, clause, owner, next);
}

function isAbsent(stream: TokenStream, clause: Clause): boolean {
  if (clause.absentBefore !== undefined && stream.isWord(clause.absentBefore)) return true;
  return clause.optional === true && atStageEnd(stream) && stream.offering === undefined;
}

/** Consumes the word of a clause. Where one that must stand is missing, what follows it is read all the same. */
function takeWord(stream: TokenStream, clause: Clause, later: readonly Clause[], owner: string): boolean {
  const word = clause.word ?? '';
  stream.offering?.addWords(`${word}${opening[clause.takes] ?? ''}`);
  if (word === 'by') takeGroup(stream);
  const enclosed = clause.takes === 'sources in parentheses';
  if ((!enclosed || stream.isSymbol('(', 1)) && stream.takeWord(word) !== undefined) return true;
  if (clause.optional === true) return false;
  const [what, where, hint] = clause.expected ?? [`\`${word}\``, 'in `$`'];
  stream.expected(what, where.replace('$', owner), hint?.replace('$', owner));
  return !atStageEnd(stream) && !later.some(each => each.word !== undefined && stream.isWord(each.word));
}

/** What completion adds to the word of a clause. */
const opening: Readonly<Partial<Record<Operand, string>>> = {
  'sources in parentheses': ' (',
  'options in parentheses': ' (',
  columns: ' (',
  range: ' range(',
};

function nothing(stream: TokenStream, { takes, optional }: Clause): OperandNodes[Operand] | undefined {
  if (takes !== 'expression' && takes !== 'sort key' && takes !== 'source') {
    const list: OperandNodes[ListOperand] = [];
    return list;
  }
  if (optional === true) return undefined;
  const { from } = stream.peek();
  const missing: Expr = { kind: 'missing', from, to: from };
  return takes === 'sort key' ? { value: missing, from, to: from } : missing;
}

type Reader<T extends Operand> = (
  stream: TokenStream,
  context: string,
  clause: Clause,
  owner: string,
  next: Clause | undefined,
) => OperandNodes[T];

/** How each operand is read. */
const readers: { readonly [T in Operand]: Reader<T> } = {
  expression: (stream, context, { level }) =>
    stream.withComparing(true, () => parseExpression(stream, context, level)),
  expressions: (stream, context) => parseList(stream, () => parseExpression(stream, context)),
  assignments: (stream, context) => parseList(stream, () => parseAssignment(stream, context)),
  'defaulted assignments': (stream, context) => parseList(stream, () => parseDefaulted(stream, context)),
  'typed assignments': (stream, context) => parseList(stream, () => parseTyped(stream, context)),
  'field patterns': (stream, context) => parseList(stream, () => expectPattern(stream, context)),
  'ordered patterns': (stream, context) => parseList(stream, () => parseOrdered(stream, context)),
  'sort key': parseSortKey,
  'sort keys': (stream, context) => parseList(stream, () => parseSortKey(stream, context)),
  source: stream => parseSource(stream),
  sources: stream => parseList(stream, () => parseSource(stream)),
  'sources in parentheses': stream => {
    stream.next();
    const tables = parseList(stream, () => parseSource(stream));
    stream.expectSymbol(')', 'to close the list of datasets');
    return tables;
  },
  options: (stream, _, clause, owner, next) => parseOptions(stream, clause, owner, next),
  'options in parentheses': (stream, _, clause, owner) => parseEnclosedOptions(stream, clause, owner),
  columns: parseColumns,
  name: (stream, context) => stream.expectName('a column name', context),
  values: parseValues,
  texts: parseTexts,
  range: parseRange,
  pieces: parsePieces,
  search: parseSearch,
};

function parseTexts(stream: TokenStream): Literal[] {
  const texts: Literal[] = [];
  if (stream.expectSymbol('[', 'before the addresses') === undefined) return texts;
  while (stream.peek().kind === 'string') {
    const token = stream.next();
    texts.push({ kind: 'literal', type: 'string', value: token.text, from: token.from, to: token.to });
    if (stream.takeSymbol(',') === undefined) break;
  }
  closeList(stream, ']', 'after the addresses');
  return texts;
}

function parseRange(stream: TokenStream): Expr[] {
  if (stream.takeWord('range') === undefined) stream.expected('`range(start, stop, step)`', 'after `in`');
  if (stream.expectSymbol('(', 'after `range`') === undefined) return [];
  return parseArguments(stream, 'range').map(argument => argument.value);
}
