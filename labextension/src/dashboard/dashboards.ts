import type { ILayoutRestorer, JupyterFrontEnd } from '@jupyterlab/application';
import { type ICommandPalette, Notification, WidgetTracker } from '@jupyterlab/apputils';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { type CodeCell, commandCell } from '../cell/cell-run.js';
import { around } from '../link/link-around.js';
import type { Workbench } from '../link/workbench.js';
import {
  ParametersItem,
  ProfileItem,
  RangeItem,
  RefreshItem,
  ReportItem,
  StopItem,
} from '../toolbar/toolbar-items.js';
import { Dashboard } from './dashboard-view.js';
import { pinOf, setPin } from './pin.js';

/** Items of the notebook's toolbar in the toolbar of a dashboard, in order. */
const ITEMS = {
  range: RangeItem,
  refresh: RefreshItem,
  stop: StopItem,
  parameters: ParametersItem,
  profile: ProfileItem,
  report: ReportItem,
} as const;

type ItemName = keyof typeof ITEMS;

const RESTORE = 'apl:restore-dashboard';

/** The parts of the page that commands of notebooks work with. */
export interface NotebookContext {
  readonly app: JupyterFrontEnd;
  readonly workbench: Workbench;
  readonly notebooks: INotebookTracker;
  readonly palette: ICommandPalette | null;
  readonly dashboards: Dashboards;
}

/** The dashboards of the open notebooks, at most one for each. */
export class Dashboards {
  readonly #app: JupyterFrontEnd;
  readonly #workbench: Workbench;
  readonly #tracker = new WidgetTracker<Dashboard>({ namespace: 'apl-dashboards' });
  readonly #items = new WeakMap<Dashboard, ReadonlyMap<string, { open(): void }>>();

  constructor(app: JupyterFrontEnd, workbench: Workbench) {
    this.#app = app;
    this.#workbench = workbench;
  }

  /** Lets JupyterLab restore dashboards when the page is reloaded. */
  restore(restorer: ILayoutRestorer, notebooks: INotebookTracker): void {
    this.#app.commands.addCommand(RESTORE, {
      execute: ({ path }) => {
        const panel = notebooks.find(({ context }) => context.path === path);
        return panel && this.#show(panel);
      },
    });
    void restorer.restore(this.#tracker, {
      command: RESTORE,
      args: ({ around: { panel } }) => ({ path: panel.context.path }),
      name: ({ around: { panel } }) => panel.context.path,
      when: notebooks.restored,
    });
  }

  /** Shows the dashboard of a notebook and gives it the focus. */
  open(panel: NotebookPanel): void {
    const dashboard = this.#show(panel);
    if (dashboard !== undefined) this.#app.shell.activateById(dashboard.id);
  }

  /** Adds a cell to the dashboard, which opens beside the notebook, or removes it. */
  togglePin(panel: NotebookPanel, cell: CodeCell): void {
    const isPinned = pinOf(cell.model) !== undefined;
    setPin(cell.model, isPinned ? undefined : { isWide: false, showsTable: false });
    if (isPinned) return;
    if (panel.context.contentsModel?.writable === false)
      Notification.info('Pinned until you close the page: the notebook cannot be saved.', {
        autoClose: 6000,
      });
    this.#show(panel)?.tileOf(cell)?.node.scrollIntoView({ block: 'nearest' });
  }

  /** Returns the item of this name in the focused dashboard; undefined if there is none. */
  item(name: string): { open(): void } | undefined {
    const current = this.#tracker.find(dashboard => dashboard === this.#app.shell.currentWidget);
    return current && this.#items.get(current)?.get(name);
  }

  /** Returns the dashboard of a notebook, opened beside it; undefined in a front end that shows one document. */
  #show(panel: NotebookPanel): Dashboard | undefined {
    if (this.#app.name !== 'JupyterLab') return void this.#sayOneDocument();
    const found = this.#tracker.find(({ around: { panel: each } }) => each === panel);
    if (found !== undefined) return found;
    const dashboard = new Dashboard(around(panel, this.#workbench), cell => this.#goTo(panel, cell));
    dashboard.id = `apl-dashboard-${panel.id}`;
    const items = new Map<string, { open(): void }>();
    for (const name of Object.keys(ITEMS) as ItemName[]) {
      const item = new ITEMS[name](dashboard.around, dashboard.refresher);
      dashboard.toolbar.addItem(`apl-${name}`, item);
      items.set(name, item);
    }
    this.#items.set(dashboard, items);
    this.#app.shell.add(dashboard, 'main', { ref: panel.id, mode: 'split-right', activate: false });
    void this.#tracker.add(dashboard);
    return dashboard;
  }

  #goTo(panel: NotebookPanel, cell: CodeCell): void {
    this.#app.shell.activateById(panel.id);
    commandCell(panel.content, cell);
    void panel.content.scrollToItem(panel.content.widgets.indexOf(cell));
  }

  #sayOneDocument(): void {
    const { commands } = this.#app;
    const canOpen = commands.hasCommand(OPEN_LAB);
    Notification.info(
      'Pinned cells are saved in the notebook. JupyterLab shows them as a dashboard; this front end shows one document at a time.',
      {
        autoClose: 8000,
        actions: canOpen
          ? [{ label: 'Open JupyterLab', callback: () => void commands.execute(OPEN_LAB) }]
          : [],
      },
    );
  }
}

const OPEN_LAB = 'jupyter-notebook:open-lab';
