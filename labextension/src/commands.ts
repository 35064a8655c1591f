import { closeCompletion, completionStatus } from '@codemirror/autocomplete';
import { forEachDiagnostic, nextDiagnostic, previousDiagnostic } from '@codemirror/lint';
import type { EditorView } from '@codemirror/view';
import type { JupyterFrontEnd } from '@jupyterlab/application';
import { type ICommandPalette, InputDialog, Notification } from '@jupyterlab/apputils';
import type { ILauncher } from '@jupyterlab/launcher';
import { referencesInCell } from '../../kernel/apl/editor/editor-cell.js';
import { aplIcon } from './icon.js';
import { focusedEditor } from './link/peer.js';
import type { Workbench } from './link/workbench.js';
import { formatEditor, goToDefinition, renameAt } from './services/edit.js';
import { completeNow } from './services/service-complete.js';
import { closeSignature } from './services/signature.js';

/** A command of the editor; keys and the context menu are in `schema/language.json`. */
interface EditorCommand {
  readonly id: string;
  /** Absent for commands that only have a key. */
  readonly label?: string;
  readonly run: (view: EditorView) => unknown;
}

/** Adds the editor's commands: each acts on the APL editor that has or last had the focus. */
export function addCommands(
  app: JupyterFrontEnd,
  workbench: Workbench,
  palette: ICommandPalette | null,
  launcher: ILauncher | null,
): void {
  keepEscape();
  addNewFile(app, palette, launcher);
  for (const { id, label, run } of editorCommands(workbench)) {
    app.commands.addCommand(id, {
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

/**
 * Adds the command that creates and opens a query file, in the folder of the current document, or of the launcher whose card was pressed.
 */
function addNewFile(
  { commands, shell }: JupyterFrontEnd,
  palette: ICommandPalette | null,
  launcher: ILauncher | null,
): void {
  const command = 'apl:new-file';
  commands.addCommand(command, {
    label: ({ isPalette }) => (isPalette === true ? 'New APL File' : 'APL File'),
    caption: 'Create a file for APL queries',
    icon: aplIcon,
    execute: async ({ cwd }) => {
      const widget = shell.currentWidget;
      const file = widget !== null && 'context' in widget ? (widget.context as { path?: string }).path : '';
      const path = typeof cwd === 'string' ? cwd : (file ?? '').split('/').slice(0, -1).join('/');
      const made: { readonly path: string } = await commands.execute('docmanager:new-untitled', {
        ...{ path, type: 'file', ext: '.apl' },
      });
      await commands.execute('docmanager:open', { path: made.path });
    },
  });
  palette?.addItem({ command, category: 'APL', args: { isPalette: true } });
  launcher?.add({ command, category: 'Other', rank: 2 });
}

/**
 * Reserves Escape for the popup of an editor, before any other handler: otherwise notebooks and consoles would leave the editor, and
 * consoles listen before the application's key bindings.
 */
function keepEscape(): void {
  window.addEventListener(
    'keydown',
    event => {
      const { key, target } = event;
      const view = focusedEditor();
      if (
        key !== 'Escape' ||
        !(target instanceof Element) ||
        !target.matches(WITH_POPUP) ||
        view === undefined
      )
        return;
      event.preventDefault();
      event.stopImmediatePropagation();
      closePopup(view);
    },
    true,
  );
}

const WITH_POPUP = ".cm-content[data-language='axiom-apl'][data-apl-popup]";

function editorCommands(workbench: Workbench): readonly EditorCommand[] {
  return [
    { id: 'apl:complete', run: view => completeNow(view, workbench) },
    { id: 'apl:format', label: 'Format APL', run: formatEditor },
    { id: 'apl:rename', label: 'Rename APL Name…', run: view => rename(view, workbench) },
    {
      id: 'apl:go-to-definition',
      label: 'Go to APL Definition',
      run: view => goToDefinition(view, workbench) || say('No `let` name at the cursor.'),
    },
    { id: 'apl:mend', label: 'Fix APL Error', run: mend },
    { id: 'apl:next-mistake', label: 'Next APL Error', run: nextDiagnostic },
    { id: 'apl:previous-mistake', label: 'Previous APL Error', run: previousDiagnostic },
  ];
}

/** Closes the visible list, otherwise the signature; either one also cancels a list that is still loading. */
function closePopup(view: EditorView): boolean {
  const isListShown = completionStatus(view.state) === 'active';
  const isClosed = closeCompletion(view);
  return isListShown ? isClosed : closeSignature(view) || isClosed;
}

async function rename(view: EditorView, workbench: Workbench): Promise<void> {
  const { head } = view.state.selection.main;
  const cell = workbench.cellAt(view, head);
  const [found] = referencesInCell(cell.text, head - cell.from, workbench.environmentOf(view));
  if (found === undefined) return say('No `let` name at the cursor.');
  const before = cell.text.slice(found.from, found.to);
  const { value } = await InputDialog.getText({ title: `Rename ${before}`, text: before, okLabel: 'Rename' });
  view.focus();
  if (value === null || value === before) return;
  const problem = renameAt(view, workbench, head, value.trim());
  if (problem !== undefined) say(problem);
}

/** Applies the fix of the error nearest to the cursor on its line. */
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

function say(text: string): void {
  Notification.info(text, { autoClose: 4000 });
}
