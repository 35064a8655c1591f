/** Conditions made by clicking: a value of a result becomes a `where` line in the query that returned it. */
import { writtenName } from '../catalog/written.js';
import { type CellQuery, parseCell, toCellOffset } from '../syntax/cell.js';
import { withoutRender } from '../syntax/readers/charting.js';
import { tokenize } from '../syntax/tokens/lexer.js';
import { writtenText } from '../syntax/tokens/quote.js';

/** A column of a result: its name, and its type as the service declares it. */
export interface ResultColumn {
  readonly name: string;
  readonly type: string;
}

/** An insertion into the text of a cell. */
export interface Insertion {
  readonly at: number;
  readonly text: string;
}

/** Returns the condition that keeps the rows with a value, given as its exact text (null for a null), or that leaves them out. */
export function conditionFor({ name, type }: ResultColumn, value: string | null, keep: boolean): string {
  const field = writtenName(name);
  if (value === null) return keep ? `isnull(${field})` : `isnotnull(${field})`;
  const is = keep ? '==' : '!=';
  switch (type) {
    case 'datetime':
      return `${field} ${is} datetime(${value})`;
    case 'timespan':
      return `${field} ${is} totimespan(${writtenText(value)})`;
    case 'integer':
    case 'long':
    case 'int':
      return `${field} ${is} ${value}`;
    case 'float':
    case 'real':
    case 'double':
      return realCondition(field, value, keep);
    case 'boolean':
    case 'bool':
      return `${field} ${is} ${value}`;
    case 'string':
      return `${field} ${is} ${writtenText(value)}`;
    default:
      return `tostring(${field}) ${is} ${writtenText(value)}`;
  }
}

/**
 * Returns where `| where condition` goes in a cell: after the last word of the query that was run, or of the last query when
 * the cell has changed since; undefined when the cell holds no query.
 */
export function whereLine(source: string, query: string, condition: string): Insertion | undefined {
  const { queries } = parseCell(source);
  const sent = (each: CellQuery) => withoutRender(each.text).text;
  const target = queries.find(each => each.text === query || sent(each) === query) ?? queries.at(-1);
  if (target === undefined) return undefined;
  const last = tokenize(sent(target)).findLast(({ kind, text }) => kind !== 'comment' && text !== ';');
  if (last === undefined) return undefined;
  return { at: toCellOffset(target, last.to - 1) + 1, text: `\n| where ${condition}` };
}

function realCondition(field: string, value: string, keep: boolean): string {
  const negated = (condition: string) => (keep ? condition : `not(${condition})`);
  if (value === 'NaN') return negated(`isnan(${field})`);
  if (!value.endsWith('Infinity')) return `${field} ${keep ? '==' : '!='} ${value}`;
  return negated(`isinf(${field}) and ${field} ${value.startsWith('-') ? '<' : '>'} 0`);
}
