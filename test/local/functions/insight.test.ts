import { expect, test } from 'vitest';
import { phrases } from '../../../kernel/local/functions/insight.js';

/** Names of members of every object, which attackers may write into a log. */
const members = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];

test.each(members)('phrases counts the word %s like any other', name => {
  expect(JSON.parse(phrases(`{"${name}": 3}`, 10n))).toEqual([{ phrase: name.toLowerCase(), count: 3 }]);
});
