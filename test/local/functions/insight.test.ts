import { expect, test } from 'vitest';
import { phrases, spotlight } from '../../../kernel/local/functions/insight.js';

/** Names that every object has, which strangers may write into a log. */
const members = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];

test.each(members)('spotlight counts the value %s as any other', name => {
  const counts = { selected: { a: 1 }, baseline: { a: 1, b: 2 } };
  const text = JSON.stringify([{ field: 'f', counts }]);
  expect(JSON.parse(spotlight(text.replace('"b"', JSON.stringify(name))))).toEqual([
    {
      field: 'f',
      score: expect.closeTo(2 / 3),
      values: [
        { value: 'a', selected: 1, baseline: expect.closeTo(1 / 3) },
        { value: name, selected: 0, baseline: expect.closeTo(2 / 3) },
      ],
    },
  ]);
});

test.each(members)('phrases counts the word %s as any other', name => {
  expect(JSON.parse(phrases(`{"${name}": 3}`, 10n))).toEqual([{ phrase: name.toLowerCase(), count: 3 }]);
});
