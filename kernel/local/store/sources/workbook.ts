import path from 'node:path';
import { Readable } from 'node:stream';
import type { Entry, ZipFile } from 'yauzl';
import { systemRefusal } from '../../../machine.js';
import { present } from '../../../present.js';
import { plural } from '../../../text.js';
import { LocalError } from '../../errors.js';
import { writeCopy } from '../bounds/copies.js';
import { kindOfNumber, type NumberKind, textOfNumber } from './cell-numbers.js';

/**
 * Writes a sheet of an Excel workbook as CSV: the one named, else the first. Its times have no zone: they are UTC unless `local`.
 * Returns what the import says of it; throws LocalError.
 */
export async function writeSheet(
  file: string,
  target: string,
  named: string | undefined,
  local: boolean,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const name = path.basename(file);
  let archive: ZipFile | undefined;
  try {
    archive = await (await import('yauzl')).openPromise(file, { autoClose: false });
    const book = await openWorkbook(archive);
    const { sheets } = book;
    const sheet = named === undefined ? sheets[0] : sheets.find(each => each.name === named);
    if (sheet === undefined) throw noSheet(name, named ?? '', sheets);
    const found = { errors: 0 };
    const lines = Readable.from(linesOf(book, sheet, local, found));
    await writeCopy(target, [lines], present({ signal }));
    return [...otherSheets(sheet, sheets), ...errorNotes(found.errors)];
  } catch (error) {
    if (error instanceof LocalError || signal?.aborted || systemRefusal(error)) throw error;
    throw new LocalError('invalid', 'unreadable', `${name} cannot be read as an Excel workbook.`, {
      hint: 'Save its sheet as CSV first.',
      cause: error,
    });
  } finally {
    archive?.close();
  }
}

interface Sheet {
  readonly name: string;
  /** Where it is in the archive. */
  readonly entry: string;
}

/** The parts of a workbook that the values of its sheets need (https://ecma-international.org/publications-and-standards/standards/ecma-376/). */
interface Workbook {
  readonly archive: ZipFile;
  readonly entries: ReadonlyMap<string, Entry>;
  readonly sheets: readonly Sheet[];
  /** Days are counted from 1904. */
  readonly from1904: boolean;
  /** Texts that cells name by their place. */
  readonly texts: readonly string[];
  /** What a number is in each style of cells. */
  readonly styles: readonly NumberKind[];
}

function noSheet(name: string, named: string, sheets: readonly Sheet[]): LocalError {
  const names = sheets.slice(0, 20).map(each => each.name);
  return new LocalError('invalid', 'no-list', `${name} has no sheet ${JSON.stringify(named)}.`, {
    hint: `Its sheets are ${names.join(', ')}.`,
  });
}

function otherSheets(sheet: Sheet, sheets: readonly Sheet[]): string[] {
  const others = sheets.filter(each => each !== sheet).map(each => `\`${each.name}\``);
  if (others.length === 0) return [];
  const list = others.slice(0, 8).join(', ');
  return [`The rows are those of the sheet \`${sheet.name}\`: \`--path\` names another, of ${list}.`];
}

function errorNotes(count: number): string[] {
  return count === 0 ? [] : [`Null, as they hold an error such as #N/A: ${plural(count, 'cell')}.`];
}

async function openWorkbook(archive: ZipFile): Promise<Workbook> {
  const entries = new Map<string, Entry>();
  for await (const entry of archive.eachEntry()) entries.set(entry.fileName, entry);
  const book = { archive, entries };
  const targets = new Map<string, string>();
  for await (const { open, attributes } of marksOf(book, 'xl/_rels/workbook.xml.rels')) {
    if (open === 'Relationship')
      targets.set(attributes?.Id ?? '', path.posix.resolve('/xl', attributes?.Target ?? '').slice(1));
  }
  const sheets: Sheet[] = [];
  let from1904 = false;
  for await (const { open, attributes } of marksOf(book, 'xl/workbook.xml')) {
    if (open === 'workbookPr') from1904 = /^(1|true)$/.test(attributes?.date1904 ?? '');
    if (open === 'sheet')
      sheets.push({ name: attributes?.name ?? '', entry: targets.get(attributes?.['r:id'] ?? '') ?? '' });
  }
  return { ...book, sheets, from1904, texts: await textsOf(book), styles: await stylesOf(book) };
}

/** What the parser of XML meets: an element that begins, with its attributes, one that ends, or text. */
interface Mark {
  readonly open?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly close?: string;
  readonly text?: string;
}

