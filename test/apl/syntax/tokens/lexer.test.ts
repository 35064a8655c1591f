import { expect, test } from 'vitest';
import { tokenize } from '../../../../kernel/apl/syntax/tokens/lexer.js';

/** Each token as `kind text`, with its problem after `!`. */
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

test('half a character is one of its own, also at the end of the text', () => {
  const places = tokenize('\ud800b \ud83d\ude00 \ud800').map(({ kind, from, to }) => [kind, from, to]);
  expect(places).toEqual([
    ['error', 0, 1],
    ['word', 1, 2],
    ['error', 3, 5],
    ['error', 6, 7],
  ]);
});
