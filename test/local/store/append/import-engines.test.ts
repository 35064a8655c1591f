import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { EngineError } from '../../../../kernel/local/engine/engine-failure.js';
import { LocalError } from '../../../../kernel/local/local-errors.js';
import { ImportEngines, openEngine } from '../../../../kernel/local/store/append/import-engines.js';
import { temporaryDirectory } from '../../service.js';

/** Creates import engines for a data directory next to a small file. */
async function enginesBeside(content: string | Buffer = 'a line\n') {
  const directory = await temporaryDirectory();
  const file = path.join(directory, 'in.log');
  await writeFile(file, content);
  const engines = new ImportEngines(path.join(directory, 'data'));
  onTestFinished(() => engines.close());
  return { engines, file };
}

test('an engine that read a small file is reused, with its files deleted', async () => {
  const { engines, file } = await enginesBeside();
  const first = await engines.open([file]);
  const copy = await engines.near(first, file);
  expect([path.basename(copy), await readFile(copy, 'utf8')]).toEqual(['in.log', 'a line\n']);
  expect(await engines.near(first, copy)).toBe(copy);
  const second = await engines.open([file]);
  expect(second).not.toBe(first);
  await engines.release(first);
  expect(await readdir(first.workDir)).toEqual([]);
  await engines.release(second);
  const third = await engines.open([file]);
  expect(third).toBe(first);
  await engines.release(third);
  await engines.close();
  await expect(readdir(first.workDir)).rejects.toThrow('ENOENT');
});

test('an engine released after closing is closed', async () => {
  const { engines, file } = await enginesBeside();
  const engine = await engines.open([file]);
  await engines.close();
  await engines.release(engine);
  await expect(readdir(engine.workDir)).rejects.toThrow('ENOENT');
});

/** Returns the number of threads that read a file with this content, capped at 3. */
async function threadsFor(name: string, content: string | Buffer): Promise<bigint> {
  const directory = await temporaryDirectory();
  const file = path.join(directory, name);
  await writeFile(file, content);
  const engine = await openEngine(path.join(directory, 'data'), [file]);
  onTestFinished(() => engine.close());
  const [[found = 0n] = []] = await engine.run("SELECT least(current_setting('threads'), 3)");
  return found as bigint;
}

test.each([
  ['in.csv', 'a,"first\nsecond"\n', 1n],
  ['in.TSV', 'a\t"first\nsecond"\n', 1n],
  ['in.csv', 'a,"first, ""second"\n', 3n],
  ['in.log', 'a,"first\nsecond"\n', 3n],
])('a CSV with line breaks in values is read by one thread: %s %j', async (name, row, threads) => {
  expect(await threadsFor(name, row.repeat(20_000))).toBe(threads);
});

/** More than a single thread reads. */
const largeBytes = 2 ** 20;

/** Formats a line of a file with these fields. */
const lines: Readonly<Record<string, (fields: readonly string[]) => string>> = {
  'in.csv': fields => fields.join(','),
  'in.tsv': fields => fields.join('\t'),
  'in.ndjson': fields => `{${fields.map(field => `"${field}":1`).join(',')}}`,
  'in.json': ([, ...fields]) =>
    `[{"id": 1,\n${fields.map(name => `  "${name}": {"${name}": 1}`).join(',\n')}\n}]`,
  'one line.json': fields => {
    const event = `{${fields.map(field => `"${field}":"${'x'.repeat(200)}"`).join(',')}}`;
    return `[${Array(5).fill(event).join(',')}]`;
  },
  'one each.ndjson': ([, ...fields]) => fields.map(field => `{"id":1,"${field}":1}`).join('\n'),
  'one each.log': fields => fields.map(field => `${field}="a ${field}=1 b= QQ${field}=="`).join('\n'),
};

test.each(Object.keys(lines))('a file of many fields is read by one thread: %s', async name => {
  const content = (fields: number) => {
    const line = lines[name]?.(Array.from({ length: fields }, (_, field) => `f${field}`)) ?? '';
    return `${line}\n`.repeat(Math.ceil(largeBytes / line.length));
  };
  expect(await threadsFor(name, content(199))).toBe(3n);
  expect(await threadsFor(name, content(200))).toBe(1n);
  expect(await threadsFor(`${name}.gz`, gzipSync(content(200), { level: 0 }))).toBe(1n);
});

test('an object with many different keys counts as one field', async () => {
  const line = (_: unknown, row: number) =>
    `{"a":{${Array.from({ length: 40 }, (_, key) => `"k${row}_${key}":1`).join(',')}}}\n`;
  expect(await threadsFor('in.ndjson', Array.from({ length: 1000 }, line).join(''))).toBe(3n);
});

test('a Parquet file of many fields is read by one thread', async () => {
  const directory = await temporaryDirectory();
  const engine = await openEngine(directory, []);
  onTestFinished(() => engine.close());
  const written = async (fields: number) => {
    const file = path.join(engine.workDir, `${fields}.parquet`);
    const columns = Array.from({ length: fields }, (_, field) => `md5(i::VARCHAR) AS f${field}`);
    await engine.run(`COPY (SELECT ${columns.join(', ')} FROM range(1000) r(i)) TO '${file}'`);
    return readFile(file);
  };
  expect(await threadsFor('in.parquet', await written(199))).toBe(3n);
  expect(await threadsFor('in.parquet', await written(200))).toBe(1n);
});

test.each([
  ['small Parquet files', 'PAR1', 63, 1n],
  ['larger Parquet files', 'PAR1', 64, 3n],
  ['small text files', 'text', 63, 3n],
])('many files get as many threads as help: %s', async (_, start, size, threads) => {
  const directory = await temporaryDirectory();
  const files = Array.from({ length: 8 }, (_, number) => path.join(directory, `${number}`));
  const content = Buffer.concat([Buffer.from(start), Buffer.alloc(size * 1024 - 8), Buffer.from(start)]);
  for (const file of files) await writeFile(file, content);
  const engine = await openEngine(path.join(directory, 'data'), files);
  onTestFinished(() => engine.close());
  expect(await engine.run("SELECT least(current_setting('threads'), 3)")).toEqual([[threads]]);
});

const failures: readonly (readonly [string, unknown, boolean])[] = [
  ['in the file', new LocalError('invalid', 'empty', 'It contains no rows.'), true],
  ['in the engine', new EngineError('engine-failed', 'It could not.'), false],
  ['caused by the engine', new LocalError('invalid', 'unreadable', 'No.', { cause: 1 }), false],
];

test.each(failures)(
  'after a failure %s, an engine is reused only if the failure is not its own',
  async (_, failure, isReused) => {
    const { engines, file } = await enginesBeside();
    const first = await engines.open([file]);
    await engines.release(first, failure);
    const next = await engines.open([file]);
    expect(next === first).toBe(isReused);
    await engines.release(next);
  },
);

test.each([
  ['that is large', Buffer.alloc(256 * 1024, 'x'), 1],
  ['in Parquet', Buffer.from('PAR1'), 1],
  ['beside another', Buffer.from('x'), 2],
] as const)('a file %s is read in place, by an engine of its own', async (_, content, count) => {
  const { engines, file } = await enginesBeside(content);
  const files = Array.from({ length: count }, () => file);
  const first = await engines.open(files);
  expect(await engines.near(first, file)).toBe(file);
  await engines.release(first);
  const next = await engines.open(files);
  expect(next).not.toBe(first);
  await engines.release(next);
});
