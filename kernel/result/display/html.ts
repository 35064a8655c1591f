/**
 * A result as one HTML fragment without scripts: readable in JupyterLab and in an exported page, light and dark, with all
 * characters of the data escaped.
 */
import { DataType, type Field, type Vector } from 'apache-arrow';
import { cut, escapeHtml, NO_LATEX, plural, shownName, withCode } from '../../text.js';
import { BESIDE_STYLE, besideClass, type Column, UNDER_CHART } from '../beside.js';
import { FIELD_KEY } from '../field.js';
import type { ArrowTable, Notice, QueryResult } from '../result.js';
import { formatNumber, type NumberFormat, numberFormat } from './display-format.js';
import { STYLE_CLASS, STYLE_SHEET } from './display-style.js';
import { isNumeric, shownText, typeWord } from './display-text.js';
import {
  firstShown,
  footerParts,
  type HeadingPart,
  headingParts,
  isTotals,
  resultNotices,
  safeWords,
  tableLabel,
  tableSize,
  totalsNotices,
} from './summary.js';
import { COMPARED, figuresAcross } from './transposed.js';

/** Limits on the rendered part of a result. */
export interface HtmlLimits {
  /** The longest table that is shown completely, in rows. */
  readonly rows: number;
  /** Rows shown of a longer table. */
  readonly head: number;
  /** Maximum bytes of cells; a notice reports the rows beyond. */
  readonly bytes: number;
}

/** Limits that keep a saved notebook small enough to review and send; the kernel and the Arrow data hold more. */
export const HTML_LIMITS: HtmlLimits = { rows: 100, head: 30, bytes: 64 * 1024 };

/** Maximum length of a value in its cell, and in the tooltip of a cut value. */
const CELL_LENGTH = 100;
const TITLE_LENGTH = 2_000;
/** Maximum number of notices shown; the remaining ones are counted. */
const MAX_NOTICES = 20;
/** With at least this many columns, the first stays in view while the others scroll. */
const PINNED_FROM = 12;
/** Share of the bytes for each table after the first, such as totals. */
const SECONDARY_SHARE = 0.125;

/** Returns the HTML of a result: notices, size and range, the table in a scroll box, its totals folded, the footer. */
export function toHtml(
  result: QueryResult,
  limits: HtmlLimits = HTML_LIMITS,
  place: { readonly column?: Column; readonly isUnderChart?: boolean } = {},
): string {
  const secondary = { ...limits, bytes: limits.bytes * SECONDARY_SHARE };
  const blocks = result.tables.map((table, index) =>
    tableBlock(table, result, index, index === 0 ? limits : secondary),
  );
  const cutNotices = blocks.flatMap(block => block.notices);
  const body = [
    noticeList([...resultNotices(result), ...cutNotices]),
    ...(blocks.length === 0
      ? ['<p class="apl-size">The query returned no table.</p>']
      : blocks.map(block => block.html)),
    `<p class="apl-foot">${footerParts(result).map(escapeHtml).join(SEPARATOR)}</p>`,
  ].join('\n');
  const { column, isUnderChart } = place;
  const classes =
    column === undefined ? '' : ` ${besideClass(column)}${isUnderChart === true ? ` ${UNDER_CHART}` : ''}`;
  const style = column === undefined ? STYLE_SHEET : `${STYLE_SHEET}\n${BESIDE_STYLE}`;
  return `<div class="${STYLE_CLASS} ${NO_LATEX}${classes}">\n<style>${style}</style>\n${body}\n</div>`;
}

/** Inline, since front ends drop style sheets from untrusted notebooks. */
const BOX_STYLE = 'max-height:420px;overflow:auto';
const HEAD_NUMERIC = 'text-align:right;vertical-align:bottom;white-space:pre;border-bottom:1px solid';
const HEAD_TEXT = HEAD_NUMERIC.replace('right', 'left');
const TEXT_STYLE = ' style="text-align:left"';
const TIME_STYLE = ' style="text-align:left;white-space:nowrap"';

const SEPARATOR = ' <span class="apl-dot">\u00b7</span> ';

/** A notice with advice that only applies in the notebook; pages made from the notebook leave the advice out. */
interface CutNotice extends Notice {
  readonly advice?: string;
}

