import path from 'node:path';
import { Readable } from 'node:stream';
import type { Entry, ZipFile } from 'yauzl';
import { systemRefusal } from '../../../machine.js';
import { present } from '../../../present.js';
import { plural } from '../../../text.js';
import { LocalError } from '../../local-errors.js';
import { writeCopy } from '../bounds/bounded-copies.js';
import { openZip } from './archives.js';
import { kindOfNumber, type NumberKind, textOfNumber } from './cell-numbers.js';

/**
 * Writes a sheet of an Excel workbook as CSV: the one named, otherwise the first with cells. Its times have no zone and are UTC unless
 * `local`. Returns notes for the import report; throws LocalError.
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
    archive = await openZip(file, path.dirname(target), { autoClose: false });
    const book = await openWorkbook(archive);
    const { sheets } = book;
    const wanted = named === undefined ? sheets : sheets.filter(each => each.name === named);
    const found = { errors: 0, formulas: 0 };
    const { sheet, lines } = await firstWithCells(book, wanted, local, found);
    if (sheet === undefined) throw noSheet(name, named, sheets);
    await writeCopy(target, [Readable.from(lines)], present({ signal }));
    return [...otherSheets(sheet, sheets), ...emptyNotes(found)];
  } catch (error) {
    if (error instanceof LocalError || signal?.aborted || systemRefusal(error)) throw error;
    throw new LocalError('invalid', 'unreadable', `${name} cannot be read as an Excel workbook.`, {
      hint: 'Save the sheet as CSV first.',
      cause: error,
    });
  } finally {
    archive?.close();
  }
}

interface Sheet {
  readonly name: string;
  /** Path in the archive. */
  readonly entry: string;
}

/** Parts of an Office file, by lowercase name, as the case of names varies. */
interface Package {
  readonly archive: ZipFile;
  readonly entries: ReadonlyMap<string, Entry>;
}

/** Data needed to read the sheets of a workbook (https://ecma-international.org/publications-and-standards/standards/ecma-376/). */
interface Workbook extends Package {
  readonly sheets: readonly Sheet[];
  /** Whether days are counted from 1904. */
  readonly from1904: boolean;
  /** Shared strings, which cells reference by index. */
  readonly texts: readonly string[];
  /** Meaning of numbers in each cell style. */
  readonly styles: readonly NumberKind[];
}

function noSheet(name: string, named: string | undefined, sheets: readonly Sheet[]): LocalError {
  if (named === undefined)
    return new LocalError('invalid', 'no-list', `${name} has no sheet with data.`, {
      hint: 'Save the data as CSV first.',
    });
  const names = sheets.slice(0, 20).map(each => each.name);
  return new LocalError('invalid', 'no-list', `${name} has no sheet ${JSON.stringify(named)}.`, {
    hint: `Its sheets are ${names.join(', ')}.`,
  });
}

function otherSheets(sheet: Sheet, sheets: readonly Sheet[]): string[] {
  const others = sheets.filter(each => each !== sheet).map(each => `\`${each.name}\``);
  if (others.length === 0) return [];
  const list = others.slice(0, 8).join(', ');
  return [`The rows come from the sheet \`${sheet.name}\`: use \`--path\` for another one: ${list}.`];
}

/** Counts of cells that are null despite having content. */
interface Emptied {
  errors: number;
  /** Formulas without a result, as programs other than spreadsheets may write. */
  formulas: number;
}

function emptyNotes({ errors, formulas }: Emptied): string[] {
  return [
    ...(errors === 0 ? [] : [`Null because of an error such as #N/A: ${plural(errors, 'cell')}.`]),
    ...(formulas === 0
      ? []
      : [
          `Null because the file has a formula without its result: ${plural(formulas, 'cell')}. Saving the file in a spreadsheet adds the results.`,
        ]),
  ];
}

async function openWorkbook(archive: ZipFile): Promise<Workbook> {
  const entries = new Map<string, Entry>();
  for await (const entry of archive.eachEntry()) entries.set(entry.fileName.toLowerCase(), entry);
  const book = { archive, entries };
  const [main = 'xl/workbook.xml'] = (await relationsOf(book, '')).filter(isOf('officeDocument')).map(partOf);
  const relations = await relationsOf(book, main);
  const worksheets = new Map(relations.filter(isOf('worksheet')).map(each => [each.id, partOf(each)]));
  const sheets: Sheet[] = [];
  let from1904 = false;
  for await (const { open, attributes = {} } of marksOf(book, main)) {
    if (open === 'workbookPr') from1904 = /^(1|true)$/.test(attributes.date1904 ?? '');
    if (open !== 'sheet') continue;
    const [, id = ''] = Object.entries(attributes).find(([key]) => key.endsWith(':id')) ?? [];
    // A sheet may be a chart.
    const entry = worksheets.get(id);
    if (entry !== undefined) sheets.push({ name: attributes.name ?? '', entry });
  }
  const [texts = ''] = relations.filter(isOf('sharedStrings')).map(partOf);
  const [styles = ''] = relations.filter(isOf('styles')).map(partOf);
  return {
    ...book,
    sheets,
    from1904,
    texts: await textsOf(book, texts),
    styles: await stylesOf(book, styles),
  };
}

interface Relation {
  readonly id: string;
  /** Last segment of its type, such as `worksheet`. */
  readonly kind: string;
  readonly part: string;
}

const isOf = (kind: string) => (each: Relation) => each.kind === kind;
const partOf = (each: Relation) => each.part;

