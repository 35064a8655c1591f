import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  BrokenLines,
  detectedNote,
  encodingOf,
  toUtf8,
} from '../../../../kernel/local/store/sources/encoding.js';
import { westernLines } from './western.js';

const latin = (text: string) => Buffer.from(text, 'latin1');
const wide = (text: string) => Buffer.from(text, 'utf16le');
const bigWide = (text: string) => wide(text).swap16();

test.each<[string, Buffer, string]>([
  ['a UTF-16 byte order mark', Buffer.of(0xff, 0xfe, 0x61, 0), 'utf-16le'],
  ['a big-endian UTF-16 byte order mark', Buffer.of(0xfe, 0xff, 0, 0x61), 'utf-16be'],
  ['the first half of a byte order mark', latin('\xff, na\xefve'), 'windows-1252'],
  ['the first half of a big-endian mark', latin('\xfe, na\xefve'), 'windows-1252'],
  ['the second half of a byte order mark', latin('a\xfe na\xefve'), 'windows-1252'],
  ['the second half of a big-endian mark', latin('a\xff na\xefve'), 'windows-1252'],
  ['UTF-16 without a mark', wide('a,b\n1,2\n'), 'utf-16le'],
  ['big-endian UTF-16 without a mark', bigWide('a,b\n1,2\n'), 'utf-16be'],
  ['four characters of UTF-16', wide('a,b\n'), 'utf-16le'],
  ['three characters of UTF-16', wide('a,b'), 'utf-8'],
  ['zeros in both byte positions', Buffer.concat([wide('a,b\n1,2\n'), bigWide('a')]), 'utf-8'],
  ['UTF-8', Buffer.from('na\u00efve \u65e5\u672c'), 'utf-8'],
  ['Mac OS accents with bytes that Japanese also uses', latin('S\x8bo Paulo\n'), 'utf-8'],
  ['one kanji after a Latin letter', latin('A\x8b\x89\n'), 'shift_jis'],
  ['no bytes', Buffer.alloc(0), 'utf-8'],
  ['bytes that are not text', Buffer.of(0x81, 0x8d, 0x8f), 'utf-8'],
])('an encoding is detected from %s', (_, start, encoding) => {
  expect(encodingOf(start)).toBe(encoding);
});

test.each(westernLines)('the bytes %j are Windows-1252', bytes => {
  expect(encodingOf(latin(`10:00 ${bytes}\n`))).toBe('windows-1252');
});

test.each([
  ['latin1', 'windows-1252'],
  ['UTF8', 'utf-8'],
  ['sjis', 'shift_jis'],
])('the label %s names %s, whatever the bytes', (label, encoding) => {
  expect(encodingOf(Buffer.of(0xff, 0xfe), label)).toBe(encoding);
});

test('an unknown encoding name is refused with some known ones', () => {
  expect(() => encodingOf(Buffer.alloc(0), 'utf-9')).toThrow(
    expect.objectContaining({
      ...{ kind: 'invalid', code: 'invalid-request', message: 'Unknown encoding "utf-9".' },
      hint: 'Use a WHATWG encoding name, such as windows-1252, iso-8859-2, utf-16le, shift_jis or gb18030.',
    }),
  );
});

test.each([
  ['shift_jis', 'Shift_JIS'],
  ['euc-kr', 'EUC-KR'],
  ['euc-jp', 'EUC-JP'],
  ['gb18030', 'GB18030'],
  ['big5', 'Big5'],
  ['windows-1252', 'Windows-1252'],
])('a detected encoding is named: %s', (encoding, label) => {
  expect(detectedNote(encoding)).toBe(
    `The text is read as ${label} because it is not UTF-8: set another encoding with \`--encoding\`.`,
  );
});

test('Unicode is not named', () => {
  expect(['utf-8', 'utf-16le'].map(detectedNote)).toEqual([undefined, undefined]);
});

test.each(['utf-16le', 'utf-16be', 'shift_jis', 'euc-kr', 'euc-jp', 'gb18030', 'big5', 'windows-1252'])(
  'any bytes in %s become the same text in whatever pieces they arrive',
  async encoding => {
    const converted = async (bytes: Buffer, piece: number) => {
      const broken = new BrokenLines();
      const pieces = Array.from({ length: Math.ceil(bytes.length / piece) }, (_, index) =>
        bytes.subarray(index * piece, (index + 1) * piece),
      );
      const text = await pipeline(Readable.from(pieces), toUtf8(encoding, broken), buffer);
      return [text.toString(), ...broken.notes(encoding)];
    };
    const byte = fc.constantFrom(
      0x0a,
      0x0d,
      0x30,
      0x39,
      0x41,
      0x81,
      0x90,
      0x9f,
      0xb0,
      0xd8,
      0xe3,
      0xfe,
      0xff,
      0,
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(byte, { maxLength: 30 }),
        fc.integer({ min: 1, max: 5 }),
        async (bytes, piece) => {
          const text = Buffer.from(bytes);
          expect(await converted(text, piece)).toEqual(await converted(text, 100));
        },
      ),
      { numRuns: 200 },
    );
  },
);
