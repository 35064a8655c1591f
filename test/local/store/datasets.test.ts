import { mkdir, readdir, rename, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sqlText } from '../../../kernel/local/duckdb/duckdb-literal.js';
import { Engine } from '../../../kernel/local/engine/duckdb.js';
import type { BuiltinDataset } from '../../../kernel/local/sql/compiled-query.js';
import type { DatasetStore } from '../../../kernel/local/store/datasets.js';
import { importFile } from '../../../kernel/local/store/import.js';
import { nowMs, temporaryDirectory } from '../service.js';
import { testStore } from './dataset/stores.js';

const builtin: BuiltinDataset = {
  schema: { name: 'sample', open: false, fields: [{ name: '_time', type: 'datetime' }] },
  description: 'Computed.',
  scan: () => 'SELECT make_timestamp_ns(5) AS f0',
};

interface Parts {
  readonly engine: Engine;
  readonly store: DatasetStore;
  readonly dataDir: string;
}

async function openStore(): Promise<Parts> {
  const dataDir = await temporaryDirectory();
  const engine = await Engine.open({ dataDir, families: [] });
  onTestFinished(() => engine.close());
  return { dataDir, engine, store: testStore(dataDir, engine, [builtin]) };
}

async function add({ store, dataDir }: Parts, dataset: string, ...lines: object[]): Promise<void> {
  await addText({ store, dataDir }, dataset, lines.map(line => JSON.stringify(line)).join('\n'));
}

async function addText(
  { store, dataDir }: Omit<Parts, 'engine'>,
  dataset: string,
  ndjson: string,
): Promise<void> {
  const file = path.join(await temporaryDirectory(), 'lines.ndjson');
  await writeFile(file, ndjson);
  await importFile(store, dataDir, { path: file, dataset }, BigInt(nowMs) * 1_000_000n);
}

const everything = [-(2n ** 63n), 2n ** 63n - 1n] as const;

async function rows(
  { store, engine }: Parts,
  dataset: string,
  fields: string[],
  window = everything,
): Promise<string[][]> {
  const scan = (await store.snapshot(dataset)).scan(dataset, fields, ...window);
  const names = fields.map((_, index) => `f${index}`).join(', ');
  return (await engine.run(`SELECT ${names} FROM (${scan}) ORDER BY ALL`)).map(row => row.map(String));
}

async function typesOf({ store }: Parts, dataset: string): Promise<Record<string, string>> {
  const schema = (await store.snapshot(dataset)).schema(dataset);
  return Object.fromEntries((schema?.fields ?? []).map(field => [field.name, field.type]));
}

const merges: readonly (readonly [
  what: string,
  first: string,
  second: string,
  type: string,
  values: string[],
])[] = [
  ['equal types', '1', '2', 'long', ['1', '2']],
  ['integers and reals', '1', '2.5', 'real', ['1', '2.5']],
  ['integers that a real cannot hold', '9007199254740993', '2.5', 'dynamic', ['2.5', '9007199254740993']],
  ['text and integers', '"a"', '1', 'dynamic', ['"a"', '1']],
  ['true and integers', 'true', '1', 'dynamic', ['1', 'true']],
  ['nulls and anything', 'null', '1', 'long', ['1', 'null']],
  ['a list and text', '[1]', '"a"', 'dynamic', ['"a"', '[1]']],
];

test('field types are merged over files', async () => {
  const parts = await openStore();
  const line = (second: 0 | 1) =>
    `{"_time":170000000${second},${merges.map((row, index) => `"x${index}":${row[second + 1]}`).join()}}`;
  for (const second of [0, 1] as const) await addText(parts, 'd', line(second));
  const types = await typesOf(parts, 'd');
  for (const [index, [what, , , type, values]] of merges.entries()) {
    const found = (await rows(parts, 'd', [`x${index}`])).flat().sort();
    expect([what, types[`x${index}`], found]).toEqual([what, type, values]);
  }
});

test('fields that differ only in case or have odd names stay separate', async () => {
  const parts = await openStore();
  const line = {
    _time: 1_700_000_000,
    a: 1,
    A: 2,
    a_2: 3,
    'x y': 4,
    "it's": 5,
    'q"q': 6,
    'é.ü': 7,
    '': 8,
    _TIME: 9,
  };
  await add(parts, 'Odd / näme', line);
  const fields = ['a', 'A', 'a_2', 'x y', "it's", 'q"q', 'é.ü', '_', '_TIME'];
  expect(await rows(parts, 'Odd / näme', fields)).toEqual([['1', '2', '3', '4', '5', '6', '7', '8', '9']]);
});

