import { expect, test } from 'vitest';
import { parseQuery } from '../../../kernel/apl/syntax/parse.js';

/** Texts that end too early, with what the parser expected and after what. */
test.each([
  ['let x =', 'expected an expression after `=`, the query ends here'],
  ['let = 1; print 1', 'expected a name after `let`, found `=`'],
  ['declare query_parameters(p: long =', 'expected an expression after `=`, the query ends here'],
  ['declare query_parameters(p = 1); print p', 'expected `:` after the parameter name, found `=`'],
  ['T | mv-expand x to', 'expected an expression after `to`, the query ends here'],
  ['T | mv-expand x to long', 'expected `typeof(…)` after `to`'],
  ['print dynamic([1]', 'expected `)` to close `dynamic(`, the query ends here'],
  ['print dynamic([1', 'expected `]` to close the array, the query ends here'],
  ["print dynamic({'a': 1", 'expected `}` to close the map, the query ends here'],
  ["print dynamic({'a' 1})", 'expected `:` after the key, found `1`'],
  ['print dynamic({[]})', 'expected a key in quotes in the map, found `[`'],
  ['print typeof(', 'expected a type in `typeof`, the query ends here'],
  ['print f(1', 'expected `,` or `)` in the arguments of `f`, the query ends here'],
  ['print (1', 'expected `)` to close the parenthesis, the query ends here'],
  ['print a[1', 'expected `]` to close the index, the query ends here'],
  ['print a.', 'expected a name after `.`, the query ends here'],
  ['T | where a in', 'expected `(` after `in`, the query ends here'],
  ['T | where a in (1', 'expected `)` to close the list of `in`, the query ends here'],
  ['T | where a between', 'expected `(` after `between`, the query ends here'],
  ['T | where a between (1', 'expected `..` between the two ends, the query ends here'],
  ['T | where a between (1 .. 2', 'expected `)` to close `between`, the query ends here'],
  ['T |', 'expected an operator after `|`, the query ends here'],
  ['T | sort x', 'expected `by` after `sort`, found `x`'],
  ['T | top 1', 'expected `by` after the number of `top`, the query ends here'],
  ['T | join (S)', 'expected `on` and the fields to join by after the table of `join`, the query ends here'],
  ['datatable(a:long', 'expected `)` to close the column list, the query ends here'],
  ['datatable(a:long)', 'expected `[` before the values, the query ends here'],
  ['datatable(a:long)[1', 'expected `]` to close the table, the query ends here'],
  ['T | parse a with', 'expected a string, a field or `*` in the pattern, the query ends here'],
])('%s', (text, message) => {
  expect(parseQuery(text).diagnostics[0]?.message).toBe(message);
});

test('the span of a map or an array ends at its bracket', () => {
  const values = ["dynamic({'a': 1, 'b': {}})", 'dynamic({})', 'dynamic([])', 'dynamic([{}, [1]])'];
  for (const value of values) {
    const { query, diagnostics } = parseQuery(`print ${value}, 2`);
    const [statement] = query.statements;
    const source = statement?.kind === 'query' ? statement.pipeline.source : undefined;
    const items =
      source?.kind === 'print' ? source.items.map(({ value: { kind, from, to } }) => [kind, from, to]) : [];
    const kind = value.startsWith('dynamic({') ? 'map' : 'array';
    expect(diagnostics).toEqual([]);
    expect(items).toEqual([
      [kind, 6, 6 + value.length],
      ['literal', 8 + value.length, 9 + value.length],
    ]);
  }
});

test.each(['T | where a = 1', 'T | search a = 1'])('reports `=` as a comparison once: %s', text => {
  const { diagnostics } = parseQuery(text);
  expect(diagnostics.map(({ message }) => message)).toEqual(['`=` assigns a name and does not compare']);
});
