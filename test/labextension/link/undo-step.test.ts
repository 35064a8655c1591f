import { createStandaloneCell, type YBaseCell, YNotebook } from '@jupyter/ydoc';
import { afterEach, expect, test } from 'vitest';
import { asStep, replacement, rewrite, writeStep } from '../../../labextension/src/link/undo-step.js';

type Cell = YBaseCell<never>;

const opened: { dispose(): void }[] = [];

afterEach(() => {
  for (const model of opened.splice(0)) model.dispose();
});

/** Returns a cell of JupyterLab's own model whose text was just typed. */
function typed(source: string): Cell {
  const cell = createStandaloneCell({ cell_type: 'code', source: '' }) as unknown as Cell;
  opened.push(cell);
  cell.clearUndoHistory();
  for (const [at, letter] of [...source].entries()) cell.updateSource(at, at, letter);
  return cell;
}

function undoneFrom(cell: Cell): readonly string[] {
  const seen: string[] = [];
  while (cell.undoManager?.canUndo()) {
    cell.undo();
    seen.push(cell.getSource());
  }
  return seen;
}

test('an insertion by a button is its own undo step between typed ones', () => {
  const cell = typed('logs');
  writeStep(cell, 4, 4, '\n| count');
  cell.updateSource(12, 12, '!');
  expect(cell.getSource()).toBe('logs\n| count!');
  expect(undoneFrom(cell)).toEqual(['logs\n| count', 'logs', '']);
});

test('two insertions are two undo steps', () => {
  const cell = typed('logs');
  writeStep(cell, 4, 4, '\n| count');
  rewrite(cell, 'logs');
  asStep(cell, () => cell.updateSource(4, 4, '\n| take 5'));
  expect(undoneFrom(cell)).toEqual(['logs', 'logs\n| count', 'logs', '']);
});

test('cells written below are one undo step of the notebook', () => {
  const notebook = new YNotebook();
  opened.push(notebook);
  const insert = () => notebook.insertCell(0, { cell_type: 'code', source: '' });
  insert();
  asStep(notebook, insert);
  insert();
  notebook.undo();
  expect(notebook.cells.length).toBe(2);
  notebook.undo();
  expect(notebook.cells.length).toBe(1);
});

test.each([
  ['%time last 1h\nlogs', '%time last 24h\nlogs', { from: 11, to: 12, insert: '24' }],
  ['logs', 'logs', { from: 4, to: 4, insert: '' }],
  ['aa', 'aaa', { from: 2, to: 2, insert: 'a' }],
  ['', 'logs', { from: 0, to: 0, insert: 'logs' }],
  ['"\u{1f600}"', '"\u{1f601}"', { from: 1, to: 3, insert: '\u{1f601}' }],
  ['"\u{1f600}"', '"\u{1fa00}"', { from: 1, to: 3, insert: '\u{1fa00}' }],
])('%j becomes %j with the smallest edit that splits no character', (before, after, expected) => {
  expect(replacement(before, after)).toEqual(expected);
  const cell = typed('');
  cell.setSource(before);
  rewrite(cell, after);
  expect(cell.getSource()).toBe(after);
});
