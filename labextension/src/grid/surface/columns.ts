import type { GridColumn } from '../cells.js';

/** The columns of a grid in the reader's order: some pinned at the left, some hidden. */
export class ColumnLayout {
  readonly all: readonly GridColumn[];
  #order: readonly GridColumn[];
  readonly #hidden = new Set<GridColumn>();
  readonly #pinned = new Set<GridColumn>();

  constructor(columns: readonly GridColumn[]) {
    this.all = columns;
    this.#order = columns;
  }

  /** Columns that stay at the left. */
  get pinned(): readonly GridColumn[] {
    return this.#order.filter(column => this.#pinned.has(column) && !this.#hidden.has(column));
  }

  /** Columns that scroll. */
  get scrolling(): readonly GridColumn[] {
    return this.#order.filter(column => !this.#pinned.has(column) && !this.#hidden.has(column));
  }

  /** All columns that are not hidden, from left to right. */
  get shown(): readonly GridColumn[] {
    return [...this.pinned, ...this.scrolling];
  }

  isPinned(column: GridColumn): boolean {
    return this.#pinned.has(column);
  }

  isHidden(column: GridColumn): boolean {
    return this.#hidden.has(column);
  }

  togglePinned(column: GridColumn): void {
    if (!this.#pinned.delete(column)) this.#pinned.add(column);
  }

  /** The last column that is shown stays. */
  toggleHidden(column: GridColumn): void {
    if (this.#hidden.delete(column)) return;
    if (this.shown.length > 1) this.#hidden.add(column);
  }

  showAll(): void {
    this.#hidden.clear();
  }

  /** Moves a column one place among those that are shown. */
  move(column: GridColumn, by: -1 | 1): void {
    const neighbours = this.#pinned.has(column) ? this.pinned : this.scrolling;
    const other = neighbours[neighbours.indexOf(column) + by];
    if (other === undefined) return;
    this.#order = this.#order.map(each => (each === column ? other : each === other ? column : each));
  }
}
