import { expect, test } from 'vitest';
import { parseNotebook } from '../../kernel/headless/notebook.js';
import { stripNotebook } from '../../kernel/headless/strip.js';
import { compareRuns } from '../../kernel/headless/verify.js';

const data = { 'text/html': '<table></table>' };

/** Reads a notebook of one code cell with these outputs; without the member if absent. */
function read(outputs?: unknown) {
  const cell = { cell_type: 'code', source: 'web', metadata: {}, execution_count: null, outputs };
  return parseNotebook(JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells: [cell] }));
}

function readable(outputs?: unknown) {
  const notebook = read(outputs);
  if (typeof notebook === 'string') throw new Error(notebook);
  return notebook;
}

test.each([
  ['a cell without outputs', undefined, []],
  [
    'an output without data',
    [{ output_type: 'display_data' }],
    [{ output_type: 'display_data', data: {}, metadata: {} }],
  ],
])('missing parts of outputs are read as empty: %s', (_, outputs, expected) => {
  expect(readable(outputs).cells).toMatchObject([{ outputs: expected }]);
});

test.each([
  ['an object instead of a list', {}],
  ['a null output', [null]],
  ['an output without a type', [{}]],
  ['a stream without text', [{ output_type: 'stream', name: 'stdout' }]],
  ['an error with a string as its traceback', [{ output_type: 'error', traceback: 'x' }]],
  ['data that is a list', [{ output_type: 'display_data', data: [], metadata: {} }]],
])('invalid outputs are rejected by cell: %s', (_, outputs) => {
  expect(read(outputs)).toBe('cell 1 has outputs that are not of notebook format 4');
});

test.each([[null], ['x'], [{ tables: {} }], [{ tables: [null] }], [{ tables: [{ sha256: 7 }] }]])(
  'ignores metadata of another program: %j',
  apl => {
    const notebook = () => readable([{ output_type: 'display_data', data, metadata: { apl } }]);
    expect(compareRuns(notebook(), notebook(), 0)).toEqual([]);
    expect(stripNotebook(notebook())).toBe(1);
  },
);

test.each(['AAAA', 'AAAAAAAAAAAA', '/////0AAAAAQAAAA'])(
  'reports corrupt saved rows as a difference: %s',
  arrow => {
    const result = (sha256: string) =>
      readable([
        {
          output_type: 'display_data',
          data: { ...data, 'application/vnd.apache.arrow.stream': arrow },
          metadata: { apl: { tables: [{ rows: 1, columns: 1, sha256 }] } },
        },
      ]);
    expect(compareRuns(result('a'), result('b'), 0)).toMatchObject([
      {
        status: 'different',
        reason: 'the data differ; the rows saved in the notebook are corrupt',
        frozen: false,
      },
    ]);
  },
);
