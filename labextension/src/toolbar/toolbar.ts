import type { IToolbarWidgetRegistry } from '@jupyterlab/apputils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Widget } from '@lumino/widgets';
import type { NotebookContext } from '../dashboard/dashboards.js';
import { type Around, around } from '../link/link-around.js';
import { closeFolds } from './fold.js';
import {
  AgentsItem,
  DashboardItem,
  ParametersItem,
  ProfileItem,
  RangeItem,
  RefreshItem,
  ReportItem,
  StopItem,
} from './toolbar-items.js';
import { addToolbarStyle } from './toolbar-style.js';

interface Row {
  readonly make: (around: Around, open: () => void) => Widget & { open(): void };
  readonly label: string;
}

const items: Readonly<Record<string, Row>> = {
  range: { make: around => new RangeItem(around), label: 'Set APL Time Range\u2026' },
  refresh: { make: around => new RefreshItem(around), label: 'Refresh APL Queries' },
  profile: { make: around => new ProfileItem(around), label: 'Change APL Profile\u2026' },
  agents: { make: around => new AgentsItem(around), label: 'Turn Off APL Agents' },
  parameters: { make: around => new ParametersItem(around), label: 'Set APL Parameters\u2026' },
  report: { make: around => new ReportItem(around), label: 'Save APL Report' },
  dashboard: { make: (around, open) => new DashboardItem(around, open), label: 'Show APL Dashboard' },
  stop: { make: around => new StopItem(around), label: 'Stop APL Query' },
};

/**
 * Adds the time range, the profile, the parameters and the stop button to the toolbars of notebooks; `schema/toolbar.json` positions them.
 */
export function addToolbar(
  { app: { commands }, workbench, notebooks, palette, dashboards }: NotebookContext,
  registry: IToolbarWidgetRegistry,
): void {
  addToolbarStyle();
  closeFolds();
  for (const [name, { make, label }] of Object.entries(items)) {
    const made = new WeakMap<NotebookPanel, { open(): void }>();
    registry.addFactory<NotebookPanel>('Notebook', `apl-${name}`, panel => {
      const item = make(around(panel, workbench), () => dashboards.open(panel));
      made.set(panel, item);
      return item;
    });
    const current = () => {
      const own = dashboards.item(name);
      if (own !== undefined) return own;
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
