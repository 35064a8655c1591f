import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesGlob } from '../../kernel/jupyter/glob.js';

const cases: readonly (readonly [string, string, boolean])[] = [
  ['', '', true],
  ['*', '', true],
  ['*', 'a\nb', true],
  ['a*', 'abc', true],
  ['a*', 'ba', false],
  ['*where*', "['x']\n| where y", true],
  ['a?c', 'a😀c', true],
  ['a?c', 'ac', false],
  ['[a-c]x', 'bx', true],
  ['[a-c]x', 'dx', false],
  ['[!a-c]x', 'dx', true],
  ['[^a-c]x', 'ax', false],
  ['[]]', ']', true],
  ['[a', '[a', true],
  ['*a*b*', 'xxaxxbxx', true],
  ['*a*b', 'xxbxxa', false],
  ['a.c', 'abc', false],
  ['[a-]', '-', true],
];
test.each(cases)('%j matches %j: %s', (pattern, text, expected) => {
  expect(matchesGlob(pattern, text)).toBe(expected);
});

test('agrees with a regular expression on * and ?', () => {
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 8 });
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 });
  fc.assert(
    fc.property(pattern, text, (glob, sample) => {
      const regex = new RegExp(`^${glob.replaceAll('*', '.*').replaceAll('?', '.')}$`);
      expect(matchesGlob(glob, sample)).toBe(regex.test(sample));
    }),
  );
});

test('a hostile pattern takes time linear in pattern and text', () => {
  expect(matchesGlob('*a'.repeat(200), `${'a'.repeat(20_000)}b`)).toBe(false);
});
