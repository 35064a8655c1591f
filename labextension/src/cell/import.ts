/** Data by hand: what writes the `%import` line of a file. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import { type ICommandPalette, Notification } from '@jupyterlab/apputils';
import { FileDialog, type IFileBrowserFactory } from '@jupyterlab/filebrowser';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { visible } from '../../../kernel/text.js';
import { aplIcon } from '../icon.js';
import { around } from '../link/around.js';
import type { Workbench } from '../link/workbench.js';
import { importLine } from './lines.js';
import { activeCode, addCell } from './run.js';

/** The command that imports the file which is chosen in the file browser, else one that it asks for. */
export const IMPORT_FILE = 'apl:import-file';

/** Adds the command; `schema/panel.json` has its place in the menu of files. */
export function addImport(
  { commands }: JupyterFrontEnd,
  workbench: Workbench,
  notebooks: INotebookTracker,
  browsers: IFileBrowserFactory | null,
  palette: ICommandPalette | null,
): void {
  const target = (): NotebookPanel | undefined => {
    const panel = notebooks.currentWidget;
    return panel !== null && around(panel, workbench).isApl ? panel : undefined;
  };
  commands.addCommand(IMPORT_FILE, {
    label: 'Import File into APL\u2026',
    caption: 'Add a cell to the APL notebook that makes a dataset from a file',
    icon: aplIcon,
    isEnabled: () => target() !== undefined,
    execute: async ({ isChosen }) => {
      const panel = target();
      if (panel === undefined) return;
      for (const path of isChosen === true ? chosen(browsers) : await asked(browsers))
        await write(panel, path);
    },
  });
  palette?.addItem({ command: IMPORT_FILE, category: 'APL' });
}

function chosen(browsers: IFileBrowserFactory | null): readonly string[] {
  return [...(browsers?.tracker.currentWidget?.selectedItems() ?? [])]
    .filter(({ type }) => type !== 'directory')
    .map(({ path }) => path);
}

async function asked(browsers: IFileBrowserFactory | null): Promise<readonly string[]> {
  const browser = browsers?.tracker.find(() => true);
  if (browser === undefined) {
    Notification.info('Write the line `%import FILE`: this front end has no list of files.', {
      autoClose: 6000,
    });
    return [];
  }
  const { value } = await FileDialog.getOpenFiles({
    manager: browser.model.manager,
    title: 'Import a file',
    label: 'A CSV, NDJSON, JSON or Parquet file, or a log',
  });
  return (value ?? []).map(({ path }) => path);
}

/** Writes the line into the active cell if that is empty, else into one below; it says how the file is read once it runs. */
async function write(panel: NotebookPanel, path: string): Promise<void> {
  const line = importLine(panel.context.path, path);
  if (line === undefined)
    return void Notification.warning(`${visible(path)} cannot be written in a line: rename the file.`, {
      autoClose: 8000,
    });
  const active = activeCode(panel)?.model.sharedModel;
  if (active?.getSource().trim() === '') active.setSource(line);
  else await addCell(panel, line, false);
  panel.content.mode = 'edit';
  panel.content.activeCell?.editor?.focus();
}
