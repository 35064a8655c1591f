import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Dialog, InputDialog, Notification, showDialog } from '@jupyterlab/apputils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { isolated, visible } from '../../../kernel/text.js';
import type { Dashboards, NotebookContext } from '../dashboard/dashboards.js';
import { pinOf } from '../dashboard/pin.js';
import { starIcon } from '../icon.js';
import { type Around, around } from '../link/link-around.js';
import type { Workbench } from '../link/workbench.js';
import { overRange, selectedCode, starCode, starLine, suggestedName } from './cell-lines.js';
import { activeCode, type CodeCell, runBelow, selectionIn } from './cell-run.js';
import { openChartMenu } from './charts.js';

/** A command on the active cell of the most recently used notebook. */
interface CellCommand {
  readonly id: string;
  readonly label: string;
  readonly caption: string;
  readonly isStar?: boolean;
  readonly isToggled?: (cell: CodeCell) => boolean;
  readonly run: (panel: NotebookPanel, cell: CodeCell) => unknown;
}

/** Adds the commands on the active APL cell. */
export function addCellCommands({ app, workbench, notebooks, palette, dashboards }: NotebookContext): void {
  const { commands } = app;
  const place = () => {
    const panel = notebooks.currentWidget;
    const cell = panel === null || !around(panel, workbench).isApl ? undefined : activeCode(panel);
    return panel === null || cell === undefined ? undefined : { panel, cell };
  };
  const all = cellCommands(workbench, app, dashboards);
  for (const { id, label, caption, isStar, isToggled, run } of all) {
    commands.addCommand(id, {
      ...{ label, caption },
      ...(isStar === true ? { icon: starIcon } : {}),
      isEnabled: () => place() !== undefined,
      isVisible: () => place() !== undefined,
      ...(isToggled === undefined
        ? {}
        : {
            isToggleable: true,
            isToggled: () => {
              const found = place();
              return found !== undefined && isToggled(found.cell);
            },
          }),
      execute: async () => {
        const found = place();
        if (found !== undefined) await run(found.panel, found.cell);
      },
    });
    palette?.addItem({ command: id, category: 'APL' });
  }
  // A cell's toolbar is drawn before its notebook knows its language, and redrawn only when its commands change.
  let wasThere = false;
  const update = () => {
    const isThere = place() !== undefined;
    if (isThere === wasThere) return;
    wasThere = isThere;
    for (const { id } of all) commands.notifyCommandChanged(id);
  };
  notebooks.currentChanged.connect(update);
  notebooks.activeCellChanged.connect(update);
  const follow = (panel: NotebookPanel) => around(panel, workbench).changed.connect(update);
  notebooks.forEach(follow);
  notebooks.widgetAdded.connect((_, panel) => follow(panel));
}

function cellCommands(
  workbench: Workbench,
  app: JupyterFrontEnd,
  dashboards: Dashboards,
): readonly CellCommand[] {
  const lastRange = (length: string, words: string): CellCommand => ({
    id: `apl:run-last-${length}`,
    label: `Run APL Cell over the Last ${words}`,
    caption: `Run this cell over the last ${words} without changing the notebook's range`,
    run: (panel, cell) => runBelow(panel, cell, overRange(sourceOf(cell), `last ${length}`)),
  });
  return [
    {
      id: 'apl:star-cell',
      label: 'Star APL Query at Cursor\u2026',
      caption: 'Save the query as a starred query',
      isStar: true,
      run: (panel, cell) => starCell(around(panel, workbench), cell),
    },
    lastRange('1h', '1 Hour'),
    lastRange('24h', '24 Hours'),
    {
      id: 'apl:chart-kind',
      label: 'Change Chart of APL Cell\u2026',
      caption: 'Draw the result as another kind of chart and save the choice in the cell',
      run: (panel, cell) => openChartMenu(around(panel, workbench), panel, cell),
    },
    {
      id: 'apl:pin-output',
      label: 'Pin APL Cell to Dashboard',
      caption: 'Pin the output of this cell to the dashboard, or unpin it',
      isToggled: cell => pinOf(cell.model) !== undefined,
      run: (panel, cell) => {
        dashboards.togglePin(panel, cell);
        app.commands.notifyCommandChanged('apl:pin-output');
      },
    },
    {
      id: 'apl:run-selection',
      label: 'Run Selected APL',
      caption: 'Run the selection or the query at the cursor and show the result below the cell',
      run: runSelection,
    },
  ];
}

function sourceOf(cell: CodeCell): string {
  return cell.model.sharedModel.getSource();
}

async function runSelection(panel: NotebookPanel, cell: CodeCell): Promise<void> {
  const { from, to } = selectionIn(cell);
  const code = selectedCode(sourceOf(cell), from, to);
  if (code === undefined) Notification.info('No query at the cursor.', { autoClose: 4000 });
  else await runBelow(panel, cell, code);
}

/** The starred query that a cell was saved as, from the metadata of the cell. */
interface Starred {
  readonly id: string;
  readonly name: string;
  readonly profile: string;
}

/** Saves the query at the cursor under a name; with an unchanged name, updates the starred query that the cell was saved as. */
async function starCell(session: Around, cell: CodeCell): Promise<void> {
  const { from } = selectionIn(cell);
  const source = sourceOf(cell);
  const profile = session.link?.session?.profile ?? '';
  const saved = starredOf(cell, profile);
  const { value: name } = await InputDialog.getText({
    title: saved === undefined ? 'Star this query' : `Star again: keep the name to update it`,
    label: 'Name',
    text: saved?.name ?? suggestedName(source, from),
    okLabel: 'Star',
  });
  if (name === null || name.trim() === '') return;
  const star = saved !== undefined && saved.name === name.trim() ? { id: saved.id } : { name: name.trim() };
  const code = starCode(source, from, starLine(star));
  if (code === undefined) return void say('This cell has no query.');
  const outcome = await session.run(code);
  if (!outcome.isOk) return void say(outcome.text);
  const id = /^(?:Saved|Updated) the starred query (\S+),/.exec(outcome.text)?.[1];
  const apl = { ...(cell.model.getMetadata('apl') ?? {}), star: { id, name: name.trim(), profile } };
  if (id !== undefined) cell.model.setMetadata('apl', apl);
  Notification.success(`Starred as \u201c${isolated(visible(name.trim()))}\u201d.`, { autoClose: 4000 });
}

function starredOf(cell: CodeCell, profile: string): Starred | undefined {
  const star = (cell.model.getMetadata('apl') as { readonly star?: Partial<Starred> } | undefined)?.star;
  const { id, name } = star ?? {};
  if (typeof id !== 'string' || typeof name !== 'string' || star?.profile !== profile) return undefined;
  return { id, name, profile };
}

function say(text: string): Promise<unknown> {
  return showDialog({ title: 'Not starred', body: visible(text), buttons: [Dialog.okButton()] });
}
