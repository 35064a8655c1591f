import { expect, test } from 'vitest';
import { aggregates } from '../../../kernel/apl/catalog/aggregates.js';
import { everyFunction } from '../../../kernel/apl/catalog/all-functions.js';
import type { FunctionEntry } from '../../../kernel/apl/catalog/entry.js';
import { elements } from '../../../kernel/apl/catalog/operator-entries.js';

/** Returns JSON with one space after each comma and colon and no other whitespace outside strings. */
function spaced(json: string): string {
  return json.replace(/("(?:[^"\\]|\\.)*")|\s+|([,:])/g, (_, text?: string, mark?: string) =>
    mark === undefined ? (text ?? '') : `${mark} `,
  );
}

test.each([
  ['[1,2]', '[1, 2]'],
  ['[ {"a , b":"c:\\""} ]', '[{"a , b": "c:\\""}]'],
])('normalizes the spacing of %s', (json, expected) => expect(spaced(json)).toBe(expected));

test('results of examples have consistent spacing', () => {
  const results = [
    ...[...everyFunction, ...aggregates, ...elements].map(each => each.example?.result ?? ''),
    ...[...everyFunction, ...aggregates].flatMap(({ nulls = {} }: FunctionEntry) =>
      Object.values(nulls).filter(each => each !== 'no row'),
    ),
  ];
  expect(results.filter(result => spaced(result) !== result)).toEqual([]);
});
