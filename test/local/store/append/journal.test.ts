import { execFileSync } from 'node:child_process';
import { renameSync, watch } from 'node:fs';
import {
  appendFile,
  copyFile,
  cp,
  readdir,
  readFile,
  rename,
  rm,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkData } from '../../../../kernel/local/check/check.js';
import { Engine } from '../../../../kernel/local/engine/duckdb.js';
import { ownName } from '../../../../kernel/local/lease/processes.js';
import { type Batch, readBatch } from '../../../../kernel/local/store/append/append-batch.js';
import { BatchLog } from '../../../../kernel/local/store/append/append-log.js';
import type { DatasetStore } from '../../../../kernel/local/store/datasets.js';
import { nowMs, temporaryDirectory } from '../../service.js';
import { testStore } from '../dataset/stores.js';
import { goneProcess } from './logs.js';

interface Parts {
  readonly dataDir: string;
  readonly engine: Engine;
  readonly store: DatasetStore;
  readonly directory: string;
}

async function openStore(confirm = () => {}): Promise<Parts> {
  const dataDir = await temporaryDirectory();
  const engine = await Engine.open({ dataDir, families: [] });
  onTestFinished(() => engine.close());
  const store = testStore(dataDir, engine, [], () => {}, confirm);
  await store.create('d');
  return { dataDir, engine, store, directory: path.join(dataDir, 'datasets', 'd') };
}

function batchOf(...ids: number[]): Batch {
  const body = ids.map(id => `{"_time":${1_700_000_000 + id},"id":${id}}`).join('\n');
  const batch = readBatch(body, undefined, BigInt(nowMs) * 1_000_000n);
  if (batch === undefined) throw new Error('no batch');
  return batch;
}

async function append({ store }: Pick<Parts, 'store'>, ...ids: number[]): Promise<void> {
  await store.append('d', batchOf(...ids));
}

async function idsOf({ engine, store }: Pick<Parts, 'engine' | 'store'>): Promise<number[]> {
  const scan = (await store.snapshot('d')).scan('d', ['id'], -(2n ** 63n), 2n ** 63n - 1n);
  const rows = await engine.run(`SELECT f0 FROM (${scan}) ORDER BY f0`);
  return rows.map(([id]) => Number(id));
}

const entries = async ({ directory }: Parts, suffix: string) =>
  (await readdir(directory)).filter(name => name.endsWith(suffix));

/** Leaves the log of a process that was killed after these batches; returns its file. */
function orphanOf(parts: Parts, ...batches: readonly Batch[]): Promise<string> {
  return orphanWith(parts, crypto.randomUUID(), batches);
}

/** Leaves such a log with an id, moved into the directory when complete, as a running store adopts it immediately. */
async function orphanWith(
  { dataDir, directory }: Parts,
  id: string,
  batches: readonly Batch[],
): Promise<string> {
  const name = `${await goneProcess()}-${id}.log`;
  const made = path.join(dataDir, name);
  const log = new BatchLog(made, `${made}.tmp`);
  for (const batch of batches) await log.append(batch);
  await log.close();
  const file = path.join(directory, name);
  await rename(made, file);
  return file;
}

test('appended events are in the next snapshot, in one file, and no log is left', async () => {
  const parts = await openStore();
  await append(parts, 3, 1);
  await append(parts, 2);
  expect([(await entries(parts, '.log')).length, await entries(parts, '.parquet')]).toEqual([1, []]);
  expect(await idsOf(parts)).toEqual([1, 2, 3]);
  expect([await entries(parts, '.log'), (await entries(parts, '.parquet')).length]).toEqual([[], 1]);
  const [group] = (await parts.store.snapshot('d')).rowGroups('d', -(2n ** 63n), 2n ** 63n - 1n);
  expect([group?.rows, group?.minNs, group?.maxNs]).toEqual([
    3,
    1_700_000_001n * 10n ** 9n,
    1_700_000_003n * 10n ** 9n,
  ]);
});

