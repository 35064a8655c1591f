import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type NotebookCell, sourceOf } from '../../kernel/headless/notebook.js';
import { lineOf, parseScript, scriptOf } from '../../kernel/headless/script.js';

test.each<readonly [string, readonly number[]]>([
  ['one', [1]],
  ['\n\none\ntwo', [3]],
  ['one\n// %%\ntwo\n// %% [markdown]\n// prose\n// %%\n\nthree', [1, 3, 5, 8]],
  ['// %% a title\none\n\n// %%\none', [2, 5]],
  ['// %%\r\none\r\n\r\n// %%\r\n\r\ntwo\r\n', [2, 6]],
])('records the first line of each cell of %j', (text, lines) => {
  expect(parseScript(text).cells.map(lineOf)).toEqual(lines);
});

test('a script has the kernelspec of this kernel', () => {
  const { metadata, nbformat, nbformat_minor } = parseScript('print 1');
  expect([nbformat, nbformat_minor]).toEqual([4, 5]);
  expect(metadata).toEqual({
    kernelspec: { name: 'apl', display_name: 'APL (Axiom)', language: 'axiom-apl' },
    language_info: { name: 'axiom-apl', file_extension: '.apl', mimetype: 'text/x-axiom-apl' },
  });
});

type Facts = readonly [kind: string, source: string, tags?: readonly string[], title?: string];

function facts({ cells }: { readonly cells: readonly NotebookCell[] }): readonly Facts[] {
  return cells.map(cell => {
    const { tags, title } = cell.metadata;
    const all = [cell.cell_type, sourceOf(cell), tags, title] as const;
    return all.slice(0, title !== undefined ? 4 : tags !== undefined ? 3 : 2) as unknown as Facts;
  });
}

const cellOf = ([kind, source, tags, title]: Facts): NotebookCell => {
  const metadata = { ...(tags && { tags: [...tags] }), ...(title && { title }) };
  if (kind !== 'code') return { cell_type: kind as 'markdown', source, metadata };
  return { cell_type: 'code', source, metadata, execution_count: 3, outputs: [] };
};
const notebookOf = (cells: readonly Facts[]) => ({
  cells: cells.map(cellOf),
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
});

describe('a notebook as a script', () => {
  const cells: readonly Facts[] = [
    ['markdown', '# Title\n\n- a\n  - b\n%% no marker'],
    ['code', '%param n = 1', ['parameters', 'a b']],
    ['code', ''],
    ['code', "  ['web'] // %%\n\n// %% no marker\n// \\%% nor this\n| count"],
    ['raw', 'any text\n// %%', ['x'], 'Some title'],
  ];
  const text = [
    '// %% [markdown]',
    '// # Title',
    '//',
    '// - a',
    '//   - b',
    '// \\%% no marker',
    '',
    '// %% tags=["parameters","a b"]',
    '%param n = 1',
    '',
    '// %%',
    '',
    '// %%',
    "  ['web'] // %%",
    '',
    '// \\%% no marker',
    '// \\\\%% nor this',
    '| count',
    '',
    '// %% [raw] tags=["x"] Some title',
    '// any text',
    '// // %%',
    '',
  ].join('\n');
  test('is readable', () => expect(scriptOf(notebookOf(cells))).toBe(text));
  test('keeps every cell', () => expect(facts(parseScript(text))).toEqual(cells));
});

test('any notebook keeps its cells in a round trip', () => {
  const line = fc.oneof(
    fc.constantFrom(
      '// %%',
      '// %% [markdown]',
      '%% x',
      '// ',
      '//',
      '',
      '  ',
      '\\%%',
      '// \\%% x',
      'web | count',
      '\ttab',
    ),
    fc.string(),
  );
  const clean = (lines: readonly string[]) => lines.map(each => each.replace(/[\r\n]/g, '')).join('\n');
  // Blank lines at the beginning and end do not belong to a cell.
  const source = fc
    .array(line, { maxLength: 6 })
    .map(lines =>
      clean(lines)
        .replace(/^(?:[^\S\n]*\n)+/, '')
        .replace(/\n\s*$/, ''),
    )
    .map(each => (each.trim() === '' ? '' : each));
  const kind = fc.constantFrom('code', 'markdown', 'raw');
  const tag = fc.constantFrom('a', 'parameters', 'with space', '"quoted"');
  const cell = fc.tuple(kind, source, fc.array(tag, { minLength: 1, maxLength: 2 })) as fc.Arbitrary<Facts>;
  fc.assert(
    fc.property(fc.array(cell, { maxLength: 6 }), cells => {
      const script = scriptOf(notebookOf(cells));
      expect(facts(parseScript(script))).toEqual(cells);
      expect(scriptOf(parseScript(script))).toBe(script);
    }),
    { numRuns: 300 },
  );
});
