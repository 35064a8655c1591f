import stringWidth from 'string-width';
import { isolated } from '../../text.js';

/** Gap between two columns of aligned text. */
export const GAP = '  ';

/**
 * Returns rows of strings as lines with aligned columns for a terminal; columns in `atRight` are right-aligned.
 * The first row has a string for every column.
 */
export function alignedLines(
  rows: readonly (readonly string[])[],
  atRight: readonly boolean[] = [],
): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => widthOf(row[column] ?? ''))));
  const padded = (text: string, column: number) => {
    const space = ' '.repeat((widths[column] ?? 0) - widthOf(text));
    return atRight[column] ? space + isolated(text) : isolated(text) + space;
  };
  return rows.map(row => row.map(padded).join(GAP).trimEnd());
}

/** Cuts a string to `width` terminal columns, at a whole grapheme and with an ellipsis if anything is cut. */
export function cutToWidth(text: string, width: number): string {
  if (text.length <= width && isPrintableAscii(text)) return text;
  // A grapheme may have zero width, but checking a bounded prefix of a huge string is enough.
  const start = text.slice(0, width * 20);
  if (start.length === text.length && widthOf(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of graphemes().segment(start)) {
    used += widthOf(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept}\u2026`;
}

/** Wraps sentences at `width` terminal columns, at spaces; a wider word gets a line of its own. */
export function wrapped(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && widthOf(longer) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line].join('\n');
}

/** Returns the width of a string in terminal columns. Most are ASCII, which avoids evaluating the package. */
export function widthOf(text: string): number {
  return isPrintableAscii(text) ? text.length : stringWidth(text);
}

function isPrintableAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

let segmenter: Intl.Segmenter | undefined;

/** Creates the segmenter on first use: it takes 20 ms, which would be part of each start. */
function graphemes(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter;
}
