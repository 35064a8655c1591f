import 'regular-table';
import type { RegularTableElement } from 'regular-table';
import type { CellMetadata } from 'regular-table/dist/esm/types.js';
import { cut, formatCount, visible } from '../../../../kernel/text.js';
import { button, element } from '../../ui/dom.js';
import { Fetcher } from '../data/fetcher.js';
import type { Rows } from '../data/grid-rows.js';
import { type GridColumn, kindOf, nameOf, type ShownCell } from '../grid-cells.js';
import { type RowsView, traceButton, type ViewModel } from '../grid-view.js';
import { Highlighter } from './highlighter.js';
import { type CellPlace, HEAD_ROW, isIn } from './selection.js';

/** A position in the table: a cell, a row number (no column), or a header. */
export interface SurfacePlace extends CellPlace {
  readonly column: GridColumn | undefined;
}

export const ROW_HEIGHT = 24;
/** Minimum height of rows with wrapped values, if they scroll and any of them needs it. */
const WRAPPED_ROW_HEIGHT = 72;
/** Width of columns with long values, before they share the space beside the table. */
const LONG_WIDTH = 440;
/** Minimum width of such a column, if the table then needs no scroll bar. */
const NARROW_WIDTH = 240;
const HEAD_HEIGHT = 42;
/** Same as in the style sheet. */
const CHEVRON_WIDTH = 18;
/** Extends into the padding of the next cell: within its own padding alone, the button would cover the end of the value. */
const CHEVRON_OVER = 8;
/** Height that no browser limits. */
const UNBOUND_HEIGHT = 5_000_000;
/** Rows in view before the grid scrolls, and rows in a page up or down. */
export const ROWS_IN_SIGHT = 14;
const MOST_HEIGHT = ROWS_IN_SIGHT * ROW_HEIGHT;
/** Width of the frame's border, both sides together. */
const BORDERS = 2;
/** The table scrolls sideways unless it is wider than its columns by this much. */
const SPARE = 1;
const MOST_ATTEMPTS = 10;
const TITLE_LENGTH = 2_000;
/** Classes of a value's cell. */
const LOOKS = ['numeric', 'null', 'selected', 'bounded', 'error', 'warning', 'quiet'] as const;
type Look = (typeof LOOKS)[number];
/** A string that is surely narrower than the widest column and runs left to right: cells with others are bounded, which is expensive. */
const HARMLESS = /^[ -~]{0,36}$/;

/** The cells last passed to the table, from row `from` up to `to`; `isWhole` if all of them had arrived. */
interface Given {
  readonly from: number;
  readonly to: number;
  readonly cells: ReadonlyMap<GridColumn, readonly ShownCell[]>;
  readonly isWhole: boolean;
}

let nextName = 0;

/** The table in the page, with only the cells in view. */
export class Surface implements RowsView {
  readonly frame: HTMLElement;
  readonly table: RegularTableElement;
  /** Opens the menu of the active cell, over whose end it is placed; its key is Space. */
  readonly chevron = element(
    'button',
    { type: 'button', class: 'apl-grid-chevron', tabindex: -1, hidden: true, title: 'Menu (Space)' },
    '\u25be',
  );
  /** Draws the trace named by the cell under the pointer, or by the active one. */
  readonly trace = traceButton();
  /** The cell under the pointer. */
  #hovered: CellPlace | undefined;
  readonly #model: ViewModel;
  readonly #highlighter = new Highlighter();
  readonly #heads = new WeakMap<Element, GridColumn>();
  /** Current classes of value cells, so that a draw only changes those that differ. */
  readonly #looks = new WeakMap<Element, string>();
  /** The cells passed to the table, from which their styles are derived. */
  #given: Given = { from: 0, to: 0, cells: new Map(), isWhole: true };
  readonly #fetcher: Fetcher;
  /** The active cell, if it is visible, and the prefix of cell names in this table. */
  #active: HTMLElement | undefined;
  readonly #name = `apl-grid-${nextName++}`;
  /** The last cell to be revealed. */
  #wanted: CellPlace | undefined;
  /** Follows columns that grow as wider values come into view. */
  readonly #growth = new ResizeObserver(() => void this.#follow());
  /** Height of the scroll bar for which the frame has space. */
  #scrollBar = 0;
  /** Number of drawn rows covered by the header. */
  #covered = 0;
  /** Row height that the table assumes. */
  #rowHeight = ROW_HEIGHT;
  /** Total height of all rows; undefined if they scroll. */
  #wholeHeight: number | undefined;
  /** Available width when the columns were measured, and the number of columns with long values. */
  #room = 0;
  #longColumns = 0;

