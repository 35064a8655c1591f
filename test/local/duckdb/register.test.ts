import { DuckDBInstance } from '@duckdb/node-api';
import { expect, it } from 'vitest';
import { families } from '../../../kernel/local/duckdb/functions/families.js';
import { registerFunctions } from '../../../kernel/local/duckdb/register.js';
import type { JsFunction } from '../../../kernel/local/duckdb/template.js';

const double: JsFunction = {
  name: 'apl_test_double',
  params: ['BIGINT'],
  returns: 'BIGINT',
  run: (value: bigint) => value * 2n,
};
const fail: JsFunction = {
  name: 'apl_test_fail',
  params: ['VARCHAR'],
  returns: 'VARCHAR',
  run: () => {
    throw new Error('out of order');
  },
};
const setup = ['CREATE MACRO apl_test_quadruple(n) AS apl_test_double(apl_test_double(n))'];

async function registered(): Promise<DuckDBInstance> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await registerFunctions(connection, [{ setup, udfs: [double, fail] }]);
  connection.closeSync();
  return instance;
}

it('serves every connection of the instance, row by row, with null in and null out', async () => {
  const connection = await (await registered()).connect();
  const reader = await connection.runAndReadAll(
    'SELECT sum(apl_test_quadruple(i)), count(apl_test_double(nullif(i, 7))), apl_test_double(NULL) FROM range(5000) t(i)',
  );
  expect(reader.getRows()).toStrictEqual([[49990000n, 4999n, null]]);
});

it('makes an exception the error of the query', async () => {
  const connection = await (await registered()).connect();
  await expect(connection.run("SELECT apl_test_fail('x')")).rejects.toThrow('apl_test_fail: out of order');
});

it('gives every macro and function its own name', () => {
  const macros = families
    .flatMap(family => family.setup)
    .map(statement => /^CREATE (?:OR REPLACE )?MACRO (\w+)/.exec(statement)?.[1]);
  const names = [...macros, ...families.flatMap(family => family.udfs.map(udf => udf.name))];
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toStrictEqual([]);
  expect(names.filter(name => name === undefined || !name.startsWith('apl_'))).toStrictEqual([]);
});
