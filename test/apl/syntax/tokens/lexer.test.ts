import { expect, test } from 'vitest';
import { tokenize } from '../../../../kernel/apl/syntax/tokens/lexer.js';

/** Returns each token as `kind text`, followed by its problem after `!`. */
function tokens(source: string): string[] {
  return tokenize(source).map(
    ({ kind, text, problem }) => `${kind} ${text}${problem === undefined ? '' : ` !${problem}`}`,
  );
}

const cases: readonly (readonly [source: string, expected: readonly string[]])[] = [
  ['a _b $left c1', ['word a', 'word _b', 'word $left', 'word c1']],
  ['ключ', ['word ключ']],
  ['a.b', ['word a', 'symbol .', 'word b']],
  ['project-away', ['word project', 'symbol -', 'word away']],
  ['!in in~ !in~ !contains_cs', ['word !in', 'word in~', 'word !in~', 'word !contains_cs']],
  ['!a', ['symbol !', 'word a']],
  ['1 1.5 1e3 1.5e-3 0xFF', ['number 1', 'number 1.5', 'number 1e3', 'number 1.5e-3', 'number 0xFF']],
  ['1..2', ['number 1', 'symbol ..', 'number 2']],
  ['1h 1.5h 10µs', ['timespan 1h', 'timespan 1.5h', 'timespan 10µs']],
  ['5foo 0xZZ', ['number 5foo !suffix', 'number 0xZZ !suffix']],
  [`'a' "b" 'it\\'s'`, ['string a', 'string b', "string it's"]],
  [String.raw`'\n\t\x41\u00e9\d'`, ['string \n\tAé\\d']],
  [`@'c:\\dir' @"x""y"`, ['string c:\\dir', 'string x"y']],
  ['```a "b"\nc```', ['string a "b"\nc']],
  ['```open', ['string open !unterminated']],
  [`'open\nnext`, ['string open !unterminated', 'word next']],
  ['“a” ‘b’', ['string a !typographic', 'string b !typographic']],
  ['// note\na', ['comment // note', 'word a']],
  ["'// no comment'", ['string // no comment']],
  ['a//note', ['word a', 'comment //note']],
  [
    '== != <> <= >= =~ !~ << =>',
    [
      'symbol ==',
      'symbol !=',
      'symbol <>',
      'symbol <=',
      'symbol >=',
      'symbol =~',
      'symbol !~',
      'symbol <<',
      'symbol =>',
    ],
  ],
  ['datetime(2026-01-02 03:04)', ['word datetime', 'symbol (', 'raw 2026-01-02 03:04', 'symbol )']],
  ["datetime('2026')", ['word datetime', 'symbol (', 'string 2026', 'symbol )']],
  ['timespan(1.02:03:04)', ['word timespan', 'symbol (', 'raw 1.02:03:04', 'symbol )']],
  ['# & 😀 \u0000', ['error #', 'error &', 'error 😀', 'error \u0000']],
  ['a\u00a0b\u200bc\ufeff', ['word a', 'word b', 'word c']],
];

test.each(cases)('%j', (source, expected) => {
  expect(tokens(source)).toEqual(expected);
});

test('only letters beyond ASCII are allowed in names', () => {
  const isLetter = (code: number) => tokenize(`a${String.fromCharCode(code)}`)[0]?.text.length === 2;
  const letters = [
    ...[0xaa, 0xac, 0xb0, 0xba, 0xd6, 0xf6, 0xff, 0x100, 0x167f, 0x1681, 0x1fff, 0x2070, 0x218f, 0x2c00],
    ...[0x2fff, 0x3001, 0xd7ff, 0xe000, 0xfefe, 0xff00, 0xff10, 0xff19, 0xff21, 0xff3a, 0xff3f, 0xff41],
    ...[0xff5a, 0xff5f],
  ];
  const others = [
    ...[0xa9, 0xad, 0xb1, 0xbb, 0xd7, 0xf7, 0x1680, 0x2000, 0x206f, 0x2190, 0x2bff, 0x3000, 0xd800, 0xdfff],
    ...[0xfeff, 0xff01, 0xff0f, 0xff1a, 0xff20, 0xff3b, 0xff3e, 0xff40, 0xff5b, 0xff5e],
  ];
  expect(letters.filter(code => !isLetter(code))).toEqual([]);
  expect(others.filter(isLetter)).toEqual([]);
});

test('a lone surrogate is a separate token, also at the end of the text', () => {
  const places = tokenize('\ud800b \ud83d\ude00 \ud800').map(({ kind, from, to }) => [kind, from, to]);
  expect(places).toEqual([
    ['error', 0, 1],
    ['word', 1, 2],
    ['error', 3, 5],
    ['error', 6, 7],
  ]);
});