test('the log of a killed process is adopted once, by the next reader', async () => {
  const parts = await openStore();
  const orphan = await orphanOf(parts, batchOf(1, 2), batchOf(3));
  const kept = path.join(parts.dataDir, 'log');
  await copyFile(orphan, kept);
  const later = { ...parts, store: testStore(parts.dataDir, parts.engine) };
  expect(await idsOf(later)).toEqual([1, 2, 3]);
  expect(await entries(parts, '.log')).toEqual([]);
  // Killed after its file was written and before its log was deleted.
  await copyFile(kept, orphan);
  expect(await idsOf({ ...parts, store: testStore(parts.dataDir, parts.engine) })).toEqual([1, 2, 3]);
  expect(await entries(parts, '.log')).toEqual([]);
});

const damages: readonly (readonly [string, (file: string, size: number) => Promise<void>, number[]])[] = [
  ['cut in its last batch', (file, size) => truncate(file, size - 1), [1]],
  ['with a byte changed in its last batch', flipLast, [1]],
  ['with the start of another batch', file => appendFile(file, Buffer.from([9, 0, 0, 0, 1])), [1, 2]],
  ['without content', file => truncate(file, 0), []],
];

async function flipLast(file: string, size: number): Promise<void> {
  const bytes = await readFile(file);
  bytes.writeUInt8(bytes.readUInt8(size - 2) ^ 1, size - 2);
  await writeFile(file, bytes);
}

test.each(damages)('a log %s keeps its whole batches', async (_, damage, ids) => {
  const parts = await openStore();
  const orphan = await orphanOf(parts, batchOf(1), batchOf(2));
  await damage(orphan, (await readFile(orphan)).length);
  expect(await idsOf({ ...parts, store: testStore(parts.dataDir, parts.engine) })).toEqual(ids);
});

test('concurrent appends lose nothing', async () => {
  const parts = await openStore();
  const ids = Array.from({ length: 400 }, (_, index) => index);
  const reading = (async () => {
    for (let seen = 0; seen < ids.length; seen = (await idsOf(parts)).length);
  })();
  await Promise.all(ids.map(id => append(parts, id)));
  expect(await idsOf(parts)).toEqual(ids);
  await reading;
});

test('events are merged into few files without loss or duplicates', async () => {
  const parts = await openStore();
  for (let id = 0; id < 30; id++) {
    await append(parts, 29 - id);
    await parts.store.snapshot('d');
  }
  const groups = async () => (await parts.store.snapshot('d')).rowGroups('d', -(2n ** 63n), 2n ** 63n - 1n);
  await expect.poll(async () => (await groups()).length).toBeLessThan(8);
  expect(await idsOf(parts)).toEqual(Array.from({ length: 30 }, (_, id) => id));
  await parts.store.close();
});

/** Merges eight files of one event each, the minimum; `during` is called when the merged file is written but not yet published. */
async function mergingStore(during: (parts: Parts, first: string) => Promise<void>, confirm?: () => void) {
  const parts = await openStore(confirm);
  const run = parts.engine.run.bind(parts.engine);
  let merged = 0;
  parts.engine.run = async (sql, signal) => {
    const rows = await run(sql, signal);
    if (!sql.includes('row_number() OVER () AS n')) return rows;
    const [first = ''] = await entries(parts, '.parquet');
    await during(parts, path.join(parts.directory, first));
    merged++;
    return rows;
  };
  for (let id = 0; id < 8; id++) {
    await append(parts, id);
    await parts.store.snapshot('d');
  }
  await expect.poll(() => merged).toBe(1);
  await parts.store.close();
  return { ...parts, store: testStore(parts.dataDir, parts.engine) };
}

const away = (parts: Parts) => path.join(parts.dataDir, 'away');