test('a field that a file lacks is null for its rows', async () => {
  const parts = await openStore();
  await add(parts, 'd', { _time: 1_700_000_000, a: 1 });
  await add(parts, 'd', { _time: 1_700_000_001, b: 'x' });
  expect(await rows(parts, 'd', ['a', 'b'])).toEqual([
    ['1', 'null'],
    ['null', 'x'],
  ]);
  expect(await rows(parts, 'd', ['_time', 'gone'])).toEqual([
    ['2023-11-14 22:13:20', 'null'],
    ['2023-11-14 22:13:21', 'null'],
  ]);
});

test('a window includes its start but not its end, and examines only files that overlap it', async () => {
  const parts = await openStore();
  for (const second of [10, 20, 30]) await add(parts, 'd', { _time: 1_700_000_000 + second, n: second });
  const at = (second: number) => BigInt(1_700_000_000 + second) * 1_000_000_000n;
  expect(await rows(parts, 'd', ['n'], [at(20), at(30)])).toEqual([['20']]);
  expect(await rows(parts, 'd', ['n'], [at(20) + 1n, at(30) + 1n])).toEqual([['30']]);
  expect(await rows(parts, 'd', ['n'], [at(40), at(50)])).toEqual([]);
  const catalog = await parts.store.snapshot('d');
  expect(catalog.examined('d', at(20), at(30))).toEqual({ blocks: 1, rows: 1, minNs: at(20), maxNs: at(20) });
  expect(catalog.examined('d', at(40), at(50))).toEqual({ blocks: 0, rows: 0 });
});

test('the catalog describes each row group of a window', async () => {
  const parts = await openStore();
  await add(parts, 'd', { _time: 1_700_000_010 }, { _time: 1_700_000_020 });
  await add(parts, 'd', { _time: 1_700_000_030 });
  const at = (second: number) => BigInt(1_700_000_000 + second) * 1_000_000_000n;
  const catalog = await parts.store.snapshot('d');
  expect(catalog.rowGroups('d', at(15), at(30))).toEqual([
    { rows: 2, minNs: at(10), maxNs: at(20), timed: true },
  ]);
  expect(catalog.rowGroups('d', ...everything)).toHaveLength(2);
  expect(catalog.rowGroups('sample', ...everything)).toEqual([]);
});

test('a scan without fields still counts rows', async () => {
  const parts = await openStore();
  await add(parts, 'd', { _time: 1_700_000_000 }, { _time: 1_700_000_001 });
  const scan = (await parts.store.snapshot('d')).scan('d', [], ...everything);
  expect(await parts.engine.run(`SELECT count(*) FROM (${scan})`)).toEqual([[2n]]);
});

test('a file of another program is read by column name if it has times', async () => {
  const parts = await openStore();
  await add(parts, 'd', { _time: 1_700_000_000, n: 1 });
  const directory = path.join(parts.dataDir, 'datasets', 'd');
  const put = (select: string, name: string) =>
    parts.engine.run(`COPY (${select}) TO ${sqlText(path.join(directory, name))} (FORMAT parquet)`);
  await put("SELECT '2023-11-14 22:13:21'::TIMESTAMP AS _time, 2::INTEGER AS n", 'other.parquet');
  await put('SELECT 3 AS n', 'timeless.parquet');
  expect(await rows(parts, 'd', ['_time', '_sysTime', 'n'])).toEqual([
    ['2023-11-14 22:13:20', '2026-06-15 12:00:00', '1'],
    ['2023-11-14 22:13:21', 'null', '2'],
  ]);
});

test('a negative zero in a file of another program keeps its sign', async () => {
  const parts = await openStore();
  await parts.store.create('d');
  const file = path.join(parts.dataDir, 'datasets', 'd', 'other.parquet');
  const zero = "CASE WHEN i = 60 THEN '-0.0'::DOUBLE ELSE 0.5 - i % 2 END";
  await parts.engine.run(
    `COPY (SELECT '2023-11-14'::TIMESTAMP AS _time, ${zero} AS v FROM range(61) r(i)) TO ${sqlText(file)} (FORMAT parquet)`,
  );
  const scan = (await parts.store.snapshot('d')).scan('d', ['v'], ...everything);
  expect(await parts.engine.run(`SELECT f0::VARCHAR FROM (${scan}) WHERE abs(f0) < 0.1`)).toEqual([['-0.0']]);
});

