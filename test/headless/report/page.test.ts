import { expect, test } from 'vitest';
import type { Notebook } from '../../../kernel/headless/notebook.js';
import { notebookPage } from '../../../kernel/headless/report/page.js';

test('a picture says in words what it shows, escaped', () => {
  const data = { 'image/svg+xml': '<svg/>', 'text/plain': 'Chart of "a" <b>\u001b[31m over time.' };
  const notebook = {
    cells: [
      {
        cell_type: 'code',
        execution_count: 1,
        metadata: {},
        source: '',
        outputs: [{ output_type: 'display_data', data, metadata: {} }],
      },
    ],
    metadata: {},
    nbformat: 4,
    nbformat_minor: 5,
  } as unknown as Notebook;
  expect(notebookPage(notebook, { title: 'x' })).toContain(
    '<img alt="Chart of &#34;a&#34; &#60;b&#62; over time." src="data:image/svg+xml;base64,PHN2Zy8+">',
  );
});
