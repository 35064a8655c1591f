import { describe, expect, test } from 'vitest';
import { typeNamed } from '../../../kernel/apl/syntax/syntax-types.js';

describe('types by any of their names', () => {
  const names = {
    int: 'long',
    LONG: 'long',
    double: 'real',
    bool: 'bool',
    date: 'datetime',
    time: 'timespan',
    array: 'dynamic',
  };
  test.each(Object.entries(names))('%s is %s', (name, type) => expect(typeNamed(name)).toBe(type));
  test.each(['strng', '', 'constructor', '__proto__'])('%j is not a type', name =>
    expect(typeNamed(name)).toBe(undefined),
  );
});
