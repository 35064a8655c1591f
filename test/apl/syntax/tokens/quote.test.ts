import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseQuery, QueryText } from '../../../../kernel/apl/syntax/parse.js';
import { quotedName, writtenText } from '../../../../kernel/apl/syntax/tokens/quote.js';
import { datasetOf } from '../../../../kernel/notebook/query/query-reading.js';

test.each([
  ['web', "['web']"],
  ["it's", "['it\\'s']"],
  ['a\\b', "['a\\\\b']"],
  ['a\u202eb', "['a\\u202eb']"],
])('the name %j is quoted so that it parses back', (name, written) => {
  expect(quotedName(name)).toBe(written);
  expect(datasetOf(new QueryText(written))).toBe(name);
});

test('any string literal parses back to its value', () =>
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      const [statement] = parseQuery(`print ${writtenText(text)}`).query.statements;
      const source = statement?.kind === 'query' ? statement.pipeline.source : undefined;
      const [item] = source?.kind === 'print' ? source.items : [];
      expect(item?.value).toMatchObject({ kind: 'literal', type: 'string', value: text });
    }),
  ));

test.each([
  [`"it's" | count`, "Write ['it\\'s']."],
  [`["it's" | count`, "Write ['it\\'s']."],
])('the fix for %s is a valid name', (query, hint) => {
  const [first] = parseQuery(query).diagnostics;
  expect(first?.hint).toBe(hint);
  expect(datasetOf(new QueryText(first?.instead ?? ''))).toBe("it's");
});
