import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Engine } from '../../../../kernel/local/engine/duckdb.js';
import { DatasetStore } from '../../../../kernel/local/store/datasets.js';
import { storeFile } from '../../../../kernel/local/store/import.js';
import { readJson } from '../../../../kernel/local/store/readers/json.js';
import { cells } from '../../../../kernel/local/store/readers/reading.js';
import { temporaryDirectory } from '../../service.js';

const line = '{"a": 1, "text": "y"}\n';

/** What reading a file of this content finds, with so many bytes of memory for the engine. */
async function readingOf(content: string, memoryBytes: number) {
  const dataDir = await temporaryDirectory();
  const workDir = path.join(dataDir, 'work');
  await mkdir(workDir);
  const file = path.join(dataDir, 'events.ndjson');
  await writeFile(file, content);
  const engine = await Engine.open({ dataDir, allow: [file], connections: 1, memoryBytes, threads: 3 });
  try {
    return await engine.withConnection(async connection => {
      const reading = await readJson(connection, { file, sampleFile: undefined, workDir });
      if (reading === undefined) throw new Error('nothing was read');
      const { fields, from, notes } = reading;
      const text = `c${fields.findIndex(({ name }) => name === 'text')}`;
      const [row] = await connection.run(
        `SELECT count(*), max(length(${text})) FROM (${cells(fields, from)})`,
      );
      return { notes, found: row?.map(Number) };
    });
  } finally {
    await engine.close();
  }
}

test('a line that is not JSON takes no more memory than others: buffers are those of objects of the usual size', async () => {
  expect(await readingOf(`{"a": 1, "te\n${line.repeat(200_000)}`, 400 * 2 ** 20)).toEqual({
    notes: ['Not JSON objects: 1 line, each an event with its text in `message`.'],
    found: [200_001, 1],
  });
});

test.each([20, 70])('an object of %i MiB is read, and those around it', async mebibytes => {
  const long = `${JSON.stringify({ a: 2, text: 'x'.repeat(mebibytes * 2 ** 20) })}\n`;
  const { found } = await readingOf(`${line.repeat(30)}${long}${line.repeat(30)}`, 2 ** 31);
  expect(found).toEqual([61, mebibytes * 2 ** 20]);
});

test('a file for which there is not enough memory is named, with what to do', async () => {
  const dataDir = await temporaryDirectory();
  const engine = await Engine.open({ dataDir, memoryBytes: 24 * 2 ** 20 });
  const store = new DatasetStore(dataDir, engine);
  onTestFinished(async () => {
    await store.close();
    await engine.close();
  });
  const file = path.join(engine.workDir, 'events.ndjson');
  await writeFile(file, line);
  const load = {
    file,
    name: 'events.ndjson',
    format: 'json',
    dataset: 'events',
    time: { nowNs: 0n },
  } as const;
  await expect(storeFile(store, engine, load)).rejects.toMatchObject({
    kind: 'invalid',
    code: 'engine-memory',
    message: 'events.ndjson needs more memory to be read than is allowed.',
    hint: 'Split it, and import its parts into the same dataset.',
  });
});
