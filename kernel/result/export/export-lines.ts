/**
 * Tables as lines of text: exact values for programs, and Markdown for people.
 */
import { DataType, type Field, type Table, type Vector } from 'apache-arrow';
import { escapeMarkdownCell, spreadsheetText } from '../../text.js';
import { cellText, exactInt64 } from '../display/display-text.js';
import { FIELD_KEY } from '../field.js';

/** Rows in one part of a file. */
const partRows = 4_096;

/** A part of a file, and the number of complete rows up to its end. */
export interface FilePart {
  readonly part: string;
  readonly rows: number;
}

/**
 * Writes CSV or TSV by RFC 4180, with a header. A null is an empty cell, and an empty string a pair of quotes; times are RFC 3339,
 * timespans nanoseconds, and dynamic values JSON. A string that a spreadsheet would take for a formula is prefixed with an apostrophe, and
 * so is one that begins with apostrophes before such a formula: removing one apostrophe restores every string.
 */
export function* delimited(table: Table, delimiter: ',' | '\t'): Generator<FilePart> {
  const columns = columnsOf(table, field => delimitedCell(field, delimiter));
  const quote = new RegExp(`["\r\n${delimiter}]`);
  const header = table.schema.fields.map(({ name }) => quoted(spreadsheetText(name), quote));
  yield { part: `${header.join(delimiter)}\n`, rows: 0 };
  yield* parts(table, row => `${columns.map(cell => cell(row)).join(delimiter)}\n`);
}

/** Writes one JSON object per line. Numbers have all their digits; NaN and infinities, which JSON cannot express, are null. */
export function* jsonLines(table: Table): Generator<FilePart> {
  const line = jsonRow(table);
  yield* parts(table, row => `${line(row)}\n`);
}

/** Writes a JSON array of objects, one per line. */
export function* jsonList(table: Table): Generator<FilePart> {
  const line = jsonRow(table);
  yield { part: '[', rows: 0 };
  yield* parts(table, row => `${row === 0 ? '\n' : ',\n'}${line(row)}`);
  yield { part: '\n]\n', rows: table.numRows };
}

/** Writes a GitHub Markdown table, for people: invisible characters are shown, and nothing in a cell is markup. */
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

/** Returns the number of cells that JSON cannot express. */
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

/** Returns a function that formats a cell; empty for a null. */
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
  // Line breaks in JSON are white space between tokens.
  return (vector, row) => text(vector, row).replace(/[\r\n]+/g, ' ') || 'null';
}

function isRightAligned({ type }: Field): boolean {
  return DataType.isInt(type) || DataType.isFloat(type) || DataType.isDuration(type);
}
