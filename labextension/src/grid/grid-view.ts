import type { Zone } from '../link/link-zone.js';
import { element } from '../ui/dom.js';
import type { Rows } from './data/grid-rows.js';
import type { GridColumn } from './grid-cells.js';
import type { Selection } from './surface/selection.js';
import type { ColumnLayout } from './surface/surface-columns.js';

/** The state that a view draws, read again on each draw. */
export interface ViewModel {
  readonly layout: ColumnLayout;
  readonly rows: Rows;
  readonly zone: Zone;
  readonly selection: Selection | undefined;
  readonly isWrapped: boolean;
  /** Called when rows could not be fetched. */
  failed(error: unknown): void;
  /** Called when the reader has resized columns; the layout then has the new widths. */
  widened(): void;
  openMenu(opener: HTMLElement, column: GridColumn): void;
  /** Returns whether a cell has the id of a trace that can be drawn. */
  hasTrace(column: GridColumn, row: number): boolean;
  /** Called with the time to go to. */
  jump(text: string): void;
}

/** Returns the button that draws the trace of a row; its key is T, in any cell of the row. */
export function traceButton(): HTMLButtonElement {
  const title = 'Add and run a cell below that draws this trace (T)';
  const made = element('button', { type: 'button', class: 'apl-grid-trace', tabindex: -1, title }, 'Trace');
  made.ariaLabel = title;
  return made;
}

/** The rows of a result in the page, which has only those in view: as a table, or as a stream of lines. */
export interface RowsView {
  readonly frame: HTMLElement;
  /** The first row that is fully in view. */
  readonly firstRow: number;
  /** Redraws after columns or rows have changed; `resize` measures them again. */
  redraw(how: { readonly resize: boolean }): Promise<void>;
  /** Redraws the same rows after the available space has changed. */
  refresh(): Promise<void>;
  /** Updates the styles: selection, colors, search matches. */
  style(): void;
  /** Scrolls a row to the top, as far as there are rows below it. */
  scrollTo(row: number): Promise<void>;
  /** Focuses the rows. */
  focus(): void;
  dispose(): void;
}
