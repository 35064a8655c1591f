import { describe, expect, test } from 'vitest';
import {
  completeCell,
  definitionInCell,
  formatCells,
  hoverCell,
  queryOf,
  referencesInCell,
  renameInCell,
  signatureInCell,
} from '../../../kernel/apl/editor/editor-cell.js';
import { cursorOf, environment } from '../environment.js';

describe('joins the queries of a cell into one text', () => {
  test.each<readonly [cell: string, text: string]>([
    ['web | count', 'web | count'],
    ['web | count\n\nspans | count', 'web | count\n;spans | count'],
    ['web | count;\nspans', 'web | count;\nspans'],
    ['%time last 1h\n\nn << web', '             \n\n     web'],
    ['%apl web | count', '     web | count'],
    ['let a = 1\n\n// why\nweb | where b == a', 'let a = 1\n;// why\nweb | where b == a'],
    ['web // note\n\nspans', 'web // note\n;spans'],
    ['', ''],
  ])('%j', (cell, text) => {
    expect(queryOf(cell)).toBe(text);
    expect(text).toHaveLength(cell.length);
  });
});

/** Returns the first completion at `$0`. */
function offered(marked: string): string | undefined {
  const { text, offset } = cursorOf(marked);
  return completeCell(text, offset, environment).items[0]?.insert;
}

test.each<readonly [marked: string, first: string]>([
  ['%time 1h\nweb | where stat$0', 'status'],
  ['web | count\n\nspa$0', 'spans'],
  ['web | count\n\n$0\n\nspans', 'web'],
  ['let least = 5\n\nspans | count\n\nweb | where status > lea$0', 'least'],
  ['n << web | project aaa = 1\n\nn | where aa$0', 'aaa'],
  ['n << web | project aaa = 1\n\nweb | count\n\nnn << n | extend bbb = aa$0', 'aaa'],
  ["web | where ['geo$0'] == 1", "['geo.city']"],
])('completes %j', (marked, first) => expect(offered(marked)).toBe(first));

test('finds, explains and renames a name across the cell', () => {
  const cell = '%time 1h\nlet low = 5\n\nweb | where status > low\n\nn << spans | where low < 1';
  const at = cell.lastIndexOf('low');
  const span = { from: cell.indexOf('low'), to: cell.indexOf('low') + 3 };
  expect(definitionInCell(cell, at, environment)).toEqual(span);
  expect(referencesInCell(cell, at, environment).map(({ from }) => from)).toEqual([
    cell.indexOf('low'),
    cell.indexOf('low\n\nn'),
    at,
  ]);
  expect(hoverCell(cell, at, environment)?.plain).toBe('let low: integer');
  const renaming = renameInCell(cell, at, 'least', environment);
  expect(renaming.ok && renaming.edits.map(({ insert }) => insert)).toEqual(['least', 'least', 'least']);
});

test('shows the signature of the open call', () => {
  const help = signatureInCell('%time 1h\nweb | count\n\nprint substring("a", ', 45);
  expect([help?.label.slice(0, 10), help?.active]).toEqual(['substring(', 1]);
});

test('formats each cell of a file separately', () => {
  const file = '%time  1h\nweb|count\n\n// %% two\n%limit 5\nweb|count\n\n\n// %% [markdown]\n// a|b\n';
  const formatted =
    '%time  1h\nweb\n| count\n\n// %% two\n%limit 5\nweb\n| count\n\n\n// %% [markdown]\n// a|b\n';
  expect(formatCells(file)).toBe(formatted);
  expect(formatCells(formatted)).toBe(formatted);
  expect(formatCells('')).toBe('');
});

test.each([
  ['%limit 5\n// @vi|z bar\nT', '// @viz KIND\n\nChart type for the results of the cell.'],
  ['T;\n// @unit m|s\nU', '// @unit UNIT\n\nUnit of the measures,'],
  ['  // @lo|g\nT', '// @log\n\nUses a logarithmic value axis.'],
  ['// @annota|tions off\nT', '// @annotations on|off\n\nWhether time charts show annotations'],
])('explains a directive at its position: %j', (marked, expected) => {
  const at = marked.indexOf('|');
  const cell = marked.replace('|', '');
  const found = hoverCell(cell, at, environment);
  expect(found?.plain).toContain(expected);
  expect(cell.slice(found?.from, found?.to)).toMatch(/^@(?:viz bar|unit ms|log|annotations off)$/);
});

test('does not explain a directive mentioned in a comment', () => {
  expect(hoverCell('// see @viz\nT', 8, environment)).toBeUndefined();
});
