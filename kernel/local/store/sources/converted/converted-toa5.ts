import type { Left } from './left.js';
import { NotPrinted } from './printed.js';
import { textLines } from './text-lines.js';

/**
 * Yields the lines of a Campbell data logger file below the names of its values, as CSV. A restarted logger repeats its header: header
 * lines are added to `left`. Throws NotPrinted if one has other names.
 */
export async function* toa5Lines(chunks: AsyncIterable<Buffer>, left: Left): AsyncGenerator<string> {
  let names: string | undefined;
  let inHead = 0;
  for await (const line of textLines(chunks)) {
    if (/^"?TOA5"?,/.test(line)) inHead = 1;
    else if (inHead > 0) inHead = (inHead + 1) % (headLines + 1);
    if (inHead !== namesLine) {
      if (inHead > 0) left.add(line);
      else if (line.trim() !== '') yield line;
    } else if (names !== undefined && line !== names) throw new NotPrinted();
    else if (names === undefined) yield line;
    else left.add(line);
    if (inHead === namesLine) names = line;
  }
}

/** Number of header lines: logger, names, units, and processing. */
const headLines = 4;
const namesLine = 2;
