import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inspectorOf } from '../../../../kernel/local/store/bounds/bounded-text.js';

/** Returns the inspector's verdict on a text that arrives in chunks of `piece` bytes. */
function said(format: string, text: string | Buffer, piece: number, delimiter?: string): string {
  const inspector = inspectorOf({ name: 'It', format, ...(delimiter !== undefined && { delimiter }) });
  const bytes = Buffer.from(text);
  try {
    for (let at = 0; at < bytes.length; at += piece) inspector?.take(bytes.subarray(at, at + piece));
    inspector?.end();
    return 'fine';
  } catch (error) {
    return (error as Error).message;
  }
}

const object = (keys: number, first = 0) =>
  `{${Array.from({ length: keys }, (_, index) => `"k${index + first}":1`).join(',')}}`;
const nested = (open: string, levels: number, close: string, inner = '1') =>
  `${open.repeat(levels)}${inner}${close.repeat(levels)}`;
const columns = (count: number, delimiter = ',') => Array.from({ length: count }, () => 'c').join(delimiter);

const fine: readonly (readonly [what: string, format: string, text: string | Buffer])[] = [
  ['an empty text', 'json', ''],
  ['an event of 200 levels', 'json', nested('{"a":', 200, '}')],
  ['an event of 200 levels in an array', 'json', `[\n${nested('{"a":', 199, '}', '[]')}\n]`],
  ['brackets in a string', 'json', `{"a":"${'['.repeat(300)}"}`],
  ['brackets after an escaped quote', 'json', `{"a":"\\"${'['.repeat(300)}"}`],
  ['brackets after an unescaped quote', 'json', `{"a":"\\\\","b":[]}`.repeat(300)],
  ['lines cut after a bracket', 'json', '{"a":{\n'.repeat(300)],
  ['lines cut in a string', 'json', '{"a":{"b":"c\n'.repeat(300)],
  ['lines cut after a comma', 'json', '{"a":1,\n{"a":1}\n'.repeat(300)],
  ['lines with too many closing brackets', 'json', '{"a":1}]}\n'.repeat(300)],
  ['concatenated events', 'json', '{"a":{}} {"a":{}}'.repeat(300)],
  ['5,000 keys', 'json', object(5000)],
  ['5,000 keys in each event', 'json', `${object(5000)}\n${object(5000)}\n`],
  ['more keys in an inner object', 'json', `{"labels":${object(90_000)}}`],
  ['colons in strings', 'json', `{"a":"${':'.repeat(6000)}"}`],
  ['5,000 columns', 'csv', columns(5000)],
  ['commas in a value', 'csv', `a,b\n1,"${','.repeat(6000)}"`],
  ['commas in values of several lines', 'csv', `a,b\n${'"1\n,",2\n'.repeat(6000)}`],
  ['commas in values after quotes inside values', 'csv', `a,b\n5" disk,1\n${'"1,2",3\n'.repeat(6000)}`],
  ['commas in values after an unclosed quote', 'csv', `a,b\n"5,1\n${'"1,2",3\r\n'.repeat(6000)}`],
  ['commas in values with quotes', 'csv', `a,b\n${'"1"",""2",3\n'.repeat(6000)}`],
  ['semicolons beside commas', 'csv', `a,b\n1,${';'.repeat(6000)}`],
  ['tabs in the text of a log', 'text', '\t'.repeat(6000)],
  ['few control characters', 'json', `{"a":"${'x'.repeat(100)}\0\x01\x02"}`],
];

const refusals: readonly (readonly [what: string, format: string, text: string | Buffer, message: string])[] =
  [
    [
      'an event of 201 levels',
      'json',
      `{"a":1}\n${nested('{"a":', 201, '}')}`,
      'It is nested more than 200 levels deep in event 2, line 2; the limit per event is 200.',
    ],
    [
      'an indented array of 201 levels',
      'json',
      `[{"a":1},\n{"b":\n${nested('[\n', 200, ']')}}]`,
      'It is nested more than 200 levels deep in event 2, line 202; the limit per event is 200.',
    ],
    [
      'an object with members at line starts',
      'json',
      nested('{"a":\n', 201, '}'),
      'It is nested more than 200 levels deep in event 1, line 201; the limit per event is 200.',
    ],
    [
      '5,001 keys',
      'json',
      `[{"a":1},{"a":1},${object(5001)}]`,
      'It has more than 5,000 keys in event 3, line 1; the limit is 5,000 fields.',
    ],
    [
      '100,001 keys of inner objects',
      'json',
      `{"a":1}\n{"a":[${object(50_000)},${object(50_001)}]}`,
      'It has more than 100,000 keys in total in event 2, line 2; the limit per event is 100,000.',
    ],
    [
      '5,001 columns',
      'csv',
      columns(5001),
      'It has more than 5,000 columns in line 1; the limit is 5,000 fields.',
    ],
    [
      '5,001 columns, between tabs',
      'csv',
      columns(5001, '\t'),
      'It has more than 5,000 columns in line 1; the limit is 5,000 fields.',
    ],
    [
      '5,001 values in a line',
      'csv',
      `a,b\n1,2\n${columns(5001)}\n`,
      'It has more than 5,000 columns in line 3; the limit is 5,000 fields.',
    ],
    [
      '5,001 columns in quotes, of several lines',
      'csv',
      `a\n${Array.from({ length: 5001 }, () => '"c\n,"').join(',')}`,
      'It has more than 5,000 columns in line 5,002; the limit is 5,000 fields.',
    ],
    ['random bytes', 'json', binary(), 'It is not JSON but binary data.'],
    ['random bytes', 'csv', binary(), 'It is not CSV but binary data.'],
    ['random bytes', 'syslog', binary(), 'It is not text but binary data.'],
    ['UTF-16', 'csv', Buffer.from('a,b,c,d,e,f\n1,2', 'utf16le'), 'It is not CSV but binary data.'],
    ['gzip', 'json', Buffer.from('1f8b0800', 'hex'), 'It is not JSON but compressed with gzip.'],
    ['Parquet', 'json', Buffer.from('PAR1'), 'It is not JSON but a Parquet file.'],
  ];

