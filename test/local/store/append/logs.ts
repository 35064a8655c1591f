import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, stat } from 'node:fs/promises';
import { readBatch } from '../../../../kernel/local/store/append/append-batch.js';
import { BatchLog } from '../../../../kernel/local/store/append/append-log.js';

/** The bytes of a log, and the offsets of its records. */
export interface LogSample {
  readonly bytes: Buffer;
  readonly starts: readonly number[];
}

/** Writes a log, reads its bytes and removes it; each record has two events with its number as `id`. */
export async function sampleLog(file: string, records: number): Promise<LogSample> {
  const log = new BatchLog(file, `${file}.tmp`);
  const ends: number[] = [];
  for (let id = 0; id < records; id++) {
    const body = [1, 2].map(part => `{"_time":${1_700_000_000 + id},"id":${id},"part":${part}}`).join('\n');
    const batch = readBatch(body, undefined, 1n);
    if (batch === undefined) throw new Error('no batch');
    await log.append(batch);
    ends.push((await stat(file)).size);
  }
  await log.close();
  const bytes = await readFile(file);
  await rm(file);
  // The first two records have the same length.
  const [first = 0, second = 2 * first] = ends;
  return { bytes, starts: [2 * first - second, ...ends.slice(0, -1)] };
}

/** Returns the prefix of log names for a process that has ended. */
export async function goneProcess(): Promise<string> {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  return `${child.pid}-0123456789ab`;
}

/** A generator of random numbers from 0 to 1. */
export type Random = () => number;

/** Returns a copy of a file with up to three damages at random positions; each inserts at most `mostInserted` bytes. */
export function damaged(bytes: Buffer, random: Random, mostInserted: number): Buffer {
  const times = 1 + Math.floor(random() ** 2 * 3);
  return Array.from({ length: times }, () => pick(damages, random)).reduce(
    (before, damage) => damage(Buffer.from(before), random, mostInserted),
    bytes,
  );
}

const damages: readonly ((bytes: Buffer, random: Random, mostInserted: number) => Buffer)[] = [
  // Flips a bit.
  (bytes, random) => {
    if (bytes.length === 0) return bytes;
    const at = below(bytes.length, random);
    bytes.fill((bytes[at] ?? 0) ^ (1 << below(8, random)), at, at + 1);
    return bytes;
  },
  // Truncates the file.
  (bytes, random) => bytes.subarray(0, below(bytes.length, random)),
  // Zeroes a range.
  (bytes, random) => {
    const at = below(bytes.length, random);
    return bytes.fill(0, at, Math.min(bytes.length, at + 1 + below(2_000, random)));
  },
  // Inserts random bytes.
  (bytes, random, mostInserted) => {
    const garbage = Array.from({ length: inserted(mostInserted, random) }, () => below(256, random));
    return insert(bytes, Buffer.from(garbage), random);
  },
  // Inserts a range of the file itself.
  (bytes, random, mostInserted) => {
    const from = below(bytes.length, random);
    return insert(bytes, Buffer.from(bytes.subarray(from, from + inserted(mostInserted, random))), random);
  },
  // Removes a range.
  (bytes, random) => {
    const at = below(bytes.length, random);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + below(2_000, random))]);
  },
];

/** Returns the records that are intact in a damaged copy of a log. */
export function wholeIn(copy: Buffer, { bytes, starts }: LogSample): number[] {
  return starts.flatMap((start, index) =>
    copy.includes(bytes.subarray(start, starts[index + 1] ?? bytes.length)) ? [index] : [],
  );
}

/** Returns a length that is unlikely to form the beginning of a record by chance. */
function inserted(most: number, random: Random): number {
  return 16 + below(most - 16, random);
}

function insert(bytes: Buffer, garbage: Buffer, random: Random): Buffer {
  const at = below(bytes.length + 1, random);
  return Buffer.concat([bytes.subarray(0, at), garbage, bytes.subarray(at)]);
}

function pick<T>(values: readonly T[], random: Random): T {
  return values[below(values.length, random)] as T;
}

function below(limit: number, random: Random): number {
  return Math.floor(random() * limit);
}
