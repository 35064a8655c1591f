import { expect, test } from 'vitest';
import { bind } from '../../../kernel/apl/bind/bind.js';
import type { FieldSchema } from '../../../kernel/apl/plan/plan.js';
import { parseQuery } from '../../../kernel/apl/syntax/parse.js';
import { environmentOf } from '../environment.js';

/** Returns the number of fields that a query tests before it joins the text of all. */
function fieldsTested(text: string, strings: number, longs: number): number {
  const fields = (type: FieldSchema['type'], count: number) =>
    Array.from({ length: count }, (_, index) => ({ name: `${type}${index}`, type }));
  const environment = environmentOf({ wide: [...fields('string', strings), ...fields('long', longs)] });
  const { plan } = bind(parseQuery(text).query, text, environment);
  const json = JSON.stringify(plan?.relation, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
  return json.split('"operator":"contains"').length - 1;
}

test.each([
  [40, 60, 'tür', 40],
  [64, 100, 'tür', 64],
  [65, 0, 'tür', 0],
  [40, 60, '5', 0],
  [4, 60, '5', 64],
])('of %d strings and %d integers, a search for %s tests %d fields first', (strings, longs, term, tested) => {
  expect(fieldsTested(`wide | search '${term}'`, strings, longs)).toBe(tested);
  expect(fieldsTested(`wide | where * has '${term}'`, strings, longs)).toBe(tested);
});
