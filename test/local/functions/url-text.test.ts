import { expect, test } from 'vitest';
import { parseUrl } from '../../../kernel/local/functions/url-text.js';

test('every value of a heavily repeated parameter is kept in order', () => {
  const values = Array.from({ length: 20_000 }, (_, index) => String(index));
  const { query } = JSON.parse(
    parseUrl(`https://example.org/?a=x&${values.map(each => `tag=${each}`).join('&')}`),
  );
  expect(query).toEqual({ a: 'x', tag: values });
});
