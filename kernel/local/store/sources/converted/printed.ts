/** Helpers shared by the readers of output printed by a database client. */

/** The text is not, or not only, such output: it is read like any other text. */
export class NotPrinted extends Error {}

/** A line with the row count or duration. */
export const footer =
  /^(?:\(\d+ rows?(?: affected)?\)|\d+ rows? in set\b.*|\d+ rows? selected\b.*|Time: \d.*|only showing top \d+ rows?)$/i;

/** Returns a line of CSV that is not blank; empty values are null. */
export function csvLine(values: readonly string[]): string {
  if (values.length === 1 && values[0] === '') return '""';
  return values
    .map(value => (value === '' ? '' : ['"', value.replaceAll('"', '""'), '"'].join('')))
    .join(',');
}
