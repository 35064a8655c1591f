import type { NotebookPanel } from '@jupyterlab/notebook';
import { Panel, Widget } from '@lumino/widgets';
import { isRepeatable } from '../cell/cell-lines.js';
import type { CodeCell } from '../cell/cell-run.js';
import { VEGA_MIME } from '../charts/charts-mime.js';
import { ARROW_MIME } from '../grid/grid-mime.js';
import { button, element } from '../ui/dom.js';
import { moveHandle } from './move.js';
import { pinOf, setPin } from './pin.js';
import { titleOf } from './pins.js';

/** How long a tile keeps its height while new outputs are drawn, in milliseconds. */
const DRAWING_MS = 1_000;

/** Actions of a tile outside of itself. */
export interface TileActions {
  /** Shows the cell in the notebook. */
  goTo(cell: CodeCell): void;
  /** Removes the cell from the dashboard. */
  unpin(cell: CodeCell): void;
  /** The nodes of all tiles, in order. */
  tiles(): readonly HTMLElement[];
  /** Moves the tile of a cell to an index, from 0, among the others. */
  moveTo(cell: CodeCell, place: number): void;
}

/** The outputs of a pinned cell: the same models as below the cell, so they change with it. */
export class Tile extends Panel {
  readonly cell: CodeCell;
  readonly #panel: NotebookPanel;
  readonly #body = new Panel();
  readonly #title = element('h2', { class: 'apl-tile-title' });
  readonly #note = element('p', { class: 'apl-tile-note' });
  readonly #table: HTMLButtonElement;
  readonly #wide: HTMLButtonElement;
  readonly #handle: HTMLButtonElement;
  #drawing: ReturnType<typeof setTimeout> | undefined;

  constructor(panel: NotebookPanel, cell: CodeCell, actions: TileActions) {
    super();
    this.cell = cell;
    this.#panel = panel;
    this.addClass('apl-tile');
    this.node.setAttribute('role', 'region');
    this.#table = button('Table', 'Show the rows below the chart', () => this.#change('showsTable'));
    this.#wide = button('\u2194', 'Use the full width', () => this.#change('isWide'));
    this.#handle = moveHandle(this.node, {
      tiles: () => actions.tiles(),
      moveTo: place => actions.moveTo(cell, place),
    });
    const header = new Widget();
    header.addClass('apl-tile-head');
    header.node.append(
      this.#title,
      element(
        'div',
        { class: 'apl-tile-tools' },
        this.#handle,
        this.#table,
        this.#wide,
        button('Cell', 'Show the cell in the notebook', () => actions.goTo(cell)),
        button('\u2715', 'Unpin from the dashboard', () => actions.unpin(cell)),
      ),
      this.#note,
    );
    this.#body.addClass('apl-tile-body');
    this.#body.addWidget(cell.cloneOutputArea());
    this.addWidget(header);
    this.addWidget(this.#body);
    this.draw();
  }

  /** Focuses the handle of the tile: moving a tile makes it lose the focus. */
  focusHandle(): void {
    this.#handle.focus({ preventScroll: true });
    this.node.scrollIntoView({ block: 'nearest' });
  }

  /** Updates the title and the state. */
  draw(): void {
    const { isWide = false, showsTable = false } = pinOf(this.cell.model) ?? {};
    const title = titleOf(this.#panel, this.cell);
    if (this.#title.textContent !== title) {
      this.#title.textContent = title;
      this.#title.title = title;
      this.node.setAttribute('aria-label', title);
    }
    this.toggleClass('apl-tile-wide', isWide);
    this.toggleClass('apl-tile-tabular', showsTable);
    this.#wide.setAttribute('aria-pressed', String(isWide));
    this.#table.setAttribute('aria-pressed', String(showsTable));
    const outputs = outputsOf(this.cell);
    this.#table.hidden = !outputs.some((each, place) => isChart(each) && isTable(outputs[place + 1]));
    this.toggleClass(
      'apl-tile-failed',
      outputs.some(({ type }) => type === 'error'),
    );
    this.#note.textContent = this.#noteText();
  }

  /** Keeps the height until the next outputs are drawn, so that the other tiles do not move. */
  begin(): void {
    clearTimeout(this.#drawing);
    this.#body.node.style.minHeight = `${this.#body.node.clientHeight}px`;
    this.node.setAttribute('aria-busy', 'true');
  }

  end(): void {
    this.node.removeAttribute('aria-busy');
    this.draw();
    this.#drawing = setTimeout(() => {
      this.#body.node.style.minHeight = '';
    }, DRAWING_MS);
  }

  override dispose(): void {
    clearTimeout(this.#drawing);
    super.dispose();
  }

  #change(name: 'isWide' | 'showsTable'): void {
    const pin = pinOf(this.cell.model) ?? { isWide: false, showsTable: false };
    setPin(this.cell.model, { ...pin, [name]: !pin[name] });
    this.draw();
  }

  #noteText(): string {
    if (!isRepeatable(this.cell.model.sharedModel.getSource()))
      return 'Refresh skips this cell because it imports, exports or changes something. Run it in the notebook.';
    return this.cell.model.outputs.length === 0 ? 'No output yet. Refresh to run the cell.' : '';
  }
}

type Output = ReturnType<CodeCell['model']['outputs']['get']>;

function outputsOf({ model: { outputs } }: CodeCell): readonly Output[] {
  return Array.from({ length: outputs.length }, (_, place) => outputs.get(place));
}

function isChart({ data, metadata }: Output): boolean {
  return VEGA_MIME in data && 'apl' in metadata;
}

function isTable(output: Output | undefined): boolean {
  return output !== undefined && ARROW_MIME in output.data;
}
