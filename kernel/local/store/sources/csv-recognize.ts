/** What may divide the values of a line. */
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

/** Whether a bracket is open at the end of a text: it is a part of a line that is not a table. */
function isCut(text: string): boolean {
  return text.lastIndexOf('[') > text.lastIndexOf(']') || text.lastIndexOf('(') > text.lastIndexOf(')');
}

/** A year, or a date in numbers, as the name of a column of a wide table. */
export const periodPattern = '(18|19|20|21)\\d\\d([-/.]\\d{1,2}){0,2}|\\d{1,2}[-/.]\\d{1,2}[-/.]\\d{2,4}';

/**
 * Returns which cells of a first line are years or dates, if it holds names beside them and they differ: they are names too unless
 * the values below are alike. Empty otherwise.
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
 * Whether the first line holds names, and every line as many values. Lines of a log may have as many commas each: a word of the
 * first that comes again in its column is a value and no name.
 */
export function looksLikeCsv(lines: readonly string[]): boolean {
  return csvDelimiters.some(delimiter => {
    const [names = [], ...rows] = lines.map(line => cellsOf(line, delimiter));
    return (
      rows.length > 0 &&
      names.length > 1 &&
      rows.every(row => row.length === names.length) &&
      looksLikeHeader(names) &&
      !rows.some(row => row.some((cell, column) => cell !== '' && cell === names[column]))
    );
  });
}

/** The values of a line, roughly: those in quotes without their delimiters. */
function cellsOf(line: string, delimiter: string): readonly string[] {
  return line
    .replace(/"[^"]*"/g, quoted => quoted.replaceAll(delimiter, ''))
    .split(delimiter)
    .map(cell => cell.trim());
}
