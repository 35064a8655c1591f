import { closeCompletion, completionStatus } from '@codemirror/autocomplete';
import { forEachDiagnostic, nextDiagnostic, previousDiagnostic } from '@codemirror/lint';
import type { EditorView } from '@codemirror/view';
import type { JupyterFrontEnd } from '@jupyterlab/application';
import { type ICommandPalette, InputDialog, Notification } from '@jupyterlab/apputils';
import { referencesInCell } from '../../kernel/apl/editor/cell.js';
import { focusedEditor } from './link/peer.js';
import type { Workbench } from './link/workbench.js';
import { completeNow } from './services/complete.js';
import { formatEditor, goToDefinition, renameAt } from './services/edit.js';
import { closeSignature } from './services/signature.js';

/** A command of the editor; keys and the context menu are in `schema/language.json`. */
interface EditorCommand {
  readonly id: string;
  /** Absent for what keys alone run. */
  readonly label?: string;
  readonly run: (view: EditorView) => unknown;
}

/** Runs code in the console of a notebook or file. */
type RunIn = (code: string, path: string, isFile: boolean) => Promise<void>;

/** Adds the editor's commands: each works on the APL editor that has the focus, or had it last. */
export function addCommands(
  { commands }: JupyterFrontEnd,
  workbench: Workbench,
  palette: ICommandPalette | null,
): void {
  const runIn: RunIn = (code, path, isFile) => runInConsole(commands, workbench, code, path, isFile);
  for (const { id, label, run } of editorCommands(workbench, runIn)) {
    commands.addCommand(id, {
      ...(label === undefined ? {} : { label }),
      isEnabled: () => focusedEditor() !== undefined,
      execute: async () => {
        const view = focusedEditor();
        if (view !== undefined) await run(view);
      },
    });
    if (label !== undefined) palette?.addItem({ command: id, category: 'APL' });
  }
}

function editorCommands(workbench: Workbench, runIn: RunIn): readonly EditorCommand[] {
  return [
    { id: 'apl:complete', run: view => completeNow(view, workbench) },
    { id: 'apl:close-popup', run: view => closePopup(view) },
    { id: 'apl:format', label: 'Format APL', run: formatEditor },
    { id: 'apl:rename', label: 'Rename APL Name…', run: view => rename(view, workbench) },
    {
      id: 'apl:go-to-definition',
      label: 'Go to APL Definition',
      run: view => goToDefinition(view, workbench) || say('There is no `let` name at the cursor.'),
    },
    { id: 'apl:mend', label: 'Mend APL Mistake', run: mend },
    { id: 'apl:next-mistake', label: 'Next APL Mistake', run: nextDiagnostic },
    { id: 'apl:previous-mistake', label: 'Previous APL Mistake', run: previousDiagnostic },
    {
      id: 'apl:run-selection',
      label: 'Run APL Selection in Console',
      run: view => runSelection(view, workbench, runIn),
    },
  ];
}

/** Closes a list, else the signature. */
function closePopup(view: EditorView): boolean {
  return completionStatus(view.state) === null ? closeSignature(view) : closeCompletion(view);
}

async function rename(view: EditorView, workbench: Workbench): Promise<void> {
  const { head } = view.state.selection.main;
  const cell = workbench.cellAt(view, head);
  const [found] = referencesInCell(cell.text, head - cell.from, workbench.environmentOf(view));
  if (found === undefined) return say('There is no `let` name at the cursor.');
  const before = cell.text.slice(found.from, found.to);
  const { value } = await InputDialog.getText({ title: `Rename ${before}`, text: before, okLabel: 'Rename' });
  view.focus();
  if (value === null || value === before) return;
  const problem = renameAt(view, workbench, head, value.trim());
  if (problem !== undefined) say(problem);
}

/** Applies the first offer to mend what is at the cursor, else on its line. */
function mend(view: EditorView): void {
  const { head } = view.state.selection.main;
  const line = view.state.doc.lineAt(head);
  let best: { readonly distance: number; readonly apply: () => void } | undefined;
  forEachDiagnostic(view.state, ({ actions }, from, to) => {
    const [action] = actions ?? [];
    if (action === undefined || to < line.from || from > line.to) return;
    const distance = Math.max(0, from - head, head - to);
    if (best === undefined || distance < best.distance)
      best = { distance, apply: () => action.apply(view, from, to) };
  });
  best?.apply();
  view.focus();
}

/** Runs the selection; without one, the cell of a file or the whole cell. */
async function runSelection(view: EditorView, workbench: Workbench, runIn: RunIn): Promise<void> {
  const path = workbench.pathOf(view);
  if (path === undefined) return;
  const { from, to, head, empty } = view.state.selection.main;
  const code = empty ? workbench.cellAt(view, head).text.trim() : view.state.sliceDoc(from, to);
  if (code !== '') await runIn(code, path, workbench.isFile(view));
}

/** The console of a notebook or file shares its kernel; it is opened below when there is none. */
async function runInConsole(
  commands: JupyterFrontEnd['commands'],
  workbench: Workbench,
  code: string,
  path: string,
  isFile: boolean,
): Promise<void> {
  if (isFile && !workbench.hasConsole(path))
    await commands.execute('fileeditor:create-console', { activate: false });
  else await commands.execute('console:open', { path, activate: false, insertMode: 'split-bottom' });
  await workbench.consoleReady(path);
  await commands.execute('console:inject', { path, code, activate: false });
}

function say(text: string): void {
  Notification.info(text, { autoClose: 4000 });
}
