import stringWidth from 'string-width';
import type { Left } from './left.js';
import { csvLine, footer, NotPrinted } from './printed.js';
import { textLines } from './text-lines.js';

/** How values of a line are found: between bars, or by the columns of the dashes below the names. */
interface Style {
  /** Line below the names. */
  readonly rule: RegExp;
  /** Lines above the names and below the rows. */
  readonly frame?: RegExp;
  /** Separator of values; a blank if there are no bars. */
  readonly bar: string;
}

// Built from strings, as regular expression literals would make the bundle non-ASCII.
const dash = '[─═]';
const joints = '┼╪├┤╞╡';
const betweenBars = new RegExp(`[^+|${joints}]+`, 'g');

const styles: readonly Style[] = [
  // psql, cqlsh, Trino.
  { rule: /^-+(?:\+-+)+$/, bar: '|' },
  // mysql, Hive, Spark and sqlite3.
  { rule: /^\+(?:[-=]+\+)+$/, frame: /^\+(?:[-=]+\+)+$/, bar: '|' },
  {
    rule: new RegExp(`^[├╞](?:${dash}+[┼╪])*${dash}+[┤╡]$`),
    frame: new RegExp(`^[┌╭└╰](?:${dash}|[┬┴])+[┐╮┘╯]$`),
    bar: '│',
  },
  { rule: /^\|(?:[ \t]*:?-+:?[ \t]*\|)+$/, bar: '|' },
  // sqlcmd, and sqlite3 in columns.
  { rule: /^-+(?: +-+)+$/, bar: ' ' },
];

/**
 * Yields the rows of tables printed by a database client as CSV lines, the first with the names; row count lines are added to `left`.
 * Throws NotPrinted if there is anything else, or a table with other columns.
 */
export async function* printedTables(chunks: AsyncIterable<Buffer>, left: Left): AsyncGenerator<string> {
  let names: string | undefined;
  let head: string | undefined;
  let table: Table | undefined;
  for await (const line of textLines(chunks)) {
    const text = line.trimEnd();
    const isFooter = footer.test(text.trim());
    const isFrame = styles.some(({ frame }) => frame?.test(text)) && head === undefined;
    if (isFooter) left.add(text.trim());
    if (text === '' || isFooter || isFrame) {
      if (head !== undefined || table?.isOpen) throw new NotPrinted();
      table = undefined;
    } else if (table !== undefined) yield* table.rowsOf(line);
    else if (head === undefined) head = line;
    else {
      table = new Table(text);
      const own = csvLine(table.cells(head).map(cell => cell.trim()));
      if (names === undefined) yield own;
      names ??= own;
      if (own !== names) throw new NotPrinted();
      head = undefined;
    }
  }
  if (head !== undefined || table?.isOpen) throw new NotPrinted();
}

/** Half-open range of terminal columns. */
interface Column {
  readonly from: number;
  readonly to: number;
}

/** Rows below a line of dashes. */
class Table {
  readonly #style: Style;
  readonly #columns: readonly Column[];
  /** Values of a row that continues on the next line, and which of them continue. */
  #open: { readonly values: readonly string[]; readonly goesOn: readonly boolean[] } | undefined;

  constructor(rule: string) {
    const style = styles.find(each => each.rule.test(rule));
    if (style === undefined) throw new NotPrinted();
    this.#style = style;
    this.#columns = [...rule.matchAll(style.bar === ' ' ? /-+/g : betweenBars)].map(
      ({ index, 0: dashes }) => ({ from: index, to: index + dashes.length }),
    );
  }

  /** Whether the style marks continued values: not if values are framed or separated by blanks. */
  get #mayGoOn(): boolean {
    return this.#style.bar === '|' && this.#columns[0]?.from === 0;
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Returns the row that ends with a line, if any. A `+` after a value means that it continues. */
  rowsOf(line: string): readonly string[] {
    const cells = this.cells(line);
    const goesOn = this.#columns.map(({ from, to }, at) => {
      const cell = cells[at] ?? '';
      return this.#mayGoOn && cell.endsWith('+') && stringWidth(cell) === to - from;
    });
    const values = cells.map((cell, at) => {
      const value = goesOn[at] ? cell.slice(0, -1) : cell;
      const before = this.#open?.values[at];
      if (before === undefined) return value.trim();
      return this.#open?.goesOn[at] ? `${before}\n${value.slice(1).trimEnd()}` : before;
    });
    this.#open = goesOn.includes(true) ? { values, goesOn } : undefined;
    return this.#open === undefined ? [csvLine(values)] : [];
  }

  /** Returns the values of a line with surrounding blanks; throws NotPrinted if it does not have these columns. */
  cells(line: string): readonly string[] {
    const { bar } = this.#style;
    const isFramed = (this.#columns[0]?.from ?? 0) > 0;
    const between = bar === ' ' ? [] : line.split(bar);
    const own = isFramed ? between.slice(1, -1) : between;
    const isWhole = !isFramed || (between[0]?.trim() === '' && between.at(-1)?.trim() === '');
    if (own.length === this.#columns.length && isWhole) return own;
    return this.#cellsAt([...line]) ?? this.#cellsAt(spread(line)) ?? notPrinted();
  }

  /** Returns the values in the columns, undefined if there is anything but a bar or blanks between them. */
  #cellsAt(characters: readonly string[]): readonly string[] | undefined {
    const { bar } = this.#style;
    const textOf = (from: number, to?: number) => characters.slice(from, to).join('');
    const [{ from: start = 0 } = {}] = this.#columns;
    const isLast = (at: number) => at === this.#columns.length - 1;
    const gaps = this.#columns.map(({ to }, at) => textOf(to, this.#columns[at + 1]?.from));
    const isGap = (gap: string) => (bar === ' ' ? gap.trim() === '' : gap.trim() === bar);
    if (!gaps.every((gap, at) => (isLast(at) && start === 0) || isGap(gap))) return undefined;
    if (textOf(0, start).trim() !== (start > 0 ? bar : '')) return undefined;
    return this.#columns.map(({ from, to }, at) => textOf(from, isLast(at) && start === 0 ? undefined : to));
  }
}

function notPrinted(): never {
  throw new NotPrinted();
}

/** Splits a line into characters, each followed by an empty string per additional terminal column it occupies. */
function spread(line: string): readonly string[] {
  return [...new Intl.Segmenter().segment(line)].flatMap(({ segment }) => [
    segment,
    ...Array.from({ length: Math.max(0, stringWidth(segment) - 1) }, () => ''),
  ]);
}
