import { expect, test } from 'vitest';
import {
  areDashes,
  areUnits,
  commentsAbove,
  footerLength,
  linesAbove,
  looksLikeCsv,
  looksLikeHeader,
  looksLikeTotal,
  namesInComment,
  periodsAmongNames,
  spacesFollow,
} from '../../../../kernel/local/store/sources/csv-recognize.js';

test.each<[string, readonly string[], number]>([
  ['a line', ['# a', 'x,y'], 1],
  ['lines of each sign', ['% a', ' // b', '# c', 'x,y'], 3],
  ['a blank line above and below', ['', '# a', '', 'x,y'], 3],
  ['only blank lines', ['', 'x,y'], 0],
  ['none', ['x,y', '# a'], 0],
  ['nothing below', ['# a', '# b'], 0],
  ['nothing but blank lines below', ['# a', '# b', ''], 0],
])('comments above a table are counted: %s', (_, lines, count) => {
  expect(commentsAbove(lines)).toBe(count);
});

const titles = (count: number) => Array.from({ length: count }, (_, index) => `Title ${index}`);

test.each<[string, readonly string[], number, number]>([
  ['a title and a blank line', ['Report', '', 'host,n', 'a,1', 'b,2'], 0, 2],
  ['no title', ['host,n', 'a,1'], 0, 0],
  ['twenty titles', [...titles(20), 'host,n', 'a,1'], 0, 20],
  ['more than twenty titles', [...titles(21), 'host,n', 'a,1'], 0, 0],
  ['a title above values only', ['Report', 'a,1', 'b,2'], 0, 0],
  ['a title above names without numbers', ['Report', 'host,user', 'a,x', 'b,y'], 0, 0],
  ['a title above rows wider than the names', ['Report', 'host,n', 'a,1,2'], 0, 0],
  ['names of groups above the names', [',load,,', 'host,a,b,c', 'x,1,2,3'], 0, 1],
  ['a title, and names of groups', ['Report', ',load,,', 'host,a,b,c', 'x,1,2,3'], 0, 2],
  ['sparse values above names', [',5,,', 'host,a,b,c', 'x,1,2,3'], 0, 0],
  ['sparse names above values', [',load,,', 'x,1,2,3', 'y,1,2,3'], 0, 0],
  ['as many names as blanks above text', [',load,,', 'host,a,b,c', 'x,y,z,u'], 0, 0],
  ['comments narrower than the table', ['# note', 'host,n', 'a,1'], 1, 1],
  ['a comment with the names', ['# host,n', 'a,1', 'b,2'], 1, 0],
  ['an equally wide comment above the names', ['# one,two', 'host,n', 'a,1'], 1, 1],
  ['the names in the last comment', ['# note', '# host,n', 'a,1', 'b,2'], 2, 1],
  ['the names in a comment above another', ['# host,n', '# note', 'a,1', 'b,2'], 2, 0],
  ['several comments as wide as the table', ['# a,b', '# host,n', 'a,1', 'b,2'], 2, 0],
  ['a blank line, and the name of one column', ['', '# n', '5', '6'], 2, 1],
])('lines above a table are counted: %s', (_, lines, comments, count) => {
  expect(linesAbove(lines, comments, ',')).toBe(count);
});

const rows = [
  ['1', '2.5', 'x'],
  ['3', '4,000', 'y'],
  ['', '2026-01-01', 'z'],
];

test.each<[string, readonly string[], boolean]>([
  ['of two columns of numbers', ['s', 'ms', ''], true],
  ['of one column', ['s', '', ''], false],
  ['of one column, in brackets', ['[s]', '', ''], true],
  ['in brackets of either kind', ['(s)', '[ms]', ''], true],
  ['of a column of text too', ['s', 'ms', 'id'], false],
  ['in brackets, of a column of text too', ['(s)', '(ms)', '(id)'], true],
  ['in brackets of a column of text alone', ['', '', '(id)'], false],
  ['of forty characters', ['s'.repeat(40), 'ms', ''], true],
  ['of more characters', ['s'.repeat(41), 'ms', ''], false],
  ['of several lines', ['s\ns', 'ms', ''], false],
  ['that is a number', ['s', '5', ''], false],
])('a line of units below the names is recognized: %s', (_, cells, expected) => {
  expect([areUnits(cells, rows), areUnits(cells, rows.slice(0, 1))]).toEqual([expected, false]);
});

test.each<[readonly string[], boolean]>([
  [['host', 'n'], true],
  [['host', ''], false],
  [['host', '', 'n'], true],
  [['host', '5'], false],
  [['#', 'host'], true],
  [['#', '%'], false],
  [['host', '2026-01'], false],
  [['host', '12:00 h'], false],
  [['time [s]', 'rate (1/s)'], true],
  [['[error', 'x'], false],
  [['f(a', 'b)'], false],
  [[], false],
])('%j are names: %s', (cells, expected) => {
  expect(looksLikeHeader(cells)).toBe(expected);
});

