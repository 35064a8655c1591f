import {
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { checkData } from '../../../../kernel/local/check/check.js';
import { sqlText } from '../../../../kernel/local/duckdb/duckdb-literal.js';
import { Engine } from '../../../../kernel/local/engine/duckdb.js';
import { writeReplacements } from '../../../../kernel/local/store/dataset/replacement-list.js';
import type { DatasetStore } from '../../../../kernel/local/store/datasets.js';
import { nowMs, type TestService, temporaryDirectory, testService } from '../../service.js';
import { testStore } from './stores.js';

/** A data directory with the datasets `good` and `hurt` of two files each, written by the first test. */
let written: Promise<string> | undefined;
afterAll(async () => {
  if (written !== undefined) await rm(await written, { recursive: true });
});

async function writeDatasets(): Promise<string> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'apl-kernel-test-'));
  const before = await testService({ dataDir });
  for (const dataset of ['good', 'hurt']) {
    await before.json('POST', '/v2/datasets', { name: dataset });
    for (const n of [1, 2]) {
      await before.json('POST', `/v1/datasets/${dataset}/ingest`, [{ n, text: `event ${n}` }]);
      await before.json('GET', `/v1/local/datasets/${dataset}`);
    }
  }
  await before.service.close();
  return dataDir;
}

/** Starts a service on a copy of that directory modified by `prepare`. */
async function serviceOn(prepare: (hurt: string) => Promise<void>): Promise<TestService> {
  written ??= writeDatasets();
  const dataDir = await temporaryDirectory();
  await cp(await written, dataDir, { recursive: true, preserveTimestamps: true });
  await prepare(path.join(dataDir, 'datasets', 'hurt'));
  return testService({ dataDir });
}

async function filesIn(directory: string, ending = '.parquet'): Promise<string[]> {
  return (await readdir(directory))
    .filter(name => name.endsWith(ending))
    .map(name => path.join(directory, name));
}

async function firstIn(directory: string): Promise<string> {
  return (await filesIn(directory))[0] ?? '';
}

async function flip(file: string, at: number): Promise<void> {
  const bytes = await readFile(file);
  const place = at < 0 ? bytes.length + at : at;
  bytes[place] = (bytes[place] ?? 0) ^ 1;
  await writeFile(file, bytes);
}

const count = async (service: TestService, dataset: string) => {
  const { status, body } = await service.query(`dataset ${dataset}: n:long`);
  return status === 200 ? body.tables[0].columns[0].length : [status, body.detail];
};

const damages: readonly (readonly [
  what: string,
  prepare: (hurt: string) => Promise<unknown>,
  reason: RegExp,
])[] = [
  [
    'a truncated file',
    async hurt => truncate(await firstIn(hurt), 300),
    /is truncated, or not a Parquet file/,
  ],
  ['an empty file', async hurt => truncate(await firstIn(hurt), 0), /is empty/],
  ['a flipped bit in the data', async hurt => flip(await firstIn(hurt), 20), /its checksum does not match/],
  [
    'a flipped bit in the footer',
    async hurt => flip(await firstIn(hurt), -40),
    /its checksum does not match/,
  ],
  [
    'a half-copied file of another program',
    async hurt => writeFile(path.join(hurt, 'x.parquet'), 'PAR1 and then'),
    /x\.parquet is truncated/,
  ],
  [
    'a garbage footer of another program',
    async hurt => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(100);
      await writeFile(
        path.join(hurt, 'x.parquet'),
        Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(100, 7), length, Buffer.from('PAR1')]),
      );
    },
    /x\.parquet is damaged: its footer is unreadable/,
  ],
  [
    'a directory in place of a file',
    async hurt => {
      const file = await firstIn(hurt);
      await rm(file);
      await mkdir(file);
    },
    /cannot be read: it is a directory/,
  ],
  [
    'a truncated list of replaced files',
    async hurt => {
      const [first = '', second = ''] = await filesIn(hurt);
      await writeReplacements(second, [path.basename(first)]);
      await truncate(second.replace('.parquet', '.replaces'), 20);
    },
    /\.replaces is damaged/,
  ],
  [
    'an empty list of replaced files',
    async hurt => writeFile((await firstIn(hurt)).replace('.parquet', '.replaces'), ''),
    /\.replaces is damaged/,
  ],
  [
    'a directory in place of the list of replaced files',
    async hurt => mkdir((await firstIn(hurt)).replace('.parquet', '.replaces')),
    /\.replaces cannot be read: it is a directory/,
  ],
];

