/** Manual import: writes the `%import` line of a file after a preview. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import { type ICommandPalette, Notification } from '@jupyterlab/apputils';
import { FileDialog, type IFileBrowserFactory } from '@jupyterlab/filebrowser';
import type { ILauncher } from '@jupyterlab/launcher';
import { type INotebookTracker, NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';
import { isolated, visible } from '../../../../kernel/text.js';
import { aplIcon } from '../../icon.js';
import { type Around, around, type KernelState } from '../../link/link-around.js';
import { rewrite } from '../../link/undo-step.js';
import type { Workbench } from '../../link/workbench.js';
import { importLine } from '../cell-lines.js';
import { activeCode, addCell } from '../cell-run.js';
import { askAboutImport } from './dialog.js';
import { acceptFiles } from './drop.js';

/** Command that imports the file selected in the file browser, or prompts for one. */
export const IMPORT_FILE = 'apl:import-file';

/** The front end's services that the import uses; missing ones are null. */
export interface ImportPlace {
  readonly app: JupyterFrontEnd;
  readonly workbench: Workbench;
  readonly notebooks: INotebookTracker;
  readonly browsers: IFileBrowserFactory | null;
  readonly palette: ICommandPalette | null;
  readonly launcher: ILauncher | null;
}

/** Adds the command, its card in the launcher, and the drop target on notebooks. `schema/panel.json` places it in the menu of files. */
export function addImport(place: ImportPlace): void {
  const { app, workbench, notebooks, browsers, palette, launcher } = place;
  const isLab = app.name === 'JupyterLab';
  const target = (): NotebookPanel | undefined => {
    const panel = notebooks.currentWidget;
    return panel !== null && around(panel, workbench).isApl ? panel : undefined;
  };
  app.commands.addCommand(IMPORT_FILE, {
    label: ({ isCard }) => (isCard === true ? 'Import File' : 'Import File into APL\u2026'),
    caption: 'Preview a file and add a cell that imports it into a dataset',
    icon: aplIcon,
    isEnabled: () => isLab || target() !== undefined,
    execute: async ({ isChosen, cwd }) => {
      const files = isChosen === true ? chosen(browsers) : await asked(browsers);
      if (files.length === 0) return;
      const panel = (typeof cwd === 'string' ? undefined : target()) ?? (await newNotebook(place, cwd));
      if (panel !== undefined) await importFiles(place, panel, files);
    },
  });
  palette?.addItem({ command: IMPORT_FILE, category: 'APL' });
  launcher?.add({ command: IMPORT_FILE, category: 'Other', rank: 3, args: { isCard: true } });
  const accept = (panel: NotebookPanel) =>
    acceptFiles(panel.node, browsers, {
      isOpen: () => around(panel, workbench).isApl,
      take: files => importFiles(place, panel, files),
    });
  notebooks.forEach(accept);
  notebooks.widgetAdded.connect((_, panel) => accept(panel));
}

/** Shows each file in the dialog in turn, and writes the resulting line. */
export async function importFiles(
  { workbench }: Pick<ImportPlace, 'workbench'>,
  panel: NotebookPanel,
  files: readonly string[],
): Promise<void> {
  for (const file of files) {
    const plain = importLine(panel.context.path, file);
    if (plain === undefined) {
      Notification.warning(
        `${isolated(visible(file))} cannot be named in a line of a cell. Rename the file.`,
        {
          autoClose: 8000,
        },
      );
      continue;
    }
    const answer = await askAboutImport(around(panel, workbench), panel.context.path, file);
    if (answer === undefined || panel.isDisposed) return;
    await write(panel, answer.line, answer.runs);
  }
}

/** Opens a new notebook, and resolves once its kernel responds or it turns out to have none. */
async function newNotebook(
  { app, workbench }: ImportPlace,
  cwd: unknown,
): Promise<NotebookPanel | undefined> {
  const panel: NotebookPanel | null = await app.commands.execute('notebook:create-new', {
    kernelName: 'apl',
    ...(typeof cwd === 'string' ? { cwd } : {}),
  });
  if (panel === null) return undefined;
  await panel.context.ready;
  await panel.sessionContext.ready;
  const { state, changed } = around(panel, workbench);
  if (!waiting.has(state)) return panel;
  return new Promise(resolve => {
    const look = (session: Around): void => {
      if (waiting.has(session.state)) return;
      changed.disconnect(look);
      resolve(panel);
    };
    changed.connect(look);
  });
}

/** A notebook has the language of its kernel once the kernel has reported it. */
const waiting: ReadonlySet<KernelState> = new Set(['starting', 'other']);

function chosen(browsers: IFileBrowserFactory | null): readonly string[] {
  return [...(browsers?.tracker.currentWidget?.selectedItems() ?? [])]
    .filter(({ type }) => type !== 'directory')
    .map(({ path }) => path);
}

async function asked(browsers: IFileBrowserFactory | null): Promise<readonly string[]> {
  const browser = browsers?.tracker.find(() => true);
  if (browser === undefined) {
    Notification.info('This front end has no file list. Write `%import FILE` in a cell.', {
      autoClose: 6000,
    });
    return [];
  }
  const { value } = await FileDialog.getOpenFiles({
    manager: browser.model.manager,
    title: 'Import a file',
    label: 'A CSV, NDJSON, JSON or Parquet file, an Excel workbook, or a log',
  });
  return (value ?? []).filter(({ type }) => type !== 'directory').map(({ path }) => path);
}

/** Writes the line into the active cell if that is empty, otherwise into a new one below. */
async function write(panel: NotebookPanel, line: string, runs: boolean): Promise<void> {
  const { content, sessionContext } = panel;
  const active = activeCode(panel)?.model.sharedModel;
  if (active?.getSource().trim() === '') rewrite(active, line);
  else await addCell(panel, line, false);
  if (runs) return void NotebookActions.runAndAdvance(content, sessionContext);
  content.mode = 'edit';
  content.activeCell?.editor?.focus();
}
