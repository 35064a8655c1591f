import { tableFromIPC } from 'apache-arrow';
import { expect, test } from 'vitest';
import { arrowWithin, hashSteps, tableHash } from '../../../kernel/result/ipc/ipc-stream.js';
import { cells, type SampleColumn, sampleResult } from '../sample.js';

const tableOf = (columns: readonly SampleColumn[]) => {
  const [table] = sampleResult([{ columns }]).tables;
  if (table === undefined) throw new Error('no table');
  return table.data;
};

const columns: readonly SampleColumn[] = [
  ['word', 'string', '["a","b",null,"a"]'],
  ['n', 'integer', '[1,2,3,9007199254740993]'],
  ['other', 'string', '["x","x","y","y"]'],
  ['flag', 'boolean', '[true,null,false,true]'],
];

test('the same cells give the same bytes each time', () => {
  const bytes = () => arrowWithin(tableOf(columns), 1 << 20)?.bytes;
  expect(bytes()).toEqual(bytes());
});

test('the stream is compressed and has every cell', () => {
  const table = tableOf([['text', 'string', cells(5000, row => `request ${row % 7}`)], ...bigger]);
  const part = arrowWithin(table, 1 << 20);
  const read = tableFromIPC(part?.bytes);
  expect([read.numRows, part?.rows]).toEqual([5000, 5000]);
  expect(part?.bytes.length).toBeLessThan(50_000);
  for (const index of table.schema.fields.keys())
    expect([...(read.getChildAt(index) ?? [])]).toEqual([...(table.getChildAt(index) ?? [])]);
});

const bigger: readonly SampleColumn[] = [
  ['n', 'integer', cells(5000, row => row)],
  ['when', 'datetime', cells(5000, row => new Date(1_700_000_000_000 + row).toISOString())],
];

test('a hash is equal only for equal names, types and cells', () => {
  const hashes = [
    columns,
    columns,
    columns.with(1, ['n', 'integer', '[1,2,3,9007199254740992]']),
    columns.with(1, ['m', 'integer', '[1,2,3,9007199254740993]']),
    columns.with(1, ['n', 'float', '[1,2,3,4]']),
    columns.with(0, ['word', 'string', '["a","b","","a"]']),
    columns.with(0, ['word', 'string', '["a","b",null,"c"]']),
    columns.with(3, ['flag', 'boolean', '[true,false,false,true]']),
    columns.slice(1),
  ].map(each => tableHash(tableOf(each)));
  expect(hashes[1]).toBe(hashes[0]);
  expect(new Set(hashes).size).toBe(hashes.length - 1);
});

test('the hash of a large table covers all cells, in many steps', () => {
  const large = (last: string) =>
    tableOf([
      ['text', 'string', cells(200_000, row => (row === 199_999 ? last : `${'x'.repeat(20)}${row}`))],
    ]);
  const table = large('a');
  const work = hashSteps(table);
  let steps = 1;
  let step = work.next();
  for (; !step.done; step = work.next()) steps++;
  expect(steps).toBeGreaterThan(table.batches.reduce((sum, { data }) => sum + data.byteLength, 0) / 2 ** 20);
  expect(step.value).toBe(tableHash(large('a')));
  expect(step.value).not.toBe(tableHash(large('b')));
});

test('a table too wide for the budget keeps the first columns of 30 rows', () => {
  const wide = Array.from(
    { length: 1000 },
    (_, column): SampleColumn => [`column_${column}`, 'integer', cells(50, row => row * 1000 + column)],
  );
  const part = arrowWithin(tableOf(wide), 96 * 1024);
  expect(part?.bytes.length).toBeLessThanOrEqual(96 * 1024);
  expect(part?.bytes.length).toBeGreaterThan(80 * 1024);
  const read = tableFromIPC(part?.bytes);
  expect([read.numRows, read.numCols]).toEqual([30, part?.columns]);
  const last = read.numCols - 1;
  expect(read.schema.fields[last]?.name).toBe(`column_${last}`);
  expect(read.getChildAt(last)?.get(29)).toBe(BigInt(29_000 + last));
  expect(arrowWithin(tableOf(wide), 100)).toBeUndefined();
});