test('datasets are created, listed, described and deleted', async () => {
  const parts = await openStore();
  await parts.store.create('new', { description: 'mine' });
  expect(await typesOf(parts, 'new')).toEqual({ _time: 'datetime', _sysTime: 'datetime' });
  expect(await rows(parts, 'new', ['_time', 'x'])).toEqual([]);
  await expect(parts.store.create('new')).rejects.toMatchObject({ kind: 'conflict' });
  await expect(parts.store.create('sample')).rejects.toMatchObject({ kind: 'conflict' });
  expect((await parts.store.snapshot()).names()).toEqual(['new', 'sample']);
  await parts.store.annotateField('new', '_time', { unit: 'ns' });
  await parts.store.annotateField('new', '_time', { description: 'when' });
  const schema = (await parts.store.snapshot('new')).schema('new');
  expect(schema?.fields[0]).toEqual({ name: '_time', type: 'datetime', unit: 'ns', description: 'when' });
  await parts.store.remove('new');
  expect((await parts.store.snapshot()).names()).toEqual(['sample']);
  await expect(parts.store.remove('new')).rejects.toMatchObject({ kind: 'not-found' });
  await expect(parts.store.remove('sample')).rejects.toMatchObject({ kind: 'forbidden' });
  expect(await readdir(path.join(parts.dataDir, 'datasets'))).toEqual([]);
});

test('concurrent notes on fields are all kept', async () => {
  const { store } = await openStore();
  await store.create('d');
  const notes = ['_time', '_sysTime'].flatMap(field =>
    [{ unit: 'ns' }, { description: 'when' }].map(note => store.annotateField('d', field, note)),
  );
  await Promise.all(notes);
  const expected = { type: 'datetime', unit: 'ns', description: 'when' };
  expect((await store.snapshot('d')).schema('d')?.fields).toEqual([
    { name: '_time', ...expected },
    { name: '_sysTime', ...expected },
  ]);
});

test('an empty, overlong or unprintable dataset name is refused', async () => {
  const { store } = await openStore();
  for (const name of ['', 'a\nb', 'x'.repeat(129), '日'.repeat(27), '\ud800'])
    await expect(store.create(name), name).rejects.toMatchObject({ kind: 'invalid', code: 'invalid-name' });
});

test('a dataset with an odd name stays within its directory', async () => {
  const { store, dataDir } = await openStore();
  for (const name of ['.', '..', '../up', '%2e', 'CON*', 'a b', '日'.repeat(26), 'x'.repeat(128)]) {
    await store.create(name);
    expect((await store.snapshot()).names()).toEqual([name, 'sample'].sort());
    expect(await readdir(path.join(dataDir, 'datasets')), name).toHaveLength(1);
    expect((await readdir(dataDir)).sort(), name).toEqual(['.tmp', 'datasets']);
    await store.remove(name);
  }
});

test('directories that are not datasets are ignored', async () => {
  const { store, dataDir } = await openStore();
  for (const name of ['.deleted-1', '.draft-1', 'not%zz'])
    await mkdir(path.join(dataDir, 'datasets', name), { recursive: true });
  expect((await store.snapshot()).names()).toEqual(['sample']);
});

test('computed datasets are read through the same catalog', async () => {
  const parts = await openStore();
  expect(await rows(parts, 'sample', ['_time'])).toEqual([['1970-01-01 00:00:00.000000005']]);
  expect((await parts.store.info('sample')).description).toBe('Computed.');
});

test('a dataset reports its row count and time range', async () => {
  const parts = await openStore();
  const extent = async (name: string) => {
    const { rows, firstTime, lastTime } = await parts.store.measuredInfo(name);
    return [rows, firstTime, lastTime];
  };
  await parts.store.create('logs');
  expect(await extent('logs')).toEqual([0, undefined, undefined]);
  await add(parts, 'logs', { _time: '2015-10-31T00:40:00.000000001Z' });
  await add(parts, 'logs', { _time: '2015-10-30T23:58:00Z' }, { _time: '2015-10-31T00:00:00Z' });
  expect(await extent('logs')).toEqual([3, '2015-10-30T23:58:00Z', '2015-10-31T00:40:00.000000001Z']);
  expect(await extent('sample')).toEqual([undefined, undefined, undefined]);
});

// ---- a replaced dataset ----

const oneEvent = (n: number) => temporaryFile('in.ndjson', `{"_time":${1_700_000_000 + n},"n":${n}}`);

const importOne = ({ store, dataDir }: Parts, file: string, replace: boolean) =>
  importFile(store, dataDir, { path: file, dataset: 'd', replace }, BigInt(nowMs) * 1_000_000n);

