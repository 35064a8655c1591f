import type { EditorView } from '@codemirror/view';
import { definitionInCell, formatCells, renameInCell } from '../../../kernel/apl/editor/editor-cell.js';
import { replacement } from '../link/undo-step.js';
import type { Workbench } from '../link/workbench.js';

/** Formats the text; the cursor stays at its token. Returns true if the text changed. */
export function formatEditor(view: EditorView): boolean {
  const before = view.state.doc.toString();
  const after = formatCells(before);
  if (after === before || view.state.readOnly) return false;
  const anchor = placeAfter(before, after, view.state.selection.main.head);
  view.dispatch({
    changes: replacement(before, after),
    selection: { anchor },
    userEvent: 'input.apl.format',
  });
  return true;
}

/** Selects the definition of the `let` name at the cursor; returns false if there is none. */
export function goToDefinition(view: EditorView, workbench: Workbench): boolean {
  const { head } = view.state.selection.main;
  const cell = workbench.cellAt(view, head);
  const found = definitionInCell(cell.text, head - cell.from, workbench.environmentOf(view));
  if (found === undefined) return false;
  view.dispatch({
    selection: { anchor: cell.from + found.from, head: cell.from + found.to },
    scrollIntoView: true,
  });
  view.focus();
  return true;
}

/** Renames the `let` name at `position`; returns the problem if that is impossible. */
export function renameAt(
  view: EditorView,
  workbench: Workbench,
  position: number,
  name: string,
): string | undefined {
  const cell = workbench.cellAt(view, position);
  const renaming = renameInCell(cell.text, position - cell.from, name, workbench.environmentOf(view));
  if (!renaming.ok) return renaming.problem;
  const changes = renaming.edits.map(({ from, to, insert }) => ({
    from: cell.from + from,
    to: cell.from + to,
    insert,
  }));
  view.dispatch({ changes, userEvent: 'input.apl.rename' });
  return undefined;
}

/** Returns the position after the same number of characters other than white space. */
function placeAfter(before: string, after: string, offset: number): number {
  let wanted = before.slice(0, offset).replace(/\s/g, '').length;
  let at = 0;
  while (wanted > 0 && at < after.length) {
    if (/\S/.test(after[at] ?? '')) wanted -= 1;
    at += 1;
  }
  return at;
}
