import { cut } from '../../../../kernel/text.js';
import { button, element } from '../../ui/dom.js';
import { headingParts } from '../controls/grid-notes.js';
import { Fetcher } from '../data/fetcher.js';
import { type GridColumn, kindOf, nameOf } from '../grid-cells.js';
import type { RowsView, ViewModel } from '../grid-view.js';
import { Highlighter } from '../surface/highlighter.js';
import { inBlock } from '../surface/selection.js';
import { type Line, lineOf } from './stream-line.js';
import { type Roles, rolesOf } from './stream-roles.js';

const LINE_HEIGHT = 24;
/** Lines in view before the stream scrolls. */
const LINES_IN_SIGHT = 18;
/** Height that no browser limits. */
const UNBOUND_HEIGHT = 5_000_000;
const BORDERS = 2;
const NAME_LENGTH = 60;

/** A part of a line: a row, and the index of its column among those shown. */
export interface StreamPlace {
  readonly x: number;
  readonly y: number;
  readonly column: GridColumn;
  readonly node: HTMLElement;
}

let nextName = 0;

/** The rows as lines, with only those in view in the page: with any number of rows, one pixel of the wheel moves them by one pixel. */
export class Stream implements RowsView {
  readonly frame: HTMLElement;
  readonly lines = element('div', {
    class: 'apl-stream-lines',
    role: 'grid',
    tabindex: 0,
    'aria-label': 'Events of the result',
  });
  readonly #model: ViewModel;
  readonly #head = element('span', { class: 'apl-stream-name' });
  readonly #shared = element('span', { class: 'apl-stream-shared' });
  readonly #space = element('div', {}, this.lines);
  readonly #scroller = element('div', { class: 'apl-stream' }, this.#space);
  readonly #highlighter = new Highlighter();
  readonly #fetcher: Fetcher;
  readonly #name = `apl-stream-${nextName++}`;
  #roles: Roles = rolesOf([]);
  /** Rendered lines by row; lines with loading values are rendered again. */
  readonly #made = new Map<number, Line>();
  /** The lines in view, with their rows, from the first on. */
  #drawn: readonly (readonly [row: number, line: Line])[] = [];
  /** The row at the top, including the fraction of it above the edge. */
  #top = 0;
  /** Position of the scroll bar set for that row. */
  #scrolled = 0;

  constructor(model: ViewModel) {
    this.#model = model;
    this.#fetcher = new Fetcher(
      rows => {
        if (rows === model.rows) this.#draw();
      },
      error => model.failed(error),
    );
    this.frame = element(
      'div',
      { class: 'apl-stream-frame' },
      element('div', { class: 'apl-stream-head' }, this.#head, this.#shared, this.#jumpField()),
      this.#scroller,
    );
    this.#scroller.addEventListener('scroll', () => this.#onScroll());
    this.#scroller.addEventListener('wheel', event => this.#onWheel(event), { passive: false });
  }

