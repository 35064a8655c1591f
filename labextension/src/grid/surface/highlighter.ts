/** The name of the highlight in the style sheet. */
const NAME = 'apl-grid-search';

/** Matches of the search in every grid of the page. */
const ranges = new Map<Highlighter, readonly Range[]>();

/** Marks what was searched for without changing the cells; in browsers without highlights nothing is marked. */
export class Highlighter {
  /** Marks all places of a text, in any case, in the cells of a table. */
  mark(table: HTMLElement, search: string): void {
    ranges.set(this, search === '' ? [] : matches(table, search.toLowerCase()));
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

function matches(table: HTMLElement, search: string): readonly Range[] {
  const found: Range[] = [];
  for (const cell of table.querySelectorAll('tbody td, tbody th')) {
    const text = cell.firstChild;
    if (!(text instanceof Text)) continue;
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