/** Returns the relations of a part, or of the whole file if `part` is empty. */
async function relationsOf(book: Package, part: string): Promise<Relation[]> {
  const { dir, base } = path.posix.parse(part);
  const found: Relation[] = [];
  for await (const { open, attributes = {} } of marksOf(
    book,
    path.posix.join(dir, '_rels', `${base}.rels`),
  )) {
    if (open !== 'Relationship') continue;
    const { Id: id = '', Type: type = '', Target: target = '' } = attributes;
    const to = path.posix.resolve(`/${dir}`, target.replaceAll('\\', '/')).slice(1);
    found.push({ id, kind: path.posix.basename(type), part: to });
  }
  return found;
}

/** An event of the XML parser: an element that opens, with its attributes, or closes, or text. */
interface Mark {
  readonly open?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly close?: string;
  readonly text?: string;
}

/**
 * Yields the XML events of a part, none if the workbook lacks it. Removes the prefix of the first element from names, so that elements of
 * later versions, such as `x15:workbookPr`, are not confused with the original ones.
 */
async function* marksOf({ archive, entries }: Package, name: string): AsyncGenerator<Mark> {
  const entry = entries.get(name.toLowerCase());
  if (entry === undefined) return;
  const { SaxesParser } = await import('saxes');
  const parser = new SaxesParser();
  let marks: Mark[] = [];
  let prefix: string | undefined;
  const plain = (element: string) =>
    element.startsWith(prefix ?? '') ? element.slice((prefix ?? '').length) : element;
  parser.on('opentag', tag => {
    prefix ??= tag.name.slice(0, tag.name.indexOf(':') + 1);
    marks.push({ open: plain(tag.name), attributes: tag.attributes });
  });
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

async function textsOf(book: Package, part: string): Promise<string[]> {
  const texts: string[] = [];
  const reader = new TextReader();
  for await (const mark of marksOf(book, part)) {
    reader.take(mark);
    if (mark.close === 'si') texts.push(reader.end());
  }
  return texts;
}

/** Concatenates the runs of a rich text, without phonetic guides. */
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
    const text = decoded(this.#text);
    this.#text = '';
    return text;
  }
}

/** Decodes escapes of characters that XML does not allow. */
function decoded(text: string): string {
  return text.replace(/_x([\dA-Fa-f]{4})_/g, (_, code) => String.fromCharCode(Number(`0x${code}`)));
}

async function stylesOf(book: Package, part: string): Promise<NumberKind[]> {
  const formats = new Map<string, string>();
  const styles: NumberKind[] = [];
  let inCells = false;
  for await (const { open, close, attributes } of marksOf(book, part)) {
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

/** Returns the first sheet with cells, and its lines; if there is none, the first sheet without lines. */
async function firstWithCells(
  book: Workbook,
  sheets: readonly Sheet[],
  local: boolean,
  found: Emptied,
): Promise<{ sheet: Sheet | undefined; lines: AsyncIterable<string> | readonly string[] }> {
  for (const sheet of sheets) {
    Object.assign(found, { errors: 0, formulas: 0 });
    const lines = linesOf(book, sheet, local, found);
    const first = await lines.next();
    if (first.done) continue;
    const all = async function* () {
      yield first.value;
      yield* lines;
    };
    return { sheet, lines: all() };
  }
  return { sheet: sheets[0], lines: [] };
}

async function* linesOf(
  book: Workbook,
  sheet: Sheet,
  local: boolean,
  found: Emptied,
): AsyncGenerator<string> {
  let row: string[] = [];
  let cell: Cell = { column: -1, type: '', style: 0 };
  let value: string | undefined;
  let inValue = false;
  let hasFormula = false;
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
      hasFormula = false;
    }
    if (open === 'f') hasFormula = true;
    if (open === 'v' || close === 'v') inValue = open === 'v';
    if (text !== undefined && inValue) value = (value ?? '') + text;
    if (close === 'is') value = inline.end();
    if (close === 'c') {
      if (cell.type === 'e') found.errors++;
      if (hasFormula && value === undefined) found.formulas++;
      while (row.length < cell.column) row.push('');
      row[cell.column] = value === undefined ? '' : cellText(cell, value, book, local);
    }
    if (close === 'row' && row.some(each => each !== '')) yield `${row.join(',')}\n`;
  }
}

/** Excel's maximum number of columns: a cell beyond them would fill memory with empty cells. */
const mostColumns = 16_384;

/**
 * Returns the position and type of a cell, which follows the previous one if it has no reference such as `B2`. Throws RangeError for a
 * reference outside any sheet.
 */
function cellOf({ r = '', t = 'n', s = '0' }: Readonly<Record<string, string>>, next: number): Cell {
  const letters = /^[A-Z]+/.exec(r)?.[0];
  const column =
    letters === undefined
      ? next
      : [...letters].reduce((sum, each) => sum * 26 + each.charCodeAt(0) - 64, 0) - 1;
  if (column >= mostColumns) throw new RangeError(`no sheet has a cell ${r}`);
  return { column, type: t, style: Number(s) };
}

/** Returns a cell as CSV; text is quoted, so that an empty string is not a missing value. */
function cellText({ type, style }: Cell, value: string, book: Workbook, local: boolean): string {
  switch (type) {
    case 's':
      return quoted(book.texts[Number(value)] ?? '');
    case 'str':
      return quoted(decoded(value));
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
