import { expect, test } from 'vitest';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import { testService } from '../service.js';

const rows = 48;

/** Texts of slightly more than a mebibyte, each of which takes 16 times as much engine memory when converted to JSON. */
const texts = `range i from 10 to ${9 + rows} step 1 | extend s = strcat(i, strrep(strrep("x", 1024), 1024))`;

test('converting long strings to JSON stays within the engine memory', async () => {
  const service = await testService({ compile: compileRequest, limits: { memoryBytes: 2 ** 29 } });
  const { status, body } = await service.query(`${texts} | summarize sum(strlen(tostring(pack_array(s))))`);
  expect([status, body.message]).toEqual([200, undefined]);
  expect(body.tables[0].columns).toEqual([[rows * (2 ** 20 + 2 + 4)]]);
});
