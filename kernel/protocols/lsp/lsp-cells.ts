import type { Range, TextEdit } from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { Span } from '../../apl/syntax/ast.js';
import { fileCellAt, splitFile } from '../../apl/syntax/syntax-file.js';

/** The text for the editor services, and its start in the document. */
export interface CellText {
  readonly text: string;
  readonly from: number;
}

/** True for a notebook cell, which is a separate document: a line `// %%` in it is a comment. */
function isNotebookCell({ uri }: TextDocument): boolean {
  return uri.startsWith('vscode-notebook-cell:');
}

/** Returns the code cells of a document, in order. */
export function codeCells(document: TextDocument): readonly CellText[] {
  const source = document.getText();
  if (isNotebookCell(document)) return [{ text: source, from: 0 }];
  return splitFile(source)
    .filter(cell => !cell.prose)
    .map(({ body, to }) => ({ text: source.slice(body, to), from: body }));
}

/** Returns the cell around an offset in a document; undefined in prose. */
export function cellAt(document: TextDocument, offset: number): CellText | undefined {
  const source = document.getText();
  if (isNotebookCell(document)) return { text: source, from: 0 };
  const { body, to, prose } = fileCellAt(source, offset);
  return prose || offset < body ? undefined : { text: source.slice(body, to), from: body };
}

/** Returns the range of a span relative to `start`. */
export function rangeOf(document: TextDocument, { from, to }: Span, start = 0): Range {
  return { start: document.positionAt(start + from), end: document.positionAt(start + to) };
}

/** Returns the edit that changes the document to `after`, without their common prefix and suffix; undefined if they are equal. */
export function editTo(document: TextDocument, after: string): TextEdit | undefined {
  const before = document.getText();
  if (after === before) return undefined;
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return {
    range: rangeOf(document, { from: start, to: before.length - end }),
    newText: after.slice(start, after.length - end),
  };
}
