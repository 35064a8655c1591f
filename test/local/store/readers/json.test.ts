import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Connection, Engine } from '../../../../kernel/local/engine/duckdb.js';
import { engineWords } from '../../../../kernel/local/engine/failure.js';
import { DatasetStore } from '../../../../kernel/local/store/datasets.js';
import { storeFile } from '../../../../kernel/local/store/import.js';
import { readJson } from '../../../../kernel/local/store/readers/json.js';
import { cells, type Reading } from '../../../../kernel/local/store/readers/reading.js';
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
      const [row] = await connection.run(`SELECT count(*), max(length(c1)) FROM (${cells(fields, from)})`);
      return { notes, found: row?.map(Number) };
    });
  } finally {
    await engine.close();
  }
}

test('a line that is not JSON takes no more memory than others: buffers are those of objects of the usual size', async () => {
  expect(await readingOf(`{"a": 1, "te\n${line.repeat(200_000)}`, 400 * 2 ** 20)).toEqual({
    notes: ['Left out, as they are not JSON objects in UTF-8: 1 line.'],
    found: [200_000, 1],
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
    status: 400,
    code: 'engine-memory',
    message: 'events.ndjson needs more memory to be read than is allowed.',
    hint: 'Split it, and import its parts into the same dataset.',
  });
});

/** Reads a file as an import does; returns the types that it ends with, its notes, and whether every value was looked at first. */
async function typesOf(lines: readonly string[]) {
  const dataDir = await temporaryDirectory();
  const workDir = path.join(dataDir, 'work');
  await mkdir(workDir);
  const file = path.join(dataDir, 'events.ndjson');
  await writeFile(file, lines.map(each => `${each}\n`).join(''));
  const engine = await Engine.open({ dataDir, connections: 1 });
  onTestFinished(() => engine.close());
  return engine.withConnection(async connection => {
    const statements: string[] = [];
    const run: Connection['run'] = sql => {
      statements.push(sql);
      return connection.run(sql);
    };
    let reading = await readJson({ ...connection, run }, { file, sampleFile: undefined, workDir });
    while (reading !== undefined) {
      const failure = await failureOf(connection, reading);
      if (failure === undefined) break;
      reading = await reading.wider?.(failure);
    }
    const looked = statements.some(sql => sql.includes('map_keys') && sql.includes('events.ndjson'));
    return { types: reading?.fields.map(({ type }) => type), notes: reading?.notes, looked };
  });
}

async function failureOf(connection: Connection, { fields, from }: Reading): Promise<string | undefined> {
  try {
    await connection.run(`SELECT max(COLUMNS(*)) FROM (${cells(fields, from)})`);
    return undefined;
  } catch (error) {
    return engineWords(error);
  }
}

const holds = (field: string, type: string, before: string) =>
  `\`${field}\` is ${type}: after the sampled rows it holds values other than ${before}.`;

test.each([
  ['a real among integers', '{"n":1.5}', ['real', 'string', 'bool', 'string'], [holds('n', 'real', 'long')]],
  [
    'a text among integers',
    '{"n":"-"}',
    ['dynamic', 'string', 'bool', 'string'],
    [holds('n', 'dynamic', 'long')],
  ],
  [
    'an integer that no real holds, then a real',
    '{"n":9007199254740993}\n{"n":1.5}',
    ['dynamic', 'string', 'bool', 'string'],
    [holds('n', 'dynamic', 'long')],
  ],
  [
    'a number among texts',
    '{"t":5}',
    ['long', 'dynamic', 'bool', 'string'],
    [holds('t', 'dynamic', 'string')],
  ],
  [
    'a text among booleans and one among integers',
    '{"b":"yes"}\n{"n":"no"}',
    ['dynamic', 'string', 'dynamic', 'string'],
    [holds('n', 'dynamic', 'long'), holds('b', 'dynamic', 'bool')],
  ],
] as const)(
  '%s below the sample widens its field, and no other value is looked at for that',
  async (_, odd, types, notes) => {
    const usual = new Array<string>(12_000).fill('{"n":1,"t":"x","b":true,"u":null}');
    expect(await typesOf([...usual, odd])).toEqual({ types, notes, looked: false });
  },
);

test('a value of a field that had none in the sample takes a look at every value', async () => {
  const usual = new Array<string>(12_000).fill('{"n":1,"u":null}');
  expect(await typesOf([...usual, '{"u":2}'])).toEqual({ types: ['long', 'long'], notes: [], looked: true });
});
