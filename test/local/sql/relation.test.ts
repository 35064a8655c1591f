import { describe, expect, test } from 'vitest';
import { openQueries } from '../queries.js';

const { run } = openQueries();

async function cells(apl: string): Promise<readonly (readonly string[])[]> {
  const outcome = await run(apl);
  if (!outcome.ok) throw new Error(outcome.diagnostics.map(each => each.message).join('; '));
  return outcome.ran.rows;
}

const values = [
  "'",
  "''",
  '"',
  '\\',
  "'; DROP TABLE x; --",
  '\u0000',
  'a\u0000b',
  '\n',
  '%',
  '_',
  '$1',
  '{}',
  '😀',
  'ﬀ',
  '\u202e',
  '\ufeff',
  '',
];

describe('a value of any kind comes back unchanged', () => {
  test.each(values)('%j', async value => {
    const text = JSON.stringify(value);
    expect(await cells(`print s = ${text}`)).toEqual([[text]]);
    expect(await cells(`print s = ${text} | where s == ${text} | summarize n = count() by s`)).toEqual([
      [text, '1'],
    ]);
    expect(await cells(`print s = dynamic({${text}: ${text}}) | project x = s[${text}]`)).toEqual([[text]]);
    expect(
      await cells(
        `print s = ${text} | where s in (${text}) and s contains ${text} and s startswith ${text} | count`,
      ),
    ).toEqual([['1']]);
  });
});

test('lowercasing never turns a letter into an ASCII character without case', async () => {
  const folded = 'tolower(unicode_codepoints_to_string(pack_array(n)))';
  expect(
    await cells(
      `range n from 128 to 196607 step 1 | where ${folded} matches regex '[\\x00-@\\[-\`{-\\x7f]' | count`,
    ),
  ).toEqual([['0']]);
  expect(await cells(`range n from 65 to 90 step 1 | where ${folded} matches regex '[a-z]' | count`)).toEqual(
    [['26']],
  );
});

describe('a name of any kind names its own column', () => {
  const names = [
    'a"b',
    "a'b",
    'a\\b',
    'a\nb',
    '"; DROP TABLE x; --',
    'ключ',
    'select',
    'c0',
    'rowid',
    '*',
    ' ',
    'A',
    'a',
  ];
  test('beside the other names', async () => {
    const items = names.map((name, index) => `[${JSON.stringify(name)}] = ${index}`);
    const reversed = [...names].reverse().map(name => `[${JSON.stringify(name)}]`);
    const expected = names.map((_, index) => String(index)).reverse();
    expect(await cells(`print ${items.join(', ')} | project ${reversed.join(', ')}`)).toEqual([expected]);
  });
  test.each(names)('%j', async name => {
    const quoted = `[${JSON.stringify(name)}]`;
    const table = `let t = datatable(${quoted}:long, z:long)[1, 2, 1, 3];`;
    expect(await cells(`${table} t | summarize sum(z) by ${quoted}`)).toEqual([['1', '5']]);
    expect(await cells(`${table} t | join (t) on ${quoted} | count`)).toEqual([['4']]);
    expect(await cells(`${table} t | union t | sort by ${quoted}, z | limit 1`)).toEqual([['1', '3']]);
    expect(
      await cells(`${table} t | mv-expand x = dynamic([1]) | project-away ${quoted}, x | count`),
    ).toEqual([['2']]);
  });
});

test('field names that differ only in case are distinct', async () => {
  expect(await cells('print Name = 1, name = 2, NAME = 3 | project name, NAME, Name')).toEqual([
    ['2', '3', '1'],
  ]);
});

test('integers keep every digit through every stage', async () => {
  const apl =
    'datatable(n:long)[9007199254740993, -9223372036854775808] | extend j = dynamic([9007199254740993]) | sort by n | project n, m = j[0], t = tostring(n), s = n + 0';
  expect(await cells(apl)).toEqual([
    ['9007199254740993', '9007199254740993', '"9007199254740993"', '9007199254740993'],
    ['-9223372036854775808', '9007199254740993', '"-9223372036854775808"', '-9223372036854775808'],
  ]);
});

test('a list of many expanded rows keeps their sort order', async () => {
  const lists =
    'range x from 1 to 300000 step 1 | extend a = pack_array(x, x) | sort by x desc | mv-expand a | summarize l = make_list(a) by g = tolong(a) % 2';
  expect(
    await cells(`${lists} | project tostring(l) == tostring(array_sort_desc(l)), array_length(l)`),
  ).toEqual([
    ['true', '300000'],
    ['true', '300000'],
  ]);
});

test('a result may have more string fields than the engine joins in one expression', async () => {
  const items = Array.from({ length: 1_100 }, (_, index) => `f${index} = 'x'`);
  expect(await cells(`print ${items.join(', ')}`)).toEqual([items.map(() => '"x"')]);
});

test('a search of no datasets finds no rows', async () => {
  expect(await cells("search 'a'")).toEqual([]);
  expect(await cells("search 'a' and 'b' | where ['$table'] == 'x' | count")).toEqual([['0']]);
  expect(await cells('search * | summarize n = count() by t = $table')).toEqual([]);
});
