import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import {
  Field,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableFromIPC,
  vectorFromArray,
} from 'apache-arrow';
import { expect, test } from 'vitest';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import { exportTable } from '../../../kernel/result/export/export-file.js';
import { sharedService, temporaryDirectory } from '../../local/service.js';
import { exactTable } from './exact.js';

const service = sharedService({ compile: compileRequest });

async function importExported(dataset: string, table: Table, more: object = {}): Promise<void> {
  const file = path.join(await temporaryDirectory(), 't.parquet');
  const options = { force: false, signal: new AbortController().signal, progress: () => undefined };
  await exportTable(table, file, options);
  const answer = await service().json('POST', '/v1/local/import', { path: file, dataset, ...more });
  expect(answer).toMatchObject({ status: 200 });
}

async function ask(apl: string): Promise<readonly [types: string, columns: unknown]> {
  const range = { startTime: '1990-01-01T00:00:00Z', endTime: '2100-01-01T00:00:00Z' };
  const { body } = await service().query(apl, range);
  const [{ fields, columns }] = body.tables;
  return [fields.map((field: { type: string }) => field.type).join(' '), columns];
}

test('importing an exported Parquet file restores values and dynamic types', async () => {
  await importExported('exact', exactTable(), { timeField: 't' });
  expect(await ask("exact | sort by ['=name'] asc | project r, s, x, b, ['=name']")).toEqual([
    'float string dynamic boolean integer',
    [
      [0.1, null, null, null, 0, 1e300],
      ['', '=cmd()', null, '+1\n,"x"', "'=twice", '\u{1F600}\u202E\u200B'],
      [{ a: [1, null] }, [1, 2], null, null, null, null],
      [true, false, null, null, null, null],
      [1, 2, 3, 4, 5, 6],
    ],
  ]);
  expect(await ask("exact | where x.a[0] == 1 | project tostring(['=name']), gettype(x)")).toEqual([
    'string string',
    [['1'], ['dictionary']],
  ]);
});

test('Parquet columns have statistics, except JSON, and their Arrow types', async () => {
  const file = path.join(await temporaryDirectory(), 't.parquet');
  const options = { force: false, signal: new AbortController().signal, progress: () => undefined };
  await exportTable(exactTable(), file, options);
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const reader = await connection.runAndReadAll(
    `SELECT path_in_schema, stats_max_value FROM parquet_metadata('${file}') WHERE path_in_schema IN ('n', 's', 'x')`,
  );
  expect(reader.getRowsJS()).toEqual([
    ['n', '9223372036854775807'],
    ['s', '\u{1F600}\u202E\u200B'],
    ['x', null],
  ]);
  const [[schema] = []] = (
    await connection.runAndReadAll(
      `SELECT decode(value) FROM parquet_kv_metadata('${file}') WHERE decode(key) = 'ARROW:schema'`,
    )
  ).getRowsJS();
  const carried = tableFromIPC(Buffer.from(String(schema), 'base64')).schema;
  expect(carried.fields.map(String)).toEqual(exactTable().schema.fields.map(String));
  connection.closeSync();
  instance.closeSync();
});

test('dynamic values survive several row groups, with large numbers', async () => {
  const [field] = exactTable().schema.fields.filter(({ name }) => name === 'x');
  const texts = vectorFromArray(
    Array.from({ length: 70_000 }, (_, i) => `{"i":${i % 7},"big":12345678901234567890123}`),
  );
  const schema = new Schema([new Field('x', texts.type, true, field?.metadata)]);
  const data = makeData({
    type: new Struct(schema.fields),
    length: 70_000,
    nullCount: 0,
    children: texts.data.slice(0, 1),
  });
  await importExported('many', new Table(schema, [new RecordBatch(schema, data)]));
  expect(
    await ask('many | summarize make_set(gettype(x)), sum(toint(x.i)), make_set(tostring(x.big))'),
  ).toEqual(['dynamic integer dynamic', [[['dictionary']], [3 * 70_000], [['12345678901234567890123']]]]);
});
