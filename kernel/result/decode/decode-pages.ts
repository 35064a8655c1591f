/**
 * Joins pages of a result into the bytes of one: each column has the cells of all pages in order, so that decoding does not depend on
 * where pages end.
 */

import { asTabular } from './decode-legacy.js';
import { atOnce } from './decode-slices.js';
import { JsonBytes, OPEN_ARRAY } from './json-bytes.js';

/** The first table of one page, with its cells still as bytes. */
export interface Page {
  /** The members of the response besides its tables. */
  readonly rest: Readonly<Record<string, unknown>>;
  /** The members of the table besides its columns. */
  readonly table: Readonly<Record<string, unknown>>;
  readonly columns: readonly Column[];
  readonly rows: number;
  /** Bytes of the response, which is retained as long as its cells are. */
  readonly bytes: number;
}

interface Column {
  readonly name: string;
  readonly type: string;
  /** The cells, with the commas between them. */
  readonly cells: Uint8Array;
}

type TablePart = Omit<Page, 'rest' | 'bytes'>;

/** Reads one page; throws a DecodeError for anything but a tabular result. */
export function readPage(answer: Uint8Array): Page {
  const body = atOnce(asTabular(answer));
  const json = new JsonBytes(body);
  const rest: Record<string, unknown> = {};
  let table: TablePart = { table: {}, columns: [], rows: 0 };
  for (const key of json.keys()) {
    if (key !== 'tables' || json.peek() !== OPEN_ARRAY) rest[key] = json.value();
    else
      for (const index of json.elements()) {
        if (index === 0) table = readTable(json);
        else json.skip();
      }
  }
  return { rest, ...table, bytes: body.length };
}

function readTable(json: JsonBytes): TablePart {
  const table: Record<string, unknown> = {};
  let cells: readonly Uint8Array[] = [];
  let rows = 0;
  for (const key of json.keys()) {
    if (key !== 'columns' || json.peek() !== OPEN_ARRAY) {
      table[key] = json.value();
      continue;
    }
    const found: Uint8Array[] = [];
    for (const index of json.elements()) {
      json.peek();
      const from = json.pos + 1;
      if (index > 0) json.skip();
      else
        for (const _ of json.elements()) {
          json.skip();
          rows += 1;
        }
      found.push(json.bytes.subarray(from, json.pos - 1));
    }
    cells = found;
  }
  const fields = (table.fields ?? []) as readonly { readonly name: string; readonly type: string }[];
  const columns = fields.map(({ name, type }, index) => ({ name, type, cells: cells[index] ?? none }));
  return { table, columns, rows };
}

const none = new Uint8Array();

/**
 * Returns the body of one response with the rows of all pages, and `status` in place of theirs. A field that a page lacks is null
 * in its rows; one of several types is JSON, unless they are numbers.
 */
export function joinPages(pages: readonly Page[], status: Readonly<Record<string, unknown>>): Uint8Array {
  const first = pages[0];
  const full = pages.filter(({ rows }) => rows > 0);
  const names = [...new Set(pages.flatMap(({ columns }) => columns.map(({ name }) => name)))];
  const pieces: Uint8Array[] = [];
  const write = (text: string) => void pieces.push(Buffer.from(text));
  const fields = names.map(name => fieldOf(name, pages));
  const datasetNames = [...new Set(pages.flatMap(({ rest }) => (rest.datasetNames ?? []) as string[]))];
  write(JSON.stringify({ ...first?.rest, datasetNames, status }).slice(0, -1));
  write(`,"tables":[${JSON.stringify({ ...first?.table, fields }).slice(0, -1)},"columns":[`);
  for (const [index, name] of names.entries()) {
    write(index === 0 ? '[' : ',[');
    for (const [place, page] of full.entries()) {
      if (place > 0) write(',');
      const cells = page.columns.find(column => column.name === name)?.cells;
      pieces.push(cells ?? Buffer.from(Array(page.rows).fill('null').join(',')));
    }
    write(']');
  }
  write(']}]}');
  return Buffer.concat(pieces);
}

/** Returns the field as described by the first page that has it. */
function fieldOf(name: string, pages: readonly Page[]): unknown {
  const described = pages.flatMap(({ table }) =>
    ((table.fields ?? []) as readonly { readonly name: string }[]).filter(field => field.name === name),
  );
  const types = pages.flatMap(({ columns }) =>
    columns.flatMap(each => (each.name === name ? [each.type] : [])),
  );
  return new Set(types).size > 1 ? { ...described[0], type: commonType(types) } : described[0];
}

/** Returns the type of a field whose pages differ: a page with only nulls may not know it, and one may have only whole numbers. */
function commonType(types: readonly string[]): string {
  const members = new Set(types.flatMap(type => type.split('|')));
  for (const nothing of ['null', 'unknown']) members.delete(nothing);
  const areNumbers = [...members].every(member => member === 'integer' || member === 'float');
  return members.size > 1 && !areNumbers ? 'dynamic' : [...members].join('|') || 'unknown';
}
