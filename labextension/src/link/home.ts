import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { IRenderMime } from '@jupyterlab/rendermime';
import { VEGA_MIME } from '../charts/charts-mime.js';

type Cell = NotebookPanel['content']['widgets'][number];
type CodeCell = ReturnType<NotebookPanel.ContentFactory['createCodeCell']>;
type Output = IRenderMime.IMimeModel;

/** An output in the page: its model, and the node that shows it. */
export interface ShownOutput {
  readonly model: Output;
  readonly node: HTMLElement;
}

/** The cell of an output in an open notebook, and the number of earlier results in the cell; all views of the output share both. */
export interface Home {
  readonly panel: NotebookPanel;
  readonly cell: CodeCell;
  readonly result: number;
}

/** Returns the location of an output in an open notebook. */
export function homeOf(
  { model }: Pick<ShownOutput, 'model'>,
  notebooks: INotebookTracker | null,
): Home | undefined {
  let home: Home | undefined;
  notebooks?.find(panel => {
    for (const cell of panel.content.widgets.filter(isCode)) {
      const { outputs } = cell.model;
      const all: readonly Output[] = Array.from({ length: outputs.length }, (_, index) => outputs.get(index));
      const at = all.indexOf(model);
      if (at >= 0) home = { panel, cell, result: all.slice(0, at).filter(isResult).length };
    }
    return home !== undefined;
  });
  return home;
}

function isCode(cell: Cell): cell is CodeCell {
  return cell.model.type === 'code';
}

/** Returns whether an output is a result; a chart is another output of the same result. */
function isResult({ data, metadata }: Output): boolean {
  return 'apl' in metadata && !(VEGA_MIME in data);
}
