/** Cells as text for the clipboard: exact values, without the grid's formatting; in Markdown, for people, as displayed. */
import { DataType, type Field } from 'apache-arrow';
import { alignedLines } from '../../../kernel/result/display/aligned.js';
import { isNumeric } from '../../../kernel/result/display/display-text.js';
import { escapeMarkdownCell, formatCount, plural, spreadsheetText, visible } from '../../../kernel/text.js';
import type { Rows } from './data/grid-rows.js';
import type { GridColumn } from './grid-cells.js';
import { inBlock, type Selection } from './surface/selection.js';

/** A block of cells: columns, and rows of exact strings (null for a null). */
export interface CellBlock {
  readonly fields: readonly Field[];
  readonly rows: readonly (readonly (string | null)[])[];
}

export type CopyFormat = 'text' | 'csv' | 'json' | 'markdown' | 'chat';

export const COPY_FORMATS: Readonly<Record<CopyFormat, string>> = {
  text: 'Text',
  csv: 'CSV',
  json: 'JSON',
  markdown: 'Markdown',
  chat: 'Text for chat',
};

/** Returns the cells in a format. Text is tab-separated without a header, as spreadsheets expect it. */
export function copyText(block: CellBlock, format: CopyFormat): string {
  switch (format) {
    case 'text':
      return isOneCell(block)
        ? tabText(block.rows[0]?.[0] ?? null)
        : block.rows.map(row => row.map(tabCell).join('\t')).join('\n');
    case 'csv':
      return [block.fields.map(({ name }) => name), ...block.rows]
        .map(row => row.map(csvCell).join(','))
        .join('\r\n');
    case 'json':
      return jsonOf(block);
    case 'markdown':
      return markdownOf(block);
    case 'chat':
      return fenced(block);
  }
}

/** Maximum rows of one copy, and rows to fetch at a time. */
const COPY_ROWS = 10_000;
const COPY_STEP = 500;

/**
 * Resolves with the exact values of the selected cells as text, and a sentence that names what was left out; rejects with a
 * SourceError if rows cannot be fetched.
 */
export async function cellsToCopy(
  rows: Rows,
  shown: readonly GridColumn[],
  selection: Selection,
  format: CopyFormat,
): Promise<{ readonly text: string; readonly sentence: string }> {
  const { left, right, ...block } = inBlock(selection);
  const columns = shown.slice(left, right + 1);
  const top = Math.max(block.top, 0);
  const wanted = Math.min(block.bottom, rows.count - 1) - top + 1;
  const count = Math.min(wanted, COPY_ROWS);
  const cells: (string | null)[][] = [];
  for (let from = top; from < top + count; from += COPY_STEP) {
    const to = Math.min(from + COPY_STEP, top + count);
    await rows.load(from, to);
    for (let row = from; row < to; row += 1) cells.push(columns.map(column => rows.exact(row, column)));
  }
  const all = { fields: columns.map(({ field }) => field), rows: cells };
  const copied = format === 'chat' ? forChat(all) : all;
  const silent = columns.length - copied.fields.length;
  const rest = count < wanted ? `, the first of ${formatCount(wanted)}; %export writes all of them` : '';
  const without = silent === 0 ? '' : `, without ${plural(silent, 'column')} that have no values in them`;
  return {
    text: copyText(copied, format),
    sentence: `Copied ${plural(count, 'row')} \u00d7 ${plural(copied.fields.length, 'column')}${without}${rest}.`,
  };
}

/**
 * Returns the cells without the time of ingestion, and without columns that are empty in every row; all of them if nothing else is left.
 */
export function forChat({ fields, rows }: CellBlock): CellBlock {
  const kept = [...fields.keys()].filter(
    index => fields[index]?.name !== '_sysTime' && rows.some(row => (row[index] ?? '') !== ''),
  );
  if (kept.length === 0) return { fields, rows };
  return {
    fields: kept.flatMap(index => fields[index] ?? []),
    rows: rows.map(row => kept.map(index => row[index] ?? null)),
  };
}

/** Returns aligned columns in a code fence: chats show those unchanged, and most of them cannot show tables. */
function fenced({ fields, rows }: CellBlock): string {
  const lines = alignedLines(
    [fields.map(({ name }) => name), ...rows.map(row => row.map(cell => cell ?? 'null'))].map(row =>
      row.map(cell => visible(cell)),
    ),
    fields.map(isNumeric),
  );
  const fence = '`'.repeat(
    Math.max(3, ...lines.flatMap(line => line.match(/`+/g) ?? []).map(ticks => ticks.length + 1)),
  );
  return [fence, ...lines, fence].join('\n');
}

/** Prefixes a value that a spreadsheet would run as a formula with an apostrophe; numbers keep their signs. */
function pasted(text: string): string {
  return Number.isNaN(Number(text)) ? spreadsheetText(text) : text;
}

function isOneCell({ fields, rows }: CellBlock): boolean {
  return fields.length === 1 && rows.length === 1;
}

function tabText(cell: string | null): string {
  return pasted(cell ?? '').replace(/[\t\r\n]+/g, ' ');
}

/** Returns a cell of several. A spreadsheet joins a cell that begins with a quote with those after it, up to the next quote. */
function tabCell(cell: string | null): string {
  const text = tabText(cell);
  return text.startsWith('"') ? inQuotes(text) : text;
}

function inQuotes(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

function csvCell(cell: string | null): string {
  if (cell === null) return '';
  const text = pasted(cell);
  return text === '' || /[",\r\n]/.test(text) ? inQuotes(text) : text;
}

function jsonOf({ fields, rows }: CellBlock): string {
  const objects = rows.map(row => {
    const members = fields.map(
      (field, index) => `${JSON.stringify(field.name)}:${jsonCell(field, row[index] ?? null)}`,
    );
    return `{${members.join(',')}}`;
  });
  return objects.length === 1 ? (objects[0] as string) : `[\n${objects.join(',\n')}\n]`;
}

/** Returns a cell as JSON. Integers keep all digits; a number that JSON cannot express becomes a string. */
function jsonCell(field: Field, cell: string | null): string {
  if (cell === null) return 'null';
  if (field.metadata.get('ARROW:extension:name') === 'arrow.json' || DataType.isBool(field.type)) return cell;
  const isNumber = isNumeric(field) && !DataType.isDuration(field.type);
  return isNumber && /^-?\d/.test(cell) && Number.isFinite(Number(cell)) ? cell : JSON.stringify(cell);
}

function markdownOf({ fields, rows }: CellBlock): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(fields.map(({ name }) => escapeMarkdownCell(name))),
    line(fields.map(field => (isNumeric(field) ? '---:' : '---'))),
    ...rows.map(row => line(row.map(cell => escapeMarkdownCell(cell ?? '')))),
  ].join('\n');
}
