import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { Engine } from '../../../../kernel/local/engine/duckdb.js';
import { encodeHeader, headerBytes } from '../../../../kernel/local/store/append/records.js';
import { temporaryDirectory } from '../../service.js';
import { stillStore } from '../dataset/stores.js';
import { damaged, goneProcess, type LogSample, type Random, sampleLog, wholeIn } from './logs.js';

const records = 40;

/** Each round damages fifty logs; `FAULTS=long` runs more rounds. */
const rounds = process.env.FAULTS === 'long' ? 10 : 2;

async function currentSample(count = records): Promise<LogSample> {
  return sampleLog(path.join(await temporaryDirectory(), 'log'), count);
}

/** A log written before logs had a header. */
async function firstSample(): Promise<LogSample> {
  const text = await readFile(new URL('first-format.log.base64', import.meta.url), 'utf8');
  const bytes = Buffer.from(text, 'base64');
  const starts: number[] = [];
  for (let at = 0; at < bytes.length; at += 8 + bytes.readUInt32LE(at)) starts.push(at);
  return { bytes, starts };
}

/** Opens a store with one dataset, and a place for logs of an ended process. */
async function openBench() {
  const dataDir = await temporaryDirectory();
  const engine = await Engine.open({ dataDir, families: [] });
  onTestFinished(() => engine.close());
  const said: string[] = [];
  const directory = path.join(dataDir, 'datasets', 'd');
  const owner = await goneProcess();
  const openStore = () => stillStore(dataDir, engine, [], line => said.push(line));
  let store = openStore();
  await store.create('d');
  const idsOf = async () => {
    const snapshot = await store.snapshot('d');
    if (snapshot.schema('d')?.fields.every(field => field.name !== 'id') !== false) return [];
    const scan = snapshot.scan('d', ['id'], -(2n ** 63n), 2n ** 63n - 1n);
    return (await engine.run(`SELECT f0 FROM (${scan}) ORDER BY f0`)).map(([id]) => Number(id));
  };
  return {
    directory,
    said,
    idsOf,
    orphan: () => path.join(directory, `${owner}-${crypto.randomUUID()}.log`),
    restart: () => {
      store = openStore();
    },
    entries: async (suffix: string) => (await readdir(directory)).filter(name => name.endsWith(suffix)),
    empty: async () => {
      for (const name of await readdir(directory))
        if (name !== 'dataset.json') await rm(path.join(directory, name), { recursive: true });
      said.length = 0;
    },
  };
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function twice(ids: readonly number[]): number[] {
  return ids.flatMap(id => [id, id]);
}

/** Mulberry32. */
function randomOf(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test.each([
  [
    'in the current format',
    currentSample,
    2_000,
    { 2: { lost: 999, aside: 100 }, 10: { lost: 4389, aside: 500 } },
  ],
  // Its records have nothing to identify duplicates by.
  ['in the first format', firstSample, 200, { 2: { lost: 908, aside: 100 }, 10: { lost: 3936, aside: 500 } }],
] as const)(
  'a damaged log %s keeps every whole record once, and sets the rest aside with a message',
  async (_, sample, mostInserted, expectedCounts) => {
    const log = await sample();
    expect(log.starts.length).toBe(records);
    const bench = await openBench();
    const random = randomOf(26);
    const counts = { lost: 0, aside: 0 };
    for (let round = 0; round < rounds; round++) {
      await bench.empty();
      const copies = Array.from({ length: 50 }, () => damaged(log.bytes, random, mostInserted));
      for (const copy of copies) await writeFile(bench.orphan(), copy);
      const whole = copies.flatMap(copy => wholeIn(copy, log));
      counts.lost += copies.length * records - whole.length;
      expect([round, await bench.idsOf()]).toEqual([round, twice(whole).sort((a, b) => a - b)]);
      const expected = copies.filter(copy => !copy.equals(log.bytes)).map(digest);
      const aside = await bench.entries('.damaged');
      const kept = await Promise.all(aside.map(name => readFile(path.join(bench.directory, name))));
      expect(kept.map(digest).sort()).toEqual(expected.sort());
      counts.aside += aside.length;
      expect(bench.said.length).toBe(aside.length);
      for (const name of aside) expect(bench.said.filter(line => line.includes(name)).length).toBe(1);
      expect(await bench.entries('.log')).toEqual([]);
    }
    expect(counts).toEqual(expectedCounts[rounds]);
  },
  // Up to a thousand logs, each synced to disk.
  600_000,
);

/** Changes to a log of three batches before or after the fourth, the remaining batches, and the message about the rest. */
const cases: readonly (readonly [string, (log: LogSample, fourth: Buffer) => Buffer, number[], string])[] = [
  ['that is intact', ({ bytes }) => bytes, [0, 1, 2], ''],
  ['with only a header', () => encodeHeader(headerBytes), [], ''],
  [
    'with a partial first batch',
    ({ bytes, starts: [first = 0] }) => join(encodeHeader(first), bytes.subarray(first, first + 99)),
    [],
    '',
  ],
  [
    'with one byte of another batch',
    ({ bytes }, fourth) => join(bytes, fourth.subarray(0, 1)),
    [0, 1, 2],
    '',
  ],
  ['with part of another batch', ({ bytes }, fourth) => join(bytes, fourth.subarray(0, 99)), [0, 1, 2], ''],
  ['with a whole unacknowledged batch', ({ bytes }, fourth) => join(bytes, fourth), [0, 1, 2, 3], ''],
  [
    'without a batch',
    ({ bytes, starts: [first] }) => bytes.subarray(0, first),
    [],
    '0 bytes could not be read, and 780 bytes are missing. 0 of its batches are kept',
  ],
  [
    'that is empty',
    ({ bytes }) => bytes.subarray(0, 0),
    [],
    '0 bytes could not be read. 0 of its batches are kept',
  ],
  [
    'cut in its header',
    ({ bytes }) => bytes.subarray(0, 20),
    [],
    '20 bytes could not be read. 0 of its batches are kept',
  ],
  [
    'cut in its last batch',
    ({ bytes }) => bytes.subarray(0, -1),
    [0, 1],
    '259 bytes could not be read, and 1 byte is missing. 2 of its batches are kept',
  ],
  [
    'cut before its last batch',
    ({ bytes, starts: [, , last] }) => bytes.subarray(0, last),
    [0, 1],
    '0 bytes could not be read, and 260 bytes are missing. 2 of its batches are kept',
  ],
  [
    'with a flipped bit in its header',
    ({ bytes }) => flipped(bytes, 13),
    [0, 1, 2],
    '24 bytes could not be read. 3 of its batches are kept',
  ],
  [
    'with a flipped bit in its first batch',
    ({ bytes }) => flipped(bytes, 90),
    [1, 2],
    '260 bytes could not be read. 2 of its batches are kept',
  ],
  [
    'with a flipped bit in its last batch',
    ({ bytes }) => flipped(bytes, bytes.length - 9),
    [0, 1],
    '260 bytes could not be read. 2 of its batches are kept',
  ],
  [
    'with a wrong length in its first batch',
    ({ bytes, starts: [first = 0] }) => flipped(bytes, first + 14),
    [1, 2],
    '260 bytes could not be read. 2 of its batches are kept',
  ],
  [
    'without its first batch',
    ({ bytes, starts: [first, second] }) => join(bytes.subarray(0, first), bytes.subarray(second)),
    [1, 2],
    '0 bytes could not be read, and 260 bytes are missing. 2 of its batches are kept',
  ],
  [
    'with its first batch twice',
    ({ bytes, starts: [first, second] }) => join(bytes.subarray(0, second), bytes.subarray(first)),
    [0, 1, 2],
    '260 bytes could not be read. 3 of its batches are kept',
  ],
  [
    'followed by zeros',
    ({ bytes }) => join(bytes, Buffer.alloc(4096)),
    [0, 1, 2],
    '4,096 bytes could not be read. 3 of its batches are kept',
  ],
];

test.each(cases)('a log %s keeps its readable batches', async (_, change, ids, text) => {
  const all = await currentSample(4);
  const bench = await openBench();
  const orphan = bench.orphan();
  await writeFile(orphan, change(await currentSample(3), all.bytes.subarray(all.starts[3])));
  expect(await bench.idsOf()).toEqual(twice(ids));
  const [aside = ''] = await bench.entries('.damaged');
  const file = path.join(bench.directory, aside.replace('.damaged', ''));
  expect(bench.said).toEqual(
    text === '' ? [] : [`${file} is damaged: ${text}, and the file is set aside as ${aside}.`],
  );
});

function join(...parts: readonly Buffer[]): Buffer {
  return Buffer.concat(parts);
}

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ 4, at);
  return copy;
}

