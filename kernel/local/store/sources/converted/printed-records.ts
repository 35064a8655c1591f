import type { Left } from './left.js';
import { csvLine, footer, NotPrinted } from './printed.js';
import { textLines } from './text-lines.js';

/** How a client prints the values of a row one per line. */
interface Style {
  /** Line above a row. */
  readonly begin: RegExp;
  /** Separator of name and value. */
  readonly sign: '|' | ':';
}

const styles: readonly Style[] = [
  // psql after \x.
  { begin: /^-\[ RECORD \d+ \][-+]*$/, sign: '|' },
  // mysql after \G.
  { begin: /^\*+ \d+\. row \*+$/, sign: ':' },
];

/** Like `printedTables`, for rows printed with one value per line. */
export async function* printedRecords(chunks: AsyncIterable<Buffer>, left: Left): AsyncGenerator<string> {
  let names: readonly string[] | undefined;
  let row: Row | undefined;
  const ended = (): readonly string[] => {
    if (row === undefined) return [];
    const own = row.fields.map(({ name }) => name);
    const lines = [
      ...(names === undefined ? [csvLine(own)] : []),
      csvLine(row.fields.map(({ value }) => value)),
    ];
    names ??= own;
    row = undefined;
    if (own.length === 0 || own.join('\n') !== names.join('\n')) throw new NotPrinted();
    return lines;
  };
  for await (const line of textLines(chunks)) {
    const text = line.trimEnd();
    const style = styles.find(({ begin }) => begin.test(text));
    const isFooter = footer.test(text);
    if (isFooter) left.add(text);
    if (style !== undefined || isFooter || (text === '' && row?.style.sign !== ':')) yield* ended();
    if (style !== undefined) row = new Row(style);
    else if (row !== undefined) row.add(line, names);
    else if (text !== '' && !isFooter) throw new NotPrinted();
  }
  yield* ended();
}

class Row {
  readonly style: Style;
  readonly fields: { readonly name: string; value: string }[] = [];
  /** Column of the separator. */
  #place = -1;

  constructor(style: Style) {
    this.style = style;
  }

  /** Adds a field, or a continuation line of the last one, which has no name. */
  add(line: string, names: readonly string[] | undefined): void {
    const { sign } = this.style;
    if (this.#place < 0) this.#place = line.indexOf(sign);
    const name = line.slice(0, this.#place).trim();
    const value = line.slice(this.#place + 1).replace(/^ /, '');
    const isField =
      line[this.#place] === sign && name !== '' && name === (names?.[this.fields.length] ?? name);
    const last = this.fields.at(-1);
    if (isField) this.fields.push({ name, value: sign === '|' ? value.trimEnd() : value });
    else if (last === undefined) throw new NotPrinted();
    else if (sign === ':') last.value += `\n${line}`;
    else if (name === '' && last.value.endsWith('+'))
      last.value = `${last.value.replace(/ *\+$/, '')}\n${value.trimEnd()}`;
    else throw new NotPrinted();
  }
}
