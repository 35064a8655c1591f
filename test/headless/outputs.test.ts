import { expect, test } from 'vitest';
import type { Notebook } from '../../kernel/headless/notebook.js';
import { printedOutputs } from '../../kernel/headless/outputs.js';

test('printed outputs have no terminal control characters, and keep right-to-left isolation', () => {
  const text = '\u2068\u05e9\u05dd\u2069  5 \u001b[31mred\u202e\u2068\u202e\u2069\n';
  const notebook: Notebook = {
    ...{ metadata: {}, nbformat: 4, nbformat_minor: 5 },
    cells: [
      {
        ...{ cell_type: 'code', execution_count: 1, metadata: {}, source: '' },
        outputs: [{ output_type: 'display_data', data: { 'text/plain': text }, metadata: {} }],
      },
    ],
  };
  expect(printedOutputs(notebook)).toEqual([
    '\u2068\u05e9\u05dd\u2069  5 red\u27e8U+202E\u27e9\u27e8U+2068\u27e9\u27e8U+202E\u27e9\u27e8U+2069\u27e9',
  ]);
});
