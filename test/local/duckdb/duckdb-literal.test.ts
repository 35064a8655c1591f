import { expect, test } from 'vitest';
import { sqlName, sqlText, zonedTimeBound } from '../../../kernel/local/duckdb/duckdb-literal.js';
import { openEngine } from './functions/harness.js';

const engine = openEngine();

const texts = ['', "it's", 'a\0b', '\0', "'; DROP TABLE x; --", '\\', '"', 'ключ', '\n'];

test.each(texts)('%j comes back unchanged', async text => {
  expect(await engine.query(`SELECT ${sqlText(text)}`)).toEqual([[text]]);
});

test.each(texts.filter(text => text !== ''))('%j names a column', async name => {
  const rows = await engine.query(`SELECT ${sqlName(name)} FROM (SELECT 1::BIGINT AS ${sqlName(name)})`);
  expect(rows).toEqual([[1n]]);
});

test.each([
  [0n, '1970-01-01T00:00:00Z'],
  [1n, '1970-01-01T00:00:00.000001Z'],
  [1_000n, '1970-01-01T00:00:00.000001Z'],
  [1_001n, '1970-01-01T00:00:00.000002Z'],
  [-1n, '1970-01-01T00:00:00Z'],
  [-1_001n, '1969-12-31T23:59:59.999999Z'],
])('a bound in microseconds is rounded up from %d ns', (ns, time) => {
  expect(zonedTimeBound('t', '>=', ns)).toBe(`t >= '${time}'::TIMESTAMP WITH TIME ZONE`);
});