const put = async (parts: Parts, n: number, replace: boolean) => importOne(parts, await oneEvent(n), replace);

async function temporaryFile(name: string, text: string): Promise<string> {
  const file = path.join(await temporaryDirectory(), name);
  await writeFile(file, text);
  return file;
}

test('a replacement takes effect at once, while a running query keeps reading the old file', async () => {
  const parts = await openStore();
  await put(parts, 1, false);
  const begun = (await parts.store.snapshot('d')).scan('d', ['n'], ...everything);
  await put(parts, 2, true);
  await put(parts, 3, true);
  await put(parts, 4, false);
  expect(await rows(parts, 'd', ['n'])).toEqual([['3'], ['4']]);
  expect(await parts.engine.run(begun)).toEqual([[1n]]);
});

test('concurrent replacements apply in order', async () => {
  const parts = await openStore();
  await put(parts, 1, false);
  const files = await Promise.all([2, 3, 4].map(oneEvent));
  await Promise.all(files.map(file => importOne(parts, file, true)));
  expect(await rows(parts, 'd', ['n'])).toEqual([['4']]);
});

test('of concurrent replacements by two processes, exactly one stays', async () => {
  const parts = await openStore();
  const other = { ...parts, store: testStore(parts.dataDir, parts.engine) };
  await put(parts, 1, false);
  for (let round = 0; round < 5; round++) {
    const files = await Promise.all([2, 3, 4, 5].map(oneEvent));
    await Promise.all(files.map((file, index) => importOne(index % 2 === 0 ? parts : other, file, true)));
    const [left, ...more] = (await rows(parts, 'd', ['n'])).flat();
    expect([more, ['2', '3', '4', '5'].includes(left ?? '')]).toEqual([[], true]);
    expect((await rows(other, 'd', ['n'])).flat()).toEqual([left]);
  }
});

test('changes by another process appear in the next snapshot', async () => {
  const parts = await openStore();
  const other = { ...parts, store: testStore(parts.dataDir, parts.engine) };
  for (let n = 1; n <= 12; n++) {
    await put(n % 2 === 0 ? parts : other, n, false);
    expect([(await rows(parts, 'd', ['n'])).length, (await rows(other, 'd', ['n'])).length]).toEqual([n, n]);
  }
  await put(other, 13, true);
  expect(await rows(parts, 'd', ['n'])).toEqual([['13']]);
  await other.store.annotateField('d', 'n', { unit: 'ms' });
  expect((await parts.store.snapshot('d')).schema('d')?.fields.at(-1)).toMatchObject({
    name: 'n',
    unit: 'ms',
  });
  await other.store.remove('d');
  expect((await parts.store.snapshot()).names()).toEqual(['sample']);
});

test('a file of another program that is overwritten in place is read again', async () => {
  const parts = await openStore();
  await parts.store.create('d');
  const file = path.join(parts.dataDir, 'datasets', 'd', 'other.parquet');
  const write = (n: number) =>
    parts.engine.run(
      `COPY (SELECT '2023-11-14'::TIMESTAMP AS _time, ${n} AS n) TO ${sqlText(file)} (FORMAT parquet)`,
    );
  const hourAgo = new Date(Date.now() - 3_600_000);
  for (const n of [1, 2, 3]) {
    await write(n);
    await utimes(path.dirname(file), hourAgo, hourAgo);
    expect(await rows(parts, 'd', ['n'])).toEqual([[String(n)]]);
  }
});

test('a directory that has not changed for a while is not listed again', async () => {
  const parts = await openStore();
  await put(parts, 1, false);
  const directory = path.join(parts.dataDir, 'datasets', 'd');
  const hourAgo = new Date(Date.now() - 3_600_000);
  await utimes(directory, hourAgo, hourAgo);
  const before = await parts.store.measuredInfo('d');
  const [file = ''] = (await readdir(directory)).filter(name => name.endsWith('.parquet'));
  await rename(path.join(directory, file), path.join(parts.dataDir, file));
  await utimes(directory, hourAgo, hourAgo);
  expect(await parts.store.measuredInfo('d')).toEqual(before);
  await utimes(directory, new Date(), new Date());
  expect((await parts.store.measuredInfo('d')).rows).toBe(0);
});

test('a failed replacement does not block the next one', async () => {
  const parts = await openStore();
  const missing = { path: path.join(parts.dataDir, 'none.csv'), dataset: 'd', replace: true };
  const failing = expect(importFile(parts.store, parts.dataDir, missing, 0n)).rejects.toMatchObject({
    code: 'no-such-file',
  });
  await Promise.all([failing, put(parts, 2, true)]);
  expect(await rows(parts, 'd', ['n'])).toEqual([['2']]);
});

