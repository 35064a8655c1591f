import { Int32, Table, vectorFromArray } from 'apache-arrow';
import { expect, test } from 'vitest';
import { Fetcher } from '../../../../labextension/src/grid/data/fetcher.js';
import { Rows } from '../../../../labextension/src/grid/data/grid-rows.js';
import type { RowSource } from '../../../../labextension/src/grid/data/grid-source.js';

const COUNT = 100_000;

/** Returns a source that answers the first request at once and each later one on demand. */
function held() {
  const asked: number[] = [];
  const waiting: ((isHere: boolean) => void)[] = [];
  const source: RowSource = {
    canCompute: true,
    canArrange: true,
    page: (_view, offset, limit) => {
      asked.push(offset);
      const numbers = Array.from({ length: limit }, (_, index) => offset + index);
      const page = { table: new Table({ n: vectorFromArray(numbers, new Int32()) }), offset, rows: COUNT };
      if (asked.length === 1) return Promise.resolve(page);
      return new Promise((resolve, reject) =>
        waiting.push(isHere => (isHere ? resolve(page) : reject(new Error('no')))),
      );
    },
    prepare: () => undefined,
    profile: () => Promise.reject(new Error('not asked')),
    close: () => undefined,
  };
  return { source, asked, answer: (isHere = true) => waiting.shift()?.(isHere) };
}

async function seen() {
  const { source, asked, answer } = held();
  const said: unknown[] = [];
  const rows = await Rows.open(source, {});
  const fetcher = new Fetcher(
    () => said.push(asked.at(-1)),
    error => said.push(String(error)),
  );
  return { rows, fetcher, asked, answer, said };
}

test('skips rows scrolled past while another request is running', async () => {
  const { rows, fetcher, asked, answer, said } = await seen();
  for (let from = 10_000; from <= 90_000; from += 1_000) fetcher.see(rows, from, from + 14);
  expect(asked).toEqual([0, 10_000]);
  answer();
  await expect.poll(() => asked).toEqual([0, 10_000, 90_000]);
  answer();
  await expect.poll(() => said).toEqual([90_000]);
});

test('prefetches once in the direction of scrolling', async () => {
  const { rows, fetcher, asked, answer, said } = await seen();
  fetcher.see(rows, 0, 14);
  fetcher.see(rows, 200, 214);
  expect(asked).toEqual([0]);
  fetcher.see(rows, 300, 314);
  fetcher.see(rows, 310, 324);
  expect(asked).toEqual([0, 500]);
  answer();
  await expect.poll(() => said).toEqual([500]);
  fetcher.see(rows, 2_600, 2_614);
  answer();
  await expect.poll(() => said).toEqual([500, 2_500]);
  fetcher.see(rows, 2_590, 2_604);
  expect(asked).toEqual([0, 500, 2_500, 2_000]);
});

test('fetches nothing before the first row or after the last', async () => {
  const { rows, fetcher, asked, answer, said } = await seen();
  fetcher.see(rows, COUNT - 14, COUNT);
  answer();
  await expect.poll(() => said).toEqual([COUNT - 500]);
  fetcher.see(rows, COUNT - 14, COUNT + 5);
  fetcher.see(rows, 10, 24);
  fetcher.see(rows, 0, 14);
  expect(asked).toEqual([0, COUNT - 500]);
});

test('reports a failed fetch, and retries when the rows are seen again', async () => {
  const { rows, fetcher, asked, answer, said } = await seen();
  fetcher.see(rows, 5_000, 5_014);
  answer(false);
  await expect.poll(() => said).toEqual(['Error: no']);
  fetcher.see(rows, 5_000, 5_014);
  answer();
  await expect.poll(() => said).toEqual(['Error: no', 5_000]);
  expect(asked).toEqual([0, 5_000, 5_000]);
});
