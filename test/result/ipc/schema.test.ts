import '../../../kernel/result/ipc/schema.js';
import {
  type Data,
  Field,
  Int32,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { expect, test } from 'vitest';

test('a schema keeps the order of duplicate fields, and assign() appends others by name', () => {
  const fields = [new Field('n', new Int32(), true), new Field('n', new Utf8(), true)];
  const children: readonly Data[] = [
    ...vectorFromArray([1], new Int32()).data,
    ...vectorFromArray(['a'], new Utf8()).data,
  ];
  const data = makeData({
    type: new Struct(fields),
    length: 1,
    nullCount: 0,
    children: [...children],
  });
  const { schema } = new RecordBatch(new Schema(fields, new Map([['k', 'v']])), data);
  expect([schema.fields.map(String), schema.metadata.get('k')]).toEqual([['n: Int32', 'n: Utf8'], 'v']);
  const joined = schema.assign([new Field('m', new Utf8())]);
  expect(joined.fields.map(field => field.name)).toEqual(['n', 'n', 'm']);
});
