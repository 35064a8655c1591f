import { oneLine } from '../../../text.js';
import { mendedStage } from '../../hints/mended.js';
import { operatorNamed } from '../../operators/operator-rows.js';
import type { Operator, Pipeline, Source, Span } from '../ast.js';
import { limits } from '../syntax-limits.js';
import type { TokenStream } from '../tokens/token-stream.js';
import { type OpenNode, parseClauses } from './clauses.js';
import { atStageEnd, closeList } from './read-items.js';
import { parseSource, tooDeep as tooDeepSource } from './read-source.js';
import { operatorAdvice, separatorAdvice, startsQuery } from './separators.js';
import { takeCounted, takeHints, takeSqlComment } from './typos.js';

/** Parses a source and the operators after it, up to `)`, `;` or the end. */
export function parsePipeline(stream: TokenStream): Pipeline {
  return stream.nested(
    inner =>
      apart(inner, () => {
        const { from } = inner.peek();
        const source = parseSource(inner);
        const operators = parseOperators(inner);
        return { source, operators, from, to: inner.lastEnd };
      }),
    tooDeep,
  );
}

/** Parses `(operator | …)`, over the rows of the enclosing operator. */
export function parseStages(stream: TokenStream): Pipeline {
  const opening = stream.expectSymbol('(', 'before the operators');
  if (opening === undefined) return noStages(stream.peek());
  return stream.nested(
    inner =>
      apart(inner, () => {
        const source: Source = { kind: 'given', from: opening.to, to: opening.to };
        inner.takeSymbol('|');
        inner.offer({ kind: 'operator', piped: true });
        const first = parseOperator(inner);
        const operators = [first, ...parseOperators(inner)];
        const to = Math.max(inner.lastEnd, opening.to);
        closeList(inner, ')', 'to close the operators');
        return { source, operators, from: opening.to, to };
      }),
    tooDeep,
  );
}

/** Returns a pipeline in place of missing operators. */
export function noStages({ from }: Span): Pipeline {
  const span = { from, to: from };
  return { source: { kind: 'given', ...span }, operators: [], ...span };
}

/** Parses a subquery without the enclosing clause and call, which do not apply inside it. */
function apart<T>(stream: TokenStream, parse: () => T): T {
  const { clause, call } = stream;
  stream.clause = undefined;
  stream.call = undefined;
  const parsed = parse();
  stream.clause = clause;
  stream.call = call;
  return parsed;
}

/** Parses the `| operator …` stages after a source; those beyond the limit are skipped. */
export function parseOperators(stream: TokenStream): Operator[] {
  const operators: Operator[] = [];
  for (;;) {
    takeStraySemicolon(stream);
    takeSqlComment(stream);
    stream.offer({ kind: 'operator', piped: false });
    if (stream.takeSymbol('|') === undefined && !missingPipe(stream, operators.at(-1))) return operators;
    takeSqlComment(stream);
    if (operators.length === limits.stages.most) {
      stream.reportLimit(stream.peek(), limits.stages);
      stream.skipTo(';');
      return operators;
    }
    operators.push(parseStage(stream));
    const last = operators.at(-1);
    if (atStageEnd(stream) || (startsOperator(stream) && !isAlias(stream, last)) || takeSqlComment(stream))
      continue;
    stream.expected('`|`', 'before the next operator', separatorAdvice(stream, last));
    stream.skipTo(...(startsQuery(stream) ? [] : ['|']), ';');
    if (stream.isSymbol(')') || stream.isSymbol(']') || stream.isSymbol('}')) return operators;
  }
}

/** Parses an operator; an invalid stage in another tool's syntax is reported as a whole, with its APL translation. */
function parseStage(stream: TokenStream): Operator {
  const { from } = stream.peek();
  const operator = parseOperator(stream);
  if (
    stream.offering !== undefined ||
    (atStageEnd(stream) && !stream.hasErrorIn({ from, to: stream.lastEnd }))
  )
    return operator;
  const { mark } = stream;
  stream.skipTo('|', ';');
  const span = { from, to: stream.lastEnd };
  const instead = mendedStage(stream.source.slice(from, span.to));
  if (instead === undefined) {
    stream.rewind(mark);
    return operator;
  }
  stream.forget(span);
  const hint = `Write \`| ${oneLine(instead, 60)}\`.`;
  stream.report('error', 'foreign-operator', span, 'APL writes this stage differently', hint, instead);
  return { kind: 'unknown', word: { from, to: from }, ...span };
}

