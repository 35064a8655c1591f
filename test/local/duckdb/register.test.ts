import { DuckDBInstance } from '@duckdb/node-api';
import { expect, it } from 'vitest';
import { hasBound, refusedCall } from '../../../kernel/local/duckdb/bounds/costs.js';
import { hasManyLengths, sharedLengths } from '../../../kernel/local/duckdb/bounds/vectors.js';
import type { JsFunction } from '../../../kernel/local/duckdb/duckdb-template.js';
import { families } from '../../../kernel/local/duckdb/functions/families.js';
import { FunctionRegistry, withoutScripts } from '../../../kernel/local/duckdb/register.js';

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
  await new FunctionRegistry(connection, [{ setup, udfs: [double, fail] }]).all();
  connection.closeSync();
  return instance;
}

it('a function serves every connection, row by row, and maps null to null', async () => {
  const connection = await (await registered()).connect();
  const reader = await connection.runAndReadAll(
    'SELECT sum(apl_test_quadruple(i)), count(apl_test_double(nullif(i, 7))), apl_test_double(NULL) FROM range(5000) t(i)',
  );
  expect(reader.getRows()).toStrictEqual([[49990000n, 4999n, null]]);
});

it('an exception becomes the error of the query', async () => {
  const connection = await (await registered()).connect();
  await expect(connection.run("SELECT apl_test_fail('x')")).rejects.toThrow('apl_test_fail: out of order');
});

it('the length test sees the numbers of all rows of a batch together', async () => {
  const instance = await DuckDBInstance.create(':memory:');
  const lengths = sharedLengths({ used: () => 100, most: () => 64_000 });
  const registry = new FunctionRegistry(await instance.connect(), [lengths]);
  const connection = await instance.connect();
  const isTooMuch = async (numbers: string) => {
    const sql = `SELECT DISTINCT apl_too_long(n, n = 7) FROM (SELECT unnest(${numbers}) AS n)`;
    await registry.provide(sql);
    return (await connection.runAndReadAll(sql)).getRows();
  };
  expect(await isTooMuch('[1000]')).toEqual([[false]]);
  expect(await isTooMuch('[7]')).toEqual([[true]]);
  expect(await isTooMuch('[500, NULL, 501]')).toEqual([[true]]);
  expect(await isTooMuch('list_transform(range(2048), lambda n: 0)')).toEqual([[false]]);
});

it('long values are refused if the process has little memory left', () => {
  const memory = { used: 0 };
  const [{ test } = { test: () => false }] =
    sharedLengths({ used: () => memory.used, most: () => 64_000 }).vectorTests ?? [];
  expect(test([1000n])).toBe(false);
  memory.used = 47_500;
  expect([test([500n]), test([501n])]).toEqual([false, true]);
});

it('the length tests of a statement are counted', () => {
  const sql = (tests: number) => 'CASE WHEN apl_too_long(1, false) THEN 1 END '.repeat(tests);
  expect([hasManyLengths(sql(64)), hasManyLengths(sql(65))]).toEqual([false, true]);
});

it('a macro and those it calls are defined before the first statement that names it', async () => {
  const instance = await DuckDBInstance.create(':memory:');
  const macros = [
    'CREATE MACRO apl_test_one() AS 1',
    'CREATE MACRO apl_test_three() AS 2 * apl_test_one() + apl_test_one()',
    'CREATE MACRO apl_test_other() AS 4',
  ];
  const registry = new FunctionRegistry(await instance.connect(), [{ setup: macros, udfs: [] }]);
  const connection = await instance.connect();
  const select = 'SELECT apl_test_three()';
  const run = async (sql: string) => {
    await registry.provide(sql);
    return (await connection.runAndReadAll(sql)).getRows();
  };
  // Concurrent statements wait for a definition that another has started.
  expect(await Promise.all([run(select), run(select), run('SELECT apl_test_one()')])).toStrictEqual([
    [[3]],
    [[3]],
    [[1]],
  ]);
  const defined = await connection.runAndReadAll(
    "SELECT function_name FROM duckdb_functions() WHERE function_name LIKE 'apl_test%' ORDER BY 1",
  );
  expect(defined.getRows()).toStrictEqual([['apl_test_one'], ['apl_test_three']]);
});

it('every function has a cost bound', () => {
  const names = families.flatMap(family => family.udfs.map(udf => udf.name));
  expect(names.filter(name => !hasBound(name))).toStrictEqual([]);
});

const series = (length: number) => `[${Array.from({ length }, (_, index) => index % 7).join(',')}]`;

const costly: readonly (readonly [sql: string, call: string])[] = [
  [`apl_fir('${series(20_000)}', '${series(20_000)}')`, 'series_fir'],
  [`apl_iir('${series(100_000)}', '${series(2_000)}', '[1]')`, 'series_iir'],
  [`apl_fft('${series(200_001)}', '[]')`, 'series_fft'],
  [`apl_redact(repeat('x', 100000), 'x.*y|x', '*', false, false)`, 'redact'],
  [`apl_index_of_regex('text', repeat('x', 20000), 0, 1, -1)`, 'indexof_regex'],
  [`apl_index_of_regex(repeat('ab', 2000000), '(a|b)*c[a-z]{1000}', 0, 1, -1)`, 'indexof_regex'],
  [`apl_canonical_json('${series(2_000_000)}')`, 'parse_json'],
  [`apl_quote(repeat('x', 10000000))`, 'quote'],
];

it.each(costly)('a call that would take too long is refused: %s', async (sql, call) => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await new FunctionRegistry(connection).all();
  const error: unknown = await connection.run(`SELECT ${sql}`).then(
    () => undefined,
    reason => reason,
  );
  expect(refusedCall(String(error))).toBe(call);
});

it.each([
  ["apl_parse_time(repeat(' ', 2000) || '2026-01-01')"],
  ["apl_regex(repeat('x', 20000), '', '')"],
  ["apl_ipv6_in(repeat('1:', 1000), '::1/8')"],
])('an overlong value is read as null: %s', async sql => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await new FunctionRegistry(connection).all();
  expect((await connection.runAndReadAll(`SELECT ${sql}`)).getRows()).toStrictEqual([[null]]);
});

it('plain functions register without JavaScript, and scripted statements are recognized', async () => {
  const { families: plain, isScripted } = withoutScripts([{ setup, udfs: [double] }]);
  expect([plain, isScripted('SELECT 1'), isScripted('SELECT apl_test_quadruple(2)')]).toStrictEqual([
    [{ setup: [], udfs: [] }],
    false,
    true,
  ]);
  const instance = await DuckDBInstance.create(':memory:');
  await new FunctionRegistry(await instance.connect(), withoutScripts().families).all();
});

it('every macro and function has a unique name', () => {
  const macros = families
    .flatMap(family => family.setup)
    .map(statement => /^CREATE (?:OR REPLACE )?MACRO (\w+)/.exec(statement)?.[1]);
  const names = [...macros, ...families.flatMap(family => family.udfs.map(udf => udf.name))];
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toStrictEqual([]);
  expect(names.filter(name => name === undefined || !name.startsWith('apl_'))).toStrictEqual([]);
});
