/**
 * Tables as lines of text: exact values for programs, and Markdown for people.
 */
import { DataType, type Field, type Table, type Vector } from 'apache-arrow';
import { escapeMarkdownCell, spreadsheetText } from '../../text.js';
import { cellText, exactInt64 } from '../display/display-text.js';
import { FIELD_KEY } from '../field.js';

/** Rows in one part of a file. */
const partRows = 4_096;

/** A part of a file, and the number of rows that are complete with it. */
export interface FilePart {
  readonly part: string;
  readonly rows: number;
}

/**
 * CSV or TSV as RFC 4180 has it, with a header. A null is an empty cell, an empty text is a pair of quotes; times are RFC 3339, spans
 * of time are nanoseconds, dynamic values are JSON. A text that a spreadsheet would take for a formula has an apostrophe before it,
 * and so has a text that begins with apostrophes before such a one: taking one away gives back every text.
 */
export function* delimited(table: Table, delimiter: ',' | '\t'): Generator<FilePart> {
  const columns = columnsOf(table, field => delimitedCell(field, delimiter));
  const quote = new RegExp(`["\r\n${delimiter}]`);
  const header = table.schema.fields.map(({ name }) => quoted(spreadsheetText(name), quote));
  yield { part: `${header.join(delimiter)}\n`, rows: 0 };
  yield* parts(table, row => `${columns.map(cell => cell(row)).join(delimiter)}\n`);
}

/** One JSON object a line. Numbers have all their digits; what JSON has no notation for, NaN and infinities, is null. */
export function* jsonLines(table: Table): Generator<FilePart> {
  const line = jsonRow(table);
  yield* parts(table, row => `${line(row)}\n`);
}

/** A JSON array of objects, one a line. */
export function* jsonList(table: Table): Generator<FilePart> {
  const line = jsonRow(table);
  yield { part: '[', rows: 0 };
  yield* parts(table, row => `${row === 0 ? '\n' : ',\n'}${line(row)}`);
  yield { part: '\n]\n', rows: table.numRows };
}

/** A table of GitHub's Markdown, for people: characters that cannot be seen are shown, and nothing in a cell is markup. */
export function* markdown(table: Table): Generator<FilePart> {
  const { fields } = table.schema;
  const columns = columnsOf(
    table,
    field => (vector, row) => escapeMarkdownCell(cellText(vector, row, field) ?? ''),
  );
  const header = fields.map(({ name }) => escapeMarkdownCell(name));
  const rule = fields.map(field => (isRightAligned(field) ? '--:' : ':--'));
  yield { part: `| ${header.join(' | ')} |\n| ${rule.join(' | ')} |\n`, rows: 0 };
  yield* parts(table, row => `| ${columns.map(cell => cell(row)).join(' | ')} |\n`);
}

/** The number of cells that JSON has no notation for. */
export function unspeakable(table: Table): number {
  let count = 0;
  for (const [index, field] of table.schema.fields.entries()) {
    if (!DataType.isFloat(field.type)) continue;
    for (const value of table.getChildAt(index) ?? []) if (value !== null && !Number.isFinite(value)) count++;
  }
  return count;
}

type Cell = (vector: Vector, row: number) => string;

function columnsOf(table: Table, cellOf: (field: Field) => Cell): readonly ((row: number) => string)[] {
  return table.schema.fields.map((field, index) => {
    const vector = table.getChildAt(index);
    const cell = cellOf(field);
    return row => (vector === null ? '' : cell(vector, row));
  });
}

function* parts(table: Table, lineOf: (row: number) => string): Generator<FilePart> {
  for (let from = 0; from < table.numRows; from += partRows) {
    const rows = Math.min(table.numRows, from + partRows);
    let part = '';
    for (let row = from; row < rows; row++) part += lineOf(row);
    yield { part, rows };
  }
}

function delimitedCell(field: Field, delimiter: string): Cell {
  const quote = new RegExp(`["\r\n${delimiter}]`);
  const text = plainCell(field);
  if (!isText(field)) return (vector, row) => quoted(text(vector, row), quote);
  return (vector, row) => {
    if (!vector.isValid(row)) return '';
    const value = spreadsheetText(text(vector, row));
    return value === '' ? '""' : quoted(value, quote);
  };
}

/** Empty for a null. */
function plainCell(field: Field): Cell {
  const { type } = field;
  if (DataType.isDuration(type))
    return (vector, row) => (vector.isValid(row) ? String(exactInt64(vector, row)) : '');
  if (DataType.isFloat(type))
    return (vector, row) => (cellText(vector, row, field) ?? '').replace('Infinity', 'inf');
  return (vector, row) => cellText(vector, row, field) ?? '';
}

function quoted(text: string, quote: RegExp): string {
  return quote.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function isText({ type, metadata }: Field): boolean {
  const isUtf8 = DataType.isUtf8(type) || DataType.isDictionary(type);
  return isUtf8 && metadata.get(FIELD_KEY.extension) !== 'arrow.json';
}

function jsonRow(table: Table): (row: number) => string {
  const names = table.schema.fields.map(({ name }) => JSON.stringify(name));
  const columns = columnsOf(table, jsonCell);
  return row => `{${columns.map((cell, index) => `${names[index]}:${cell(row)}`).join(',')}}`;
}

function jsonCell(field: Field): Cell {
  const { type } = field;
  if (isText(field) || DataType.isTimestamp(type))
    return (vector, row) => JSON.stringify(cellText(vector, row, field));
  const text = plainCell(field);
  if (DataType.isFloat(type))
    return (vector, row) => {
      const value: number | null = vector.get(row);
      if (value === null || !Number.isFinite(value)) return 'null';
      return Object.is(value, -0) ? '-0.0' : text(vector, row);
    };
  // A line break in JSON is white space between its parts.
  return (vector, row) => text(vector, row).replace(/[\r\n]+/g, ' ') || 'null';
}

function isRightAligned({ type }: Field): boolean {
  return DataType.isInt(type) || DataType.isFloat(type) || DataType.isDuration(type);
}
