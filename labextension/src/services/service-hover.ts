import type { Extension } from '@codemirror/state';
import { type EditorView, hoverTooltip, type Tooltip } from '@codemirror/view';
import { hoverCell } from '../../../kernel/apl/editor/editor-cell.js';
import { splitCell } from '../../../kernel/apl/syntax/cell.js';
import type { CellText, Workbench } from '../link/workbench.js';
import { markdownNode } from './markdown.js';

/** Explains the element under the mouse: operators, functions, fields with their types, `let` names, magics. */
export function explanations(workbench: Workbench): Extension {
  return hoverTooltip((view, position) => tooltipAt(view, position, workbench), { hideOnChange: true });
}

function tooltipAt(view: EditorView, position: number, workbench: Workbench): Tooltip | null {
  const cell = workbench.cellAt(view, position);
  const offset = position - cell.from;
  const found = magicAt(view, cell, offset, workbench) ?? wordAt(view, cell, offset, workbench);
  if (found === undefined) return null;
  const { from, to, markdown } = found;
  return {
    pos: cell.from + from,
    end: cell.from + to,
    above: true,
    create: () => ({ dom: markdownNode(markdown) }),
  };
}

interface Found {
  readonly from: number;
  readonly to: number;
  readonly markdown: string;
}

/** Returns the element under the mouse itself, not the call around it. */
function wordAt(view: EditorView, cell: CellText, offset: number, workbench: Workbench): Found | undefined {
  const found = hoverCell(cell.text, offset, workbench.environmentOf(view));
  if (found === undefined || /\s/.test(cell.text[offset] ?? ' ')) return undefined;
  return /^\w+\s*\(/.test(cell.text.slice(found.from, found.to)) ? undefined : found;
}

function magicAt(view: EditorView, cell: CellText, offset: number, workbench: Workbench): Found | undefined {
  const line = splitCell(cell.text).magics.find(each => each.from <= offset && offset <= each.to);
  if (line === undefined) return undefined;
  const wanted = line.name.toLowerCase();
  const magic = workbench
    .factsOf(view)
    ?.magics.find(each => each.name === wanted || each.aliases.includes(wanted));
  const nameEnd = line.from + (line.cell ? 2 : 1) + line.name.length;
  return magic === undefined || offset > nameEnd
    ? undefined
    : { from: line.from, to: nameEnd, markdown: magic.help };
}