  get firstRow(): number {
    return Math.ceil(this.#top);
  }

  /** Lines in a page up or down. */
  get pageRows(): number {
    return Math.max(1, Math.floor(this.#scroller.clientHeight / LINE_HEIGHT) - 1);
  }

  async redraw(): Promise<void> {
    const { layout, rows, zone, isWrapped } = this.#model;
    this.#made.clear();
    this.#roles = rolesOf(layout.shown);
    const { time } = this.#roles;
    this.#head.textContent = time === undefined ? '' : cut(nameOf(time), NAME_LENGTH);
    this.#shared.replaceChildren(...(time === undefined ? [] : headingParts(kindOf(time, zone))));
    this.frame.classList.toggle('apl-stream-wrap', isWrapped);
    this.lines.ariaRowCount = String(rows.count);
    this.#fitHeight();
    this.#moveTo(this.#top);
  }

  async refresh(): Promise<void> {
    this.#moveTo(this.#top);
  }

  style(): void {
    const { selection, layout, rows } = this.#model;
    const block = selection === undefined ? undefined : inBlock(selection);
    const isOfLines = block !== undefined && block.right > block.left;
    this.lines.removeAttribute('aria-activedescendant');
    for (const [row, { node, parts }] of this.#drawn) {
      const isIn = block !== undefined && block.top <= row && row <= block.bottom;
      node.classList.toggle('apl-stream-chosen', isIn && isOfLines);
      for (const [part, column] of parts) {
        const x = layout.shown.indexOf(column);
        part.classList.toggle('apl-stream-selected', isIn && block.left <= x && x <= block.right);
        part.removeAttribute('id');
        if (selection?.focus.y !== row || selection.focus.x !== x) continue;
        part.id = `${this.#name}-${x}-${row}`;
        this.lines.setAttribute('aria-activedescendant', part.id);
      }
    }
    this.#highlighter.mark(this.#parts(), rows.view.search ?? '');
  }

  async scrollTo(row: number): Promise<void> {
    this.#moveTo(row);
  }

  /** Scrolls just far enough to bring a row into view. */
  reveal(row: number): void {
    if (row < this.firstRow) this.#moveTo(row);
    for (let steps = this.pageRows; steps > 0 && this.#isBelow(row); steps -= 1)
      this.#moveTo(row - this.firstRow > this.pageRows ? row - this.pageRows : this.firstRow + 1);
  }

  focus(): void {
    this.lines.focus({ preventScroll: true });
  }

  dispose(): void {
    this.#highlighter.clear();
  }

  /** Returns the part of a line that contains an element, otherwise the message of that line, otherwise its first part. */
  placeOf(target: EventTarget | null): StreamPlace | undefined {
    if (!(target instanceof Element)) return undefined;
    const [row, line] = this.#drawn.find(([, { node }]) => node.contains(target)) ?? [];
    if (row === undefined || line === undefined) return undefined;
    const all = [...line.parts];
    const found =
      all.find(([node]) => node.contains(target)) ??
      all.find(([, column]) => column === this.#roles.message) ??
      all[0];
    return found === undefined ? undefined : this.#placed(row, found);
  }

  /** Returns the parts of a row from left to right; none while it is out of view. */
  partsOf(row: number): readonly StreamPlace[] {
    const line = this.#drawn.find(([each]) => each === row)?.[1];
    return [...(line?.parts ?? [])].map(part => this.#placed(row, part));
  }

  #placed(y: number, [node, column]: readonly [HTMLElement, GridColumn]): StreamPlace {
    return { x: this.#model.layout.shown.indexOf(column), y, column, node };
  }

  #isBelow(row: number): boolean {
    const line = this.#drawn.find(([each]) => each === row)?.[1];
    if (line === undefined) return row >= this.firstRow;
    const { bottom } = line.node.getBoundingClientRect();
    return row > this.firstRow && bottom > this.#scroller.getBoundingClientRect().bottom + 1;
  }

  #jumpField(): HTMLElement {
    const input = element('input', {
      class: 'apl-grid-input',
      type: 'text',
      placeholder: '10:30',
      title: 'For example 10:30, 10:30:15.5 or 2026-01-26 10:30',
      'aria-label': 'Jump to time',
    });
    const jump = (): void => this.#model.jump(input.value);
    // Notebooks prevent the default action of Enter, which would submit a form.
    input.addEventListener('keydown', ({ key }) => {
      if (key === 'Enter') jump();
    });
    return element('span', { class: 'apl-stream-jump' }, input, button('Jump to time', 'Jump to time', jump));
  }

  /** Fits the height to its lines, up to a screenful; the reader can drag the edge. */
  #fitHeight(): void {
    const { rows, isWrapped } = this.#model;
    const head = this.frame.firstElementChild?.getBoundingClientRect().height ?? 0;
    const most = LINES_IN_SIGHT * LINE_HEIGHT;
    this.frame.style.height = `${head + most + BORDERS}px`;
    let lines = Math.min(Math.max(rows.count, 1) * LINE_HEIGHT, most);
    if (isWrapped && rows.count <= LINES_IN_SIGHT) {
      this.#moveTo(0);
      lines = Math.min(
        this.#drawn.reduce((sum, [, { node }]) => sum + node.offsetHeight, 0),
        most,
      );
    }
    this.frame.style.height = `${head + Math.max(lines, LINE_HEIGHT) + BORDERS}px`;
  }

  /** Returns the last row that can be at the top: wrapped lines may be as high as the stream. */
  #mostTop(): number {
    const { rows, isWrapped } = this.#model;
    const visibleLines = this.#scroller.clientHeight / LINE_HEIGHT;
    return Math.max(isWrapped ? rows.count - 1 : rows.count - visibleLines, 0);
  }

  #moveTo(top: number): void {
    const most = this.#mostTop();
    const client = this.#scroller.clientHeight;
    const range = Math.min(most * LINE_HEIGHT, UNBOUND_HEIGHT);
    this.#top = Math.max(Math.min(top, most), 0);
    this.#space.style.height = `${client + range}px`;
    this.lines.style.height = `${client}px`;
    this.#scroller.scrollTop = most === 0 ? 0 : Math.round((this.#top / most) * range);
    this.#scrolled = this.#scroller.scrollTop;
    this.#draw();
  }

  /** Follows the scroll bar when the reader moves it, and ignores its own changes. */
  #onScroll(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    if (Math.abs(scrollTop - this.#scrolled) < 1) return;
    this.#scrolled = scrollTop;
    this.#top = (scrollTop / Math.max(scrollHeight - clientHeight, 1)) * this.#mostTop();
    this.#draw();
  }

