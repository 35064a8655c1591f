import { EditorView } from '@codemirror/view';
import type { IEditorTracker } from '@jupyterlab/fileeditor';
import { type INotebookTracker, NotebookActions } from '@jupyterlab/notebook';
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { languageId } from '../language-names.js';
import { formatEditor } from './edit.js';

/** Formats `.apl` files on save and cells on run, each if its setting is on at that time. */
export function formatOnSaveAndRun(
  settings: ISettingRegistry.ISettings,
  files: IEditorTracker | null,
  notebooks: INotebookTracker | null,
): void {
  files?.widgetAdded.connect((_, { context, content }) => {
    context.saveState.connect((_context, state) => {
      if (state === 'started' && settings.composite.formatOnSave === true) formatIn(content.node);
    });
  });
  if (notebooks === null) return;
  NotebookActions.executionScheduled.connect((_, { cell }) => {
    if (settings.composite.formatOnRun === true) formatIn(cell.node);
  });
}

function formatIn(node: HTMLElement): void {
  const content = node.querySelector<HTMLElement>(`.cm-content[data-language="${languageId}"]`);
  const view = content === null ? null : EditorView.findFromDOM(content);
  if (view !== null) formatEditor(view);
}
