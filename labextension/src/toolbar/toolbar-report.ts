/** The page of a notebook, saved from the browser: the same as from `apl-kernel export`, created here, so that it needs no kernel. */
import { Notification } from '@jupyterlab/apputils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { type Notebook, parseNotebook } from '../../../kernel/headless/notebook.js';
import type { CodeView } from '../../../kernel/headless/report/page.js';
import { isolated, visible } from '../../../kernel/text.js';
import { saveFile } from '../ui/save.js';

/** Names of the code views, and how a page with one of them is described. */
const VIEWS: readonly { readonly code: CodeView; readonly label: string; readonly words: string }[] = [
  { code: 'fold', label: 'Fold queries', words: 'queries folded' },
  { code: 'show', label: 'Show queries', words: 'queries shown' },
  { code: 'hide', label: 'Omit queries', words: 'without queries' },
];

/** Saves the page of a notebook with its queries folded, and offers the other views. */
export async function saveReport(panel: NotebookPanel, code: CodeView = 'fold'): Promise<void> {
  const notebook = parseNotebook(JSON.stringify(panel.content.model?.toJSON() ?? null));
  if (typeof notebook === 'string')
    return void Notification.error(`Cannot create the report: ${visible(notebook)}.`);
  const title = titleOf(panel);
  const { notebookPage } = await import('../../../kernel/headless/report/page.js');
  saveFile(`${title}.html`, new Blob([notebookPage(notebook, { title, code })], { type: 'text/html' }));
  const words = VIEWS.find(view => view.code === code)?.words ?? '';
  Notification.success(`Saved ${isolated(`${visible(title)}.html`)}, ${words}${emptyText(notebook)}.`, {
    autoClose: 8000,
    actions: VIEWS.filter(view => view.code !== code).map(view => ({
      label: view.label,
      callback: () => void saveReport(panel, view.code),
    })),
  });
}

function titleOf({ context }: NotebookPanel): string {
  const [name = ''] = context.path.split('/').slice(-1);
  return name.replace(/\.\w+$/, '') || 'report';
}

/** Returns a note on a page of cells that have not run, which is rarely intended. */
function emptyText({ cells }: Notebook): string {
  const hasRun = cells.some(cell => cell.cell_type === 'code' && cell.outputs.length > 0);
  return hasRun ? '' : '; no cell has output yet';
}