test('a file moved away during a merge is not merged, and counts once when it is back', async () => {
  let moved = '';
  const parts = await mergingStore(async (of, first) => {
    moved = first;
    await rename(first, away(of));
  });
  expect(await idsOf(parts)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(await entries(parts, '.replaces')).toEqual([]);
  await rename(away(parts), moved);
  expect(await idsOf(parts)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  await parts.store.close();
});

test('a file moved away just before the merge is published is not merged', async () => {
  let move = () => {};
  const parts = await mergingStore(
    async (of, first) => {
      move = () => renameSync(first, away(of));
    },
    () => {
      move();
      move = () => {};
    },
  );
  expect(await idsOf(parts)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect([await entries(parts, '.replaces'), (await entries(parts, '.parquet')).length]).toEqual([[], 7]);
  await parts.store.close();
});

test('a file overwritten during a merge keeps its new content', async () => {
  let bytes = Buffer.alloc(0);
  const parts = await mergingStore(async (of, first) => {
    const [, second = ''] = await entries(of, '.parquet');
    bytes = await readFile(path.join(of.directory, second));
    await writeFile(first, bytes);
  });
  const [first = '', ...others] = await entries(parts, '.parquet');
  expect([await readFile(path.join(parts.directory, first)), others.length]).toEqual([bytes, 7]);
  expect(await entries(parts, '.replaces')).toEqual([]);
  await parts.store.close();
});

test.skipIf(process.platform === 'win32')('a pipe in place of a file does not block a merge', async () => {
  const parts = await openStore();
  const run = parts.engine.run.bind(parts.engine);
  let failure = '';
  parts.engine.run = async (sql, signal) => {
    if (!sql.includes('row_number() OVER () AS n')) return run(sql, signal);
    const file = path.join(parts.directory, (await entries(parts, '.parquet'))[0] ?? '');
    await rename(file, away(parts));
    execFileSync('mkfifo', [file]);
    return run(sql, signal).catch(error => {
      failure = error.code;
      throw error;
    });
  };
  for (let id = 0; id < 8; id++) {
    await append(parts, id);
    await parts.store.snapshot('d');
  }
  await expect.poll(() => failure).toBe('query-canceled');
  await parts.store.close();
});

test.skipIf(process.platform === 'win32')(
  'a pipe in place of a file does not block a trim, which names it',
  async () => {
    const parts = await openStore();
    await append(parts, 1, 2);
    await parts.store.snapshot('d');
    const [name = ''] = await entries(parts, '.parquet');
    const file = path.join(parts.directory, name);
    const run = parts.engine.run.bind(parts.engine);
    parts.engine.run = async (sql, signal) => {
      await rename(file, away(parts));
      execFileSync('mkfifo', [file]);
      return run(sql, signal);
    };
    await expect(parts.store.trim('d', 1_700_000_002_000_000_000n)).rejects.toThrow(
      `${file} was replaced by a named pipe while it was being read.`,
    );
    await parts.store.close();
  },
);

test('a merged file moved away before its deletion does not count again when it is back', async () => {
  const parts = await mergingStore(async () => {});
  const [list = ''] = await entries(parts, '.replaces');
  const all = await entries(parts, '.parquet');
  const merged = list.replace('.replaces', '.parquet');
  const moved = path.join(parts.directory, all.find(name => name !== merged) ?? '');
  await rename(moved, away(parts));
  const before = new Date(Date.now() - 3_600_000);
  await utimes(path.join(parts.directory, merged), before, before);
  expect(await idsOf(parts)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect([await entries(parts, '.parquet'), await entries(parts, '.replaces')]).toEqual([[merged], [list]]);
  await rename(away(parts), moved);
  expect(await idsOf(parts)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  await parts.store.close();
});

test('backup files that come back beside their merged file do not count until it is gone', async () => {
  const parts = await mergingStore(async () => {});
  const [list = ''] = await entries(parts, '.replaces');
  const merged = path.join(parts.directory, list.replace('.replaces', '.parquet'));
  const backup = path.join(parts.dataDir, 'backup');
  await cp(parts.directory, backup, {
    recursive: true,
    filter: file => file !== merged && !file.endsWith('.replaces'),
  });
  const before = new Date(Date.now() - 3_600_000);
  await utimes(merged, before, before);
  const all = [0, 1, 2, 3, 4, 5, 6, 7];
  expect(await idsOf(parts)).toEqual(all);
  expect([await entries(parts, '.parquet'), await entries(parts, '.replaces')]).toEqual([
    [path.basename(merged)],
    [],
  ]);
  await cp(backup, parts.directory, { recursive: true });
  expect(await idsOf(parts)).toEqual(all);
  // A new service reads it from the footer.
  const next = { ...parts, store: testStore(parts.dataDir, parts.engine) };
  expect([await idsOf(next), (await entries(parts, '.parquet')).length]).toEqual([all, 9]);
  await rename(merged, away(parts));
  expect(await idsOf(next)).toEqual(all);
  await Promise.all([parts.store.close(), next.store.close()]);
});

test('copies of files and logs under other names never count beside the originals', async () => {
  const parts = await mergingStore(async () => {});
  const all = [0, 1, 2, 3, 4, 5, 6, 7];
  const [list = ''] = await entries(parts, '.replaces');
  const merged = list.replace('.replaces', '.parquet');
  const first = (await entries(parts, '.parquet')).find(name => name !== merged) ?? '';
  const copyOf = (name: string) => path.join(parts.directory, name.replace(/(\.\w+)$/, ' (1)$1'));
  const copied = async () =>
    (await checkData(parts.dataDir)).faults.map(({ file, state, reason }) => [
      ...[path.basename(file), state],
      reason,
    ]);
  const isCopy = (name: string) => [
    ...[path.basename(copyOf(name)), 'copied'],
    `is a copy of ${name}, and is ignored`,
  ];
  // Copy of a file whose rows are in a merged one: before and after the file is deleted, and with and without the list.
  await copyFile(path.join(parts.directory, first), copyOf(first));
  for (const gone of [undefined, first, list]) {
    if (gone !== undefined) await rm(path.join(parts.directory, gone));
    expect(await idsOf(parts)).toEqual(all);
    expect(await copied()).toEqual([isCopy(first)]);
  }
  // Copies of an existing log, and of one already stored in a file. A running store would adopt them before the next one starts.
  await parts.store.close();
  const orphan = await orphanOf(parts, batchOf(8), batchOf(9));
  await copyFile(orphan, copyOf(path.basename(orphan)));
  await copyFile(orphan, path.join(parts.directory, `Copy of ${path.basename(orphan)}`));
  const next = { ...parts, store: testStore(parts.dataDir, parts.engine) };
  for (let reading = 0; reading < 2; reading++) expect(await idsOf(next)).toEqual([...all, 8, 9]);
  const logs = await entries(parts, '.log');
  expect(logs.length).toBe(2);
  const copies = [path.basename(copyOf(first)), ...logs];
  const notices = (await next.store.snapshot('d')).notices(['d']).map(({ msg }) => msg);
  expect(notices.map(msg => copies.find(name => msg.includes(name)) ?? msg).sort()).toEqual(copies.sort());
  // Copies of a log that is gone are read once, whatever they are called.
  const gone = path.join(parts.dataDir, 'gone.log');
  const late = await orphanOf(parts, batchOf(10));
  await rename(late, gone);
  for (const ending of [' (1).log', '.sync-conflict-20260105-093000-7QNMTZ2.log'])
    await copyFile(gone, late.replace(/\.log$/, ending));
  for (let reading = 0; reading < 2; reading++) expect(await idsOf(next)).toEqual([...all, 8, 9, 10]);
  await next.store.close();
});

test('an already stored log of a killed process does not outlive the file with its events', async () => {
  const begun = await openStore();
  const { directory } = begun;
  // One file fewer than the minimum for a merge, so that the log is there before the merge begins.
  for (let id = 0; id < 7; id++) {
    await append(begun, id);
    await begun.store.snapshot('d');
  }
  const [first = ''] = await entries(begun, '.parquet');
  const [, id = ''] = /^\d+-([^.]+)/.exec(first) ?? [];
  await orphanWith(begun, id, [batchOf(0)]);
  await append(begun, 7);
  await begun.store.close();
  const parts = { ...begun, store: testStore(begun.dataDir, begun.engine) };
  await append(parts, 8);
  await expect.poll(() => entries(parts, '.replaces')).not.toEqual([]);
  const before = new Date(Date.now() - 3_600_000);
  for (const name of await entries(parts, '.parquet'))
    await utimes(path.join(directory, name), before, before);
  expect(await idsOf(parts)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  await parts.store.close();
});

test('events for a deleted dataset are refused and do not recreate it', async () => {
  const parts = await openStore();
  await append(parts, 1);
  await parts.store.remove('d');
  await expect(append(parts, 2)).rejects.toMatchObject({ kind: 'not-found', code: 'dataset-not-found' });
  await parts.store.create('d');
  expect(await idsOf(parts)).toEqual([]);
});

test('events for a dataset recreated in the meantime are kept', async () => {
  const parts = await openStore();
  await append(parts, 1);
  await rename(parts.directory, path.join(parts.dataDir, 'gone'));
  await parts.store.create('d');
  await append(parts, 2);
  expect(await idsOf(parts)).toEqual([2]);
});

test('a replacement replaces events appended before it', async () => {
  const parts = await openStore();
  await append(parts, 1);
  const file = path.join(parts.engine.workDir, 'new.parquet');
  await parts.engine.run(
    `COPY (SELECT make_timestamp_ns(5) AS _time, 7 AS id) TO '${file}' (FORMAT parquet)`,
  );
  await parts.store.publish('d', file, true);
  await append(parts, 8);
  expect(await idsOf(parts)).toEqual([7, 8]);
});

/** Opens a store whose service can lose the data directory. */
async function losingStore() {
  let lost = false;
  const parts = await openStore(() => {
    if (lost) throw new Error('lost');
  });
  const lose = () => {
    lost = true;
  };
  return { ...parts, lose };
}

test('an append to a log that another service adopted is neither acknowledged nor repeated', async () => {
  const parts = await losingStore();
  await append(parts, 1);
  const [log = ''] = await entries(parts, '.log');
  const taken = `ffffffff-7-0123456789ab-${log.split('-').slice(-5).join('-')}`;
  await rename(path.join(parts.directory, log), path.join(parts.directory, taken));
  parts.lose();
  await expect(append(parts, 2)).rejects.toThrow('lost');
  expect(await entries(parts, '.log')).toEqual([taken]);
});

test('a service that has lost the data directory stores nothing and leaves its log to the next', async () => {
  const parts = await losingStore();
  await append(parts, 1);
  const logs = await entries(parts, '.log');
  parts.lose();
  await expect(idsOf(parts)).rejects.toThrow('lost');
  expect([await entries(parts, '.log'), await entries(parts, '.parquet')]).toEqual([logs, []]);
});

test('the log of a service elsewhere is adopted by the next', async () => {
  const parts = await openStore();
  const orphan = await orphanOf(parts, batchOf(1, 2));
  const elsewhere = `ffffffff-${process.pid}-0123456789ab-${crypto.randomUUID()}.log`;
  await rename(orphan, path.join(parts.directory, elsewhere));
  expect(await idsOf(parts)).toEqual([1, 2]);
  expect([await entries(parts, '.log'), (await entries(parts, '.parquet')).length]).toEqual([[], 1]);
});

test('the log of a running service of an older version is left alone', async () => {
  const parts = await openStore();
  const orphan = await orphanOf(parts, batchOf(1));
  const [, pid, start] = (await ownName()).split('-');
  const running = path.join(parts.directory, `${pid}-${start}-${crypto.randomUUID()}.log`);
  await rename(orphan, running);
  expect(await idsOf(parts)).toEqual([]);
  expect(await entries(parts, '.log')).toEqual([path.basename(running)]);
});

test.skipIf(process.platform === 'win32')(
  'a log is renamed before it is read, so that its writer notices',
  async () => {
    const parts = await openStore();
    const orphan = await orphanOf(parts, batchOf(1));
    const content = await readFile(orphan);
    await rm(orphan);
    // A pipe cannot be read, and is renamed back.
    execFileSync('mkfifo', [orphan]);
    const names = new Set<string | null>();
    const watcher = watch(parts.directory, (_, name) => names.add(name));
    onTestFinished(() => watcher.close());
    await expect(idsOf(parts)).rejects.toThrow('it is a pipe, a socket or a device');
    const taken = path.basename(orphan).replace(/^.*(?=(?:-[\da-f]+){5}\.log$)/, await ownName());
    await expect.poll(() => [...names]).toContain(taken);
    expect(await entries(parts, '.log')).toEqual([path.basename(orphan)]);
    await rm(orphan);
    await writeFile(orphan, content);
    expect(await idsOf(parts)).toEqual([1]);
  },
);
