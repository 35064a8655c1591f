import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Engine } from '../../../../kernel/local/engine/duckdb.js';
import { readEvents } from '../../../../kernel/local/store/append/append-events.js';
import { storeFile } from '../../../../kernel/local/store/import.js';
import { readJson } from '../../../../kernel/local/store/readers/json.js';
import { profile, shapeOfSample } from '../../../../kernel/local/store/readers/json-shape.js';
import { cells } from '../../../../kernel/local/store/readers/reading.js';
import { temporaryDirectory } from '../../service.js';
import { testStore } from '../dataset/stores.js';

const line = '{"a": 1, "text": "y"}\n';

/** Returns the reading of a file with this content and this much memory for the engine, in bytes. */
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

test('a line that is not JSON takes no more memory than others', async () => {
  expect(await readingOf(`{"a": 1, "te\n${line.repeat(200_000)}`, 400 * 2 ** 20)).toEqual({
    notes: ['Not JSON objects: 1 line, each imported as an event with the line in `message`.'],
    found: [200_001, 1],
  });
});

test.each([20, 70])('an object of %i MiB and those around it are read', async mebibytes => {
  const long = `${JSON.stringify({ a: 2, text: 'x'.repeat(mebibytes * 2 ** 20) })}\n`;
  const { found } = await readingOf(`${line.repeat(30)}${long}${line.repeat(30)}`, 2 ** 31);
  expect(found).toEqual([61, mebibytes * 2 ** 20]);
});

test('a file too large for the memory is named, with what to do', async () => {
  const dataDir = await temporaryDirectory();
  const engine = await Engine.open({ dataDir, memoryBytes: 24 * 2 ** 20 });
  const store = testStore(dataDir, engine);
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
    message: 'Reading events.ndjson exceeds the memory limit.',
    hint: 'Split it and import the parts into the same dataset.',
  });
});

const objects: readonly string[] = [
  '{"a":1,"b":"x","c":true,"d":1.5,"e":null,"f":[1],"g":{}}',
  '{"b":"y","a":9007199254740993,"h":{"k":{"m":1,"n":"z"}}}',
  '{"b":"y","a":123456789012345678901234567890,"h":{"k":{"n":"z","m":2.5}},"c":1}',
  '{"b":"y","a":2,"h":{"k":null},"g":{"x":1},"Ä":{"":1}}',
  '{"b":"y","a":2,"h":{"k":{"n":"z","m":2.5},"o":"2026-01-01T00:00:00Z"},"d":18446744073709551615}',
];

/** Strings that look like another value, which the text of a column does not distinguish. */
const alike = [
  '12',
  '-1',
  '1.5e3',
  'null',
  'true',
  '[',
  '{}',
  'NaN',
  'inf',
  '\u0031',
  '007',
  '1:2',
  'a',
  '',
  ' 1',
];

test('the shape of the objects in a small file is the one the engine finds', async () => {
  // The engine may pick either of two equally frequent key orders.
  const most = [objects[1] ?? '', objects[1] ?? '', '{"g":{"x":2}}'];
  const lines = [...objects, ...most, ...alike.map((text, index) => `{"s${index}":"${text}"}`)];
  const engine = await Engine.open({ dataDir: await temporaryDirectory(), connections: 1 });
  onTestFinished(() => engine.close());
  const file = path.join(engine.workDir, 'in.ndjson');
  await writeFile(file, lines.join('\n'));
  const found = await engine.withConnection(async connection => {
    const columns = "columns = {m: 'MAP(VARCHAR, JSON)'}, records = false";
    await connection.run(
      `CREATE TEMP TABLE sample AS SELECT m FROM read_json('${file}', format = 'nd', ${columns})`,
    );
    return profile(connection, 'sample');
  });
  const own = shapeOfSample(readEvents(lines.join('\n')) ?? []);
  const plain = ({ leaves, ...shape }: typeof own) => ({
    ...shape,
    leaves: leaves.map(({ ambiguous: _, ...leaf }) => leaf),
  });
  expect(plain(own)).toEqual(plain(found));
  const ambiguous = ({ leaves }: typeof own) => leaves.flatMap(leaf => (leaf.ambiguous ? leaf.path : []));
  expect(ambiguous(own)).toEqual(expect.arrayContaining(ambiguous(found)));
  expect(ambiguous(own)).not.toContain('b');
});

test('each object of the sample is parsed once, however deep it is', async () => {
  const engine = await Engine.open({ dataDir: await temporaryDirectory(), connections: 1 });
  onTestFinished(() => engine.close());
  const deep = `${'{"a":'.repeat(18)}{"b":1}${'}'.repeat(18)}`;
  const opened = await engine.withConnection(async connection => {
    const statements: string[] = [];
    const run: typeof connection.run = sql => {
      statements.push(sql);
      return connection.run(sql);
    };
    await run(
      `CREATE TEMP TABLE sample AS SELECT json_transform('${deep}', '"MAP(VARCHAR, JSON)"') AS m FROM range(3)`,
    );
    const { leaves, levels } = await profile({ ...connection, run }, 'sample');
    expect([leaves.map(({ path }) => path.join('.')), levels.length]).toEqual([
      [new Array(17).fill('a').join('.')],
      17,
    ]);
    return statements.map(sql => sql.split('json_transform(').length - 1);
  });
  expect([Math.max(...opened), opened.reduce((sum, count) => sum + count)]).toEqual([1, 17]);
});