describe('a damaged file stops only its own dataset', () => {
  test.each(damages)('%s', async (_, prepare, reason) => {
    const service = await serviceOn(async hurt => void (await prepare(hurt)));
    expect(await count(service, 'good')).toBe(2);
    expect((await service.query('n:long\nSELECT 1::BIGINT')).status).toBe(200);
    const { status, body } = await service.query('dataset hurt: n:long');
    expect([status, body.detail.errorType]).toEqual([400, 'dataset-damaged']);
    expect(body.detail.message).toMatch(reason);
    expect(body.detail.message).toContain(path.join(service.dataDir, 'datasets', 'hurt'));
    expect(body.detail.hint).toContain('move it away');
    const listed = (await service.json('GET', '/v1/local/datasets')).body;
    expect(listed.map((each: { name: string; rows?: number }) => [each.name, each.rows])).toEqual([
      ['good', 2],
      ['hurt', undefined],
    ]);
    expect(listed[1].problems.join()).toMatch(reason);
    expect((await service.json('GET', '/v2/datasets')).body).toHaveLength(2);
    expect((await service.json('GET', '/v2/datasets/hurt/fields')).body.detail.message).toMatch(reason);
    expect((await service.json('DELETE', '/v2/datasets/hurt')).status).toBe(204);
    expect((await service.json('GET', '/v1/local/datasets')).body).toHaveLength(1);
  });

  test('until it is moved away', async () => {
    let damaged = '';
    const service = await serviceOn(async hurt => {
      damaged = await firstIn(hurt);
      await truncate(damaged, 100);
    });
    expect(await count(service, 'hurt')).toMatchObject([400, { errorType: 'dataset-damaged' }]);
    await rename(damaged, path.join(service.dataDir, 'aside.parquet'));
    expect(await count(service, 'hurt')).toBe(1);
  });

  test('until a good copy replaces it', async () => {
    let damaged = '';
    let good = Buffer.alloc(0);
    const service = await serviceOn(async hurt => {
      damaged = await firstIn(hurt);
      good = await readFile(damaged);
      await flip(damaged, 30);
    });
    expect(await count(service, 'hurt')).toMatchObject([400, { errorType: 'dataset-damaged' }]);
    await writeFile(damaged, good);
    expect(await count(service, 'hurt')).toBe(2);
  });

  test('and events sent in the meantime are kept', async () => {
    let damaged = '';
    const service = await serviceOn(async hurt => {
      damaged = await firstIn(hurt);
      await flip(damaged, 30);
    });
    await service.json('POST', '/v1/datasets/hurt/ingest', [{ n: 3 }, { n: 4 }]);
    expect(await count(service, 'hurt')).toMatchObject([400, { errorType: 'dataset-damaged' }]);
    await rm(damaged);
    expect(await count(service, 'hurt')).toBe(3);
  });
});

test('a file damaged while in use is named once the engine cannot read it', async () => {
  const service = await serviceOn(async () => undefined);
  expect(await count(service, 'hurt')).toBe(2);
  const file = await firstIn(path.join(service.dataDir, 'datasets', 'hurt'));
  const { length } = await readFile(file);
  const bytes = Buffer.alloc(length, 0xff);
  await writeFile(file, bytes);
  expect(await count(service, 'hurt')).toMatchObject([400, { errorType: 'dataset-damaged' }]);
  expect(await count(service, 'good')).toBe(2);
});

