import type { View } from '../../../../kernel/notebook/results/result-protocol.js';
import { cellText } from '../../../../kernel/result/display/display-text.js';
import type { Zone } from '../../link/link-zone.js';
import { columnsOf, type GridColumn, type ShownCell, shownCell, vectorOf } from '../grid-cells.js';
import { Chunks } from './grid-chunks.js';
import type { RowSource } from './grid-source.js';

const ON_ITS_WAY: ShownCell = { text: '\u2026', exact: null, tone: undefined };

/** The rows of one view of one source, as cells. */
export class Rows {
  readonly source: RowSource;
  readonly view: View;
  /** Number of rows in the view, known once its first page has loaded. */
  count = 0;
  /** The columns of the source: the notebook may have fewer than the kernel. */
  columns: readonly GridColumn[] = [];
  readonly #chunks: Chunks;

  private constructor(source: RowSource, view: View) {
    this.source = source;
    this.view = view;
    this.#chunks = new Chunks(source, view);
  }

  /** Resolves with the rows once the first page has loaded; rejects with a SourceError, also if the signal aborts. */
  static async open(source: RowSource, view: View, signal?: AbortSignal): Promise<Rows> {
    const rows = new Rows(source, view);
    await rows.load(0, 1, signal);
    const page = rows.#chunks.first;
    rows.count = page?.rows ?? 0;
    if (page !== undefined) rows.columns = columnsOf(page.table);
    return rows;
  }

  has(from: number, to: number): boolean {
    return this.#chunks.has(from, to);
  }

  load(from: number, to: number, signal?: AbortSignal): Promise<void> {
    return this.#chunks.load(from, to, signal);
  }

  /** Returns the exact value of a loaded cell as a string; null for a null. */
  exact(row: number, column: GridColumn): string | null {
    const at = this.#chunks.at(row);
    return at === undefined ? null : cellText(vectorOf(at.page.table, column.index), at.row, column.field);
  }

  /** Returns a cell as displayed; an ellipsis while loading. */
  cell(row: number, column: GridColumn, zone: Zone): ShownCell {
    const at = this.#chunks.at(row);
    if (at === undefined) return ON_ITS_WAY;
    return shownCell(vectorOf(at.page.table, column.index), at.row, column, zone);
  }
}
