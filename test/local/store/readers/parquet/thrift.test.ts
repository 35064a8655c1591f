import { expect, test } from 'vitest';
import { numberOf } from '../../../../../kernel/local/store/readers/parquet/thrift.js';

test.each([
  [[0], 0],
  [[1], -1],
  [[2], 1],
  [[0x7f], -64],
  [[0x80, 0x01], 64],
  [[0xff, 0xff, 0xff, 0xff, 0x0f], -2_147_483_648],
  [[0xfe, 0xff, 0xff, 0xff, 0x0f], 2_147_483_647],
])('the bytes %j decode to %d', (bytes, value) => {
  expect(numberOf({ type: 5, bytes: Buffer.from(bytes) })).toBe(value);
});

test('a missing field is not a number', () => {
  expect(numberOf(undefined)).toBeUndefined();
});
