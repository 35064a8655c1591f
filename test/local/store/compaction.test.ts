import { copyFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Engine } from '../../../kernel/local/engine/duckdb.js';
import { importFile } from '../../../kernel/local/store/import.js';
import { nowMs, temporaryDirectory } from '../service.js';
import { testStore } from './dataset/stores.js';

interface Sizes {
  readonly files: number;
  readonly rows: number;
  readonly fields: number;
  /** Memory of the merging engine, in MiB. */
  readonly memoryMb: number;
}

/** Creates a dataset of small files with the same rows; each field is `value`. */
async function datasetOf({ files, rows, fields, memoryMb }: Sizes, value: string) {
  const imports = await temporaryDirectory();
  const file = path.join(imports, 'in.parquet');
  const columns = Array.from({ length: fields }, (_, field) => `${value} AS f${field}`);
  const writer = await Engine.open({ dataDir: imports, families: [] });
  await writer.run(
    `COPY (SELECT make_timestamp(i * 1000000) AS _time, ${columns.join(', ')} FROM range(${rows}) r(i)) TO '${file}'`,
  );
  await writer.close();
  const dataDir = await temporaryDirectory();
  const engine = await Engine.open({ dataDir, families: [], memoryBytes: memoryMb * 2 ** 20, threads: 2 });
  const store = testStore(dataDir, engine);
  onTestFinished(async () => {
    await store.close();
    await engine.close();
  });
  await importFile(store, dataDir, { path: file, dataset: 'd' }, BigInt(nowMs) * 1_000_000n);
  const directory = path.join(dataDir, 'datasets', 'd');
  const [first = ''] = (await readdir(directory)).filter(name => name.endsWith('.parquet'));
  const [, end] = /^\d+-[^.]+(\..+)$/.exec(first) ?? [];
  for (let copy = 1; copy < files; copy++)
    await copyFile(
      path.join(directory, first),
      path.join(directory, `${nowMs + copy}-${crypto.randomUUID()}${end}`),
    );
  return async () => {
    const scan = (await store.snapshot('d')).scan('d', ['f0'], 0n, 2n ** 62n);
    return new Set(scan.match(/[^/']+\.parquet/g)).size;
  };
}

test('small files are merged into one', async () => {
  const fileCount = await datasetOf({ files: 16, rows: 10, fields: 3, memoryMb: 500 }, 'i');
  await expect.poll(fileCount, { timeout: 60_000 }).toBe(1);
});

test('files of many fields are merged in parts, as their rows take much memory', async () => {
  const fileCount = await datasetOf({ files: 9, rows: 1490, fields: 1000, memoryMb: 2000 }, '1');
  await expect.poll(fileCount, { timeout: 60_000 }).toBe(2);
});

test('files that together take too much memory are merged in parts', async () => {
  const sizes = { files: 64, rows: 30, fields: 3, memoryMb: 120 };
  const fileCount = await datasetOf(sizes, 'repeat(md5(i::VARCHAR), 1000)');
  await expect.poll(fileCount, { timeout: 60_000 }).toBe(4);
});
