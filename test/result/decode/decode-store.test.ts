import { expect, test } from 'vitest';
import { BytesStore, fitted } from '../../../kernel/result/decode/decode-store.js';

test('concatenates byte strings from several buffers', () => {
  const piece = (text: string) => new TextEncoder().encode(text);
  const rows: readonly (readonly [piece: number, start: number, length: number])[] = [
    [0, 0, 2],
    [0, 2, 1],
    [1, 3, 2], // where the last one ended, but in another piece
    [0, 0, -1],
    [1, 5, 1],
    [1, 0, 0],
    [1, 4, 2],
    [0, 3, 1],
  ];
  const store = new BytesStore(1, 1);
  store.push(piece('-'), 0, 1);
  const strings = {
    pieces: [piece('abcd'), piece('012345')],
    pieceOf: Int32Array.from(rows, ([at]) => at),
    starts: Int32Array.from(rows, ([, start]) => start),
    lengths: Int32Array.from(rows, ([, , length]) => length),
  };
  store.pushRows(strings, 0, 3);
  store.reserve(40);
  store.pushRows(strings, 3, rows.length);
  const { data, valueOffsets } = store.finish();
  expect(new TextDecoder().decode(data)).toBe('-abc34545d');
  expect([...valueOffsets]).toEqual([0, 1, 3, 4, 6, 6, 7, 7, 9, 10]);
});

test.each([
  [2 ** 10, 2 ** 10, 2 ** 10],
  [2 ** 10, 900, 2 ** 10],
  [2 ** 10, 800, 800],
  [2 ** 25, 2 ** 20, 2 ** 20],
  [2 ** 25 + 1, 2 ** 20, 2 ** 25 + 1],
])('shrinks a buffer of %d bytes with %d in use to %d', (length, used, kept) => {
  const array = fitted(new Uint8Array(length).fill(7, 0, used), used);
  expect([array.length, array[used - 1], array.buffer.byteLength]).toEqual([used, 7, kept]);
});
