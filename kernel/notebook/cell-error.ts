import { type AplPosition, QueryError } from '../api/api-errors.js';
import { redact } from '../api/failures/api-failure.js';
import type { Diagnostic } from '../apl/syntax/ast.js';
import { type CellQuery, type MagicLine, toCellOffset } from '../apl/syntax/cell.js';
import { AplKernelError } from '../errors.js';
import type { ExecuteOutcome } from '../jupyter/message.js';
import { widthOf } from '../result/display/aligned.js';
import { cut, cutWords, isolatedNames, maskedTokens, plural, visible, visibleLines } from '../text.js';
import { MagicError } from './magics/magic-arguments.js';
import { TimeRangeError } from './time-range.js';

/** An error of a cell as shown by the front end. */
export type CellFailure = Extract<ExecuteOutcome, { status: 'error' }>;

/** Position of an error in the cell: half-open UTF-16 offsets. */
interface Place {
  readonly from: number;
  readonly to: number;
}

/** Returns the failure to show for an error; if its origin is known, it points into the user's cell. */
export function failureOf(error: unknown, cell: string, origin?: CellQuery | MagicLine): CellFailure {
  const place = origin === undefined ? undefined : placeOf(error, cell, origin);
  if (error instanceof AplKernelError) {
    const first = failure(error.code, error.message, error.hint, cell, place);
    const others =
      origin !== undefined && error instanceof QueryError ? furtherErrors(error, cell, origin) : [];
    return withOthers(first, others, cell);
  }
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return failure(
    'internal-error',
    message,
    'This is a bug in the kernel: please report it with the cell that caused it.',
    cell,
  );
}

/** Returns the failure of a cell that cannot be split into queries. */
export function diagnosticFailure(diagnostic: Diagnostic, cell: string): CellFailure {
  return failure(diagnostic.code, diagnostic.message, diagnostic.hint, cell, diagnostic);
}

/** An additional error of a cell. */
interface FurtherError {
  readonly message: string;
  readonly hint: string | undefined;
  readonly place: Place | undefined;
}

/** Maximum errors shown after the first; the rest are counted. */
const maxOthers = 9;

function withOthers(first: CellFailure, others: readonly FurtherError[], cell: string): CellFailure {
  const lines = others.slice(0, maxOthers).flatMap(other => ['', ...furtherLines(other, cell)]);
  const rest = others.length - maxOthers;
  const more = rest > 0 ? ['', `and ${plural(rest, 'more error')}`] : [];
  return { ...first, traceback: [...first.traceback, ...lines, ...more] };
}

function furtherLines({ message, hint, place }: FurtherError, cell: string): readonly string[] {
  return [
    `${bold('also')}: ${said(message)}`,
    ...(place === undefined ? [] : excerpt(maskedTokens(cell), place)),
    ...(hint === undefined ? [] : [`${bold('hint')}: ${said(hint)}`]),
  ];
}

function furtherErrors(
  error: QueryError,
  cell: string,
  origin: CellQuery | MagicLine,
): readonly FurtherError[] {
  if ('args' in origin) return [];
  return error.others.map(({ position, message, hint }) => ({
    message,
    hint,
    place: placeInQuery(position, cell, origin),
  }));
}

/** Returns the failure of a cell that the user interrupted. */
export function interruptedFailure(what: string): CellFailure {
  return {
    status: 'error',
    ename: 'Interrupted',
    evalue: what,
    traceback: [`${bold('Interrupted')}: ${what}`],
  };
}

/** Returns the failure of one user expression, which is part of an `ok` reply. */
export function expressionError(name: string, message: string): CellFailure {
  return failure(name, message, undefined, '');
}

function failure(
  code: string,
  message: string,
  hint: string | undefined,
  cell: string,
  place?: Place,
): CellFailure {
  const text = said(message);
  const traceback = [`${bold(code)}: ${text}`];
  if (place !== undefined) traceback.push(...excerpt(maskedTokens(cell), place));
  if (hint !== undefined) traceback.push(`${bold('hint')}: ${said(hint)}`);
  return { status: 'error', ename: code, evalue: text.replace(/\s+/g, ' '), traceback };
}

/** Maximum length of a message or hint: 2,000 characters from a service, and the number of those omitted. */
const longestSaid = 2_100;

function said(text: string): string {
  return isolatedNames(visibleLines(cut(cutWords(redact(text)), longestSaid)));
}

function placeOf(error: unknown, cell: string, origin: CellQuery | MagicLine): Place | undefined {
  if ('args' in origin)
    return error instanceof MagicError || error instanceof TimeRangeError ? origin : undefined;
  const position = error instanceof QueryError ? error.position : undefined;
  return position === undefined ? undefined : placeInQuery(position, cell, origin);
}

/** Returns the position in the cell of a line and column in the text sent, which may begin with statements shared by the cell's queries. */
function placeInQuery(position: AplPosition, cell: string, query: CellQuery): Place {
  const starts = [0, ...[...query.text.matchAll(/\r\n|\r|\n/g)].map(match => match.index + match[0].length)];
  const line = Math.min(position.line, starts.length) - 1;
  const start = starts[line] ?? 0;
  const length = /^[^\r\n]*/.exec(query.text.slice(start))?.[0].length ?? 0;
  const before = start + Math.min(position.column - 1, length);
  const from = toCellOffset(query, before);
  const word = /^(?:\[(["']).*?\1\]|(["']).*?\2|[\w$]+|\S)/u.exec(cell.slice(from))?.[0] ?? '';
  return { from, to: from + Math.max(1, word.length) };
}

/**
 * Returns the line with the error, its number and column in the cell, and a line of carets below it. The bar after the number is not
 * the language's pipe. A long line is truncated around the error.
 */
function excerpt(cell: string, { from, to }: Place): readonly string[] {
  const at = Math.min(from, cell.length);
  const start = cell.lastIndexOf('\n', at - 1) + 1;
  const end = cell.indexOf('\n', at) < 0 ? cell.length : cell.indexOf('\n', at);
  const number = String(cell.slice(0, start).split('\n').length);
  const markedEnd = Math.min(Math.max(to, at + 1), end);
  const before = lastOf(shown(cell.slice(start, at)), mostBefore);
  const marked = cut(shown(cell.slice(at, markedEnd)), mostMarked);
  const after = marked.endsWith('…') ? '' : cut(shown(cell.slice(markedEnd, end)), mostAfter);
  const carets = '^'.repeat(Math.max(1, widthOf(marked)));
  const gutter = ' '.repeat(number.length);
  const column = [...cell.slice(start, at)].length + 1;
  return [
    `${gutter}--> line ${number}, column ${column} of the cell`,
    `${number} │ ${before}${marked}${after}`,
    `${gutter} │ ${' '.repeat(widthOf(before))}${bold(carets)}`,
  ];
}

/** Maximum characters of a line before the error, of the error, and after it. */
const mostBefore = 70;
const mostMarked = 60;
const mostAfter = 50;

/** Returns the end of a text, with an ellipsis for what was truncated; never splits a character. */
function lastOf(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `…${characters.slice(1 - most).join('')}`;
}

function shown(text: string): string {
  return visible(text.replaceAll('\t', '    ').replaceAll('\r', ''));
}

/** Bold, not red: in JupyterLab's dark theme the terminal's red is unreadable on the background of an error. */
function bold(text: string): string {
  return `\u001b[1m${text}\u001b[22m`;
}
