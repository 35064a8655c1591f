import { expect, test } from 'vitest';
import { decodeNotices, encodeNotices } from '../../kernel/api/api-notices.js';

test.each([
  ['one notice', ['`a` could not be read.']],
  ['several notices', ['`a`: ü, "b"', '%41', '']],
])('header round trip of %s', (_, notices) => {
  expect(decodeNotices(encodeNotices(notices))).toEqual(notices);
});

test('notices that do not fit are counted', () => {
  const long = 'x'.repeat(3_000);
  expect(decodeNotices(encodeNotices([long, long, long, long]))).toEqual([
    long,
    long,
    '2 more could not be read.',
  ]);
  const longer = 'x'.repeat(7_000);
  expect(decodeNotices(encodeNotices([longer, longer]))).toEqual([longer, '1 more could not be read.']);
  expect(decodeNotices(encodeNotices(['x'.repeat(9_000), 'a']))).toEqual(['2 could not be read.']);
});

test('a header holds at most 8,000 characters', () => {
  // Brackets and quotes become three characters each.
  const fits = 'x'.repeat(8_000 - 12);
  expect(encodeNotices([fits])).toHaveLength(8_000);
  expect(decodeNotices(encodeNotices([fits]))).toEqual([fits]);
  expect(decodeNotices(encodeNotices([`${fits}x`]))).toEqual(['1 could not be read.']);
});

test.each([undefined, '', '%', '{}', '[1]', '"a"'])(
  'a header that is not a list gives no notices: %s',
  value => {
    expect(decodeNotices(value)).toEqual([]);
  },
);
