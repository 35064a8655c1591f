import { present } from '../../../present.js';
import type { Clause, ListOperand, Operand } from '../../operators/grammar.js';
import type { Expr, Literal, OperandNodes } from '../ast.js';
import { literal, missing } from '../nodes.js';
import type { TokenStream } from '../tokens/token-stream.js';
import { parseArguments, parseExpression } from './read-expression.js';
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
} from './read-items.js';
import { parseEnclosedOptions, parseOptions, parseWord } from './read-options.js';
import { expectPattern } from './read-pattern.js';
import { noStages, parseStages } from './read-pipeline.js';
import { parseSearch } from './read-search.js';
import { parseSource } from './read-source.js';
import { orderAdvice, takeGroup, takeUsing } from './typos.js';

/** A node to which `parseClauses` adds the properties of the clauses of its row. */
export type OpenNode = Record<string, unknown>;

/** Parses the clauses of a row into the properties of its node; `owner` is the word as written. */
export function parseClauses(
  stream: TokenStream,
  clauses: readonly Clause[],
  owner: string,
  node: OpenNode,
): void {
  const { clause: outerClause, call: outerCall } = stream;
  for (const step of stepsOf(clauses, owner)) {
    stream.clause = step.clause;
    stream.call = undefined;
    const value = parseStep(stream, step);
    if (value !== undefined) node[step.clause.name] = value;
  }
  stream.clause = outerClause;
  stream.call = outerCall;
}

/** A clause of an operator as written, with properties derived from its position in the row. */
interface Step {
  readonly clause: Clause;
  readonly owner: string;
  /** Completes "expected an expression …". */
  readonly context: string;
  readonly laterWords: readonly string[];
  /** Next required clause. */
  readonly next: Clause | undefined;
}

/** Cached for each row and each of its words: a long query has thousands of operators. */
const knownSteps = new Map<readonly Clause[], Map<string, readonly Step[]>>();

function stepsOf(clauses: readonly Clause[], owner: string): readonly Step[] {
  const byOwner = knownSteps.get(clauses) ?? new Map<string, readonly Step[]>();
  const known = byOwner.get(owner);
  if (known !== undefined) return known;
  const steps = clauses.map((clause, index) => toStep(clause, owner, clauses.slice(index + 1)));
  knownSteps.set(clauses, byOwner.set(owner, steps));
  return steps;
}

function toStep(clause: Clause, owner: string, later: readonly Clause[]): Step {
  return {
    clause,
    owner,
    context: (clause.context ?? `after \`${clause.word ?? '$'}\``).replace('$', owner),
    laterWords: later.flatMap(({ word }) => (word === undefined ? [] : [word])),
    next: later.find(each => each.optional !== true),
  };
}

function parseStep(stream: TokenStream, step: Step): OperandNodes[Operand] | undefined {
  const { clause } = step;
  const absent = clause.word === undefined ? isAbsent(stream, clause) : !takeWord(stream, step);
  return absent ? nothing(stream, clause) : readers[clause.takes](stream, step.context, step);
}

function isAbsent(stream: TokenStream, clause: Clause): boolean {
  if (clause.absentBefore !== undefined && stream.isKeyword(clause.absentBefore)) return true;
  return clause.optional === true && atStageEnd(stream) && stream.offering === undefined;
}

/** Consumes the word of a clause. If a required word is missing, the content is still read. */
function takeWord(stream: TokenStream, { clause, owner, laterWords }: Step): boolean {
  const word = clause.word ?? '';
  stream.offering?.addWords(`${word}${opening[clause.takes] ?? ''}`);
  if (word === 'by') takeGroup(stream);
  const enclosed = clause.takes === 'sources in parentheses';
  if ((!enclosed || stream.isSymbol('(', 1)) && stream.takeKeyword(word) !== undefined) return true;
  if (clause.optional === true) return false;
  if (word === 'on' && takeUsing(stream)) return true;
  const [what, where, hint] = clause.expected ?? [`\`${word}\``, 'in `$`'];
  const advice = word === 'by' ? orderAdvice(stream) : undefined;
  const said = {
    hint: hint?.replace('$', owner) ?? '',
    ...present({ instead: advice?.instead, to: advice?.to }),
  };
  stream.expected(what, where.replace('$', owner), hint === undefined ? undefined : said);
  return !atStageEnd(stream) && !laterWords.some(later => stream.isWord(later));
}

/** Suffixes that completion adds to a clause's word. */
const opening: Readonly<Partial<Record<Operand, string>>> = {
  'sources in parentheses': ' (',
  stages: ' (',
  'options in parentheses': ' (',
  columns: ' (',
  range: ' range(',
};

function nothing(stream: TokenStream, { takes, optional }: Clause): OperandNodes[Operand] | undefined {
  if (takes === 'stages') return noStages(stream.peek());
  if (takes !== 'expression' && takes !== 'sort key' && takes !== 'source') {
    const list: OperandNodes[ListOperand] = [];
    return list;
  }
  if (optional === true) return undefined;
  const { from } = stream.peek();
  const value = missing({ from, to: from });
  return takes === 'sort key' ? { value, from, to: from } : value;
}

type Reader<T extends Operand> = (stream: TokenStream, context: string, step: Step) => OperandNodes[T];

/** Reader of each operand. */
const readers: { readonly [T in Operand]: Reader<T> } = {
  expression: parseCondition,
  expressions: (stream, context) =>
    parseList(stream, () => stream.withComparing(true, parseExpression, context)),
  assignments: (stream, context, { laterWords }) =>
    parseList(stream, () => parseAssignment(stream, context), laterWords),
  'defaulted assignments': (stream, context, { laterWords }) =>
    parseList(stream, () => parseDefaulted(stream, context), laterWords),
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
  stages: parseStages,
  options: (stream, _, { clause, owner, next }) => parseOptions(stream, clause, owner, next),
  'options in parentheses': (stream, _, { clause, owner }) => parseEnclosedOptions(stream, clause, owner),
  columns: parseColumns,
  name: (stream, context) => stream.expectName('a column name', context),
  word: (stream, context, { clause, owner }) => parseWord(stream, clause, owner, context),
  values: parseValues,
  texts: parseTexts,
  range: parseRange,
  pieces: parsePieces,
  search: parseSearch,
};

/** Parses an expression in which `=` can only be a typo for `==`. */
function parseCondition(stream: TokenStream, context: string, { clause }: Step): Expr {
  return stream.withComparing(true, clause.level === 'sum' ? parseSum : parseExpression, context);
}

function parseSum(stream: TokenStream, context: string): Expr {
  return parseExpression(stream, context, 'sum');
}

function parseTexts(stream: TokenStream): Literal[] {
  const texts: Literal[] = [];
  if (stream.expectSymbol('[', 'before the addresses') === undefined) return texts;
  while (stream.peek().kind === 'string') {
    const token = stream.next();
    texts.push(literal('string', token.text, token));
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
