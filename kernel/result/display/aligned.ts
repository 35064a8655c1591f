import stringWidth from 'string-width';

/** Space between two columns of aligned text. */
export const GAP = '  ';

/**
 * Returns rows of texts as lines whose columns line up in a terminal; those that `atRight` marks line up at their right edge.
 * The first row has a text for every column.
 */
export function alignedLines(
  rows: readonly (readonly string[])[],
  atRight: readonly boolean[] = [],
): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map(row => stringWidth(row[column] ?? ''))),
  );
  const padded = (text: string, column: number) => {
    const space = ' '.repeat((widths[column] ?? 0) - stringWidth(text));
    return atRight[column] ? space + text : text + space;
  };
  return rows.map(row => row.map(padded).join(GAP).trimEnd());
}
