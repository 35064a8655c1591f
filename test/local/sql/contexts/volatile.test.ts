import { expect, test } from 'vitest';
import { openQueries } from '../../queries.js';

/* The engine refuses what is random, and what may fail, inside a TRY: such operands are computed before it. */

const queries = openQueries();

test.each([
  ['-rand(1)', '0'],
  ['1 - rand(1)', '1'],
  ['-strlen(tolower(strcat(tostring(x), "AB")))', '-3'],
  ['strlen(tolower(strcat(tostring(x), "AB"))) / 2', '1'],
  ['tolower(strcat(tostring(x), "AB")) matches regex strcat("a", tostring(x))', 'false'],
  ['-strlen(replace_regex(strcat("a", tostring(x)), "-", strcat(tostring(x), "AB")))', '-3'],
])('%s', async (expression, expected) => {
  expect(await queries.rows(`range x from 1 to 1 step 1 | project y = ${expression}`)).toEqual([[expected]]);
});
