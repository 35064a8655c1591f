import type { GridColumn } from '../grid-cells.js';

interface Arrangement {
  readonly pinned: readonly GridColumn[];
  readonly scrolling: readonly GridColumn[];
  readonly shown: readonly GridColumn[];
}

/** A reader's layout of columns, by name. */
export interface ColumnSetup {
  readonly hidden: readonly string[];
  readonly pinned: readonly string[];
  /** All columns from left to right; undefined if none has been moved. */
  readonly order: readonly string[] | undefined;
  /** Widths of resized columns, in pixels. */
  readonly widths: ReadonlyMap<string, number>;
}

/** The columns of a grid in the reader's order: some pinned on the left, some hidden. */
export class ColumnLayout {
  readonly all: readonly GridColumn[];
  /** The reader's column widths, in pixels. */
  widths: ReadonlyMap<GridColumn, number>;
  #order: readonly GridColumn[];
  #arranged: Arrangement;
  readonly #hidden: Set<GridColumn>;
  readonly #pinned: Set<GridColumn>;

  /** Applies the parts of a setup that concern these columns. */
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

  /** Columns that stay on the left. */
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

  /** Hides or shows a column; the last visible one stays. */
  toggleHidden(column: GridColumn): void {
    if (!this.#hidden.delete(column) && this.shown.length > 1) this.#hidden.add(column);
    this.#arranged = this.#arrangement();
  }

  showAll(): void {
    this.#hidden.clear();
    this.#arranged = this.#arrangement();
  }

  /** Moves a column by one position among those shown. */
  move(column: GridColumn, by: -1 | 1): void {
    const neighbors = this.#pinned.has(column) ? this.pinned : this.scrolling;
    const other = neighbors[neighbors.indexOf(column) + by];
    if (other === undefined) return;
    this.#order = this.#order.map(each => (each === column ? other : each === other ? column : each));
    this.#arranged = this.#arrangement();
  }

  /** Returns the lists of columns, which are built when the order changes, since every drawn cell looks up its column. */
  #arrangement(): Arrangement {
    const seen = this.#order.filter(column => !this.#hidden.has(column));
    const pinned = seen.filter(column => this.#pinned.has(column));
    const scrolling = seen.filter(column => !this.#pinned.has(column));
    return { pinned, scrolling, shown: [...pinned, ...scrolling] };
  }
}

/** Sorts the columns with these names among themselves, in the order of the names; the others stay in place. */
function ordered(columns: readonly GridColumn[], names: readonly string[]): readonly GridColumn[] {
  const moved = names.flatMap(name => columns.filter(column => column.name === name));
  const next = moved.values();
  return columns.map(column => (moved.includes(column) ? (next.next().value ?? column) : column));
}
