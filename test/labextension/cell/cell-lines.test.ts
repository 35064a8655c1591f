import { describe, expect, test } from 'vitest';
import {
  type CodeCell,
  chartKindEdit,
  importLine,
  isRepeatable,
  overRange,
  quoted,
  recordSetting,
  selectedCode,
  starCode,
  starLine,
  suggestedName,
  tellingLine,
} from '../../../labextension/src/cell/cell-lines.js';

/** Returns the text without its cursor mark and the cursor's offset; two marks enclose a selection. */
function marked(text: string): { readonly source: string; readonly from: number; readonly to: number } {
  const from = text.indexOf('$0');
  const rest = text.replace('$0', '');
  const to = rest.indexOf('$0');
  return { source: rest.replace('$0', ''), from, to: to < 0 ? from : to };
}

test.each([
  ['above a query without one', 'T | count', '// @viz bar\nT | count'],
  ['below magics', '%time last 1h\nT | count', '%time last 1h\n// @viz bar\nT | count'],
  ['in place of another kind', '// @viz pie\nT | count', '// @viz bar\nT | count'],
  ['above magics', '// @viz pie\n%limit 5\nT | count', '// @viz bar\n%limit 5\nT | count'],
  ['after a `@viz` without a kind', '// @viz\nT', '// @viz bar\nT'],
  ['in `render`', 'T | count | render piechart with (title="a")', 'T | count | render bar with (title="a")'],
  ['after `let`', 'let n = 1;\nT | where a > n', 'let n = 1;\n// @viz bar\nT | where a > n'],
  ['above the last query', '// @viz pie\nT;\n\nU', '// @viz pie\nT;\n\n// @viz bar\nU'],
])('the kind of a chart is written %s', (_, source, expected) => {
  const edit = chartKindEdit(source, 'bar');
  expect(edit && source.slice(0, edit.from) + edit.text + source.slice(edit.to)).toBe(expected);
});

test('a cell without a query gets no chart kind', () => {
  expect(chartKindEdit('%help', 'bar')).toBeUndefined();
});

describe('the line of a setting', () => {
  const line = '%time last 6h';
  const cellsOf = (sources: readonly string[]): readonly CodeCell[] =>
    sources.map(source => ({ source, isEditable: true }));
  const check = (sources: readonly string[], active: number, expected: readonly [number, string]) => {
    const found = recordSetting(cellsOf(sources), active, 'time', line);
    expect([found?.index, found?.source]).toEqual(expected);
  };

  test('replaces the line that applies to the active cell', () => {
    check(['%time last 1h\nT', 'U', '%time last 2h'], 1, [0, '%time last 6h\nT']);
    check(['%time last 1h', '%time last 2h\n%limit 5\nU'], 1, [1, '%time last 6h\n%limit 5\nU']);
  });

  test('replaces the last of several lines in a cell', () =>
    check(['%time last 1h\n%time last 2h'], 0, [0, '%time last 1h\n%time last 6h']));

  test('is added at the top of the first cell if none exists', () => {
    check(['T | count', 'U'], 1, [0, '%time last 6h\nT | count']);
    check([''], 0, [0, '%time last 6h']);
  });

  test('leaves a line for one cell, or one that only shows the range', () =>
    check(['%%time last 1h\nT', '%time\nU'], 1, [0, '%time last 6h\n%%time last 1h\nT']));

  test('replaces `%connect` when the profile changes', () =>
    expect(recordSetting(cellsOf(['%connect prod']), 0, 'use', '%use local')?.source).toBe('%use local'));

  test('is not written into a read-only cell or an empty notebook', () => {
    expect(recordSetting([{ source: '%time last 1h', isEditable: false }], 0, 'time', line)).toBeUndefined();
    expect(recordSetting([], -1, 'time', line)).toBeUndefined();
  });
});

describe('a cell over another range', () => {
  const check = (source: string, expected: string) => expect(overRange(source, 'last 1h')).toBe(expected);

  test('replaces its own range line, whether for the cell or the notebook', () => {
    check('%time 2026\nT', '%%time last 1h\nT');
    check('%limit 5\n%%time 2026\n%time 2025\nT', '%limit 5\n%%time last 1h\n\nT');
  });
  test('adds a range line if it has none', () => check('T | count', '%%time last 1h\nT | count'));
  test('drops the line that saves a starred query', () => check('%star abc\nT', '%%time last 1h\n\nT'));
});

