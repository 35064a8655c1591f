/** The cells of a notebook that a dashboard runs. */
import { parseCell } from '../../../kernel/apl/syntax/cell.js';
import { isRepeatable, setsBelow } from '../cell/cell-lines.js';

/**
 * Returns the indexes of the cells to run, in order: the pinned ones, each after the cells whose named results it reads. Cells
 * that import, export or store something are left out.
 */
export function runOrder(sources: readonly string[], pinned: ReadonlySet<number>): readonly number[] {
  const read = new Set<string>();
  const order: number[] = [];
  for (const [place, source] of [...sources.entries()].reverse()) {
    const names = resultsOf(source);
    if (!pinned.has(place) && !names.some(name => read.has(name))) continue;
    if (!isRepeatable(source)) continue;
    for (const name of names) read.delete(name);
    for (const word of wordsOf(source)) read.add(word);
    order.unshift(place);
  }
  return order;
}

/** Returns the indexes of the cells above the last pinned one that set something for those below, such as the time range. */
export function settingCells(sources: readonly string[], pinned: ReadonlySet<number>): readonly number[] {
  const last = Math.max(-1, ...pinned);
  return [...sources.keys()].filter(place => {
    const source = sources[place] ?? '';
    if (place > last || !isRepeatable(source)) return false;
    return parseCell(source).magics.some(setsBelow);
  });
}

/** Returns the words of a cell that may be names of results it reads. */
function wordsOf(source: string): readonly string[] {
  const { queries, magics } = parseCell(source);
  const texts = [...queries.map(({ text }) => text), ...magics.map(({ args }) => args)];
  return texts.flatMap(text => text.match(/[\p{L}_][\p{L}\p{N}_-]*/gu) ?? []);
}

/** Returns the names that a cell gives to its results; the last result is `_`. */
function resultsOf(source: string): readonly string[] {
  const { queries } = parseCell(source);
  const names = queries.flatMap(({ name }) => (name === undefined ? [] : [name]));
  return queries.length === 0 ? [] : [...names, '_'];
}
