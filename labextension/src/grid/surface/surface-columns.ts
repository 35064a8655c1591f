import type { GridColumn } from '../grid-cells.js';

interface Arrangement {
  readonly pinned: readonly GridColumn[];
  readonly scrolling: readonly GridColumn[];
  readonly shown: readonly GridColumn[];
}

/** How a reader has laid out columns, by their names. */
export interface ColumnSetup {
  readonly hidden: readonly string[];
  readonly pinned: readonly string[];
  /** All columns from left to right; undefined if none was moved. */
  readonly order: readonly string[] | undefined;
  /** Of columns whose edges were dragged, in pixels. */
  readonly widths: ReadonlyMap<string, number>;
}

/** The columns of a grid in the reader's order: some pinned at the left, some hidden. */
export class ColumnLayout {
  readonly all: readonly GridColumn[];
  /** The widths that the reader has given to columns, in pixels. */
  widths: ReadonlyMap<GridColumn, number>;
  #order: readonly GridColumn[];
  #arranged: Arrangement;
  readonly #hidden: Set<GridColumn>;
  readonly #pinned: Set<GridColumn>;

  /** Of a setup counts what is about these columns. */
  constructor(columns: readonly GridColumn[], setup?: ColumnSetup) {
    this.all = columns;
    const named = (names: readonly string[] = []) => columns.filter(({ name }) => names.includes(name));
    const hidden = named(setup?.hidden);
    this.#hidden = new Set(hidden.length < columns.length ? hidden : []);
    this.#pinned = new Set(named(setup?.pinned));
    this.widths = new Map(
      columns.flatMap(column => {
        const width = setup?.widths.get(column.name);
        return width === undefined ? [] : [[column, width]];
      }),
    );
    this.#order = ordered(columns, setup?.order ?? []);
    this.#arranged = this.#arrangement();
  }

  get setup(): ColumnSetup {
    const names = (columns: Iterable<GridColumn>) => [...columns].map(({ name }) => name);
    const isMoved = this.#order.some((column, index) => column !== this.all[index]);
    return {
      hidden: names(this.#hidden),
      pinned: names(this.#pinned),
      order: isMoved ? names(this.#order) : undefined,
      widths: new Map([...this.widths].map(([{ name }, width]) => [name, width])),
    };
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
    const neighbors = this.#pinned.has(column) ? this.pinned : this.scrolling;
    const other = neighbors[neighbors.indexOf(column) + by];
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

/** Columns with these names change places among themselves, to be in the order of the names; the others stay where they are. */
function ordered(columns: readonly GridColumn[], names: readonly string[]): readonly GridColumn[] {
  const moved = names.flatMap(name => columns.filter(column => column.name === name));
  const next = moved.values();
  return columns.map(column => (moved.includes(column) ? (next.next().value ?? column) : column));
}