test('a damaged log whose batches were stored before a kill is set aside once, and they count once', async () => {
  const bench = await openBench();
  const orphan = bench.orphan();
  const { bytes } = await currentSample(3);
  await writeFile(orphan, flipped(bytes, 90));
  expect(await bench.idsOf()).toEqual(twice([1, 2]));
  for (const name of await bench.entries('.damaged')) await rename(path.join(bench.directory, name), orphan);
  bench.restart();
  expect(await bench.idsOf()).toEqual(twice([1, 2]));
  expect([await bench.entries('.log'), (await bench.entries('.damaged')).length]).toEqual([[], 1]);
});

const unreadable: readonly (readonly [string, (file: string) => Promise<unknown>, string])[] = [
  ['is a directory', file => mkdir(file), 'it is a directory'],
  ['a later version wrote', writeLater, 'a later version of apl-kernel wrote it'],
];

async function writeLater(file: string): Promise<void> {
  const header = Buffer.from((await currentSample(1)).bytes);
  header.writeUInt32LE(3, 8);
  header.writeUInt32LE(crc32(header.subarray(0, 20)), 20);
  await writeFile(file, header);
}

test.each(unreadable)(
  'a log that %s stays in place, and queries of its dataset are refused by name',
  async (_, make, reason) => {
    const bench = await openBench();
    const orphan = bench.orphan();
    await make(orphan);
    const other = bench.orphan();
    await writeFile(other, (await currentSample(3)).bytes);
    await expect(bench.idsOf()).rejects.toMatchObject({
      code: 'log-unreadable',
      message: `The event log ${orphan} cannot be read: ${reason}.`,
    });
    expect(await bench.entries('.log')).toEqual([path.basename(orphan)]);
    await rename(orphan, path.join(bench.directory, '..', '..', 'moved'));
    expect(await bench.idsOf()).toEqual(twice([0, 1, 2]));
  },
);