  /** Scrolls by lines: browsers limit the height of a page, so a pixel of the scroll bar represents many rows. */
  #onWheel(event: WheelEvent): void {
    if (event.ctrlKey || event.shiftKey || event.deltaY === 0) return;
    const most = this.#mostTop();
    const before = this.#top;
    const lines =
      event.deltaMode === WheelEvent.DOM_DELTA_LINE
        ? event.deltaY
        : event.deltaMode === WheelEvent.DOM_DELTA_PAGE
          ? event.deltaY * this.pageRows
          : event.deltaY / LINE_HEIGHT;
    // At either end, the notebook scrolls.
    if ((lines < 0 && before <= 0) || (lines > 0 && before >= most)) return;
    event.preventDefault();
    this.#moveTo(before + lines);
  }

  /** Draws the lines from the top one on; at the end of the rows, also as many before it as needed for the last one to be at the bottom. */
  #draw(): void {
    const { rows } = this.#model;
    const client = this.#scroller.clientHeight;
    if (client === 0) return;
    const first = Math.floor(this.#top);
    const drawn: [number, Line][] = [];
    this.lines.replaceChildren();
    let height = 0;
    for (let row = first; row < rows.count && height < client + LINE_HEIGHT; row += 1) {
      const line = this.#lineOf(row);
      drawn.push([row, line]);
      this.lines.append(line.node);
      height += this.#model.isWrapped ? line.node.offsetHeight : LINE_HEIGHT;
    }
    let above = (this.#top - first) * (drawn[0]?.[1].node.offsetHeight ?? 0);
    for (let row = first - 1; row >= 0 && height - above < client; row -= 1) {
      const line = this.#lineOf(row);
      drawn.unshift([row, line]);
      this.lines.prepend(line.node);
      height += line.node.offsetHeight;
      above = Math.max(height - client, 0);
    }
    this.#drawn = drawn;
    this.lines.scrollTop = above;
    this.style();
    const from = drawn[0]?.[0] ?? 0;
    this.#fetcher.see(rows, from, from + drawn.length);
  }

  #lineOf(row: number): Line {
    const { rows } = this.#model;
    const known = this.#made.get(row);
    if (known !== undefined) return known;
    const line = lineOf(rows, row, this.#roles, this.#model);
    if (this.#made.size > LINES_IN_SIGHT * 10) this.#made.clear();
    if (rows.has(row, row + 1)) this.#made.set(row, line);
    return line;
  }

  *#parts(): Iterable<Element> {
    for (const [, { parts }] of this.#drawn) yield* parts.keys();
  }
}
