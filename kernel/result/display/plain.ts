/**
 * A result as aligned plain text for terminals, consoles and diffs.
 */
import type { Vector } from 'apache-arrow';
import { isolated, shownName, visible } from '../../text.js';
import { FIELD_KEY } from '../field.js';
import type { ArrowTable, Notice, QueryResult } from '../result.js';
import { alignedLines, cutToWidth, GAP, widthOf, wrapped } from './aligned.js';
import { formatNumber, numberFormat } from './display-format.js';
import { isNumeric, shownText } from './display-text.js';
import { shownRows } from './html.js';
import {
  firstShown,
  footerParts,
  heading,
  isTotals,
  resultNotices,
  tableLabel,
  tableSize,
  totalsNotices,
} from './summary.js';
import { COMPARED, figuresAcross } from './transposed.js';

/** Limits on the rendered part of a result. */
export interface PlainLimits {
  /** The longest table that is shown completely, in rows. */
  readonly rows: number;
  /** Rows shown of a longer table. */
  readonly head: number;
  /** Width of a line in the terminal: a line reports the columns beyond it; sentences wrap. */
  readonly width: number;
}

export const PLAIN_LIMITS: PlainLimits = { rows: 50, head: 30, width: 160 };

/** Maximum width of a value in the terminal; longer ones end in an ellipsis. */
const MAX_CELL_WIDTH = 50;

/** Returns a result as text: notices, size and range, the aligned table, its totals, the footer; no escape sequence survives. */
export function toPlain(result: QueryResult, limits: PlainLimits = PLAIN_LIMITS): string {
  const notices = resultNotices(result).map(noticeLine);
  const tables = result.tables.flatMap((table, index) => tableLines(table, result, index, limits));
  const footer = footerParts(result).join(' \u00b7 ');
  return [...sentences(notices, limits), ...tables, ...sentences([footer], limits)].join('\n');
}

function sentences(texts: readonly string[], { width }: PlainLimits): readonly string[] {
  return texts.map(text => wrapped(text, width));
}

/** Returns the line of a notice. Backticks mark code for front ends that render it; here they would only be noise. */
function noticeLine({ level, text }: Notice): string {
  return `${level === 'warn' ? 'Warning' : 'Note'}: ${text.replace(/`([^`]+)`/g, (_, name: string) => isolated(name))}`;
}

function tableLines(
  table: ArrowTable,
  result: QueryResult,
  index: number,
  limits: PlainLimits,
): readonly string[] {
  const { numRows, numCols } = table.data;
  const figures = figuresAcross(result, table);
  if (figures !== undefined)
    return [...sentences([heading(table, result).join(' \u00b7 ')], limits), ...acrossLines(table, figures)];
  const rows = shownRows(numRows, limits);
  const columns = fittingColumns(table, rows, limits.width);
  const words = index === 0 ? heading(table, result) : [tableLabel(table, index), tableSize(table)];
  const cuts = [
    ...(rows < numRows ? [`${firstShown(rows, numRows, 'row')}.`] : []),
    ...(columns.length < numCols ? [`${firstShown(columns.length, numCols, 'column')}.`] : []),
  ];
  const notices = isTotals(table) ? totalsNotices(result).map(noticeLine) : [];
  const said = sentences([words.join(' \u00b7 '), ...notices, ...cuts], limits);
  return [...said, ...linesOf(columns, rows)];
}

/** Returns one row of figures, with a line for each. */
function acrossLines({ data }: ArrowTable, figures: readonly number[]): readonly string[] {
  const columns = data.schema.fields.map((field, index) =>
    textColumn(data.getChildAt(index) as Vector, field, 1),
  );
  const lines = figures.map(place => [
    columns[place]?.head ?? '',
    ...columns.slice(place, place + COMPARED.length).map(({ cells }) => cells[0] ?? ''),
  ]);
  return alignedLines([['', ...COMPARED], ...lines], [false, ...COMPARED.map(() => true)]);
}

interface TextColumn {
  readonly head: string;
  readonly cells: readonly string[];
  readonly width: number;
  readonly numeric: boolean;
}

/** Returns columns from the left that fit the line, at least one. */
function fittingColumns({ data }: ArrowTable, rows: number, width: number): readonly TextColumn[] {
  const columns: TextColumn[] = [];
  let used = 0;
  for (const index of data.schema.fields.keys()) {
    const column = textColumn(data.getChildAt(index) as Vector, data.schema.fields[index] as Field, rows);
    used += column.width + (columns.length > 0 ? GAP.length : 0);
    if (used > width && columns.length > 0) break;
    columns.push(column);
  }
  return columns;
}

type Field = ArrowTable['data']['schema']['fields'][number];

function textColumn(vector: Vector, field: Field, rows: number): TextColumn {
  const unit = field.metadata.get(FIELD_KEY.unit);
  const name = shownName(field.name);
  const head = cutToWidth(unit === undefined ? name : `${name} (${visible(unit)})`, MAX_CELL_WIDTH);
  const format = numberFormat(field, vector, { units: false });
  const cells = Array.from({ length: rows }, (_, row) =>
    cutToWidth(formatNumber(shownText(vector, row, field).text, format), MAX_CELL_WIDTH),
  );
  const width = cells.reduce((widest, cell) => Math.max(widest, widthOf(cell)), widthOf(head));
  return { head, cells, width, numeric: isNumeric(field) };
}

function linesOf(columns: readonly TextColumn[], rows: number): readonly string[] {
  const body = Array.from({ length: rows }, (_, row) => columns.map(column => column.cells[row] as string));
  const head = columns.map(column => column.head);
  const rule = columns.map(column => '\u2500'.repeat(column.width));
  return alignedLines(
    [head, rule, ...body],
    columns.map(column => column.numeric),
  );
}
