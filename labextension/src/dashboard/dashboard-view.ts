import { MainAreaWidget } from '@jupyterlab/apputils';
import { NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';
import { Panel, Widget } from '@lumino/widgets';
import { oneLine } from '../../../kernel/text.js';
import type { CodeCell } from '../cell/cell-run.js';
import { Refresher } from '../cell/refresh.js';
import { aplIcon } from '../icon.js';
import type { Around } from '../link/link-around.js';
import { element } from '../ui/dom.js';
import { runOrder, settingCells } from './dashboard-order.js';
import { addDashboardStyle } from './dashboard-style.js';
import { inPlaces, setPin, setPlaces } from './pin.js';
import { pinnedCells } from './pins.js';
import { Tile } from './tile.js';

/** Notification from a notebook about a running cell. */
interface CellRun {
  readonly cell: { readonly model: unknown };
}

/** The outputs of the pinned cells of a notebook on one page, with the time range of the notebook. */
export class Dashboard extends MainAreaWidget<Panel> {
  readonly around: Around;
  readonly refresher: Refresher;
  readonly #goTo: (cell: CodeCell) => void;
  readonly #tiles = new Map<CodeCell, Tile>();
  /** The kernel in which the setting cells have run. */
  #prepared: unknown;
  /** Some tiles are already at their new positions. */
  #isMoving = false;
  readonly #empty = new Widget();
  /** Visually hidden, for screen readers. */
  readonly #status = element('div', { class: 'apl-dashboard-status', role: 'status' });

  constructor(around: Around, goTo: (cell: CodeCell) => void) {
    super({ content: new Panel() });
    addDashboardStyle();
    this.around = around;
    this.#goTo = goTo;
    this.addClass('apl-dashboard-view');
    this.content.addClass('apl-dashboard');
    this.content.node.tabIndex = -1;
    this.node.append(this.#status);
    this.title.icon = aplIcon;
    this.title.closable = true;
    this.refresher = new Refresher(around, {
      view: this,
      name: 'dashboard',
      again: () => this.#again(),
      prepare: () => this.#prepare(),
      follows: true,
    });
    this.#empty.node.append(
      element(
        'p',
        {},
        'No pinned cells. Select a cell in the notebook and press Pin in its toolbar, or Alt Shift O.',
      ),
    );
    this.#empty.addClass('apl-dashboard-empty');
    this.#follow(around.panel);
    this.#list();
  }

  /** Returns the tile of a cell, if the cell is pinned. */
  tileOf(cell: CodeCell): Tile | undefined {
    return this.#tiles.get(cell);
  }

  #follow(panel: NotebookPanel): void {
    const list = (): void => this.#list();
    const begin = (_: unknown, run: CellRun): void => this.#tileOfModel(run)?.begin();
    const end = (_: unknown, run: CellRun): void => this.#tileOfModel(run)?.end();
    const name = (): void => {
      const file = panel.context.path.split('/').at(-1) ?? '';
      this.title.label = `Dashboard: ${oneLine(file.replace(/\.ipynb$/, ''), 80)}`;
      this.title.caption = `Pinned cells of ${oneLine(panel.context.path, 200)}`;
    };
    const forget = (): void => {
      this.#prepared = undefined;
    };
    const follow = (_: unknown, status: string): void => {
      if (status === 'restarting' || status === 'autorestarting') forget();
    };
    name();
    panel.context.pathChanged.connect(name);
    panel.content.modelContentChanged.connect(list);
    panel.sessionContext.statusChanged.connect(follow);
    NotebookActions.executionScheduled.connect(begin);
    NotebookActions.executed.connect(end);
    panel.disposed.connect(() => this.dispose());
    this.disposed.connect(() => {
      NotebookActions.executionScheduled.disconnect(begin);
      NotebookActions.executed.disconnect(end);
      if (panel.isDisposed) return;
      panel.context.pathChanged.disconnect(name);
      panel.content.modelContentChanged.disconnect(list);
      panel.sessionContext.statusChanged.disconnect(follow);
    });
  }

  #tileOfModel({ cell }: CellRun): Tile | undefined {
    return [...this.#tiles.values()].find(tile => tile.cell.model === cell.model);
  }

  /** Creates the tiles of the pinned cells, in the order of their positions. */
  #list(): void {
    if (this.isDisposed || this.around.panel.isDisposed || this.#isMoving) return;
    const cells = inPlaces(pinnedCells(this.around.panel));
    for (const [cell, tile] of this.#tiles) {
      if (cells.includes(cell)) continue;
      this.#tiles.delete(cell);
      tile.dispose();
    }
    for (const [place, cell] of cells.entries()) {
      const tile = this.#tiles.get(cell) ?? this.#newTile(cell);
      if (this.content.widgets[place] !== tile) this.content.insertWidget(place, tile);
      tile.draw();
    }
    if (cells.length > 0) this.#empty.parent = null;
    else if (!this.#empty.isAttached) this.content.addWidget(this.#empty);
  }

  #newTile(cell: CodeCell): Tile {
    const tile = new Tile(this.around.panel, cell, {
      goTo: this.#goTo,
      unpin: each => this.#unpin(each),
      tiles: () => this.content.widgets.map(({ node }) => node),
      moveTo: (each, place) => this.#moveTo(each, place),
    });
    this.#tiles.set(cell, tile);
    return tile;
  }

  /** Moves a tile. The notebook stores the order, and its cells stay where they are. */
  #moveTo(cell: CodeCell, place: number): void {
    const cells = [...inPlaces(pinnedCells(this.around.panel))];
    const from = cells.indexOf(cell);
    if (from < 0 || from === place) return;
    cells.splice(from, 1);
    cells.splice(place, 0, cell);
    this.#isMoving = true;
    setPlaces(cells);
    this.#isMoving = false;
    this.#list();
    this.#tiles.get(cell)?.focusHandle();
    this.#status.textContent = `Position ${place + 1} of ${cells.length}.`;
  }

  /** Removes a tile. The focus stays on the page: it goes to the tile that moves up. */
  #unpin(cell: CodeCell): void {
    const tile = this.#tiles.get(cell);
    const place = tile === undefined ? 0 : this.content.widgets.indexOf(tile);
    setPin(cell.model, undefined);
    this.#list();
    const next = this.content.widgets[Math.min(place, this.content.widgets.length - 1)];
    const last = [...(next?.node.querySelectorAll<HTMLElement>('.apl-tile-tools button') ?? [])].at(-1);
    (last ?? this.content.node).focus();
  }

  /** Runs the pinned cells in order, and the cells they read; a failing one does not stop the others. */
  async #again(): Promise<number> {
    if (this.around.state !== 'ready') return 0;
    await this.#prepare();
    return this.#run(runOrder(...this.#places()));
  }

  /** Runs the setting cells once in each kernel, so that a just-opened notebook has its time range. */
  async #prepare(): Promise<void> {
    const { kernel } = this.around.panel.sessionContext.session ?? {};
    if (this.#prepared === kernel || this.around.state !== 'ready') return;
    this.#prepared = kernel;
    const [sources, pinned] = this.#places();
    await this.#run(settingCells(sources, pinned).filter(place => !pinned.has(place)));
  }

  #places(): readonly [sources: readonly string[], pinned: ReadonlySet<number>] {
    const { widgets } = this.around.panel.content;
    const sources = widgets.map(({ model }) => (model.type === 'code' ? model.sharedModel.getSource() : ''));
    const pinned = pinnedCells(this.around.panel).map(cell => widgets.indexOf(cell));
    return [sources, new Set(pinned)];
  }

  async #run(places: readonly number[]): Promise<number> {
    const { content, sessionContext } = this.around.panel;
    const cells = places.flatMap(place => content.widgets[place] ?? []);
    for (const cell of cells)
      if (!cell.isDisposed && !content.isDisposed)
        await NotebookActions.runCells(content, [cell], sessionContext);
    return cells.length;
  }
}