function binary(): Buffer {
  return Buffer.from(Array.from({ length: 600 }, (_, index) => (index * 151) % 256));
}

describe.each([1, 7, 65_536])('read in pieces of %s bytes', piece => {
  test.each(fine)('%s as %s is accepted', (_, format, text) => {
    expect(said(format, text, piece)).toBe('fine');
  });

  test.each(refusals)('%s as %s is refused', (_, format, text, message) => {
    expect(said(format, text, piece)).toBe(message);
  });
});

test('any text is accepted or refused alike in whatever pieces it arrives', () => {
  const parts = ['{"a":1}', '{"k":{', '}', ']', '[', '"', '\\', '\n', ' ', ',', ':', 'x', ',b'.repeat(2600)];
  const part = fc.oneof(
    fc.constantFrom(...parts),
    fc.integer({ min: 1, max: 500 }).map(length => 'y'.repeat(length)),
    fc.integer({ min: 1, max: 110 }).map(levels => '["x",'.repeat(levels)),
  );
  const events = fc
    .tuple(fc.constantFrom('{', '[{', '\ufeff[', '', 'a,b\n'), fc.array(part, { maxLength: 20 }))
    .map(([begin, rest]) => begin + rest.join(''));
  const controls = fc
    .tuple(fc.integer({ max: 520, min: 300 }), fc.integer({ max: 60, min: 10 }))
    .map(([letters, count]) => 'y'.repeat(letters) + '\u0001'.repeat(count) + 'y'.repeat(500));
  const text = fc.oneof(events, controls);
  const scenario = fc.record({
    format: fc.constantFrom('json', 'csv', 'text'),
    text,
    piece: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 3000 })),
  });
  fc.assert(
    fc.property(scenario, ({ format, text, piece }) => {
      expect(said(format, text, piece)).toBe(said(format, text, 2 ** 20));
    }),
    { numRuns: 400 },
  );
});

test('the given delimiter decides the number of columns', () => {
  expect(said('csv', columns(5001, ';'), 1024, ',')).toBe('fine');
  expect(said('csv', columns(5001, '~'), 1024, '~')).toBe(
    'It has more than 5,000 columns in line 1; the limit is 5,000 fields.',
  );
});

test('columns are counted in more lines than are sampled, and not further down', () => {
  const wide = columns(5001);
  expect(said('csv', `a,b\n${'1,2\n'.repeat(10_240)}${wide}`, 65_536)).toBe(
    'It has more than 5,000 columns in line 10,242; the limit is 5,000 fields.',
  );
  expect(said('csv', `a,b\n${'1,2\n'.repeat(60_000)}${wide}`, 65_536)).toBe('fine');
});

const mebibyte = 'x'.repeat(2 ** 20);

const long: readonly (readonly [format: string, begin: string, message: string])[] = [
  ['json', '{"a":1}\n{"a":"', 'It has more than 64 MiB in event 2, line 2; the limit per event is 64 MiB.'],
  ['json', '[{"a":1},{"a":"', 'It has more than 64 MiB in event 2, line 1; the limit per event is 64 MiB.'],
  ['json', '', 'It has more than 64 MiB in event 1, line 1; the limit per event is 64 MiB.'],
  ['csv', 'a\n1\n', 'It has more than 64 MiB in line 3; the limit per line is 64 MiB.'],
  ['text', '\n', 'It has more than 64 MiB in line 2; the limit per line is 64 MiB.'],
];

test.each(long)('a line of %s after %j has a maximum length', (format, begin, message) => {
  expect(said(format, begin + mebibyte.repeat(63), 2 ** 20)).toBe('fine');
  expect(said(format, begin + mebibyte.repeat(64) + mebibyte, 2 ** 20)).toBe(message);
});

test('many events of moderate length do not count as one long event', () => {
  expect(said('json', `{"a":"${mebibyte}"}\n`.repeat(70), 2 ** 20)).toBe('fine');
  expect(said('json', `[${`{"a":"${mebibyte}"},`.repeat(70)}{}]`, 2 ** 20)).toBe('fine');
});
