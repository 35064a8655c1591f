import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ICommandPalette, IToolbarWidgetRegistry } from '@jupyterlab/apputils';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { around } from '../link/around.js';
import type { Workbench } from '../link/workbench.js';
import { ParametersItem, ProfileItem, RangeItem, RefreshItem, ReportItem, StopItem } from './items.js';
import { addToolbarStyle } from './style.js';

const items = {
  range: { Item: RangeItem, label: 'Set the APL Time Range\u2026' },
  refresh: { Item: RefreshItem, label: 'Run the APL Queries Again' },
  profile: { Item: ProfileItem, label: 'Change the APL Profile\u2026' },
  parameters: { Item: ParametersItem, label: 'Set the APL Parameters\u2026' },
  report: { Item: ReportItem, label: 'Save an APL Report' },
  stop: { Item: StopItem, label: 'Stop the APL Query' },
};

/** Adds the time range, the profile, the parameters and the stop button to the toolbars of notebooks; `schema/toolbar.json` has their places. */
export function addToolbar(
  { commands }: JupyterFrontEnd,
  registry: IToolbarWidgetRegistry,
  workbench: Workbench,
  notebooks: INotebookTracker,
  palette: ICommandPalette | null,
): void {
  addToolbarStyle();
  for (const [name, { Item, label }] of Object.entries(items)) {
    const made = new WeakMap<NotebookPanel, InstanceType<typeof Item>>();
    registry.addFactory<NotebookPanel>('Notebook', `apl-${name}`, panel => {
      const item = new Item(around(panel, workbench));
      made.set(panel, item);
      return item;
    });
    const current = () => {
      const panel = notebooks.currentWidget;
      return panel !== null && around(panel, workbench).isApl ? made.get(panel) : undefined;
    };
    commands.addCommand(`apl:${name}`, {
      label,
      isEnabled: () => current() !== undefined,
      execute: () => current()?.open(),
    });
    palette?.addItem({ command: `apl:${name}`, category: 'APL' });
  }
}
