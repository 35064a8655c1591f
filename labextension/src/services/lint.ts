import { linter, type Diagnostic as Mark } from '@codemirror/lint';
import type { Extension } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { diagnose } from '../../../kernel/apl/editor/check/diagnose.js';
import type { Diagnostic } from '../../../kernel/apl/syntax/ast.js';
import { splitFile } from '../../../kernel/apl/syntax/syntax-file.js';
import { updateEffect } from '../link/peer.js';
import type { CellText, Workbench } from '../link/workbench.js';
import { inline } from './markdown.js';

/** Delay of checking after the last change, in milliseconds. */
const delayMs = 250;

/** Marks errors while typing, with the kernel's messages and a button for each fix. */
export function diagnostics(workbench: Workbench): Extension {
  return linter(view => marksOf(view, workbench), {
    delay: delayMs,
    needsRefresh: update =>
      update.transactions.some(transaction => transaction.effects.some(effect => effect.is(updateEffect))),
  });
}

function marksOf(view: EditorView, workbench: Workbench): readonly Mark[] {
  const environment = workbench.environmentOf(view);
  const magics = workbench.factsOf(view)?.magics;
  const { head } = view.state.selection.main;
  // A missing token at the cursor is about to be typed.
  const isOpen = ({ from, to }: Mark): boolean =>
    view.hasFocus && from === to && isBlankBetween(view, from, head);
  const link = workbench.linkOf(view);
  return cellsOf(view, workbench)
    .flatMap(({ text, from }) =>
      diagnose(text, environment, magics).map(each => {
        if (each.code === 'unknown-dataset') link?.miss(text.slice(each.from, each.to));
        return toMark(each, from);
      }),
    )
    .filter(mark => !isOpen(mark));
}

function isBlankBetween({ state }: EditorView, a: number, b: number): boolean {
  return state.sliceDoc(Math.min(a, b), Math.max(a, b)).trim() === '';
}

function cellsOf(view: EditorView, workbench: Workbench): readonly CellText[] {
  const source = view.state.doc.toString();
  if (!workbench.isFile(view)) return [{ text: source, from: 0 }];
  return splitFile(source)
    .filter(cell => !cell.prose)
    .map(({ body, to }) => ({ text: source.slice(body, to), from: body }));
}

function toMark(diagnostic: Diagnostic, offset: number): Mark {
  const { severity, message, hint, instead, code } = diagnostic;
  return {
    from: diagnostic.from + offset,
    to: diagnostic.to + offset,
    severity,
    ...(code === 'unused-let' ? { markClass: 'apl-unused' } : {}),
    message: hint === undefined ? message : `${message}. ${hint}`,
    renderMessage: () => messageNode(message, hint),
    actions: instead === undefined ? [] : [{ name: labelOf(instead), apply: mend(instead) }],
  };
}

/** Returns the message as text nodes and code elements only, since names in it come from data. */
function messageNode(message: string, hint: string | undefined): Node {
  const node = document.createElement('span');
  node.append(...inline(message));
  if (hint !== undefined) {
    const line = document.createElement('div');
    line.className = 'apl-hint';
    line.append(...inline(hint));
    node.append(line);
  }
  return node;
}

function labelOf(instead: string): string {
  const text = instead.trim();
  return text === '' ? 'Remove' : `Write ${text}`;
}

function mend(instead: string): (view: EditorView, from: number, to: number) => void {
  return (view, from, to) =>
    view.dispatch({ changes: { from, to, insert: instead }, userEvent: 'input.apl.mend' });
}
