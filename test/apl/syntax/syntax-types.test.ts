import { describe, expect, test } from 'vitest';
import { typeNamed } from '../../../kernel/apl/syntax/syntax-types.js';

describe('type names', () => {
  const names = {
    int: 'long',
    LONG: 'long',
    double: 'real',
    bool: 'bool',
    date: 'datetime',
    time: 'timespan',
    array: 'dynamic',
  };
  test.each(Object.entries(names))('%s means %s', (name, type) => expect(typeNamed(name)).toBe(type));
  test.each(['strng', '', 'constructor', '__proto__'])('do not include %j', name =>
    expect(typeNamed(name)).toBe(undefined),
  );
});
