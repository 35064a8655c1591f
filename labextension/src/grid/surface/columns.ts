import type { GridColumn } from '../cells.js';

interface Arrangement {
  readonly pinned: readonly GridColumn[];
  readonly scrolling: readonly GridColumn[];
  readonly shown: readonly GridColumn[];
}

/** The columns of a grid in the reader's order: some pinned at the left, some hidden. */
export class ColumnLayout {
  readonly all: readonly GridColumn[];
  #order: readonly GridColumn[];
  #arranged: Arrangement;
  readonly #hidden = new Set<GridColumn>();
  readonly #pinned = new Set<GridColumn>();

  constructor(columns: readonly GridColumn[]) {
    this.all = columns;
    this.#order = columns;
    this.#arranged = this.#arrangement();
  }

  /** Columns that stay at the left. */
  get pinned(): readonly GridColumn[] {
    return this.#arranged.pinned;
  }

  /** Columns that scroll. */
  get scrolling(): readonly GridColumn[] {
    return this.#arranged.scrolling;
  }

  /** All columns that are not hidden, from left to right. */
  get shown(): readonly GridColumn[] {
    return this.#arranged.shown;
  }

  isPinned(column: GridColumn): boolean {
    return this.#pinned.has(column);
  }

  isHidden(column: GridColumn): boolean {
    return this.#hidden.has(column);
  }

  togglePinned(column: GridColumn): void {
    if (!this.#pinned.delete(column)) this.#pinned.add(column);
    this.#arranged = this.#arrangement();
  }

  /** The last column that is shown stays. */
  toggleHidden(column: GridColumn): void {
    if (!this.#hidden.delete(column) && this.shown.length > 1) this.#hidden.add(column);
    this.#arranged = this.#arrangement();
  }

  showAll(): void {
    this.#hidden.clear();
    this.#arranged = this.#arrangement();
  }

  /** Moves a column one place among those that are shown. */
  move(column: GridColumn, by: -1 | 1): void {
    const neighbours = this.#pinned.has(column) ? this.pinned : this.scrolling;
    const other = neighbours[neighbours.indexOf(column) + by];
    if (other === undefined) return;
    this.#order = this.#order.map(each => (each === column ? other : each === other ? column : each));
    this.#arranged = this.#arrangement();
  }

  /** Every cell that is drawn asks for its column, so the lists are made when the order changes. */
  #arrangement(): Arrangement {
    const seen = this.#order.filter(column => !this.#hidden.has(column));
    const pinned = seen.filter(column => this.#pinned.has(column));
    const scrolling = seen.filter(column => !this.#pinned.has(column));
    return { pinned, scrolling, shown: [...pinned, ...scrolling] };
  }
}
