import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compactEnd } from '../../../kernel/result/decode/compact.js';

const end = (text: string) => compactEnd(new TextEncoder().encode(text), 0);

test.each([
  '0',
  '-0',
  '10',
  '-1.50',
  '2e5',
  '2E+05',
  '0.5e-7',
  'true',
  'false',
  'null',
  '""',
  String.raw`"a\"\\\/\b\f\n\r\t"`,
  '"é😀"',
  '{}',
  '[]',
  '[[],{},[[1]]]',
  '{"a":{"b":[1,{"c":null}],"d":""},"":true}',
  `${'['.repeat(64)}1${']'.repeat(64)}`,
])('finds the end of %s, whatever follows', text => {
  const { length } = new TextEncoder().encode(text);
  for (const next of [',', ']', ',"', ',{"a":'])
    expect([end(text), end(text + next)], next).toEqual([length, length]);
});

test.each([
  '',
  ' 1',
  '-',
  '+1',
  '01',
  '-01',
  '.5',
  '1.',
  '1.,',
  '1e',
  '1e+',
  'tru',
  'truE',
  'nul',
  'fals',
  'x',
  '"',
  '"a',
  '"a\n"',
  String.raw`"\x"`,
  String.raw`"\u0041"`,
  '"a\\',
  '[',
  '[1',
  '[1,',
  '[1,]',
  '[,1]',
  '[1 ,2]',
  '[1}',
  '{',
  '{"a"',
  '{"a":',
  '{"a":1',
  '{"a":1,',
  '{"a":1,}',
  '{"a" :1}',
  '{a:1}',
  '{"a":1]',
  '{"a",1}',
  '{1:2}',
  '{"a":1,2}',
  '{"a":1,"b"}',
  '[[1]',
  `${'['.repeat(65)}1${']'.repeat(65)}`,
])('leaves %s to the full JSON reader', text => {
  expect(end(text)).toBe(-1);
});

test('recognizes only JSON, and all JSON without whitespace', () => {
  const piece = fc.constantFrom(
    ...'{}[],:-+.0123',
    '"',
    '"a"',
    '"b":',
    '\\n',
    'e5',
    'E',
    'true',
    'null',
    '1.5',
  );
  const text = fc.oneof(
    fc.json().map(json => JSON.stringify(JSON.parse(json))),
    fc.array(piece, { maxLength: 9 }).map(pieces => pieces.join('')),
  );
  fc.assert(
    fc.property(text, text => {
      const at = end(text);
      const length = Buffer.byteLength(text);
      if (isJson(text) && !text.includes('\\u')) expect(at).toBe(length);
      if (at >= 0) expect([text, isJson(Buffer.from(text).subarray(0, at).toString())]).toEqual([text, true]);
    }),
    { numRuns: 2_000 },
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