function noticeList(notices: readonly CutNotice[]): string {
  if (notices.length === 0) return '';
  const hidden = notices.length - MAX_NOTICES;
  const items = notices
    .slice(0, MAX_NOTICES)
    .map(({ level, text, advice }) => `<li class="apl-${level}">${withCode(text)}${adviceHtml(advice)}</li>`);
  if (hidden > 0) items.push(`<li class="apl-info">${plural(hidden, 'more notice')}.</li>`);
  return `<ul class="apl-notices">${items.join('')}</ul>`;
}

function adviceHtml(advice: string | undefined): string {
  return advice === undefined ? '' : `<span class="apl-advice">${withCode(advice)}</span>`;
}

interface TableBlock {
  readonly html: string;
  readonly notices: readonly CutNotice[];
}

function tableBlock(table: ArrowTable, result: QueryResult, index: number, limits: HtmlLimits): TableBlock {
  const columns = columnsOf(table);
  const figures = figuresAcross(result, table);
  if (figures !== undefined) return { notices: [], html: across(columns, figures, table, result) };
  const head = headCells(columns, table, limits.bytes / 2);
  const shownColumns = columns.slice(0, head.length);
  const { rows, html } = bodyRows(shownColumns, table.data.numRows, limits, head.join('').length);
  const { numRows, numCols } = table.data;
  const label = tableLabel(table, index);
  const pinned = shownColumns.length >= PINNED_FROM ? ' apl-pinned' : '';
  const box = boxHtml(`${label}, ${tableSize(table)}`, pinned, head, html);
  return {
    notices: [
      ...(rows < numRows ? [rowsCut(index === 0 ? '' : `${label}: `, rows, numRows, limits)] : []),
      ...(head.length < numCols ? [columnsCut(head.length, numCols)] : []),
    ],
    html:
      index === 0 ? `${headingHtml(headingParts(table, result))}\n${box}` : folded(table, result, label, box),
  };
}

/** Renders one row of figures with a line for each: a comparison of several figures is wider than any page. */
function across(
  columns: readonly HtmlColumn[],
  figures: readonly number[],
  table: ArrowTable,
  result: QueryResult,
): string {
  const head = COMPARED.map(word => `<th scope="col" style="${HEAD_NUMERIC}">${word}</th>`);
  const lines = figures.map(place => {
    const cells = columns.slice(place, place + COMPARED.length).map(column => bodyCell(column, 0));
    const [{ field }] = columns.slice(place) as [HtmlColumn];
    const name = escapeHtml(cut(shownName(field.name), CELL_LENGTH));
    return `<tr><th scope="row"${TEXT_STYLE}>${name}</th>${cells.join('')}</tr>`;
  });
  const box = boxHtml(`Result, ${tableSize(table)}`, ' apl-across', ['<td></td>', ...head], lines.join('\n'));
  return `${headingHtml(headingParts(table, result))}\n${box}`;
}

/** Renders a table in its scroll box; `look` is an additional class after a space, or empty. */
function boxHtml(caption: string, look: string, head: readonly string[], body: string): string {
  const name = escapeHtml(caption);
  return [
    `<div class="apl-box" style="${BOX_STYLE}" role="region" aria-label="${name}" tabindex="0">`,
    `<table class="apl-table${look}" style="table-layout:auto">`,
    `<caption style="text-align:left">${name}</caption>`,
    `<thead><tr>${head.join('')}</tr></thead>`,
    `<tbody>\n${body}</tbody></table></div>`,
  ].join('\n');
}

function headingHtml(parts: readonly HeadingPart[]): string {
  // Lines break between the parts if possible.
  const words = parts.map(({ text, title }) => {
    const attribute = title === undefined ? '' : ` title="${escapeHtml(title)}"`;
    return `<span${attribute}>${escapeHtml(text)}</span>`;
  });
  return `<p class="apl-size">${words.join(SEPARATOR)}</p>`;
}

/** Renders details that few readers need: opened by a click, and always printed. */
function folded(table: ArrowTable, result: QueryResult, label: string, box: string): string {
  const notices = isTotals(table) ? noticeList(totalsNotices(result)) : '';
  const words = [label, tableSize(table)].map(escapeHtml).join(SEPARATOR);
  return `<details class="apl-more"><summary>${words}</summary>\n${notices}${box}</details>`;
}

function rowsCut(where: string, rows: number, total: number, limits: HtmlLimits): CutNotice {
  const why =
    rows < shownRows(total, limits) ? 'more would make the notebook too large' : '`%rows N` shows more';
  const text = `${where}${firstShown(rows, total, 'row')}`;
  return { level: 'info', text, advice: `; ${why}. The kernel has all of them.` };
}

