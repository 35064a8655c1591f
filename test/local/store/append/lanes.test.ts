import { mkdir, readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Engine } from '../../../../kernel/local/engine/duckdb.js';
import { readBatch } from '../../../../kernel/local/store/append/append-batch.js';
import { Journal } from '../../../../kernel/local/store/append/journal.js';
import { temporaryDirectory } from '../../service.js';

/** Opens a journal over directories; `placing` may delay or refuse the files of a dataset. */
async function openJournal(placing: (dataset: string) => Promise<void>) {
  const dataDir = await temporaryDirectory();
  const engine = await Engine.open({ dataDir, families: [] });
  onTestFinished(() => engine.close());
  const directoryOf = (dataset: string) => path.join(dataDir, dataset);
  for (const dataset of ['a', 'b']) await mkdir(directoryOf(dataset));
  const journal = new Journal({
    engine,
    confirm: () => undefined,
    directoryOf,
    add: async (dataset, file, id) => {
      await placing(dataset);
      await rename(file, path.join(directoryOf(dataset), `1-${id}.parquet`));
    },
    has: async () => false,
    log: () => undefined,
  });
  const batch = readBatch('{"_time":1700000000,"id":1}', undefined, 1n);
  if (batch === undefined) throw new Error('no batch');
  return {
    journal,
    append: (dataset: string) => journal.append(dataset, batch),
    filesOf: async (dataset: string) => (await readdir(directoryOf(dataset))).map(name => path.extname(name)),
  };
}

/** Returns a gate, and a function that opens it. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>(resolve => {
    open = resolve;
  });
  return { opened, open };
}

test('a dataset is stored while another is blocked, and reports when it is settled', async () => {
  const held = gate();
  const { journal, append, filesOf } = await openJournal(name =>
    name === 'a' ? held.opened : Promise.resolve(),
  );
  expect([journal.isSettled('a'), journal.isSettled('b')]).toEqual([true, true]);
  await Promise.all([append('a'), append('b')]);
  expect([journal.isSettled('a'), journal.isSettled('b')]).toEqual([false, false]);
  const flushed = journal.flush('a');
  expect(await journal.flush('b')).toEqual(new Map());
  expect([journal.isSettled('a'), journal.isSettled('b')]).toEqual([false, true]);
  expect([await filesOf('a'), await filesOf('b')]).toEqual([['.log'], ['.parquet']]);
  held.open();
  expect(await flushed).toEqual(new Map());
  expect([journal.isSettled('a'), await filesOf('a')]).toEqual([true, ['.parquet']]);
});

test('a requested dataset is stored while a flush of all waits for another', async () => {
  const held = gate();
  const { journal, append } = await openJournal(name => (name === 'a' ? held.opened : Promise.resolve()));
  await Promise.all([append('a'), append('b')]);
  const flushed = journal.flush();
  expect(await journal.flush('b')).toEqual(new Map());
  held.open();
  expect(await flushed).toEqual(new Map());
});

test('flushes of a dataset that is being stored share the next turn', async () => {
  const first = gate();
  const begun = gate();
  let files = 0;
  const { journal, append } = await openJournal(() => {
    begun.open();
    files++;
    return first.opened;
  });
  await append('a');
  const turns = [journal.flush('a')];
  await begun.opened;
  await append('a');
  turns.push(journal.flush('a'), journal.flush('a'), journal.flush());
  first.open();
  expect(await Promise.all(turns)).toEqual([new Map(), new Map(), new Map(), new Map()]);
  expect([files, journal.isSettled('a')]).toEqual([2, true]);
});

test('a dataset that cannot be stored is named, and others are stored, even by the timer', async () => {
  const full = new Error('full');
  let isFull = true;
  const { journal, append, filesOf } = await openJournal(async name => {
    if (name === 'a' && isFull) throw full;
  });
  await append('a');
  await append('b');
  await expect.poll(() => journal.isSettled('b')).toBe(true);
  expect([await filesOf('a'), await filesOf('b')]).toEqual([['.log'], ['.parquet']]);
  expect([await journal.flush('a'), await journal.flush('b'), await journal.flush()]).toEqual([
    new Map([['a', full]]),
    new Map(),
    new Map([['a', full]]),
  ]);
  isFull = false;
  expect(await journal.flush('a')).toEqual(new Map());
  expect([journal.isSettled('a'), await filesOf('a')]).toEqual([true, ['.parquet']]);
});
