import { Int32, Table, vectorFromArray } from 'apache-arrow';
import { expect, test } from 'vitest';
import { Chunks } from '../../../../labextension/src/grid/data/grid-chunks.js';
import type { RowSource } from '../../../../labextension/src/grid/data/grid-source.js';

function counting(rows: number, fail: () => boolean = () => false) {
  const asked: [number, number][] = [];
  const source: RowSource = {
    canCompute: true,
    canArrange: true,
    page: (_view, offset, limit) => {
      asked.push([offset, limit]);
      if (fail()) return Promise.reject(new Error('no'));
      const numbers = Array.from(
        { length: Math.max(Math.min(limit, rows - offset), 0) },
        (_, index) => offset + index,
      );
      return Promise.resolve({
        table: new Table({ n: vectorFromArray(numbers, new Int32()) }),
        offset,
        rows,
      });
    },
    prepare: () => undefined,
    profile: () => Promise.reject(new Error('not asked')),
    close: () => undefined,
  };
  return { source, asked };
}

test('fetches rows once, in chunks, and finds them by number', async () => {
  const { source, asked } = counting(1_200);
  const chunks = new Chunks(source, {});
  expect(chunks.has(0, 1)).toBe(false);
  await chunks.load(490, 510);
  await chunks.load(0, 1_000);
  expect(asked).toEqual([
    [0, 500],
    [500, 500],
  ]);
  expect(chunks.has(0, 1_000)).toBe(true);
  expect(chunks.has(999, 1_001)).toBe(false);
  const at = chunks.at(777);
  expect([at?.row, at?.page.table.get(at.row)?.n]).toEqual([277, 777]);
  await chunks.load(1_000, 1_200);
  expect(chunks.at(1_199)?.row).toBe(199);
  expect(chunks.at(1_200)).toBe(undefined);
});

test('keeps the most recently used chunks', async () => {
  const { source, asked } = counting(1_000_000);
  const chunks = new Chunks(source, {});
  for (let chunk = 0; chunk < 24; chunk += 1) await chunks.load(chunk * 500, chunk * 500 + 1);
  await chunks.load(0, 1);
  await chunks.load(24 * 500, 24 * 500 + 1);
  expect([chunks.has(0, 1), chunks.has(500, 501)]).toEqual([true, false]);
  expect(asked).toHaveLength(25);
});

test('has all rows of a load, however many, until others are loaded', async () => {
  const { source } = counting(1_000_000);
  const chunks = new Chunks(source, {});
  await chunks.load(0, 1);
  await chunks.load(0, 100 * 500);
  expect(chunks.has(0, 100 * 500)).toBe(true);
  await chunks.load(200 * 500, 200 * 500 + 1);
  const cached = Array.from({ length: 201 }, (_, chunk) => chunk).filter(chunk => chunks.at(chunk * 500));
  expect(cached).toEqual([...Array.from({ length: 23 }, (_, index) => 77 + index), 200]);
});

test('drops rows again that arrive after they were dropped', async () => {
  const { source } = counting(1_000_000);
  const chunks = new Chunks(source, {});
  const first = chunks.load(0, 1);
  const others = Array.from({ length: 24 }, (_, index) =>
    chunks.load((index + 1) * 500, (index + 1) * 500 + 1),
  );
  await Promise.all([first, ...others]);
  expect(chunks.has(0, 1)).toBe(true);
  for (let chunk = 30; chunk < 60; chunk += 1) await chunks.load(chunk * 500, chunk * 500 + 1);
  expect(chunks.has(0, 1)).toBe(false);
});

test('retries a chunk that failed', async () => {
  let broken = true;
  const { source, asked } = counting(10, () => broken);
  const chunks = new Chunks(source, {});
  await expect(chunks.load(0, 1)).rejects.toThrow('no');
  broken = false;
  await chunks.load(0, 1);
  expect([asked.length, chunks.has(0, 10)]).toEqual([2, true]);
});
