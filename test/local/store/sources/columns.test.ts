import { expect, test } from 'vitest';
import { importText, stored, useService } from '../readers/traps.js';

useService();

// ---- answers with the names of columns beside lists of values ----

const note = 'The lines are read as table rows in JSON, without the members beside columns and rows.';
const [first, second] = ['2025-10-10T13:55:36.123Z', '2025-10-10T13:55:37Z'];
/** Stands for an integer that a double does not hold. */
const big = '9007199254740993';
const rows = [
  [first, 'a', '§'],
  [second, null, 8],
];
const named = (name: string) => [{ [name]: 'time' }, { [name]: 'note' }, { [name]: 'n' }];

const documents: readonly (readonly [from: string, document: unknown])[] = [
  ['Log Analytics', { tables: [{ name: 'PrimaryResult', columns: named('name'), rows }] }],
  ['Kusto, version 1', { Tables: [{ TableName: 'Table_0', Columns: named('ColumnName'), Rows: rows }] }],
  [
    'Kusto, version 2',
    [
      { FrameType: 'DataSetHeader', IsProgressive: false, Version: 'v2.0' },
      {
        FrameType: 'DataTable',
        TableKind: 'QueryProperties',
        Columns: named('ColumnName'),
        Rows: [[1, 2, 3]],
      },
      { FrameType: 'DataTable', TableKind: 'PrimaryResult', Columns: named('ColumnName'), Rows: rows },
    ],
  ],
  ['ES|QL', { took: 5, is_partial: false, columns: named('name'), values: rows }],
  ['Trino', { id: '1', infoUri: 'x', columns: named('name'), data: rows, stats: { state: 'FINISHED' } }],
  ['pandas', { columns: ['time', 'note', 'n'], index: [0, 1], data: rows }],
  [
    'InfluxDB',
    { results: [{ statement_id: 0, series: [{ name: 'x', columns: ['time', 'note', 'n'], values: rows }] }] },
  ],
  [
    'Axiom',
    {
      format: 'tabular',
      status: { messages: [], elapsedTime: 5 },
      tables: [{ name: '0', sources: [{ name: 'a' }], fields: named('name'), columns: columnsOf(rows) }],
    },
  ],
  [
    'CloudWatch Logs Insights',
    {
      results: rows.map(row => row.map((value, index) => ({ field: ['time', 'note', 'n'][index], value }))),
      statistics: { recordsMatched: 2 },
      status: 'Complete',
    },
  ],
];

function columnsOf(table: readonly (readonly unknown[])[]): readonly (readonly unknown[])[] {
  return [0, 1, 2].map(index => table.map(row => row[index]));
}

test.each(documents)('a table in JSON has a row for each list of values: %s', async (_, document) => {
  for (const indent of [0, 2]) {
    const text = JSON.stringify(document, null, indent).replace('"§"', big);
    const { dataset, body } = await importText('answer.json', text);
    expect(body.notes).toEqual([note]);
    expect(await stored(dataset, '_time, note, n')).toEqual([
      `2025-10-10 13:55:36.123|a|${big}`,
      '2025-10-10 13:55:37|null|8',
    ]);
  }
});

test('columns with one name, and values without one, are kept', async () => {
  const text = JSON.stringify({ columns: ['a', 'a'], data: [[1, 2, 3], [4]] });
  const { dataset } = await importText('answer.json', text);
  expect(await stored(dataset, 'a, a2, column3')).toEqual(['1|2|3', '4|null|null']);
});

test('a table without rows stays as it is', async () => {
  const { body } = await importText('answer.json', JSON.stringify({ columns: ['a'], data: [[]], rows: [] }));
  expect(body.notes.slice(0, 2)).toEqual([
    note,
    'Not split into events: 1 document, each kept as one row: it has no rows.',
  ]);
});

test('lists beside each other in the lines of a program are not a table', async () => {
  const line = { time: first, tags: ['x'], columns: ['a'], result: { rows: [[1]] } };
  const { dataset, body } = await importText('app.ndjson', JSON.stringify(line));
  expect(body.notes).toEqual([]);
  expect(await stored(dataset, '_time, columns')).toEqual(['2025-10-10 13:55:36.123|["a"]']);
});

test('native histograms of a Prometheus response are kept', async () => {
  const histogram = { count: '3', sum: '1.5', buckets: [[0, '0.5', '1', '3']] };
  const result = [{ metric: { __name__: 'x' }, histograms: [[1760104536.123, histogram]] }];
  const text = JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } });
  const { dataset } = await importText('answer.json', text);
  expect(await stored(dataset, '_time, "histogram.count", "metric.__name__"')).toEqual([
    '2025-10-10 13:55:36.123|3|x',
  ]);
});
