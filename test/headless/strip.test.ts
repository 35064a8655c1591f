import { expect, test } from 'vitest';
import { parseNotebook } from '../../kernel/headless/notebook.js';
import { stripNotebook } from '../../kernel/headless/strip.js';
import { toOutputs } from '../../kernel/result/mime.js';
import { sampleResult } from '../result/sample.js';

test('removes every value of the data', async () => {
  const result = sampleResult(
    [
      {
        columns: [
          ['_time', 'datetime', '["2026-11-20T09:00:00Z","2026-11-20T09:01:00Z"]'],
          ['SECRET_NAME', 'string', '["SECRET_A","SECRET_B"]'],
          ['count_', 'integer', '[4711,4712]'],
        ],
        groups: ['SECRET_NAME'],
        buckets: { field: '_time', size: 60_000_000_000 },
      },
    ],
    {
      notices: [{ level: 'info', text: 'the field holds SECRET_C' }],
      provenance: { variables: { n: 'SECRET_D' } },
    },
  );
  const [chart, table] = await toOutputs(result);
  const cells = [
    {
      cell_type: 'code',
      source: 'logs | count',
      metadata: {},
      execution_count: 1,
      outputs: [
        { output_type: 'stream', name: 'stdout', text: 'SECRET_E' },
        { output_type: 'display_data', ...chart },
        { output_type: 'execute_result', execution_count: 1, ...table },
        {
          output_type: 'display_data',
          data: { 'text/html': 'SECRET_F', 'text/plain': 'SECRET_F' },
          metadata: {},
        },
        { output_type: 'error', ename: 'invalid-query', evalue: 'SECRET_G', traceback: ['SECRET_G'] },
      ],
    },
  ];
  const text = JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 });
  expect(text.match(/SECRET|471[12]/g)?.length).toBeGreaterThan(20);
  const notebook = parseNotebook(text);
  if (typeof notebook === 'string') throw new Error(notebook);
  expect(stripNotebook(notebook)).toBe(4);
  expect(JSON.stringify(notebook)).not.toMatch(/SECRET|471[12]|sha256/);
  expect(notebook.cells[0]).toEqual({
    cell_type: 'code',
    source: 'logs | count',
    metadata: {},
    execution_count: 1,
    outputs: [
      {
        output_type: 'execute_result',
        execution_count: 1,
        data: {
          'text/plain':
            '2 rows \u00d7 3 columns \u00b7 2026-11-20T09:00:00Z to 2026-11-20T10:00:00Z\nThe data was removed.',
        },
        metadata: {
          apl: {
            startTime: '2026-11-20T09:00:00Z',
            endTime: '2026-11-20T10:00:00Z',
            rangeLabel: 'last 1h',
            frozen: false,
            profile: 'local',
            datasets: ['logs'],
            tables: [{ name: '0', rows: 2, columns: 3 }],
            kernelVersion: '0.1.0',
          },
        },
      },
      {
        output_type: 'error',
        ename: 'invalid-query',
        evalue: 'the text was removed with the data',
        traceback: ['invalid-query: the text was removed with the data'],
      },
    ],
  });
});
