import type { ArrowTable, QueryResult } from '../result.js';

/** Headings of the four columns of each figure of a comparison. */
export const COMPARED = ['now', 'before', 'change', 'percent'] as const;

/**
 * Returns the column indexes of the figures of a transposed comparison: one row of several figures, each with the columns of
 * `COMPARED`; undefined for any other result.
 */
export function figuresAcross(
  { provenance, tables }: QueryResult,
  table: ArrowTable,
): readonly number[] | undefined {
  const { schema, numRows, numCols } = table.data;
  if (provenance.comparedWith === undefined || table !== tables[0] || numRows !== 1) return undefined;
  const figures = Array.from({ length: numCols / COMPARED.length }, (_, index) => index * COMPARED.length);
  const isFigure = (place: number) =>
    schema.fields[place + 1]?.name.startsWith(`before_${schema.fields[place]?.name}`) === true;
  return figures.length > 1 && numCols % COMPARED.length === 0 && figures.every(isFigure)
    ? figures
    : undefined;
}
