/** Comment markers of a table. */
const commentSign = /^\s*(?:#|%|\/\/)/;

/** Returns the number of comment lines at the beginning of a text, including blank lines among them; 0 if nothing follows. */
export function commentsAbove(lines: readonly string[]): number {
  const end = lines.findIndex(line => line.trim() !== '' && !commentSign.test(line));
  return end > 0 && lines.slice(0, end).some(line => commentSign.test(line)) ? end : 0;
}

/** Returns the length in characters of a row count line at the end of a text, with blank lines before it; 0 if there is none. */
export function footerLength(end: string): number {
  return /(?<=[\r\n])\s*\(\d+ rows?(?: affected)?\)\s*$/.exec(end)?.[0].length ?? 0;
}

/** Whether a line of a table with this many columns looks like a total of the rows above. */
export function looksLikeTotal(line: string, delimiter: string, columns: number): boolean {
  const cells = cellsOf(line, delimiter).map(cell => cell.replaceAll('"', ''));
  const [first = '', ...others] = cells.filter(cell => cell !== '');
  const word = first.replace(/\s*:$/, '').toLowerCase();
  return cells.length === columns && totalWords.has(word) && others.some(isNumeric);
}

const totalWords: ReadonlySet<string> = new Set([
  ...['total', 'totals', 'grand total', 'subtotal', 'sub-total', 'sum'],
  ...['summe', 'gesamt', 'gesamtsumme', 'insgesamt', 'totale', 'suma', 'somme', 'итого', '合計', '总计'],
]);

/** Whether cells are a line of dashes below the names. */
export function areDashes(cells: readonly string[]): boolean {
  return cells.every(cell => /^-+$/.test(cell)) && cells.some(cell => cell.length > 1);
}

/** Returns the names in a comment above a table without a header, if there is one for each column. */
export function namesInComment(line: string | undefined, columns: number): readonly string[] | undefined {
  if (line === undefined || !commentSign.test(line)) return undefined;
  const text = line
    .replace(commentSign, '')
    .replace(/^\s*fields\b:?/i, '')
    .trim();
  return [/\t/, /,/, /;/, /\s+/]
    .map(between => text.split(between).map(name => name.trim()))
    .find(names => names.length === columns && names.every(name => name !== '') && looksLikeHeader(names));
}

/**
 * Returns the number of lines above the table in a text that begins with `comments` comment lines. A comment with as many values as the
 * table, a title of one value, or names of groups of columns belong to the table unless a header follows below.
 */
export function linesAbove(lines: readonly string[], comments: number, delimiter: string): number {
  const widths = lines.map(line => (line.trim() === '' ? 0 : cellsOf(line, delimiter).length));
  const width = widths[comments] ?? 0;
  const isHead = (at: number) =>
    looksLikeHeader(cellsOf(lines[at] ?? '', delimiter)) && isAboveNumbers(lines.slice(at), delimiter);
  if (comments > 0) {
    const fits = widths.slice(0, comments).filter(each => each === width).length;
    if (fits === 0 || isHead(comments)) return comments;
    return fits === 1 && widths[comments - 1] === width ? comments - 1 : 0;
  }
  const first = widths.findIndex(each => each > 1);
  const isGroups = areGroups(cellsOf(lines[first] ?? '', delimiter)) && isHead(first + 1);
  const table = isGroups ? first + 1 : first;
  const isWhole = widths[table] === Math.max(...widths);
  // A header that continues in the next line within quotes is not a title.
  const isClosed = lines.slice(0, Math.max(table, 0)).every(line => line.split('"').length % 2 === 1);
  return table > 0 && table <= mostTitles && isWhole && isClosed && isHead(table) ? table : 0;
}

/** Whether cells name groups of columns: at most half have text, and none is a number or a time. */
function areGroups(cells: readonly string[]): boolean {
  const names = cells.filter(cell => cell !== '');
  return names.length > 0 && names.length * 2 <= cells.length && !names.some(isNumeric);
}

/** Maximum number of title lines above a table, including blank ones. */
const mostTitles = 20;

/** Whether a column below the first of these lines holds mostly numbers or times. */
function isAboveNumbers(lines: readonly string[], delimiter: string): boolean {
  const [names = [], ...rows] = lines
    .filter(line => line.trim() !== '')
    .slice(0, mostLooked)
    .map(line => cellsOf(line, delimiter));
  return names.some((_, column) => {
    const values = rows.map(row => (row[column] ?? '').replaceAll('"', '')).filter(value => value !== '');
    return values.length > 0 && values.filter(isNumeric).length * 10 >= values.length * 8;
  });
}

/**
 * Whether cells are the units of columns with these rows: text in at least two columns of numbers or times and in no other column, or all
 * of them in brackets.
 */
export function areUnits(cells: readonly string[], rows: readonly (readonly string[])[]): boolean {
  const filled = cells.flatMap((cell, column) => (cell === '' ? [] : [column]));
  const isNumbers = (column: number) => {
    const values = rows.map(row => row[column] ?? '').filter(value => value !== '');
    return values.length > 1 && values.every(isNumeric);
  };
  const numbers = filled.filter(isNumbers);
  const isBracketed = numbers.length > 0 && cells.every(cell => cell === '' || bracketed.test(cell));
  return (
    (isBracketed || (numbers.length > 1 && numbers.length === filled.length)) &&
    cells.every(cell => cell.length <= longestUnit && !cell.includes('\n') && !isNumeric(cell))
  );
}

function isNumeric(value: string): boolean {
  return numeric.test(value);
}

const bracketed = /^(?:\[.*\]|\(.*\))$/;
/** Maximum length of a unit, in characters. */
const longestUnit = 40;

const mostLooked = 100;
const numeric = /^[-+]?(?:\d|[.,]\d)[\d.,]*(?:[eE][-+]?\d+)?%?$|^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:\D|$)/;

