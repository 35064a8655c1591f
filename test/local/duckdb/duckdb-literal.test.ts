import { expect, test } from 'vitest';
import { sqlName, sqlText } from '../../../kernel/local/duckdb/duckdb-literal.js';
import { openEngine } from './functions/harness.js';

const engine = openEngine();

const texts = ['', "it's", 'a\0b', '\0', "'; DROP TABLE x; --", '\\', '"', 'ключ', '\n'];

test.each(texts)('%j comes back as it was', async text => {
  expect(await engine.query(`SELECT ${sqlText(text)}`)).toEqual([[text]]);
});

test.each(texts.filter(text => text !== ''))('%j names a column', async name => {
  const rows = await engine.query(`SELECT ${sqlName(name)} FROM (SELECT 1::BIGINT AS ${sqlName(name)})`);
  expect(rows).toEqual([[1n]]);
});
