import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Engine } from '../../../../kernel/local/engine/duckdb.js';
import { engineFailure } from '../../../../kernel/local/engine/engine-failure.js';
import { importSource, openSource } from '../../../../kernel/local/store/import.js';
import { Originals } from '../../../../kernel/local/store/sources/originals.js';
import { previewFile } from '../../../../kernel/local/store/sources/source-preview.js';
import { temporaryDirectory } from '../../service.js';
import { testStore } from '../dataset/stores.js';

const line = (n: number) => `{"_time":"2026-01-01T00:00:00Z","n":${n}}\n`;
const lines = (count: number) => Array.from({ length: count }, (_, n) => line(n)).join('');

/** Imports a file that changes after it was inspected; returns the rows and notes, or why nothing was stored. */
async function importChanged(change: (file: string) => void): Promise<readonly unknown[]> {
  const directory = await temporaryDirectory();
  const [file, dataDir] = [join(directory, 'in.ndjson'), join(directory, 'data')];
  writeFileSync(file, lines(10));
  utimesSync(file, 1, 1);
  const engine = await Engine.open({ dataDir, families: [] });
  onTestFinished(() => engine.close());
  const store = testStore(dataDir, engine, [], () => {});
  const request = { path: file, dataset: 'd' };
  const source = await openSource(dataDir, request);
  onTestFinished(() => source.engine.close());
  change(file);
  try {
    const { rows, notes } = await importSource(store, source, request, 0n);
    return [rows, (await store.extent('d')).rows, ...notes];
  } catch (error) {
    const [{ message }, { rows }] = [error as Error, await store.extent('d')];
    return [message.replace(file, 'FILE'), rows];
  }
}

const changed =
  'Changed during the import: `in.ndjson`. Rows may be missing: import again with `%import … --replace`.';

test.each<readonly [string, (file: string) => void, readonly unknown[]]>([
  ['does not change', file => readFileSync(file), [10, 10]],
  ['is appended to', file => appendFileSync(file, line(10)), [11, 11, changed]],
  ['is cut between lines', file => truncateSync(file, line(0).length * 4), [4, 4, changed]],
  ['is overwritten', file => writeFileSync(file, lines(2)), [2, 2, changed]],
  ['is overwritten with as many bytes', file => writeFileSync(file, lines(10)), [10, 10, changed]],
  ['is replaced by a copy of its size and time', replaceByCopy, [10, 10, changed]],
  ['is emptied', file => truncateSync(file), ['in.ndjson contains no rows.', 0]],
  ['is deleted', file => rmSync(file), ['FILE was deleted or moved during the import.', 0]],
  ['is moved', file => renameSync(file, `${file}.1`), ['FILE was deleted or moved during the import.', 0]],
  ['is replaced by a pipe', putPipe, ['FILE was replaced by a named pipe while it was being read.', 0]],
])('an import has the right outcome if its file %s', async (_, change, outcome) => {
  expect(await importChanged(change)).toEqual(outcome);
});

function replaceByCopy(file: string): void {
  writeFileSync(`${file}.new`, lines(10));
  utimesSync(`${file}.new`, 1, 1);
  renameSync(`${file}.new`, file);
}

function putPipe(file: string): void {
  rmSync(file);
  execFileSync('mkfifo', [file]);
}

const ends: readonly (readonly [string, (file: string) => void, string])[] = [
  ['is deleted', rmSync, 'in.ndjson was deleted or moved during the import.'],
  ['is replaced by a pipe', putPipe, 'in.ndjson was replaced by a named pipe while it was being read.'],
];

test.each(ends)('a file that %s before its content is known is reported', async (_, end, message) => {
  const directory = await temporaryDirectory();
  const path = join(directory, 'in.ndjson');
  writeFileSync(path, lines(10));
  let isThere = true;
  const request = {
    path,
    // Read after the file was inspected.
    get encoding() {
      if (isThere) end(path);
      isThere = false;
      return 'utf-8';
    },
  };
  await expect(openSource(join(directory, 'data'), request)).rejects.toThrow(message);
});

test('a file that is replaced by a pipe while it is previewed is reported', async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, 'in.ndjson');
  writeFileSync(path, lines(10));
  const request = {
    path,
    dataset: 'd',
    // Read once the format is known.
    get timeField() {
      putPipe(path);
      return '_time';
    },
  };
  await expect(previewFile(join(directory, 'data'), request, 0n)).rejects.toThrow(
    'in.ndjson was replaced by a named pipe while it was being read.',
  );
});

test('a disk that fills up while a file is read is reported, with what to do', async () => {
  const directory = await temporaryDirectory();
  const [path, dataDir] = [join(directory, 'in.ndjson'), join(directory, 'data')];
  writeFileSync(path, lines(10));
  const source = await openSource(dataDir, { path });
  onTestFinished(() => source.engine.close());
  source.engine.withConnection = () =>
    Promise.reject(engineFailure(new Error('IO Error: Could not write file "x": No space left on device')));
  const store = testStore(dataDir, source.engine, [], () => {});
  await expect(importSource(store, source, { path, dataset: 'd' }, 0n)).rejects.toMatchObject({
    kind: 'storage',
    message: `The disk with ${join(dataDir, '.tmp')} is full: nothing was stored.`,
    hint: 'Free some space there, then try again.',
  });
});

test('of several files, the changed ones are named, and the first missing one', async () => {
  const directory = await temporaryDirectory();
  const names = Array.from({ length: 8 }, (_, n) => `part${n}.ndjson`);
  for (const name of names) writeFileSync(join(directory, name), line(1));
  const originals = new Originals(names.map(name => join(directory, name)));
  const error = new Error('other');
  expect([originals.notes(), originals.failure(error)]).toEqual([[], error]);
  for (const name of names.slice(1)) appendFileSync(join(directory, name), line(2));
  expect(originals.notes()).toEqual([
    'Changed during the import: `part1.ndjson`, `part2.ndjson`, `part3.ndjson`, `part4.ndjson`, `part5.ndjson`, 2 more. Rows may be missing: import again with `%import … --replace`.',
  ]);
  const denied = Object.assign(error, { code: 'EACCES' });
  expect(String(originals.failure(denied))).toContain(
    'part0.ndjson cannot be read: the permission is missing',
  );
  rmSync(join(directory, 'part3.ndjson'));
  expect(String(originals.failure(denied))).toContain('part3.ndjson was deleted or moved during the import.');
});
