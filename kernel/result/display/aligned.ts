import stringWidth from 'string-width';
import { isolated } from '../../text.js';

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
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => widthOf(row[column] ?? ''))));
  const padded = (text: string, column: number) => {
    const space = ' '.repeat((widths[column] ?? 0) - widthOf(text));
    return atRight[column] ? space + isolated(text) : isolated(text) + space;
  };
  return rows.map(row => row.map(padded).join(GAP).trimEnd());
}

/** Returns a text of at most `width` columns of a terminal: of a longer one the longest start that leaves room for an ellipsis; whole graphemes only. */
export function cutToWidth(text: string, width: number): string {
  if (text.length <= width && isPrintableAscii(text)) return text;
  // A grapheme may have no width, but a bounded start of a huge text is enough to look at.
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

/** Returns sentences as lines of at most `width` columns of a terminal, broken at spaces; a word that is wider has a line of its own. */
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

/** Returns how many columns of a terminal a text takes. Most are ASCII, for which the package need not be evaluated. */
export function widthOf(text: string): number {
  return isPrintableAscii(text) ? text.length : stringWidth(text);
}

function isPrintableAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

let segmenter: Intl.Segmenter | undefined;

/** Made when the first text is cut: it takes 20 ms, which would be part of each start. */
function graphemes(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter;
}