describe('running a selection', () => {
  const check = (text: string, expected: string | undefined) => {
    const { source, from, to } = marked(text);
    expect(selectedCode(source, from, to)).toBe(expected);
  };

  test("runs the selected text with the cell's settings for this run only", () =>
    check('%time last 2h\n%%limit 5\n$0T | count$0\n| where x', '%%time last 2h\n%%limit 5\nT | count'));
  test('includes the statements before it', () =>
    check('let a = 1;\nset b;\n$0T | where x > a$0 | count', 'let a = 1;\nset b;\nT | where x > a'));
  test('does not run a selected statement twice', () =>
    check('$0let a = 1;\nT | where x > a$0', 'let a = 1;\nT | where x > a'));
  test('runs the named query at the cursor if nothing is selected', () =>
    check('T | count\n\nkept << U\n| li$0mit 5\n\nV', 'kept << U\n| limit 5'));
  test('keeps the profile and request options of the cell', () =>
    check('%%on prod\n%request --nocache\nT$0', '%%on prod\n%%request --nocache\nT'));
  test('fetches all rows if the cell does', () => check('%fetch --all\nT$0\n\nU', '%%fetch --all\nT'));
  test('does not rerun other magics of the cell', () => check('%import f.csv\nT$0', 'T'));
  test('runs nothing in an empty cell', () => check('  $0', undefined));
});

describe('starring a query', () => {
  test('saves the query at the cursor with the settings of the cell', () =>
    expect(starCode('%time last 2h\nlet a = 1;\nT | where x > a\n\nU', 43, '%star x')).toBe(
      '%%time last 2h\n%star x\nlet a = 1;\nU',
    ));
  test('drops the fetch line', () => expect(starCode('%fetch --all\nT', 13, '%star x')).toBe('%star x\nT'));
  test('does nothing in a cell without a query', () =>
    expect(starCode('%time', 0, '%star x')).toBeUndefined());
  test('suggests the first comment as its name, else the first line', () => {
    expect(suggestedName('// Errors by host\nT | count', 0)).toBe('Errors by host');
    expect(suggestedName('T | count', 0)).toBe('T | count');
    expect(suggestedName('// @viz bar\n// By host\nT | count', 0)).toBe('By host');
    expect(suggestedName('// @viz bar\nT | count', 0)).toBe('T | count');
  });
  test('quotes any name as one word', () => {
    expect(starLine({ name: 'a "b"\n%drop x \\' })).toBe('%star --new "a \\"b\\" %drop x \\\\" --no-run');
    expect(starLine({ id: 'abc_1' })).toBe('%star abc_1 --no-run');
    expect(quoted('--yes')).toBe('"--yes"');
  });
});

test.each([
  ["%time last 1h\n['web'] | count", true],
  ['%%limit 5\nweb | take 1', true],
  ['%param n = 5', true],
  ['%param n = 5 --prompt', false],
  ['%param n = "--prompt-er"', true],
  ['%connect prod', true],
  ['%use prod --token', false],
  ['%trace slowest', true],
  ['%tail web', false],
  ['%bash', false],
  ['%import a.csv', false],
  ['%export a.csv\nweb | count', false],
  ['%STAR "a"\nweb | count', false],
])('a refresh may run %j: %s', (source, expected) => expect(isRepeatable(source)).toBe(expected));

test.each([
  ['n.ipynb', 'app.ndjson', '%import app.ndjson'],
  ['work/n.ipynb', 'work/logs/app-1.log.gz', '%import logs/app-1.log.gz'],
  ['a/b/n.ipynb', 'a/c/app.csv', '%import ../c/app.csv'],
  ['a/n.ipynb', 'a/my file (2).csv', '%import "my file (2).csv"'],
  ['n.ipynb', '-x "y".csv', '%import "-x \\"y\\".csv"'],
  ['n.ipynb', 'two  spaces.csv', undefined],
  ['n.ipynb', 'two\nlines.csv', undefined],
])('from %s, %s is imported by one line, or by none if no line can name it', (notebook, file, line) => {
  expect(importLine(notebook, file)).toBe(line);
});

test('an import line includes the chosen options', () => {
  const options = [
    ['dataset', 'web logs'],
    ['time', '@timestamp'],
    ['format', ''],
    ['zone', 'Europe/Berlin'],
    ['pattern', '%{IP:client}  "\\d"'],
  ] as const;
  expect(importLine('n.ipynb', 'a.log', options)).toBe(
    '%import a.log --dataset "web logs" --time @timestamp --zone Europe/Berlin --pattern "%{IP:client}  \\"\\\\d\\""',
  );
});

test.each([
  ["%%time last 1h\n\n%trace slowest ['web']", "%trace slowest ['web']"],
  ['%time last 1h', '%time last 1h'],
  ['\n%timeline\nweb', '%timeline'],
  ['web\n| count', 'web'],
  [' \n', undefined],
])('the most telling line of %j', (source, line) => expect(tellingLine(source)).toBe(line));