test('a dataset note that is not JSON loses no rows, is reported, and is not overwritten', async () => {
  const service = await serviceOn(hurt => writeFile(path.join(hurt, 'dataset.json'), '{"description": "x'));
  const { status, body } = await service.query('dataset hurt: n:long');
  expect([status, body.tables[0].columns[0].length]).toEqual([200, 2]);
  const told = `${path.join(service.dataDir, 'datasets', 'hurt', 'dataset.json')} is not JSON`;
  expect(body.status.messages).toEqual([
    { priority: 'warn', count: 1, code: 'dataset-defect', msg: `\`hurt\`: ${told}.` },
  ]);
  expect((await service.json('GET', '/v1/local/datasets/hurt')).body).toMatchObject({
    rows: 2,
    problems: [told],
  });
  const described = await service.json('PUT', '/v2/datasets/hurt/fields/n', { unit: 'ms' });
  expect([described.status, described.body.detail.message]).toEqual([400, expect.stringContaining(told)]);
});

test('one damaged copy of a list of replaced files loses nothing', async () => {
  for (const at of [10, -10]) {
    const service = await serviceOn(async hurt => {
      const [first = '', second = ''] = await filesIn(hurt);
      await writeReplacements(second, [path.basename(first)]);
      await flip(second.replace('.parquet', '.replaces'), at);
    });
    expect(await count(service, 'hurt')).toBe(1);
  }
});

test('a list of replaced files saved by a Windows editor still counts', async () => {
  const service = await serviceOn(async hurt => {
    const [first = '', second = ''] = await filesIn(hurt);
    await writeReplacements(second, [path.basename(first)]);
    const list = second.replace('.parquet', '.replaces');
    await writeFile(list, `\ufeff${(await readFile(list, 'utf8')).replaceAll('\n', '\r\n')}`);
  });
  expect(await count(service, 'hurt')).toBe(1);
});

test('a list of replaced files of an earlier version still counts', async () => {
  const service = await serviceOn(async hurt => {
    const [first = '', second = ''] = await filesIn(hurt);
    await writeFile(second.replace('.parquet', '.replaces'), JSON.stringify([path.basename(first)]));
  });
  expect(await count(service, 'hurt')).toBe(1);
});

/** Names that sync programs give to copies. */
const copied: readonly (readonly [of: string, copyOf: (name: string) => string])[] = [
  ['Drive', name => `${name} (1)`],
  ['Syncthing', name => `${name}.sync-conflict-20260105-093000-7QNMTZ2`],
  ['Dropbox', name => `${name} (Ann's conflicted copy 2026-01-05)`],
  ['OneDrive', name => `${name}-DESKTOP`],
  ['a file manager', name => `Copy of ${name}`],
];

test('a copy of a file under another name counts only if the original is gone, and is reported', async () => {
  let files: readonly string[] = [];
  const service = await serviceOn(async hurt => {
    files = await filesIn(hurt);
  });
  const [first = ''] = files;
  const hurt = path.dirname(first);
  const stem = path.basename(first, '.parquet');
  const copies = copied.map(([, copyOf]) => path.join(hurt, `${copyOf(stem)}.parquet`));
  for (const copy of copies) await copyFile(first, copy);
  const reason = `is a copy of ${stem}.parquet, and is ignored`;
  const told = async () => {
    const { body } = await service.query('dataset hurt: n:long');
    const messages: readonly { readonly msg: string }[] = body.status.messages ?? [];
    return [body.tables[0].columns[0].length, messages.map(({ msg }) => msg).sort()];
  };
  const named = (all: readonly string[]) => [2, all.map(copy => `\`hurt\`: ${copy} ${reason}.`).sort()];
  expect(await told()).toEqual(named(copies));
  const { body } = await service.json('GET', '/v1/local/datasets/hurt');
  expect([body.rows, [...body.problems].sort()]).toEqual([2, copies.map(copy => `${copy} ${reason}`).sort()]);
  const { faults } = await checkData(service.dataDir);
  expect(faults.map(({ file, state, reason: why }) => [file, state, why]).sort()).toEqual(
    copies.map(copy => [copy, 'copied', reason]).sort(),
  );
  await rm(first);
  // Now the first copy counts as the original.
  expect(await told()).toEqual(named([...copies].sort().slice(1)));
  await flip([...copies].sort()[0] ?? '', 20);
  expect(await count(service, 'hurt')).toMatchObject([
    400,
    { message: expect.stringContaining(`${[...copies].sort()[0]} is damaged: its checksum does not match`) },
  ]);
});

