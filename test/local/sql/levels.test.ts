import { expect, test } from 'vitest';
import { openQueries } from '../queries.js';

const { run } = openQueries();

/** Close to the limit of the language. */
const many = 190;

const terms = (text: string, separator: string, count = many): string =>
  Array.from({ length: count }, () => text).join(separator);

const cases: readonly (readonly [title: string, apl: string, rows: readonly string[]])[] = [
  ['a sum of constants', `print ${terms('1', ' + ')}`, ['190']],
  ['a difference', `print ${terms('1', ' - ')}`, ['-188']],
  [
    'a sum of a field',
    `range x from 1 to 3 step 1 | project y = ${terms('x', ' + ')}`,
    ['190', '380', '570'],
  ],
  ['a sum beyond 64 bits', `print 9223372036854775807 + ${terms('1', ' + ', 180)} - 180`, ['null']],
  [
    'two sums and an earlier field',
    `range x from 1 to 2 step 1 | extend y = ${terms('x', ' + ', 100)}, z = ${terms('x', ' + ', 150)} | project x, y, z`,
    ['1 100 150', '2 200 300'],
  ],
  [
    'a filter below a distinct',
    `range x from 1 to 3 step 1 | where ${terms('x', ' + ')} > 285 | distinct x`,
    ['2', '3'],
  ],
  ['alternatives', `range x from 1 to 3 step 1 | where ${terms('x == 2', ' or ', 990)}`, ['2']],
  [
    'nested calls',
    `print ${terms("strcat('a', ", '', 150)}'b'${terms(')', '', 150)}`,
    [`"${'a'.repeat(150)}b"`],
  ],
];

test.each(cases)('%s of many terms', async (_, apl, rows) => {
  const outcome = await run(apl);
  expect(outcome.ok && outcome.ran.rows.map(row => row.join(' '))).toEqual(rows);
});