/** Candidate delimiters. */
export const csvDelimiters: readonly string[] = [',', ';', '\t', '|'];

/** Returns whether a first line looks like names: most are not empty, and none is a number or a time. */
export function looksLikeHeader(cells: readonly string[]): boolean {
  const names = cells.filter(cell => cell !== '');
  return (
    names.length * 2 > cells.length &&
    names.some(name => /\p{L}/u.test(name)) &&
    names.every(name => /\p{L}|^[#%]$/u.test(name) && !/^\d{1,4}[-/:.]/.test(name) && !isCut(name))
  );
}

/** Whether a text ends within brackets: it is part of a line that is not a table. */
function isCut(text: string): boolean {
  return text.lastIndexOf('[') > text.lastIndexOf(']') || text.lastIndexOf('(') > text.lastIndexOf(')');
}

/** A column name of a wide table that begins with a digit: a year, a numeric date, a range, `65+`, `3-month`, `2. answer`. */
export const periodPattern = [
  '(18|19|20|21)\\d\\d([-/.]\\d{1,2}){0,2}',
  '(18|19|20|21)\\d\\d[-/]\\d{2,4}( \\D.*)?',
  '\\d{1,2}[-/.]\\d{1,2}[-/.]\\d{2,4}',
  '\\d{1,3}(-\\d{1,3}|\\+)',
  '\\d{1,4}-[A-Za-z][^-/]*',
  '\\d{1,3}\\. \\D.*',
].join('|');

/**
 * Returns the cells of a first line that are years, dates or ranges, if they are distinct and among names: they are names too, unless the
 * values below are similar. Otherwise returns none.
 */
export function periodsAmongNames(cells: readonly string[]): readonly number[] {
  const isPeriod = new RegExp(`^(${periodPattern})$`);
  const found = cells.flatMap((cell, index) => (isPeriod.test(cell) ? [index] : []));
  const differ = new Set(found.map(index => cells[index])).size === found.length;
  return differ &&
    found[0] !== 0 &&
    looksLikeHeader(cells.map(cell => (isPeriod.test(cell) ? 'period' : cell)))
    ? found
    : [];
}

/**
 * Whether the first line holds names and every line has as many values. Log lines may also have equal numbers of commas: a word of the
 * first line that recurs in its column is a value, not a name.
 */
export function looksLikeCsv(lines: readonly string[]): boolean {
  const table = lines.slice(commentsAbove(lines));
  return csvDelimiters.some(delimiter => {
    const [names = [], ...rows] = table.map(line => cellsOf(line, delimiter));
    return (
      rows.length > 0 &&
      names.length > 1 &&
      rows.every(row => row.length === names.length) &&
      looksLikeHeader(names) &&
      !rows.some(row => row.some((cell, column) => cell !== '' && cell === names[column]))
    );
  });
}

/** Whether a space follows each delimiter in these lines of a table, not counting quoted values. */
export function spacesFollow(lines: readonly string[], delimiter: string): boolean {
  const after = lines.flatMap(line =>
    line
      .replace(/"[^"]*"/g, '')
      .split(delimiter)
      .slice(1),
  );
  return after.length > 0 && after.every(each => each.startsWith(' '));
}

/** Splits a line into values, approximately: drops delimiters within quotes. */
function cellsOf(line: string, delimiter: string): readonly string[] {
  return line
    .replace(/"[^"]*"/g, quoted => quoted.replaceAll(delimiter, ''))
    .split(delimiter)
    .map(cell => cell.trim());
}
