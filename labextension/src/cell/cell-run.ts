import { NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';
import type { KernelMessage } from '@jupyterlab/services';
import type { AddedCell } from '../../../kernel/apl/editor/editor-link.js';
import { asStep } from '../link/undo-step.js';

/** The widget of a code cell. */
export type CodeCell = ReturnType<NotebookPanel.ContentFactory['createCodeCell']>;

/** Returns the notebook's active cell if it is a code cell. */
export function activeCode(panel: NotebookPanel): CodeCell | undefined {
  const cell = panel.content.activeCell;
  return cell?.model.type === 'code' ? (cell as CodeCell) : undefined;
}

/** Makes a cell the active one and focuses it in command mode. */
export function commandCell(
  notebook: NotebookPanel['content'],
  cell: NotebookPanel['content']['widgets'][number],
): void {
  notebook.activeCellIndex = notebook.widgets.indexOf(cell);
  notebook.mode = 'command';
  // The notebook itself does not move the focus.
  cell.node.focus({ preventScroll: true });
}

/** Returns the ends of the selection in a cell, or the cursor position twice. */
export function selectionIn({ editor, model }: CodeCell): { readonly from: number; readonly to: number } {
  if (editor === null) return { from: model.sharedModel.source.length, to: model.sharedModel.source.length };
  const { start, end } = editor.getSelection();
  const [a, b] = [editor.getOffsetAt(start), editor.getOffsetAt(end)];
  return { from: Math.min(a, b), to: Math.max(a, b) };
}

/**
 * Runs other source in place of the cell's own; its outputs replace those below the cell. Returns the status of the reply; undefined if
 * there was none.
 */
export async function runBelow(
  panel: NotebookPanel,
  cell: CodeCell,
  code: string,
  options: Pick<KernelMessage.IExecuteRequestMsg['content'], 'stop_on_error' | 'allow_stdin'> = {
    stop_on_error: true,
  },
): Promise<KernelMessage.IExecuteReplyMsg['content']['status'] | undefined> {
  const kernel = panel.sessionContext.session?.kernel;
  if (kernel === undefined || kernel === null) return undefined;
  const { model } = cell;
  model.clearExecution();
  cell.outputHidden = false;
  cell.setPrompt('*');
  model.trusted = true;
  const future = kernel.requestExecute({ code, ...options }, false, { cellId: model.sharedModel.getId() });
  cell.outputArea.future = future;
  try {
    const { content } = await future.done;
    model.executionCount = content.execution_count;
    return content.status;
  } catch {
    // The kernel is gone; a newer run of the cell has its own prompt.
    if (!cell.isDisposed && cell.outputArea.future === future) cell.setPrompt('');
    return undefined;
  }
}

/** Adds a code cell below the active one, and runs it if `runs` is true. */
export async function addCell(panel: NotebookPanel, source: string, runs: boolean): Promise<void> {
  const { content, sessionContext } = panel;
  NotebookActions.insertBelow(content);
  NotebookActions.changeCellType(content, 'code');
  content.activeCell?.model.sharedModel.setSource(source);
  if (runs) await NotebookActions.run(content, sessionContext);
}

/**
 * Adds a cell from an agent below the last one and runs it after the pending ones, whatever their outcome; nobody is prompted for input.
 * Returns false if it has not run.
 */
export async function addLast(
  panel: NotebookPanel,
  { cell: id, source }: Pick<AddedCell, 'cell' | 'source'>,
): Promise<boolean> {
  const { content, model } = panel;
  if (model === null) return false;
  const { sharedModel } = model;
  const metadata = { apl_agent: true };
  sharedModel.insertCell(sharedModel.cells.length, { cell_type: 'code', id, source, metadata });
  const cell = content.widgets.find(each => each.model.sharedModel.getId() === id);
  if (cell === undefined) return false;
  const status = await runBelow(panel, cell as CodeCell, source, {
    stop_on_error: false,
    allow_stdin: false,
  });
  return status === 'ok' || status === 'error';
}

/** Writes text at the cursor of the active cell and gives it the focus; false if no code cell is active. */
export function insertText(panel: NotebookPanel, text: string): boolean {
  const cell = activeCode(panel);
  if (cell === undefined || cell.model.getMetadata('editable') === false) return false;
  const { editor, model } = cell;
  panel.content.mode = 'edit';
  asStep(model.sharedModel, () => {
    const at = model.sharedModel.source.length;
    if (editor?.replaceSelection === undefined) model.sharedModel.updateSource(at, at, text);
    else editor.replaceSelection(text);
  });
  editor?.focus();
  return true;
}
