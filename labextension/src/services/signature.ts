import {
  type EditorState,
  type Extension,
  Prec,
  StateEffect,
  StateField,
  type Transaction,
} from '@codemirror/state';
import { EditorView, showTooltip, type Tooltip } from '@codemirror/view';
import { signatureInCell } from '../../../kernel/apl/editor/editor-cell.js';
import type { SignatureHelp } from '../../../kernel/apl/editor/help/hover.js';
import { viewOf, workbenchOf } from '../link/peer.js';
import { markdownNode } from './markdown.js';

const closeEffect = StateEffect.define<null>();

const field = StateField.define<Tooltip | null>({
  create: () => null,
  update: next,
  provide: self => showTooltip.from(self),
});

/** Shows the signature of the call being typed, from `(` or `,` until its end. */
export const signatures: Extension = [
  field,
  Prec.low(EditorView.domEventHandlers({ blur: (_event, view) => void closeSignature(view) })),
];

export function isSignatureOpen(state: EditorState): boolean {
  return (state.field(field, false) ?? null) !== null;
}

/** Closes the signature; returns false if none is shown. */
export function closeSignature(view: EditorView): boolean {
  if (!isSignatureOpen(view.state)) return false;
  view.dispatch({ effects: closeEffect.of(null) });
  return true;
}

function next(shown: Tooltip | null, transaction: Transaction): Tooltip | null {
  if (transaction.effects.some(effect => effect.is(closeEffect))) return null;
  if (!transaction.docChanged && transaction.selection === undefined) return shown;
  return shown === null && !opens(transaction) ? null : tooltipOf(transaction.state);
}

/** Returns true if a bracket or a comma was typed, or a function was completed with its brackets. */
function opens(transaction: Transaction): boolean {
  if (!transaction.isUserEvent('input')) return false;
  let found = false;
  transaction.changes.iterChanges((_fromA, _toA, _fromB, _toB, inserted) => {
    if (/[(,]/.test(inserted.toString())) found = true;
  });
  return found;
}

function tooltipOf(state: EditorState): Tooltip | null {
  const view = viewOf(state);
  const workbench = state.facet(workbenchOf);
  const { head, empty } = state.selection.main;
  if (view === undefined || workbench === undefined || !empty) return null;
  const cell = workbench.cellIn(view, state.doc.toString(), head);
  const help = signatureInCell(cell.text, head - cell.from);
  return help === undefined
    ? null
    : { pos: head, above: true, strictSide: false, create: () => ({ dom: signatureNode(help) }) };
}

function signatureNode({ label, doc, parameters, active }: SignatureHelp): HTMLElement {
  const node = document.createElement('div');
  node.className = 'apl-signature';
  const line = node.appendChild(document.createElement('code'));
  const shown = parameters[active]?.label;
  const at =
    shown === undefined
      ? -1
      : placeOf(
          label,
          parameters.map(each => each.label),
          active,
        );
  if (shown === undefined || at < 0) line.append(label);
  else {
    const strong = document.createElement('strong');
    strong.append(shown);
    line.append(label.slice(0, at), strong, label.slice(at + shown.length));
  }
  const about = parameters[active]?.doc ?? doc;
  node.append(markdownNode(about));
  return node;
}

/** Returns the offset of the parameter at an index in a signature. */
function placeOf(label: string, parameters: readonly string[], index: number): number {
  let at = label.indexOf('(') + 1;
  for (const parameter of parameters.slice(0, index)) at = label.indexOf(parameter, at) + parameter.length;
  return label.indexOf(parameters[index] ?? '', at);
}