test('files of an earlier version without a checksum in their names are read', async () => {
  const service = await serviceOn(async hurt => {
    for (const file of await filesIn(hurt))
      await rename(file, file.replace(/\.[0-9a-f]{8}\.parquet$/, '.parquet'));
  });
  expect(await count(service, 'hurt')).toBe(2);
});

// ---- cached file metadata survives a restart ----

interface Store {
  readonly engine: Engine;
  readonly store: DatasetStore;
}

async function openStore(dataDir: string): Promise<Store> {
  const engine = await Engine.open({ dataDir, families: [] });
  onTestFinished(() => engine.close());
  return { engine, store: testStore(dataDir, engine) };
}

/** Creates a dataset from a file of another program, and lets a store read it once; returns the file. */
async function readBefore(dataDir: string): Promise<string> {
  const { engine, store } = await openStore(dataDir);
  await store.create('d');
  const file = path.join(dataDir, 'datasets', 'd', 'other.parquet');
  await engine.run(
    `COPY (SELECT make_timestamp_ns(${nowMs}000000 + i) AS _time, i AS n, 'a' AS s FROM range(5) r(i)) TO ${sqlText(file)} (FORMAT parquet)`,
  );
  expect((await store.measuredInfo('d')).rows).toBe(5);
  await store.close();
  return file;
}

const cacheOf = (dataDir: string) => path.join(dataDir, '.cache', 'files', 'd.json');

test('an unchanged file is not read again after a restart', async () => {
  const dataDir = await temporaryDirectory();
  const file = await readBefore(dataDir);
  // Only size and modification time are checked: reading the zeroed file would fail.
  const { length } = await readFile(file);
  const written = new Date(nowMs);
  await utimes(file, written, written);
  const again = await openStore(dataDir);
  expect((await again.store.measuredInfo('d')).rows).toBe(5);
  await again.store.close();
  await writeFile(file, Buffer.alloc(length));
  await utimes(file, written, written);
  const { store } = await openStore(dataDir);
  expect(await store.measuredInfo('d')).toMatchObject({ rows: 5, firstTime: '2026-06-15T12:00:00Z' });
  expect((await store.fields('d')).map(field => `${field.name}:${field.type}`)).toEqual([
    '_time:datetime',
    '_sysTime:datetime',
    'n:long',
    's:string',
  ]);
});

test('a changed file is read again after a restart', async () => {
  const dataDir = await temporaryDirectory();
  const file = await readBefore(dataDir);
  await utimes(file, new Date(nowMs), new Date(nowMs));
  await truncate(file, 50);
  const { store } = await openStore(dataDir);
  expect((await store.measuredInfo('d')).problems).toEqual([`${file} is truncated, or not a Parquet file`]);
});

test.each<[string, (file: string) => Promise<unknown>]>([
  ['damaged', file => flip(file, 5)],
  ['cut', file => truncate(file, 100)],
  ['empty', file => truncate(file, 0)],
  ['gone', file => rm(file)],
  ['a directory', file => rm(file).then(() => mkdir(file))],
])('a summary cache that is %s is rebuilt from footers', async (_, damage) => {
  const dataDir = await temporaryDirectory();
  await readBefore(dataDir);
  await damage(cacheOf(dataDir));
  const { store } = await openStore(dataDir);
  expect((await store.measuredInfo('d')).rows).toBe(5);
});

test('deleting a dataset deletes its cached summaries', async () => {
  const dataDir = await temporaryDirectory();
  await readBefore(dataDir);
  expect(await readdir(path.dirname(cacheOf(dataDir)))).toEqual(['d.json']);
  const { store } = await openStore(dataDir);
  await store.remove('d');
  await store.close();
  expect(await readdir(path.dirname(cacheOf(dataDir)))).toEqual([]);
});
