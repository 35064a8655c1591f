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
  ['above a query that says nothing', 'T | count', '// @viz bar\nT | count'],
  ['below magics', '%time last 1h\nT | count', '%time last 1h\n// @viz bar\nT | count'],
  ['in the place of another kind', '// @viz pie\nT | count', '// @viz bar\nT | count'],
  ['above magics', '// @viz pie\n%limit 5\nT | count', '// @viz bar\n%limit 5\nT | count'],
  ['where the kind is missing', '// @viz\nT', '// @viz bar\nT'],
  ['in `render`', 'T | count | render piechart with (title="a")', 'T | count | render bar with (title="a")'],
  ['after `let`', 'let n = 1;\nT | where a > n', 'let n = 1;\n// @viz bar\nT | where a > n'],
  ['of the last query', '// @viz pie\nT;\n\nU', '// @viz pie\nT;\n\n// @viz bar\nU'],
])('the kind of a chart is written %s', (_, source, expected) => {
  const edit = chartKindEdit(source, 'bar');
  expect(edit && source.slice(0, edit.from) + edit.text + source.slice(edit.to)).toBe(expected);
});

test('a cell without a query is not drawn', () => {
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

  test('takes the place of the one that holds at the active cell', () => {
    check(['%time last 1h\nT', 'U', '%time last 2h'], 1, [0, '%time last 6h\nT']);
    check(['%time last 1h', '%time last 2h\n%limit 5\nU'], 1, [1, '%time last 6h\n%limit 5\nU']);
  });

  test('of several in a cell, the last', () =>
    check(['%time last 1h\n%time last 2h'], 0, [0, '%time last 1h\n%time last 6h']));

  test('goes on top of the first cell if there is none', () => {
    check(['T | count', 'U'], 1, [0, '%time last 6h\nT | count']);
    check([''], 0, [0, '%time last 6h']);
  });

  test('a line for one cell, or one that only shows the range, is not it', () =>
    check(['%%time last 1h\nT', '%time\nU'], 1, [0, '%time last 6h\n%%time last 1h\nT']));

  test('`%connect` sets the profile too', () =>
    expect(recordSetting(cellsOf(['%connect prod']), 0, 'use', '%use local')?.source).toBe('%use local'));

  test('is not written where the cell cannot be edited, or there is no cell', () => {
    expect(recordSetting([{ source: '%time last 1h', isEditable: false }], 0, 'time', line)).toBeUndefined();
    expect(recordSetting([], -1, 'time', line)).toBeUndefined();
  });
});

describe('a cell over another range', () => {
  const check = (source: string, expected: string) => expect(overRange(source, 'last 1h')).toBe(expected);

  test('its own line, for cell or notebook, is replaced where it stands', () => {
    check('%time 2026\nT', '%%time last 1h\nT');
    check('%limit 5\n%%time 2026\n%time 2025\nT', '%limit 5\n%%time last 1h\n\nT');
  });
  test('one is added', () => check('T | count', '%%time last 1h\nT | count'));
  test('it saves no starred query', () => check('%star abc\nT', '%%time last 1h\n\nT'));
});

describe('what a selection runs', () => {
  const check = (text: string, expected: string | undefined) => {
    const { source, from, to } = marked(text);
    expect(selectedCode(source, from, to)).toBe(expected);
  };

  test('the selected text, with the settings of the cell for this run alone', () =>
    check('%time last 2h\n%%limit 5\n$0T | count$0\n| where x', '%%time last 2h\n%%limit 5\nT | count'));
  test('with the statements before it', () =>
    check('let a = 1;\nset b;\n$0T | where x > a$0 | count', 'let a = 1;\nset b;\nT | where x > a'));
  test('a statement that is selected is not run twice', () =>
    check('$0let a = 1;\nT | where x > a$0', 'let a = 1;\nT | where x > a'));
  test('without a selection, the query at the cursor, with its name', () =>
    check('T | count\n\nkept << U\n| li$0mit 5\n\nV', 'kept << U\n| limit 5'));
  test('on the profile of the cell, with the options of its requests', () =>
    check('%%on prod\n%request --nocache\nT$0', '%%on prod\n%%request --nocache\nT'));
  test('with all its rows, where the cell fetches them', () =>
    check('%fetch --all\nT$0\n\nU', '%%fetch --all\nT'));
  test('other magics of the cell do not run again', () => check('%import f.csv\nT$0', 'T'));
  test('an empty cell runs nothing', () => check('  $0', undefined));
});

describe('a starred query', () => {
  test('is the query at the cursor with the settings of the cell', () =>
    expect(starCode('%time last 2h\nlet a = 1;\nT | where x > a\n\nU', 43, '%star x')).toBe(
      '%%time last 2h\n%star x\nlet a = 1;\nU',
    ));
  test('fetches nothing', () => expect(starCode('%fetch --all\nT', 13, '%star x')).toBe('%star x\nT'));
  test('of a cell without a query is none', () => expect(starCode('%time', 0, '%star x')).toBeUndefined());
  test('is named by its first comment, else its first line', () => {
    expect(suggestedName('// Errors by host\nT | count', 0)).toBe('Errors by host');
    expect(suggestedName('T | count', 0)).toBe('T | count');
    expect(suggestedName('// @viz bar\n// By host\nT | count', 0)).toBe('By host');
    expect(suggestedName('// @viz bar\nT | count', 0)).toBe('T | count');
  });
  test('any name is one word of the line', () => {
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
])('from %s, the file %s is imported by a line', (notebook, file, line) => {
  expect(importLine(notebook, file)).toBe(line);
});

test('the line of an import has the options that are chosen', () => {
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
])('the line that tells what %j is', (source, line) => expect(tellingLine(source)).toBe(line));
