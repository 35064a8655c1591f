import { expect, test } from 'vitest';
import { functionNames } from '../../../kernel/apl/catalog/all-functions.js';
import { functionsElsewhere } from '../../../kernel/apl/hints/hint-functions.js';

test.each(Object.entries(functionsElsewhere))(
  'the hint for `%s` calls only known functions: %s',
  (_, hint) => {
    expect(hint).toMatch(/^[`\w('|]/);
    const known = ['datetime', ...functionNames(true)];
    const called = [...hint.matchAll(/\b([a-z]\w*)\(/g)].map(([, name]) => name);
    expect(called.filter(name => !known.includes(String(name)))).toEqual([]);
  },
);