function startsOperator(stream: TokenStream): boolean {
  const word = stream.hyphenatedWord();
  return word !== undefined && operatorNamed(word.text) !== undefined;
}

/** True for an operator without a pipe, which is read as if the pipe were there. */
function missingPipe(stream: TokenStream, last: Operator | undefined): boolean {
  if (!startsOperator(stream) || isAlias(stream, last)) return false;
  const token = stream.peek();
  if (last?.kind === 'summarize' && token.text === 'count' && stream.isSymbol('(', 1)) {
    const message = '`count()` must come before the groups';
    stream.report('error', 'missing-pipe', token, message, 'Write `summarize count() by …`.');
    return true;
  }
  const message = `missing \`|\` before \`${token.text}\``;
  stream.report('error', 'missing-pipe', token, message, undefined, `| ${token.text}`);
  return true;
}

/** True for `extend x = y as int`, which is not an `as` operator. */
function isAlias(stream: TokenStream, last: Operator | undefined): boolean {
  return stream.isWord('as') && !stream.startsLine && (last?.kind === 'extend' || last?.kind === 'project');
}

interface Word {
  readonly text: string;
  readonly span: Span;
  readonly tokens: number;
}

function parseOperator(stream: TokenStream): Operator {
  const written = stream.hyphenatedWord();
  if (written === undefined) return missingOperator(stream);
  const word = inLowerCase(stream, written);
  const known = operatorNamed(word.text) === undefined ? shorterWord(stream, word) : word;
  const named = known === undefined ? undefined : operatorNamed(known.text);
  if (known === undefined || named === undefined) {
    stream.skip(word.tokens);
    stream.skipTo('|', ';');
    return { kind: 'unknown', word: word.span, from: word.span.from, to: stream.lastEnd };
  }
  stream.skip(known.tokens);
  takeHints(stream);
  if (named.row.clauses.length === 0) takeCounted(stream, known.span);
  if (named.row.old?.includes(known.text) === true) reportOldSpelling(stream, known, named.kind);
  const node: OpenNode = { kind: named.kind, word: known.span, from: known.span.from, to: known.span.to };
  parseClauses(stream, named.row.clauses, known.text, node);
  node.to = Math.max(stream.lastEnd, known.span.to);
  // The row determines the node's properties, and its type is derived from the same row.
  return node as unknown as Operator;
}

/** Returns and reports an operator's word in lower case if it is in capitals, else the word as written. */
function inLowerCase(stream: TokenStream, word: Word): Word {
  const text = word.text.toLowerCase();
  if (text === word.text || operatorNamed(text) === undefined) return word;
  stream.reportSpelling(word.span, text);
  return { ...word, text };
}

function reportOldSpelling(stream: TokenStream, { text, span }: Word, today: string): void {
  const message = `\`${text}\` is an old spelling`;
  stream.report('hint', 'old-spelling', span, message, `Write \`${today}\`.`, today);
}

/**
 * Returns the operator without its suffix: `limit-n` is not an operator, but `limit` is; in `top-nested 3 of x` the text after it shows
 * that the whole is one word.
 */
function shorterWord(stream: TokenStream, { tokens }: Word): Word | undefined {
  const { text, from, to } = stream.peek();
  if (['word', 'number', 'string'].includes(stream.peek(tokens).kind)) return undefined;
  return operatorNamed(text) === undefined ? undefined : { text, span: { from, to }, tokens: 1 };
}

function missingOperator(stream: TokenStream): Operator {
  const { from } = stream.peek();
  stream.offer({ kind: 'operator', piped: true });
  stream.expected('an operator', 'after `|`', operatorAdvice(stream));
  if (stream.takeSymbol('|') === undefined || !startsOperator(stream)) stream.skipTo('|', ';');
  else return parseOperator(stream);
  return { kind: 'unknown', word: { from, to: from }, from, to: Math.max(from, stream.lastEnd) };
}

/** Reports the semicolon in `T; | where …`: it is a typo, as nothing can start with a pipe. */
function takeStraySemicolon(stream: TokenStream): void {
  if (!stream.isSymbol(';') || !stream.isSymbol('|', 1)) return;
  const token = stream.next();
  stream.report(
    'warning',
    'stray-semicolon',
    token,
    'the `;` ends the query, but a pipe follows',
    'Remove it: it is ignored here.',
    '',
  );
}

function tooDeep(stream: TokenStream): Pipeline {
  const source = tooDeepSource(stream);
  return { source, operators: [], from: source.from, to: source.to };
}
