import { expect, test } from 'vitest';
import { JsonColumns } from '../../../kernel/local/engine/engine-columns.js';
import { appendRows, readPage } from '../../../kernel/local/trino/protocol/trino-pages.js';

const fields = [
  { name: 'b', type: 'bool' },
  { name: 'l', type: 'long' },
  { name: 'r', type: 'real' },
  { name: 's', type: 'string' },
  { name: 't', type: 'datetime' },
  { name: 'd', type: 'dynamic' },
] as const;

test('cells keep every digit, and numbers that JSON lacks', () => {
  const body = Buffer.from(
    `{"id":"a]","data":[ [true,-9223372036854775808,1.0E2,"a\\"]],[","1772600767123456789","{\\"k\\":[1,\\"é\\"]}"] ,[null,null,"NaN",null,null,null]],"stats":{"state":"RUNNING"}}`.replace(
      '"1772600767123456789"',
      '1772600767123456789',
    ),
  );
  const { head, rows } = readPage(body);
  expect(head).toEqual({ id: 'a]', data: null, stats: { state: 'RUNNING' } });
  const columns = new JsonColumns(fields);
  expect(appendRows(rows as Buffer, fields, columns, 10)).toBe(2);
  expect(fields.map((_, index) => columns.bytes(index).toString())).toEqual([
    'true,null',
    '-9223372036854775808,null',
    '1.0E2,"NaN"',
    '"a\\"]],[",null',
    '"2026-03-04T05:06:07.123456789Z",null',
    '{"k":[1,"é"]},null',
  ]);
});

test('rows beyond the limit are cut and counted', () => {
  const columns = new JsonColumns([{ name: 'l', type: 'long' }]);
  const count = appendRows(Buffer.from('[[1],[2],[3]]'), [{ name: 'l', type: 'long' }], columns, 1);
  expect(count).toBe(3);
  expect(columns.bytes(0).toString()).toBe('1');
});

test.each(['', '[]', 'null', '{"data":[[1', '{"data":[["a', '<html>', '{"data":[[1]]'])(
  'a malformed page is refused: %s',
  body => {
    expect(() => readPage(Buffer.from(body))).toThrow(
      'The response of the cluster is damaged or incomplete.',
    );
  },
);
