/** The pinned cells of a notebook. */
import type { NotebookPanel } from '@jupyterlab/notebook';
import { oneLine } from '../../../kernel/text.js';
import { commentAt, suggestedName, tellingLine } from '../cell/cell-lines.js';
import type { CodeCell } from '../cell/cell-run.js';
import { pinOf } from './pin.js';

/** Returns the pinned cells of a notebook, in its order. */
export function pinnedCells({ content }: Pick<NotebookPanel, 'content'>): readonly CodeCell[] {
  return content.widgets.filter(
    (cell): cell is CodeCell => cell.model.type === 'code' && pinOf(cell.model) !== undefined,
  );
}

/** Returns the title of a cell: its first comment, otherwise the heading directly above it, otherwise its first line besides its time. */
export function titleOf({ content }: Pick<NotebookPanel, 'content'>, cell: CodeCell): string {
  const source = cell.model.sharedModel.getSource();
  const above = content.widgets[content.widgets.indexOf(cell) - 1]?.model;
  const heading =
    above?.type === 'markdown' ? /^#{1,6} +(.+?)\s*$/m.exec(above.sharedModel.getSource())?.[1] : undefined;
  const named = suggestedName(source, 0) || tellingLine(source);
  const title = commentAt(source, 0) ?? heading ?? named ?? 'Empty cell';
  return oneLine(title, TITLE_LENGTH);
}

const TITLE_LENGTH = 80;
