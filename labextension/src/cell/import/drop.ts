import { Notification } from '@jupyterlab/apputils';
import type { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { visible } from '../../../../kernel/text.js';
import { addImportStyle } from './import-style.js';

/** Handler of files dropped on a part of the page; `isOpen` is false while it accepts none. */
export interface Taker {
  isOpen(): boolean;
  /** Handles the files by path. */
  take(files: readonly string[]): Promise<void>;
}

/** Paths of files dragged within JupyterLab, from its file browser. */
const FILES = 'application/x-jupyter-icontents';

/** The members of a Lumino drag event used here; its events go to elements like those of the browser. */
interface DragOfFiles extends Event {
  readonly mimeData: { hasData(type: string): boolean; getData(type: string): unknown };
  readonly proposedAction: string;
  dropAction: string;
}

/**
 * Accepts files on a part of the page: from the file browser, and from the desktop, which JupyterLab first uploads into the folder shown
 * in the file browser. Documents that open in JupyterLab still open in a tab.
 */
export function acceptFiles(node: HTMLElement, browsers: IFileBrowserFactory | null, taker: Taker): void {
  addImportStyle();
  const mark = (isOver: boolean) => node.classList.toggle('apl-drop', isOver);
  const onDrag = (event: Event) => {
    const drag = event as DragOfFiles;
    const files = taker.isOpen() ? filesOf(drag) : [];
    if (files.length === 0) return;
    event.preventDefault();
    event.stopPropagation();
    mark(event.type === 'lm-dragenter' || event.type === 'lm-dragover');
    if (event.type !== 'lm-dragleave') drag.dropAction = drag.proposedAction;
    // The drop does not end before the handler returns.
    if (event.type === 'lm-drop') setTimeout(() => void taker.take(files));
  };
  for (const type of ['lm-dragenter', 'lm-dragover', 'lm-dragleave', 'lm-drop'])
    node.addEventListener(type, onDrag, true);
  const onDesktop = (event: DragEvent) => {
    const isOurs = taker.isOpen() && event.dataTransfer?.types.includes('Files') === true;
    if (!isOurs) return;
    event.preventDefault();
    event.stopPropagation();
    mark(event.type === 'dragover');
    if (event.type === 'drop') void upload([...(event.dataTransfer?.files ?? [])], browsers, taker);
  };
  for (const type of ['dragover', 'dragleave', 'drop'] as const) node.addEventListener(type, onDesktop, true);
}

function filesOf({ mimeData }: DragOfFiles): readonly string[] {
  const paths = mimeData.hasData(FILES) ? mimeData.getData(FILES) : [];
  const files = Array.isArray(paths) ? paths.filter(path => typeof path === 'string') : [];
  return files.every(path => /\.\w+$/.test(path) && !/\.(?:ipynb|apl|md|py)$/i.test(path)) ? files : [];
}

async function upload(
  files: readonly File[],
  browsers: IFileBrowserFactory | null,
  taker: Taker,
): Promise<void> {
  const model = browsers?.tracker.find(() => true)?.model;
  if (model === undefined) return;
  const paths: string[] = [];
  try {
    for (const file of files) paths.push((await model.upload(file)).path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    Notification.warning(visible(reason), { autoClose: 8000 });
  }
  if (paths.length > 0) await taker.take(paths);
}
