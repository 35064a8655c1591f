/** Finds the position for a `where` line in the query behind a result: before any operator that would make it filter something else. */
import { present } from '../../present.js';
import { isRowFunction } from '../catalog/row-functions.js';
import type { Assignment, Operator, Pipeline } from '../syntax/ast.js';
import { type CellQuery, parseCell, toCellOffset } from '../syntax/cell.js';
import { parseQuery } from '../syntax/parse.js';
import { withoutRender } from '../syntax/readers/charting.js';
import { visitOperator } from '../syntax/syntax-walk.js';
import { tokenize } from '../syntax/tokens/lexer.js';

/** A `where` line to insert into a cell. */
export interface WhereLine {
  readonly at: number;
  readonly text: string;
  /** The operator after the line; absent for a line at the end. */
  readonly before?: string;
  /** The operator whose output the line filters, if its rows are fewer than the data's or different. */
  readonly after?: string;
}

/**
 * Returns the position of a condition on a result's field in a cell: in the query that was run, or in the last query if the cell has
 * changed since; undefined if the cell has no query.
 */
export function whereLine(
  source: string,
  query: string,
  field: string,
  condition: string,
): WhereLine | undefined {
  const { queries } = parseCell(source);
  const sent = (each: CellQuery) => withoutRender(each.parsed).query.text;
  const target = queries.find(each => each.text === query || sent(each) === query) ?? queries.at(-1);
  if (target === undefined) return undefined;
  const text = sent(target);
  const place = placeOf(field, pipelineOf(text)?.operators ?? []);
  const written = place.next === undefined ? atEnd(text, condition) : before(place.next, text, condition);
  if (written === undefined) return undefined;
  const wordsOf = ({ from, to }: Operator) => text.slice(from, to).replace(/\s+/g, ' ').trim();
  return {
    at: toCellOffset(target, written.after - 1) + 1,
    text: written.text,
    ...present({ before: place.next && wordsOf(place.next), after: place.reducer && wordsOf(place.reducer) }),
  };
}

interface Place {
  /** The operator after the line. */
  readonly next?: Operator;
  /** The last operator before the line that returns fewer or different rows than it reads. */
  readonly reducer?: Operator;
}

/** Walks back from the end, past operators that pass the field on, to the first one that selects rows. */
function placeOf(field: string, operators: readonly Operator[]): Place {
  const first = operators.findLastIndex(operator => !keeps(operator, field)) + 1;
  const next = operators.slice(first).find(isReducer);
  const end = next === undefined ? operators.length : operators.indexOf(next);
  const reducer = operators.slice(0, end).findLast(isReducer);
  return present({ next, reducer });
}

function pipelineOf(text: string): Pipeline | undefined {
  const statement = parseQuery(text).query.statements.findLast(({ kind }) => kind === 'query');
  return statement?.kind === 'query' ? statement.pipeline : undefined;
}

interface Written {
  /** Offset to insert the line at. */
  readonly after: number;
  readonly text: string;
}

function atEnd(text: string, condition: string): Written | undefined {
  const last = tokenize(text).findLast(token => token.kind !== 'comment' && token.text !== ';');
  return last && { after: last.to, text: `\n| where ${condition}` };
}

/** Inserts before an operator, on a line of its own if the operator has one. */
function before({ word }: Operator, text: string, condition: string): Written | undefined {
  const tokens = tokenize(text.slice(0, word.from)).filter(({ kind }) => kind !== 'comment');
  const pipe = tokens.at(-1);
  const last = tokens.at(-2);
  if (pipe === undefined || last === undefined) return undefined;
  const isOwnLine = text.slice(last.to, pipe.from).includes('\n');
  return { after: last.to, text: isOwnLine ? `\n| where ${condition}` : ` | where ${condition}` };
}

/** True if an operator passes the field on unchanged, whichever rows it reads. */
export function keeps(operator: Operator, field: string): boolean {
  return !readsRowsAround(operator) && passesOn(operator, field);
}

/** True if an expression such as `prev` depends on which rows there are. */
function readsRowsAround(operator: Operator): boolean {
  let found = false;
  visitOperator(operator, {
    expr: each => {
      found ||= each.kind === 'call' && isRowFunction(each.callee.name);
    },
  });
  return found;
}

function passesOn(operator: Operator, field: string): boolean {
  switch (operator.kind) {
    case 'where':
    case 'sort':
    case 'sample':
    case 'limit':
    case 'top':
    case 'project-away':
    case 'project-keep':
    case 'project-reorder':
    case 'render':
    case 'as':
      return true;
    case 'extend':
    case 'extend-valid':
    case 'project-rename':
      return !operator.items.some(item => defines(item, field));
    case 'serialize':
      return operator.items?.some(item => defines(item, field)) !== true;
    case 'project':
      return isPassed(operator.items, field);
    case 'distinct':
      return isStar(operator.items) || isPassed(operator.items, field);
    case 'summarize':
    case 'make-series':
      return isPassed(operator.by, field);
    case 'mv-apply':
    case 'mv-expand':
      return operator.items.every(item => !names(item, field) && !isName(item, field));
    case 'parse':
    case 'parse-where':
      return !operator.pieces.some(piece => piece.kind === 'field' && piece.name.name === field);
    case 'parse-kv':
      return operator.columns.every(({ name }) => name.name !== field);
    case 'search':
      return operator.tables.length === 0;
    case 'count':
    case 'getschema':
    case 'redact':
    case 'join':
    case 'lookup':
    case 'union':
    case 'unknown':
      return false;
  }
}

/** Operators after which a condition filters only some of the rows, or groups of them. */
const reducers: ReadonlySet<Operator['kind']> = new Set([
  ...(['limit', 'top', 'distinct', 'summarize', 'make-series', 'count', 'getschema'] as const),
]);

function isReducer({ kind }: Operator): boolean {
  return reducers.has(kind);
}

/** True for an item that may give the field's name to another value: an unnamed item is named after its value. */
function defines(item: Assignment, field: string): boolean {
  return item.names.length === 0 ? !isName(item, field) : names(item, field);
}

function names(item: Assignment, field: string): boolean {
  return item.names.some(({ name }) => name === field);
}

function isName({ value }: Assignment, field: string): boolean {
  return value.kind === 'name' && value.name === field;
}

/** True if one item is the field itself under its own name, and no other has that name. */
function isPassed(items: readonly Assignment[], field: string): boolean {
  const isSelf = (item: Assignment) => isName(item, field) && (item.names.length === 0 || names(item, field));
  return items.some(isSelf) && !items.some(item => !isSelf(item) && names(item, field));
}

function isStar(items: readonly Assignment[]): boolean {
  return items.length === 1 && items[0]?.value.kind === 'star';
}
