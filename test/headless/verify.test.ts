import { expect, test } from 'vitest';
import type { Notebook } from '../../kernel/headless/notebook.js';
import { compareRuns } from '../../kernel/headless/verify.js';
import { toBundle } from '../../kernel/result/mime.js';
import { cells, type SampleColumn, sampleResult } from '../result/sample.js';

/** Returns a notebook of one cell with a result. */
function notebookOf(columns: readonly SampleColumn[]): Notebook {
  const { data, metadata } = toBundle(sampleResult([{ columns }]));
  const output = { output_type: 'execute_result' as const, execution_count: 1, data, metadata };
  const cell = { cell_type: 'code' as const, id: 'a', metadata: {}, source: 'T', execution_count: 1 };
  return {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {},
    cells: [{ ...cell, outputs: [output] }],
  } as Notebook;
}

const ROWS = 40;
const numbers = (name: string, offset: number): SampleColumn => [
  name,
  'integer',
  cells(ROWS, row => row + offset),
];
const wide = Array.from({ length: 1000 }, (_, column) => numbers(`column_${column}`, column));

function check(after: readonly SampleColumn[], expected: RegExp): void {
  const [verdict] = compareRuns(notebookOf(wide), notebookOf(after), 0);
  expect(`${verdict?.status}: ${verdict?.reason}`).toMatch(expected);
}

test('finds a difference in columns that the notebook has no room for', () => {
  check(wide, /^same: $/);
  check(
    wide.with(999, numbers('column_999', 0)),
    /^different: of the first 30 rows and \d+ columns: none; a row or a column that does not fit in the notebook differs$/,
  );
});

test('finds a difference in a saved cell', () =>
  check(
    wide.with(0, numbers('column_0', 7)),
    /^different: of the first 30 rows and \d+ columns: rows: .*(changed|added)/,
  ));

test('finds a removed column, and compares the saved rest', () =>
  check(
    wide.slice(0, 20),
    /^different: 1000 columns are now 20; of the first 30 rows and 20 columns: none; a row or a column/,
  ));
