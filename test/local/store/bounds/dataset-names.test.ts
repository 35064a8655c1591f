import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeName, encodeName, isDatasetName } from '../../../../kernel/local/store/names.js';

describe('the name of a dataset', () => {
  test.each<readonly [what: string, name: string]>([
    ['one character', 'a'],
    ['128 characters', 'a'.repeat(128)],
    ['40 characters of six bytes each when encoded', 'ü'.repeat(40)],
    ['as many bytes when encoded as allowed', `${'ü'.repeat(39)}abcdef`],
    ['characters beyond the basic plane', '😀'.repeat(20)],
    ['a leading dot', '.a'],
    ['only dots', '..'],
    ['separators and wildcards', "a/b\\c:*?'~"],
  ])('can have %s', (_, name) => {
    expect(isDatasetName(name)).toBe(true);
    expect(decodeName(encodeName(name))).toBe(name);
  });

  test.each<readonly [what: string, name: string]>([
    ['no character', ''],
    ['129 characters', 'a'.repeat(129)],
    ['41 characters of six bytes each when encoded', 'ü'.repeat(41)],
    ['one more byte when encoded than allowed', `${'ü'.repeat(39)}abcdefg`],
    ['a line break', 'a\nb'],
    ['an invisible character', 'a\u200bb'],
    ['half of a character', 'a\ud83d'],
  ])('cannot have %s', (_, name) => expect(isDatasetName(name)).toBe(false));

  test('becomes a directory that every system accepts, and comes back', () => {
    const names = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).filter(isDatasetName);
    fc.assert(
      fc.property(names, name => {
        expect(encodeName(name)).toMatch(/^[\w%-][\w%.-]*$/);
        expect(decodeName(encodeName(name))).toBe(name);
      }),
    );
  });

  test.each(['%', '%zz', '%ff', '%41', '%c3%bc', '.a', 'a b', "a'b", 'ü'])(
    'is not read from the directory %s, which it never has',
    directory => expect(decodeName(directory)).toBeUndefined(),
  );
});