  constructor(model: ViewModel) {
    this.#model = model;
    this.#fetcher = new Fetcher(
      rows => this.#drawArrived(rows),
      error => model.failed(error),
    );
    this.table = document.createElement('regular-table');
    this.chevron.ariaLabel = 'Menu of the selected value';
    this.trace.hidden = true;
    this.frame = element('div', { class: 'apl-grid-frame' }, this.table, this.trace, this.chevron);
    this.table.addStyleListener(() => {
      this.style();
      this.#endWithLast();
    });
    this.table.addEventListener('scroll', () => {
      this.#endWithLast();
      this.hover(undefined);
    });
  }

  /** The row whose trace the button draws; undefined while it is hidden. */
  get traceRow(): number | undefined {
    return this.#tracePlace()?.y;
  }

  /** Called when the pointer is over another cell. */
  hover(place: CellPlace | undefined): void {
    this.#hovered = place;
    this.#showTrace();
  }

  get firstRow(): number {
    return this.#given.from + this.#covered;
  }

  async scrollTo(row: number): Promise<void> {
    if (row === 0) this.table.scrollTop = 0;
    else await this.table.scrollToCell(this.#scrollingHeads()[0]?.column ?? 0, row);
  }

  async redraw({ resize }: { readonly resize: boolean }): Promise<void> {
    const columns = resize || this.#longColumns > 0;
    if (columns) this.#resetWidths();
    this.table.restoreColumnSizes(this.#givenWidths());
    this.table.setDataListener(this.#data, { virtual_mode: 'both' });
    await this.#measure({ columns, rows: true });
    this.#fitHeight();
    const grid = this.#grid;
    if (grid === null) return;
    this.#growth.observe(grid);
    // A single tab stop: arrow keys move between cells, and every button in it has a key.
    this.table.removeAttribute('tabindex');
    grid.tabIndex = 0;
    grid.role = 'grid';
    grid.ariaLabel = 'Rows of the result';
    grid.ariaRowCount = String(this.#model.rows.count + 1);
  }

  focus(): void {
    this.#grid?.focus({ preventScroll: true });
  }

  /** The cells and headers in view; the element around them scrolls. */
  get #grid(): HTMLTableElement | null {
    return this.table.querySelector('table');
  }

  async refresh(): Promise<void> {
    const isOtherRoom = this.#room !== this.#roomBeside();
    if (isOtherRoom && (this.#model.isWrapped || this.#longColumns > 0)) {
      this.#resetWidths();
      await this.#measure({ columns: true, rows: this.#model.isWrapped });
      if (this.#model.isWrapped) this.#fitHeight();
    } else {
      await this.table.draw();
      this.#fitWidth();
    }
    const change = this.#scrollBarBelow() - this.#scrollBar;
    if (change === 0) return;
    // The reader may have dragged the edge, so the rest of the height is kept.
    this.frame.style.height = `${this.frame.offsetHeight + change}px`;
    this.#scrollBar += change;
  }

  /** Draws, and sizes columns and wrapped rows to their values, as far as there is space. */
  async #measure({ columns, rows }: { readonly columns: boolean; readonly rows: boolean }): Promise<void> {
    const { style } = this.frame;
    this.#room = this.#roomBeside();
    if (rows) this.#setRows(ROW_HEIGHT, undefined);
    if (columns) {
      style.setProperty('--apl-grid-long', `${LONG_WIDTH}px`);
      // Only columns with space are drawn, and thus measured.
      style.width = '100%';
    }
    if (rows) this.#fitHeight();
    await this.table.draw();
    const isOther = [columns && this.#fitLongColumns(), this.#model.isWrapped && this.#fitRows()];
    if (isOther.includes(true)) await this.table.draw();
    // The scroll range is computed before a draw, from widths measured by the previous one.
    if (columns) await this.table.draw();
    this.#fitWidth();
  }

  /** Fits columns of long values into the space that the others leave; returns true if their width changes. */
  #fitLongColumns(): boolean {
    const { layout } = this.#model;
    this.#longColumns = this.#countLongColumns();
    if (this.#longColumns === 0) return false;
    const table = this.#grid?.offsetWidth ?? 0;
    const spare = this.table.clientWidth - table - SPARE;
    const width = LONG_WIDTH + Math.floor(spare / this.#longColumns);
    const isWhole = this.#columnHeads().length > layout.shown.length;
    if (width < LONG_WIDTH && !(isWhole && width >= NARROW_WIDTH)) return false;
    this.#resetWidths();
    this.frame.style.setProperty('--apl-grid-long', `${width}px`);
    return true;
  }

  #countLongColumns(): number {
    return this.#columnHeads().filter(({ offsetWidth }) => offsetWidth >= LONG_WIDTH).length;
  }

  #columnHeads(): readonly HTMLElement[] {
    return [...this.table.querySelectorAll<HTMLElement>('thead th')];
  }

  /** Resets the widths, except those set by the reader. */
  #resetWidths(): void {
    this.table.resetAutoSize({ auto: true, indices: true, row_height: true, override: false });
  }

  /** Fits wrapped rows to their content if all of them are in view; otherwise they have equal heights, or some could not be scrolled to. */
  #fitRows(): boolean {
    const heights = this.#drawnHeights();
    const { count } = this.#model.rows;
    const whole = heights.reduce((sum, height) => sum + height, 0);
    if (heights.length >= count && whole <= MOST_HEIGHT)
      this.#setRows(Math.floor((this.#headHeight() + whole) / (count + 1)), whole);
    else this.#setRows(Math.min(Math.max(...heights, ROW_HEIGHT), WRAPPED_ROW_HEIGHT), undefined);
    return true;
  }

  #drawnHeights(): readonly number[] {
    return this.#drawnRows().map(row => row.getBoundingClientRect().height);
  }

  /** Returns the rows of the last draw; the table keeps rows of earlier draws below them. */
  #drawnRows(): readonly HTMLElement[] {
    const { from, to } = this.#given;
    return [...this.table.querySelectorAll<HTMLElement>('tbody tr')].slice(0, Math.max(to - from, 0));
  }

  #setRows(height: number, whole: number | undefined): void {
    this.#rowHeight = height;
    this.#wholeHeight = whole;
    this.frame.style.setProperty('--apl-grid-row', `${whole === undefined ? height : ROW_HEIGHT}px`);
  }

  style(): void {
    const focus = this.#model.selection?.focus;
    let active: HTMLElement | undefined;
    for (const cell of this.table.querySelectorAll<HTMLElement>('th, td')) {
      const place = this.placeOf(cell);
      if (place === undefined) continue;
      this.#styleCell(cell, place);
      if (focus !== undefined && place.x === focus.x && place.y === focus.y) active = cell;
    }
    this.#activate(active, focus);
    this.#showChevron(active, focus);
    this.#showTrace();
    this.#highlighter.mark(
      this.table.querySelectorAll('tbody td, tbody th'),
      this.#model.rows.view.search ?? '',
    );
  }

  /** Names the active cell for screen readers; cells show other values as the table scrolls. */
  #activate(cell: HTMLElement | undefined, at: CellPlace | undefined): void {
    if (cell !== this.#active) this.#active?.removeAttribute('id');
    this.#active = cell;
    if (cell === undefined || at === undefined) {
      this.#grid?.removeAttribute('aria-activedescendant');
      return;
    }
    const id = `${this.#name}-${at.x}-${at.y}`;
    if (cell.id === id) return;
    cell.id = id;
    this.#grid?.setAttribute('aria-activedescendant', id);
  }

  /** Places the menu button, which is outside of the table because that recreates its cells. */
  #showChevron(cell: HTMLElement | undefined, at: CellPlace | undefined): void {
    this.chevron.hidden = cell === undefined || at === undefined || at.y === HEAD_ROW;
    if (this.chevron.hidden || cell === undefined) return;
    this.#standAtEnd(this.chevron, cell, CHEVRON_WIDTH, CHEVRON_OVER);
  }

  /** Returns the cell with the trace button: the one under the pointer, or the active one. */
  #tracePlace(): CellPlace | undefined {
    const { layout, selection, hasTrace } = this.#model;
    return [this.#hovered, selection?.focus].find(place => {
      const column = place === undefined ? undefined : layout.shown[place.x];
      return place !== undefined && place.y >= 0 && column !== undefined && hasTrace(column, place.y);
    });
  }

  #showTrace(): void {
    const at = this.#tracePlace();
    const cell = at === undefined ? undefined : this.cellAt(at);
    this.trace.hidden = cell === undefined;
    if (at === undefined || cell === undefined) return;
    const focus = this.#model.selection?.focus;
    const isActive = focus !== undefined && focus.x === at.x && focus.y === at.y;
    const width = this.trace.offsetWidth + (isActive ? CHEVRON_WIDTH : 0);
    this.#standAtEnd(this.trace, cell, width, isActive ? CHEVRON_OVER : 0);
  }

  /** Places a button over a cell, `before` pixels before its end, or before the point `over` pixels behind it if that is still in view. */
  #standAtEnd(node: HTMLElement, cell: HTMLElement, before: number, over: number): void {
    const frame = this.frame.getBoundingClientRect();
    const { right, top } = cell.getBoundingClientRect();
    const end = Math.min(right - frame.left + over, this.table.clientWidth);
    node.style.left = `${end - before}px`;
    node.style.top = `${top - frame.top}px`;
  }

  /** The height over which the table scrolls, as a share of the height of all its rows. */
  get heightShown(): number {
    const whole = this.#model.rows.count * this.#rowHeight;
    return whole <= UNBOUND_HEIGHT ? 1 : Math.min(1, this.table.scrollHeight / whole);
  }

  /** Returns the position of an element of the table. */
  placeOf(target: EventTarget | null): SurfacePlace | undefined {
    const cell = target instanceof Element ? target.closest<HTMLElement>('td, th') : null;
    const meta = cell === null ? undefined : this.table.getMeta(cell);
    if (meta === undefined) return undefined;
    const x = this.#columnAt(meta);
    const y = meta.type === 'body' || meta.type === 'row_header' ? meta.y : HEAD_ROW;
    return { column: this.#model.layout.shown[x], x, y };
  }

  /** Returns the drawn cell or header at a position; undefined if it is out of view. */
  cellAt({ x, y }: CellPlace): HTMLElement | undefined {
    return [...this.table.querySelectorAll<HTMLElement>('td, th')].find(cell => {
      const place = this.placeOf(cell);
      return place?.x === x && place.y === y;
    });
  }

  /** Scrolls just far enough to bring a cell into view; a later call supersedes it. */
  async reveal(place: CellPlace): Promise<void> {
    // The table guesses the widths of columns that it has never drawn, so the end of many is further away than it seems.
    this.#wanted = place;
    for (let attempt = 0; attempt < MOST_ATTEMPTS && this.#wanted === place; attempt += 1) {
      const first = this.#firstFor(place);
      if (first === undefined) break;
      const { scrollLeft, scrollTop } = this.table;
      await this.table.scrollToCell(first.x, first.y);
      if (this.table.scrollLeft === scrollLeft && this.table.scrollTop === scrollTop) break;
    }
    this.style();
  }

  /** Returns the first column and row to scroll to for a cell to be in view; undefined if it is. */
  #firstFor({ x, y }: CellPlace): CellPlace | undefined {
    const metas = [...this.table.querySelectorAll<HTMLElement>('tbody td')].map(cell =>
      this.table.getMeta(cell),
    );
    const drawn = metas.flatMap(meta => (meta?.type === 'body' ? [meta.y] : []));
    const top = drawn.length === 0 ? 0 : Math.min(...drawn) + this.#covered;
    const bottom = Math.max(...drawn) - 1;
    // Headers are always in view.
    const isRowSeen = y === HEAD_ROW || (y >= top && y <= bottom);
    const column = this.#firstColumnFor(x - this.#model.layout.pinned.length);
    if (column === undefined && isRowSeen) return undefined;
    return {
      x: column ?? this.#scrollingHeads()[0]?.column ?? 0,
      y: isRowSeen ? top : y < top ? y : Math.max(y - (bottom - top), 0),
    };
  }

  /**
   * Returns the first scrolling column with which another is in view as far as possible; undefined if it already is, as pinned ones are.
   */
  #firstColumnFor(column: number): number | undefined {
    const heads = this.#scrollingHeads();
    const wanted = heads.find(head => head.column === column);
    if (wanted === undefined) return column < 0 ? undefined : column;
    const beyond = wanted.box.right - this.table.getBoundingClientRect().left - this.table.clientWidth;
    const start = heads[0]?.box.left ?? 0;
    if (beyond <= 0 || wanted === heads[0]) return undefined;
    return heads.find(({ box }) => box.left - start >= beyond)?.column ?? column;
  }

  /** Returns the drawn columns that are not pinned, by their index among these, from the left. */
  #scrollingHeads(): readonly { readonly column: number; readonly box: DOMRect }[] {
    return this.#columnHeads().flatMap(head => {
      const meta = this.table.getMeta(head);
      return meta?.type === 'column_header' ? [{ column: meta.x, box: head.getBoundingClientRect() }] : [];
    });
  }

  dispose(): void {
    this.#growth.disconnect();
    this.#highlighter.clear();
  }

  /** Fits the height to the header, the rows and the scroll bar below them, up to a screenful; the reader can drag the edge. */
  #fitHeight(): void {
    const body = this.#wholeHeight ?? Math.max(this.#model.rows.count, 1) * this.#rowHeight;
    this.#scrollBar = this.#scrollBarBelow();
    this.frame.style.height = `${this.#headHeight() + Math.min(body, MOST_HEIGHT) + this.#scrollBar + BORDERS}px`;
  }

  #headHeight(): number {
    return this.table.querySelector('thead')?.getBoundingClientRect().height || HEAD_HEIGHT;
  }

  #scrollBarBelow(): number {
    return this.table.offsetHeight - this.table.clientHeight;
  }

  /** Limits the width to that of the columns, once known, and of the scroll bar beside them if the rows scroll. */
  #fitWidth(): void {
    const columns = this.#grid?.getBoundingClientRect().width ?? 0;
    const room = this.#roomBeside();
    if (columns === 0 || room === 0) return;
    const scrollBar = this.table.offsetWidth - this.table.clientWidth;
    const width = Math.ceil(columns) + SPARE + scrollBar + BORDERS;
    this.frame.style.width = width < room ? `${width}px` : '100%';
  }

  #roomBeside(): number {
    return this.frame.parentElement?.clientWidth ?? 0;
  }

  async #follow(): Promise<void> {
    this.#readWidths();
    if (this.#hasHigherRow() || (this.#longColumns === 0 && this.#countLongColumns() > 0))
      return this.#measureAgain();
    const before = this.frame.style.width;
    this.#fitWidth();
    if (this.frame.style.width !== before) await this.table.draw();
  }

  /** Returns the reader's widths, by the indexes of the columns in the table, in which row numbers are the first. */
  #givenWidths(): Record<number, number> {
    const { shown, widths } = this.#model.layout;
    const given = shown.flatMap((column, index) => {
      const width = widths.get(column);
      return width === undefined ? [] : [[index + 1, width] as const];
    });
    return Object.fromEntries(given);
  }

  #readWidths(): void {
    const { layout } = this.#model;
    const given = this.table.saveColumnSizes();
    const isSame = layout.shown.every((column, index) => given[index + 1] === layout.widths.get(column));
    if (isSame) return;
    const widths = new Map(layout.widths);
    for (const [index, column] of layout.shown.entries()) {
      const width = given[index + 1];
      if (width === undefined) widths.delete(column);
      else widths.set(column, width);
    }
    layout.widths = widths;
    this.#model.widened();
  }

  /** Measures the newly visible cells, keeping about the same rows in view. */
  async #measureAgain(): Promise<void> {
    const share = this.table.scrollTop / this.#scrollRange();
    await this.#measure({ columns: true, rows: false });
    if (this.#model.isWrapped) this.table.scrollTop = Math.ceil(share * this.#scrollRange());
  }

  /** Returns true if a newly visible row needs more height than the wrapped rows before it. */
  #hasHigherRow(): boolean {
    if (!this.#model.isWrapped || this.#wholeHeight !== undefined || this.#rowHeight >= WRAPPED_ROW_HEIGHT)
      return false;
    return this.#drawnHeights().some(height => height > this.#rowHeight);
  }

  #scrollRange(): number {
    return Math.max(this.table.scrollHeight - this.table.clientHeight, 1);
  }

  /** Shows the last row in full at the end of the rows: the header is higher than the row that the table assumes. */
  #endWithLast(): void {
    const [body, last] = [this.table.querySelector('tbody'), this.#drawnRows().at(-1)];
    if (body === null || last === undefined) return;
    let beyond = 0;
    if (this.#given.to >= this.#model.rows.count) {
      const { scrollTop, scrollHeight, clientHeight } = this.table;
      const isEnd = scrollTop + clientHeight >= scrollHeight - 1;
      const rows = last.getBoundingClientRect().bottom - body.getBoundingClientRect().top;
      beyond = isEnd ? Math.max(this.#headHeight() + rows - clientHeight, 0) : 0;
    }
    body.style.transform = beyond === 0 ? '' : `translateY(${-beyond}px)`;
    this.#covered = Math.ceil(beyond / this.#rowHeight);
  }

  /** Returns the cells of a rectangle; missing ones are fetched, and drawn once they have arrived. */
  readonly #data = async (x0: number, y0: number, x1: number, y1: number) => {
    const { layout, rows, zone } = this.#model;
    const { pinned, scrolling } = layout;
    const columns = scrolling.slice(x0, x1);
    const to = Math.min(y1, rows.count);
    const isWhole = to <= y0 || rows.has(y0, to);
    this.#fetcher.see(rows, y0, to);
    const numbers = Array.from({ length: Math.max(to - y0, 0) }, (_, index) => y0 + index);
    const shown = (column: GridColumn) => numbers.map(row => rows.cell(row, column, zone));
    const cells = new Map([...pinned, ...columns].map(column => [column, shown(column)]));
    this.#given = { from: y0, to, cells, isWhole };
    const texts = (column: GridColumn) => (cells.get(column) ?? []).map(({ text }) => text);
    const heads = pinned.map(texts);
    return {
      num_rows: rows.count,
      row_height: this.#rowHeight,
      num_columns: scrolling.length,
      num_row_headers: 1 + pinned.length,
      num_column_headers: 1,
      row_headers: numbers.map((row, index) => [
        formatCount(row + 1),
        ...heads.map(column => column[index] ?? ''),
      ]),
      column_headers: columns.map(column => [column.name]),
      data: columns.map(texts),
      // Equal values of pinned columns remain one cell per row.
      merge_headers: 'column' as const,
    };
  };

  /** Draws newly loaded rows in view, unless a draw has already shown them. */
  #drawArrived(rows: Rows): Promise<void> | undefined {
    return rows === this.#model.rows && !this.#given.isWhole ? this.table.draw() : undefined;
  }

  /** Returns the index among the columns in view; -1 for row numbers. */
  #columnAt(meta: CellMetadata): number {
    if (meta.type === 'row_header' || meta.type === 'corner') return meta.row_header_x - 1;
    return this.#model.layout.pinned.length + meta.x;
  }

  #styleCell(cell: HTMLElement, place: SurfacePlace): void {
    if (place.y === HEAD_ROW) this.#styleHead(cell, place);
    else if (place.column === undefined) {
      const row = cell.parentElement;
      if (row !== null) row.ariaRowIndex = String(place.y + 2);
      this.#looks.delete(cell);
      cell.className = 'apl-grid-number';
      cell.title = 'Show the whole row';
    } else this.#styleValue(cell, place.column, place);
  }

  #styleValue(cell: HTMLElement, column: GridColumn, place: CellPlace): void {
    const { rows, zone, selection } = this.#model;
    const { from, cells } = this.#given;
    const shown = cells.get(column)?.[place.y - from] ?? rows.cell(place.y, column, zone);
    const { exact, text, tone } = shown;
    const looks: Look[] = [];
    if (column.isNumeric) looks.push('numeric');
    if (exact === null) looks.push('null');
    if (selection !== undefined && isIn(selection, place)) looks.push('selected');
    if (!HARMLESS.test(text)) looks.push('bounded');
    if (tone !== undefined) looks.push(tone);
    this.#look(cell, looks);
    const title = exact === null || exact === text ? '' : visible(cut(exact, TITLE_LENGTH));
    if (title !== '') cell.title = title;
    else if (cell.title !== '') cell.removeAttribute('title');
  }

  /** Sets these classes of a cell; the table has its own classes there too. */
  #look(cell: HTMLElement, looks: readonly Look[]): void {
    const wanted = looks.join(' ');
    if (this.#looks.get(cell) === wanted) return;
    this.#looks.set(cell, wanted);
    cell.classList.remove('apl-grid-number');
    for (const look of LOOKS) cell.classList.toggle(`apl-grid-${look}`, looks.includes(look));
  }

  /** Draws the name, type, unit and sort order of a column, and its menu button. */
  #styleHead(cell: HTMLElement, { column, ...place }: SurfacePlace): void {
    const name = cell.querySelector<HTMLElement>(':scope > span:first-child');
    if (column === undefined || name === null) return;
    const keys = this.#model.rows.view.sort ?? [];
    const rank = keys.findIndex(key => key.column === column.name);
    const key = keys[rank];
    const arrow =
      key === undefined ? '' : `${key.descending ? '\u2193' : '\u2191'}${keys.length > 1 ? rank + 1 : ''}`;
    const { selection } = this.#model;
    cell.classList.toggle('apl-grid-numeric', column.isNumeric);
    cell.classList.toggle('apl-grid-selected', selection !== undefined && isIn(selection, place));
    cell.ariaSort = key === undefined ? 'none' : key.descending ? 'descending' : 'ascending';
    cell.title = visible(cut(column.name, TITLE_LENGTH));
    setText(name, nameOf(column));
    if (name.dataset.order !== arrow) name.dataset.order = arrow;
    setText(this.#kindOf(cell, name, column), kindOf(column, this.#model.zone));
  }

  /** Returns the second line of a header; the table empties its headers when it reuses them for other columns. */
  #kindOf(cell: HTMLElement, name: HTMLElement, column: GridColumn): HTMLElement {
    const known = cell.querySelector('small');
    if (known !== null && this.#heads.get(cell) === column) return known;
    known?.remove();
    cell.querySelector('.apl-grid-menu')?.remove();
    const kind = element('small');
    const menu = button('\u22ee', `Menu of ${nameOf(column)}`, () => this.#model.openMenu(cell, column));
    menu.classList.add('apl-grid-menu');
    menu.tabIndex = -1;
    name.after(menu, kind);
    this.#heads.set(cell, column);
    return kind;
  }
}

function setText(node: HTMLElement, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}