/** A part that a workbook does not have is empty. */
async function* marksOf(
  { archive, entries }: Pick<Workbook, 'archive' | 'entries'>,
  name: string,
): AsyncGenerator<Mark> {
  const entry = entries.get(name);
  if (entry === undefined) return;
  const { SaxesParser } = await import('saxes');
  const parser = new SaxesParser();
  let marks: Mark[] = [];
  const plain = (element: string) => element.slice(element.indexOf(':') + 1);
  parser.on('opentag', tag => marks.push({ open: plain(tag.name), attributes: tag.attributes }));
  parser.on('closetag', tag => marks.push({ close: plain(tag.name) }));
  parser.on('text', text => marks.push({ text }));
  parser.on('cdata', text => marks.push({ text }));
  const content = (await archive.openReadStreamPromise(entry)).setEncoding('utf8');
  for await (const chunk of content) {
    marks = [];
    parser.write(String(chunk));
    yield* marks;
  }
  parser.close();
}

async function textsOf(book: Pick<Workbook, 'archive' | 'entries'>): Promise<string[]> {
  const texts: string[] = [];
  const reader = new TextReader();
  for await (const mark of marksOf(book, 'xl/sharedStrings.xml')) {
    reader.take(mark);
    if (mark.close === 'si') texts.push(reader.end());
  }
  return texts;
}

/** Joins the texts of the parts of one, without how it is pronounced. */
class TextReader {
  #text = '';
  #inText = false;
  #inPronunciation = false;

  take({ open, close, text }: Mark): void {
    if (open === 'rPh' || close === 'rPh') this.#inPronunciation = open === 'rPh';
    if (open === 't' || close === 't') this.#inText = open === 't';
    if (text !== undefined && this.#inText && !this.#inPronunciation) this.#text += text;
  }

  end(): string {
    // Characters that XML does not have are written by their number.
    const text = this.#text.replace(/_x([\dA-Fa-f]{4})_/g, (_, code) =>
      String.fromCharCode(Number(`0x${code}`)),
    );
    this.#text = '';
    return text;
  }
}

async function stylesOf(book: Pick<Workbook, 'archive' | 'entries'>): Promise<NumberKind[]> {
  const formats = new Map<string, string>();
  const styles: NumberKind[] = [];
  let inCells = false;
  for await (const { open, close, attributes } of marksOf(book, 'xl/styles.xml')) {
    if (open === 'numFmt') formats.set(attributes?.numFmtId ?? '', attributes?.formatCode ?? '');
    if (open === 'cellXfs' || close === 'cellXfs') inCells = open === 'cellXfs';
    const id = attributes?.numFmtId ?? '0';
    if (open === 'xf' && inCells) styles.push(kindOfNumber(Number(id), formats.get(id)));
  }
  return styles;
}

interface Cell {
  readonly column: number;
  readonly type: string;
  readonly style: number;
}

async function* linesOf(
  book: Workbook,
  sheet: Sheet,
  local: boolean,
  found: { errors: number },
): AsyncGenerator<string> {
  let row: string[] = [];
  let cell: Cell = { column: -1, type: '', style: 0 };
  let value: string | undefined;
  let inValue = false;
  const inline = new TextReader();
  for await (const mark of marksOf(book, sheet.entry)) {
    const { open, close, attributes, text } = mark;
    inline.take(mark);
    if (open === 'row') {
      row = [];
      cell = { ...cell, column: -1 };
    }
    if (open === 'c') {
      cell = cellOf(attributes ?? {}, cell.column + 1);
      value = undefined;
    }
    if (open === 'v' || close === 'v') inValue = open === 'v';
    if (text !== undefined && inValue) value = (value ?? '') + text;
    if (close === 'is') value = inline.end();
    if (close === 'c') {
      if (cell.type === 'e') found.errors++;
      while (row.length < cell.column) row.push('');
      row[cell.column] = value === undefined ? '' : cellText(cell, value, book, local);
    }
    if (close === 'row' && row.some(each => each !== '')) yield `${row.join(',')}\n`;
  }
}

/** The most columns of a sheet in Excel: a place beyond them would fill the memory with empty cells. */
const mostColumns = 16_384;

/** A cell may lack its place, as in `B2`: it then follows the one before. Throws RangeError for a place that no sheet has. */
function cellOf({ r = '', t = 'n', s = '0' }: Readonly<Record<string, string>>, next: number): Cell {
  const letters = /^[A-Z]+/.exec(r)?.[0];
  const column =
    letters === undefined
      ? next
      : [...letters].reduce((sum, each) => sum * 26 + each.charCodeAt(0) - 64, 0) - 1;
  if (column >= mostColumns) throw new RangeError(`no sheet has a cell ${r}`);
  return { column, type: t, style: Number(s) };
}

/** Text is in quotes, so that an empty one is not a missing value. */
function cellText({ type, style }: Cell, value: string, book: Workbook, local: boolean): string {
  switch (type) {
    case 's':
      return quoted(book.texts[Number(value)] ?? '');
    case 'str':
    case 'inlineStr':
      return quoted(value);
    case 'b':
      return value === '1' ? 'true' : 'false';
    case 'd':
      return value;
    case 'e':
      return '';
    default:
      return textOfNumber(Number(value), book.styles[style] ?? 'number', { from1904: book.from1904, local });
  }
}

const quote = '"';

function quoted(text: string): string {
  return quote + text.replaceAll(quote, quote + quote) + quote;
}