test.each<[readonly string[], readonly number[]]>([
  [
    ['host', '2024', '2025'],
    [1, 2],
  ],
  [
    ['host', '2024-01', '01/02/2025'],
    [1, 2],
  ],
  [
    ['date', '1-month', '30-day mean', '2. answer'],
    [1, 2, 3],
  ],
  [
    ['host', '2024-2025 change', '2025/26', '2026/2027'],
    [1, 2, 3],
  ],
  [
    ['host', '0-14', '15-64', '65+'],
    [1, 2, 3],
  ],
  [['host', '1-Jan-2026'], []],
  [['host', '12:30 h'], []],
  [['host', '1.5 s'], []],
  [['host', '2024', '2024'], []],
  [['2024', '2025'], []],
  [['2024', 'host'], []],
  [['host', 'user'], []],
])('among %j, the periods are %j', (cells, expected) => {
  expect(periodsAmongNames(cells)).toEqual(expected);
});

test.each<[string, boolean]>([
  ['a,b\n1,2', true],
  ['a;b\n1;2', true],
  ['a\tb\n1\t2', true],
  ['a|b\n1|2', true],
  ['# note\na,b\n1,2', true],
  ['a,b\n"1,5",2', true],
  ['a,b', false],
  ['a\n1', false],
  ['a,b\n1,2,3', false],
  ['1,2\n3,4', false],
  ['GET,a\nGET,b', false],
])('%j is a table: %s', (text, expected) => {
  expect(looksLikeCsv(text.split('\n'))).toBe(expected);
});

test.each([
  ...['Total', 'totals', 'Grand Total', 'subtotal', 'Sub-Total', 'SUM', 'Summe', 'Gesamt', 'Gesamtsumme'],
  ...['Insgesamt', 'Totale', 'Suma', 'Somme', 'Итого', '合計', '总计'],
])('%s begins a line of totals', word => {
  const totals = [`${word},5,`, `"${word} :",,7`, `,${word}:,1.5`].map(line => looksLikeTotal(line, ',', 3));
  expect(totals).toEqual([true, true, true]);
});

test.each<[string, boolean]>([
  ['Total;5;x', true],
  ['Total;x;-5', true],
  ['Total;x;y', false],
  ['Total;;', false],
  ['5;Total;', false],
  ['Total;5', false],
  ['Total;5;6;7', false],
  ['Total,5,6', false],
  ['Totally;5;6', false],
  ['Total of a;5;6', false],
])('%s is a line of totals of three columns: %s', (line, expected) => {
  expect(looksLikeTotal(line, ';', 3)).toBe(expected);
});

test.each([
  ['5', '-5', '+5', '.5', ',5', '1,000.5', '5e3', '5.5E-3', '5%', '2026-01-01', '1/2/2026', '1.2.26 10:00'],
  ['', '-', 'x5', '5x', '5e', '5 %', '2026-1', '--5'],
])('a total is a number or a time', (...values) => {
  const expected = values.includes('5');
  const found = values.map(value => looksLikeTotal(`sum|${value}`, '|', 2));
  expect(found).toEqual(values.map(() => expected));
});

test.each<[string, number]>([
  ['a,1\n(1 row)\n', 8],
  ['a,1\n\n (20 rows affected) \n', 22],
  ['a,1\r\n(2 rows)', 9],
  ['(2 rows)', 0],
  ['a,1\n(2 rows)\nb,2', 0],
  ['a,1\n(two rows)', 0],
  ['a,1\n', 0],
])('the line with the number of rows at the end of %j has %s characters', (end, length) => {
  expect(footerLength(end)).toBe(length);
});

test.each<[readonly string[], boolean]>([
  [['----', '--'], true],
  [['-', '--'], true],
  [['-', '-'], false],
  [['--', ''], false],
  [['--', 'a'], false],
  [[], false],
])('%j are dashes below names: %s', (cells, expected) => {
  expect(areDashes(cells)).toBe(expected);
});

test.each<[string | undefined, readonly string[] | undefined]>([
  ['# host,n', ['host', 'n']],
  ['// host ; n', ['host', 'n']],
  ['%host\tn', ['host', 'n']],
  ['# host n', ['host', 'n']],
  ['#Fields: host n', ['host', 'n']],
  ['# host name\tn', ['host name', 'n']],
  ['# host,n,', undefined],
  ['# host', undefined],
  ['# host,5', undefined],
  ['# host,', undefined],
  ['host,n', undefined],
  [undefined, undefined],
])('of the comment %j the names of two columns: %j', (line, names) => {
  expect(namesInComment(line, 2)).toEqual(names);
});

test.each<[string, readonly string[], string, boolean]>([
  ['each', ['a, b', '1, 2', ', '], ',', true],
  ['each in a table of another delimiter', ['a; b', '1;  2,5'], ';', true],
  ['each but those of quoted values', ['a, b, c', '1,"x,y", 2', '"x,y", 1, '], ',', false],
  ['delimiters, not those within quotes', ['a, b', '"x,y", 1'], ',', true],
  ['some', ['a, b', '1,2'], ',', false],
  ['none', ['a,b', '1,2'], ',', false],
  ['no delimiter', ['a', '1'], ',', false],
])('spaces follow delimiters: %s', (_, lines, delimiter, expected) => {
  expect(spacesFollow(lines, delimiter)).toBe(expected);
});