function columnsCut(columns: number, total: number): CutNotice {
  const text = firstShown(columns, total, 'column');
  const advice = '; add a `project` with the fields you need. The kernel has all of them.';
  return { level: 'info', text, advice };
}

interface HtmlColumn {
  readonly field: Field;
  readonly vector: Vector;
  readonly numeric: boolean;
  readonly format: NumberFormat;
  /** Style attribute of its cells; none for numbers, since all cells are right-aligned by default. */
  readonly style: string;
}

function columnsOf({ data }: ArrowTable): readonly HtmlColumn[] {
  return data.schema.fields.map((field, index) => {
    const vector = data.getChildAt(index) as Vector;
    const numeric = isNumeric(field);
    const style = numeric ? '' : DataType.isTimestamp(field.type) ? TIME_STYLE : TEXT_STYLE;
    return { field, vector, numeric, format: numberFormat(field, vector), style };
  });
}

/** Returns as many header cells as fit the bytes, at least one. */
function headCells(columns: readonly HtmlColumn[], table: ArrowTable, bytes: number): readonly string[] {
  const cells: string[] = [];
  let used = 0;
  for (const column of columns) {
    const cell = headCell(column, table);
    used += Buffer.byteLength(cell);
    if (used > bytes && cells.length > 0) break;
    cells.push(cell);
  }
  return cells;
}

function headCell({ field, numeric }: HtmlColumn, table: ArrowTable): string {
  const { metadata } = field;
  const unit = metadata.get(FIELD_KEY.unit);
  const description = metadata.get(FIELD_KEY.description);
  const order = table.info.order.find(item => item.field === field.name);
  const name = cut(shownName(field.name), CELL_LENGTH);
  const title = [safeWords(field.name), description && safeWords(description)].filter(Boolean).join('\n');
  const type = escapeHtml(safeWords(typeWord(metadata.get(FIELD_KEY.type) ?? '')));
  // Reports hide the first or only part, the type, and keep units.
  const under =
    unit === undefined || unit === ''
      ? type
      : `<span>${type} \u00b7 </span><span>${escapeHtml(safeWords(unit))}</span>`;
  const arrow = order === undefined ? '' : `<i>${order.desc ? '\u2193' : '\u2191'}</i>`;
  const needsTitle = description !== undefined || name !== field.name;
  const attributes = ` scope="col" style="${numeric ? HEAD_NUMERIC : HEAD_TEXT}"${needsTitle ? ` title="${titleAttribute(title)}"` : ''}`;
  // On paper, names wrap between their words.
  const words = escapeHtml(name).replace(/[_.](?=.)/g, '$&<wbr>');
  const mark = description === undefined ? words : `<u>${words}</u>`;
  return `<th${attributes}>${mark}${arrow}<br><small>${under}</small></th>`;
}

/** Returns how many rows are shown of a table of `total` rows. */
export function shownRows(
  total: number,
  { rows, head }: { readonly rows: number; readonly head: number },
): number {
  return total <= rows ? total : head;
}

/** Returns rows until a limit is reached; at least one, so that a result never looks empty. */
function bodyRows(
  columns: readonly HtmlColumn[],
  total: number,
  limits: HtmlLimits,
  headBytes: number,
): { readonly rows: number; readonly html: string } {
  const lines: string[] = [];
  let used = headBytes;
  while (lines.length < shownRows(total, limits)) {
    const row = lines.length;
    const line = `<tr>${columns.map(column => bodyCell(column, row)).join('')}</tr>\n`;
    used += Buffer.byteLength(line);
    if (used > limits.bytes && row > 0) break;
    lines.push(line);
  }
  return { rows: lines.length, html: lines.join('') };
}

function bodyCell({ field, vector, numeric, format, style }: HtmlColumn, row: number): string {
  const { text, isNull } = shownText(vector, row, field);
  if (isNull) return `<td class="z"${style}>null</td>`;
  const shown = numeric ? formatNumber(text, format) : cut(text, CELL_LENGTH);
  const title = shown === text ? '' : ` title="${titleAttribute(text)}"`;
  return `<td${style}${title}>${escapeHtml(shown)}</td>`;
}

function titleAttribute(text: string): string {
  const shown =
    text.length <= TITLE_LENGTH
      ? text
      : `${cut(text, TITLE_LENGTH)} (${plural(text.length, 'character')} in all)`;
  return escapeHtml(shown).replaceAll('\n', '&#10;').replaceAll('\u21b5', '\u21b5&#10;');
}
