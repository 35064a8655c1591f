import { expect, test } from 'vitest';
import { fileCellAt, splitFile } from '../../../kernel/apl/syntax/syntax-file.js';

/** Checks the cells of a file: the first line and the body of each, and whether it is prose. */
function check(
  source: string,
  expected: readonly (readonly [head: string, body: string, prose: boolean])[],
): void {
  const cells = splitFile(source);
  expect(
    cells.map(({ from, body, to, prose }) => [source.slice(from, body), source.slice(body, to), prose]),
  ).toEqual(expected);
  expect(cells.map(({ from, to }) => source.slice(from, to)).join('')).toBe(source);
}

test.each<Parameters<typeof check>>([
  ['', [['', '', false]]],
  ['web', [['', 'web', false]]],
  ['// %%', [['// %%', '', false]]],
  [
    '// %% a\nweb\n// %%\nspans',
    [
      ['// %% a\n', 'web\n', false],
      ['// %%\n', 'spans', false],
    ],
  ],
  [
    'web\n// %% [markdown]\n// x\n',
    [
      ['', 'web\n', false],
      ['// %% [markdown]\n', '// x\n', true],
    ],
  ],
  ['web // %%\n  // %%\n', [['', 'web // %%\n  // %%\n', false]]],
])('%j', check);

test('an offset belongs to the cell that begins before it', () => {
  const source = 'web\n// %%\nspans';
  expect([0, 3, 4, 12, 99].map(offset => fileCellAt(source, offset).from)).toEqual([0, 0, 4, 4, 4]);
});