test('a replacement has no effect until its file appears', async () => {
  const parts = await openStore();
  await put(parts, 1, false);
  const directory = path.join(parts.dataDir, 'datasets', 'd');
  await put(parts, 2, true);
  const newest = (await readdir(directory)).filter(name => name.endsWith('.parquet')).sort()[1] ?? '';
  await rename(path.join(directory, newest), path.join(parts.dataDir, newest));
  expect(await rows(parts, 'd', ['n'])).toEqual([['1']]);
  await rename(path.join(parts.dataDir, newest), path.join(directory, newest));
  expect(await rows(parts, 'd', ['n'])).toEqual([['2']]);
});

test('replaced files are deleted once no query can be reading them', async () => {
  const parts = await openStore();
  for (const n of [1, 2, 3]) await put(parts, n, true);
  const directory = path.join(parts.dataDir, 'datasets', 'd');
  const files = async () => (await readdir(directory)).filter(name => name.endsWith('.parquet'));
  await parts.store.snapshot('d');
  expect(await files()).toHaveLength(3);
  const before = new Date(Date.now() - 3_600_000);
  for (const name of await files()) await utimes(path.join(directory, name), before, before);
  expect(await rows(parts, 'd', ['n'])).toEqual([['3']]);
  expect(await files()).toHaveLength(1);
});

test('leftovers of a killed process are removed unless they are recent', async () => {
  const { dataDir, engine } = await openStore();
  const directory = path.join(dataDir, 'datasets', 'd');
  const leftovers = ['.deleted-old', '.draft-old'].map(name => path.join(dataDir, 'datasets', name));
  for (const leftover of leftovers) await mkdir(leftover, { recursive: true });
  await mkdir(directory, { recursive: true });
  const before = new Date(Date.now() - 3_600_000);
  for (const name of [path.join(dataDir, 'service.json.1.tmp'), path.join(directory, 'dataset.json.1.tmp')]) {
    await writeFile(name, '{');
    await utimes(name, before, before);
  }
  for (const leftover of leftovers) await utimes(leftover, before, before);
  await utimes(path.join(dataDir, '.tmp'), before, before);
  await writeFile(path.join(directory, 'dataset.json.2.tmp'), '{');
  await testStore(dataDir, engine).snapshot('d');
  expect(await readdir(dataDir)).toEqual(['.tmp', 'datasets']);
  expect(await readdir(path.join(dataDir, 'datasets'))).toEqual(['d']);
  expect(await readdir(directory)).toEqual(['dataset.json.2.tmp']);
});

test('of two concurrent creations of a dataset, one fails', async () => {
  const { store, dataDir } = await openStore();
  const made = await Promise.allSettled([
    store.create('d', { description: 'a' }),
    store.create('d', { description: 'b' }),
  ]);
  expect(made.map(each => each.status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(made.find(each => each.status === 'rejected')?.reason).toMatchObject({ kind: 'conflict' });
  expect(await readdir(path.join(dataDir, 'datasets'))).toEqual(['d']);
});

test('of two concurrent deletions of a dataset, one fails', async () => {
  const { store } = await openStore();
  await store.create('d');
  const gone = await Promise.allSettled([store.remove('d'), store.remove('d')]);
  expect(gone.map(each => each.status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(gone.find(each => each.status === 'rejected')?.reason).toMatchObject({ kind: 'not-found' });
});

test('a directory that vanishes while datasets are listed is ignored', async () => {
  const parts = await openStore();
  await put(parts, 1, false);
  await put(parts, 2, false);
  const reading = parts.store.measuredInfos();
  await parts.store.remove('d');
  const names = (await reading).map(info => info.name);
  expect(names.filter(name => name !== 'd')).toEqual(['sample']);
});

test('members of the wrong type in a note edited by hand are ignored', async () => {
  const { store, dataDir } = await openStore();
  await store.create('d', { description: 'mine' });
  const file = path.join(dataDir, 'datasets', 'd', 'dataset.json');
  const fields = { _time: { unit: 5, description: ['x'], hidden: true }, m: null };
  await writeFile(file, JSON.stringify({ description: 7, created: {}, fields }));
  const snapshot = await store.snapshot('d');
  expect((await store.info('d')).description).toBe('');
  expect(snapshot.schema('d')?.fields[0]).toEqual({ name: '_time', type: 'datetime', hidden: true });
});
