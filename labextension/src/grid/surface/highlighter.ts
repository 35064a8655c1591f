/** Name of the highlight in the style sheet. */
const NAME = 'apl-grid-search';

/** Search matches in every grid of the page. */
const ranges = new Map<Highlighter, readonly Range[]>();

/** Marks search matches without changing the cells; browsers without highlights show none. */
export class Highlighter {
  /** Marks all case-insensitive matches in the first text node of each cell. */
  mark(cells: Iterable<Element>, search: string): void {
    ranges.set(this, search === '' ? [] : matches(cells, search.toLowerCase()));
    publish();
  }

  clear(): void {
    ranges.delete(this);
    publish();
  }
}

function publish(): void {
  if (!('highlights' in CSS)) return;
  const all = [...ranges.values()].flat();
  if (all.length === 0) CSS.highlights.delete(NAME);
  else CSS.highlights.set(NAME, new Highlight(...all));
}

function matches(cells: Iterable<Element>, search: string): readonly Range[] {
  const found: Range[] = [];
  for (const cell of cells) {
    const text = [...cell.childNodes].find(node => node instanceof Text);
    if (text === undefined) continue;
    const lower = text.data.toLowerCase();
    if (lower.length !== text.data.length) continue;
    for (let at = lower.indexOf(search); at >= 0; at = lower.indexOf(search, at + search.length)) {
      const range = new Range();
      range.setStart(text, at);
      range.setEnd(text, at + search.length);
      found.push(range);
    }
  }
  return found;
}
