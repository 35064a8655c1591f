import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeLz4, encodeLz4 } from '../../../kernel/result/ipc/lz4.js';

const text = (value: string) => new TextEncoder().encode(value);

test.each<readonly [string, Uint8Array]>([
  ['nothing', text('')],
  ['one byte', text('a')],
  ['less than the minimum for a match', text('aaaaaaaaaaaa')],
  ['a run', text('a'.repeat(100_000))],
  ['matches longer than a length byte', text(`${'ab'.repeat(600)}c`.repeat(3))],
  [
    'a distance of 65,535 and one beyond',
    text(`marker${'x'.repeat(65_529)}marker${'y'.repeat(65_530)}marker!`),
  ],
  ['more than one block', text('0123456789abcdef'.repeat(300_000))],
])('round trip of %s', (_, bytes) => {
  const decoded = decodeLz4(encodeLz4(bytes));
  expect(Buffer.compare(decoded, bytes)).toBe(0);
  // A grid keeps the buffers of all columns: none may be larger than its bytes.
  expect(decoded.buffer.byteLength).toBe(bytes.length);
});

test('round trip of matches and literals of every length', () => {
  const words = (count: number) => Array.from({ length: count }, (_, at) => `${at * 7}|`).join('');
  const random = words(400);
  for (let length = 1; length <= 600; length++) {
    const part = random.slice(0, length);
    const bytes = text(`${part}-${part}+${'z'.repeat(20)}${words(2)}`);
    expect(Buffer.compare(decodeLz4(encodeLz4(bytes)), bytes)).toBe(0);
  }
});

test('round trip of any bytes', () => {
  const words = fc.array(fc.constantFrom('a', 'ab', 'abcabc', '\u0000\u0000\u0000\u0000', 'xyz1'), {
    maxLength: 400,
  });
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 3000 }),
    words.map(list => text(list.join(''))),
  );
  fc.assert(
    fc.property(bytes, value => Buffer.compare(decodeLz4(encodeLz4(value)), value) === 0),
    { numRuns: 300 },
  );
});

test.each<readonly [string, number]>([
  ['nothing', 0],
  ['a dictionary id', 0x01],
  ['a checksum of the content', 0x04],
  ['the size of the content', 0x08],
  ['checksums of the blocks', 0x10],
  ['all of them', 0x1d],
])('decodes blocks of other libraries with %s', (_, flags) => {
  const packed = encodeLz4(text('GET /checkout 200\n'.repeat(9)));
  const stored = text('GET /cart 500\n');
  const optional = (flag: number, count: number) => (flags & flag ? Array<number>(count).fill(0xa5) : []);
  const frame = Uint8Array.from([
    ...[0x04, 0x22, 0x4d, 0x18, 0x60 | flags, 0x70],
    ...[...optional(0x08, 8), ...optional(0x01, 4), 0x73],
    ...[...packed.slice(7, -4), ...optional(0x10, 4)],
    ...[stored.length, 0, 0, 0x80, ...stored, ...optional(0x10, 4)],
    ...[0, 0, 0, 0, ...optional(0x04, 4)],
  ]);
  expect(new TextDecoder().decode(decodeLz4(frame))).toBe(
    `${'GET /checkout 200\n'.repeat(9)}GET /cart 500\n`,
  );
});

test('a frame does not depend on earlier ones', () => {
  const frame = encodeLz4(text('GET /checkout 200\nGET /checkout 500\n'));
  for (const other of ['/checkout 200', 'GET /checkout 200\n'.repeat(50)]) encodeLz4(text(other));
  expect(encodeLz4(text('GET /checkout 200\nGET /checkout 500\n'))).toEqual(frame);
});

test('repetition compresses well', () => {
  expect(encodeLz4(text('GET /checkout 200\n'.repeat(1000))).length).toBeLessThan(150);
});

test('the longest earlier match is used', () => {
  const size = (middle: string) =>
    encodeLz4(text(`abcdefghijklmnopqrst-${middle}-abcdefghijklmnopqrst-0123456789AB`)).length;
  // A newer but shorter match costs only the literals between them.
  expect([size('....'), size('abcd')]).toEqual([59, 59]);
});

describe('a damaged frame is refused', () => {
  const frame = encodeLz4(text('the same words, the same words, the same words, and then some more'));
  test('with another magic number', () => {
    expect(() => decodeLz4(frame.with(0, 5))).toThrow('this is not an LZ4 frame');
  });
  test('if truncated', () => {
    for (let length = 0; length < frame.length - 1; length++)
      expect(() => decodeLz4(frame.subarray(0, length))).toThrow(RangeError);
  });
  test('or decoded to other bytes if a byte changed, without reading outside', () => {
    for (let at = 7; at < frame.length; at++) {
      const changed = frame.with(at, (frame[at] as number) ^ 0xff);
      try {
        decodeLz4(changed);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
    }
  });
});
