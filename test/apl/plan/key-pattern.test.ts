import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyPattern, type PairDelimiters } from '../../../kernel/apl/plan/key-pattern.js';

const delimiters: readonly (readonly [pair: string, separator: string])[] = [
  [' ', '='],
  [',', '='],
  [', ', '='],
  [';', ':'],
  [' ', '=>'],
  ['\t', '='],
  ['\n', ':'],
  [' | ', '='],
];

/** Returns the value of key `a`, undefined if the string has none. */
function valueIn(text: string, of: PairDelimiters, isPlain: boolean): string | undefined {
  // JavaScript has the flag elsewhere.
  return new RegExp(keyPattern('a', of, isPlain).replace('(?s)', ''), 's').exec(text)?.[1];
}

test.each(delimiters)(
  'the plain pattern finds the same value in a string without quotes: %j, %j',
  (pair, separator) => {
    const of = { pair, separator, open: '"', close: '"' };
    const piece = fc.constantFrom(
      `a${separator}`,
      `${pair}a${separator}5`,
      `a ${separator} 5`,
      'a',
      'aa',
      pair,
      separator,
      ' ',
      "'",
      '\n',
      ...pair,
      ...separator,
    );
    const texts = fc.array(piece, { maxLength: 14 }).map(pieces => pieces.join(''));
    let found = 0;
    fc.assert(
      fc.property(texts, text => {
        const value = valueIn(text, of, true);
        if (value !== undefined) found++;
        expect(value).toBe(valueIn(text, of, false));
      }),
      { numRuns: 5000 },
    );
    expect(found).toBeGreaterThan(500);
  },
);

test.each(delimiters.filter(([pair, separator]) => pair.length < 3 && separator.length === 1))(
  'finds the first pair of a key, whatever other values quote: %j, %j',
  (pair, separator) => {
    const of = { pair, separator, open: '"', close: '"' };
    const within = fc.array(
      fc.constantFrom('a', '5', separator, pair, `a${separator}5`, `${pair}a${separator}6${pair}`),
    );
    const quoted = within.map(pieces => `"${pieces.join('')}"`);
    const plain = fc
      .array(fc.constantFrom('a', '5', '-', "'", separator))
      .map(pieces => `5${pieces.join('')}`);
    const pairs = fc.array(
      fc.tuple(fc.constantFrom('a', '"a"', 'b', 'aa', '"b c"'), fc.oneof(quoted, plain, fc.constant(''))),
    );
    fc.assert(
      fc.property(pairs, all => {
        const text = all.map(([name, value]) => `${name}${separator}${value}`).join(pair);
        const [, value] = all.find(([name]) => name.replaceAll('"', '') === 'a') ?? [];
        expect([text, valueIn(text, of, false)]).toEqual([text, value]);
      }),
      { numRuns: 5000 },
    );
  },
);
