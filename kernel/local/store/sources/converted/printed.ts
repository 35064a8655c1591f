/** What the readers of output share that a client of a database has printed. */

/** The text is something else than such output, or more: it is read as any other text is. */
export class NotPrinted extends Error {}

/** A line that says how many rows there are, or how long it took. */
export const footer =
  /^(?:\(\d+ rows?(?: affected)?\)|\d+ rows? in set\b.*|\d+ rows? selected\b.*|Time: \d.*|only showing top \d+ rows?)$/i;

/** Returns a line of CSV, in which an empty value is none, and which is not blank. */
export function csvLine(values: readonly string[]): string {
  if (values.length === 1 && values[0] === '') return '""';
  return values
    .map(value => (value === '' ? '' : ['"', value.replaceAll('"', '""'), '"'].join('')))
    .join(',');
}
