import { describe, expect, test } from 'vitest';
import { completeness, parseCell, toCellOffset } from '../../../kernel/apl/syntax/cell.js';

/** Returns `%magic args` for each magic, then each query's text: `name<<` before a named one, `;` after a silent one. */
function split(cell: string): string[] {
  const { magics, queries, diagnostics } = parseCell(cell);
  return [
    ...magics.map(magic => `${magic.cell ? '%%' : '%'}${magic.name} ${magic.args}`.trim()),
    ...queries.map(
      query => `${query.name === undefined ? '' : `${query.name}<<`}${query.text}${query.silent ? ';' : ''}`,
    ),
    ...diagnostics.map(diagnostic => `!${diagnostic.code}`),
  ];
}

const cells: readonly (readonly [title: string, cell: string, expected: readonly string[]])[] = [
  ['nothing', '', []],
  ['blank lines', '\n  \n\t\n', []],
  ['only a comment', '// note', []],
  ['one query', 'T | count', ['T | count']],
  ['a query over several lines', 'T\n| where a\n| count', ['T\n| where a\n| count']],
  ['a blank line and a comment between magics', '%time 1h\n\n// note\n%datasets', ['%time 1h', '%datasets']],
  ['magics only', '%time 1h\n%datasets', ['%time 1h', '%datasets']],
  ['a magic, then a query', '%time 1h\n\nT | count', ['%time 1h', 'T | count']],
  ['a magic for this cell', '%%time 1h\nT', ['%%time 1h', 'T']],
  ['spaces around magics', '  %time   last 1h  \nT', ['%time last 1h', 'T']],
  ['a comment before a magic', '// note\n%time 1h\nT', ['%time 1h', 'T']],
  ['Windows line endings', '%time 1h\r\nT\r\n| count\r\n', ['%time 1h', 'T\r\n| count']],
  ['a magic below a query', 'T | count\n\n%time 1h', ['T | count', '%time 1h', '!late-magic']],
  ['a single line break', 'T | count\nU', ['T | count\nU']],
  ['two queries', 'T | count\n\nU | count', ['T | count', 'U | count']],
  ['a blank line with spaces', 'T | count\n  \t \nU', ['T | count', 'U']],
  ['a semicolon', 'T | count; U', ['T | count', 'U']],
  ['a silent query', 'T | count;', ['T | count;']],
  ['only the last is silent', 'T; U;', ['T', 'U;']],
  ['a semicolon before a pipe', 'T;\n| count', ['T;\n| count']],
  ['a blank line before a pipe', 'T\n\n| count', ['T\n\n| count']],
  ['a blank line after a pipe', 'T |\n\ncount', ['T |\n\ncount']],
  ['a blank line after a comma', 'T | project a,\n\nb', ['T | project a,\n\nb']],
  ['a blank line inside brackets', 'T | where a in (1,\n\n2\n\n)', ['T | where a in (1,\n\n2\n\n)']],
  ['a blank line before by', 'T | summarize count()\n\nby a', ['T | summarize count()\n\nby a']],
  ['a blank line before and', 'T | where a\n\nand b', ['T | where a\n\nand b']],
  ['a comment between lines', 'T\n// note\n| count', ['T\n// note\n| count']],
  ['a blank line and a comment', 'T\n\n// note\n| count', ['T\n\n// note\n| count']],
  ['a comment, then another query', 'T\n\n// note\nU', ['T', '// note\nU']],
  ['a fenced string with a blank line', 'T | where a == ```x\n\ny```', ['T | where a == ```x\n\ny```']],
  ['a semicolon in a string', "T | where a == 'x;y'", ["T | where a == 'x;y'"]],
  ['a pipe in a comment', 'T // | count\n\nU', ['T // | count', 'U']],
  ['a percent sign in a query', 'T | where a % 2 == 0', ['T | where a % 2 == 0']],
  ['a named result', 'r << T | count', ['r<<T | count']],
  ['two named results', 'r << T\n\ns << U', ['r<<T', 's<<U']],
  ['let', 'let a = 1;\nT | where x == a', ['let a = 1;\nT | where x == a']],
  ['let for two queries', 'let a = 1;\nT\n\nU', ['let a = 1;\nT', 'let a = 1;\nU']],
  ['let without semicolon, then a blank line', 'let a = 1\n\nT', ['let a = 1;\nT']],
  ['let after a query', 'T;\nlet a = 1;\nU', ['T', 'let a = 1;\nU']],
  ['let across a blank line', 'let a =\n\n1; T', ['let a =\n\n1;\nT']],
  [
    'set and declare',
    'set stricttypes;\ndeclare query_parameters(n:long=1);\nT',
    ['set stricttypes;\ndeclare query_parameters(n:long=1);\nT'],
  ],
  ['only let', 'let a = 1;', []],
  ['only let, with an error', 'let a = ;', ['!expected']],
  ['a dataset called let', 'let | count', ['let | count']],
  ['unclosed bracket', 'T | where (a\n\nU', ['T | where (a\n\nU']],
  ['an extra bracket', 'T | where a)\n\nU', ['T | where a)', 'U']],
  ['quoted dataset after a blank line', "T | count\n\n['U'] | count", ['T | count', "['U'] | count"]],
];

describe('a cell is split into magics and queries', () => {
  test.each(cells)('%s', (_, cell, expected) => {
    expect(split(cell)).toEqual(expected);
  });
});

test('maps offsets of a query back to the cell, also in shared statements', () => {
  const cell = '%time 1h\nlet a = 1;\nT | where a\n\nr << U | where b';
  const [first, second] = parseCell(cell).queries;
  for (const [query, word] of [
    [first, 'let a'],
    [first, 'T |'],
    [second, 'let a'],
    [second, 'U |'],
    [second, 'b'],
  ] as const) {
    expect(toCellOffset(query as NonNullable<typeof query>, query?.text.lastIndexOf(word) ?? -1)).toBe(
      cell.lastIndexOf(word),
    );
  }
});

const texts: readonly (readonly [text: string, expected: 'complete' | 'incomplete'])[] = [
  ['', 'complete'],
  ['%time 1h', 'complete'],
  ['T', 'complete'],
  ['T |', 'incomplete'],
  ['T | where', 'incomplete'],
  ['T | where (a', 'incomplete'],
  ['T | where a)', 'complete'],
  ['T | project a,', 'incomplete'],
  ['T | where a ==', 'incomplete'],
  ['T | where a == ```x', 'incomplete'],
  ['T | count // note |', 'complete'],
  ['T | summarize count() by', 'incomplete'],
];

test.each(texts)('the input %j is %s', (text, expected) => {
  expect(completeness(text)).toBe(expected);
});
