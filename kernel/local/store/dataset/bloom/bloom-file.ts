import { crc32 } from 'node:zlib';
import { mostBytes, overwrite } from '../../../../files.js';
import type { Lookup } from '../../../sql/compiled-query.js';
import { bytesAt, withFile } from '../part-file.js';
import { isSealed, mayHold, pageBytes, pageOf } from './bloom-pages.js';

/** Consecutive row groups of a Parquet file: the index of the first, and the number of rows and filter pages of each. */
export interface GroupRun {
  /** Name of the Parquet file, and the version that the filters were built for. */
  readonly name: string;
  readonly version: string;
  readonly first: number;
  readonly rows: readonly number[];
  readonly pages: readonly number[];
}

/** Header of a file of Bloom filters: field, kind of lookup, and row groups. */
export interface BloomHeader extends Pick<Lookup, 'field' | 'kind'> {
  readonly runs: readonly GroupRun[];
}

/** A file of Bloom filters. Pages start at `pagesAt`, in the order of the row groups. */
export interface BloomFile extends BloomHeader {
  readonly path: string;
  readonly pagesAt: number;
  readonly groups: readonly PlacedGroup[];
}

/** A row group in a filter file: its run, its index in the Parquet file, and its pages. */
interface PlacedGroup {
  readonly run: GroupRun;
  readonly group: number;
  readonly firstPage: number;
  readonly pages: number;
}

/** Length and checksum of the JSON header, which follows. */
const prefixBytes = 8;
const format = 2;

/** Writes the filters of row groups; a file truncated by a crash fails its checksums. Rejects with the system's error. */
export async function writeBlooms(path: string, header: BloomHeader, pages: Buffer): Promise<BloomFile> {
  const json = Buffer.from(JSON.stringify({ format, ...header }));
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32LE(json.length, 0);
  prefix.writeUInt32LE(crc32(json), 4);
  await overwrite(path, Buffer.concat([prefix, json, pages]));
  return { ...header, path, pagesAt: prefixBytes + json.length, groups: groupsIn(header.runs) };
}

/** Returns a filter file from its header, undefined if this version did not write it completely. Rejects with the system's error. */
export async function readBlooms(path: string): Promise<BloomFile | undefined> {
  return withFile(path, async handle => {
    const prefix = await bytesAt(handle, 0, prefixBytes);
    const length = prefix.length < prefixBytes ? mostBytes : prefix.readUInt32LE(0);
    const json = length < mostBytes ? await bytesAt(handle, prefixBytes, length) : undefined;
    if (json === undefined || crc32(json) !== prefix.readUInt32LE(4)) return undefined;
    const content = JSON.parse(json.toString()) as BloomHeader & { readonly format: number };
    if (content.format !== format) return undefined;
    return { ...content, path, pagesAt: prefixBytes + length, groups: groupsIn(content.runs) };
  });
}

/**
 * Returns the row groups that contain none of the values, for each run that `isWanted`. Rejects with the system's error, or with RangeError
 * if a page is damaged.
 */
export async function groupsWithout(
  file: BloomFile,
  isWanted: (run: GroupRun) => boolean,
  hashes: readonly number[],
): Promise<ReadonlyMap<GroupRun, readonly number[]>> {
  const fitting = new Set(file.runs.filter(isWanted));
  const placed = file.groups.filter(({ run }) => fitting.has(run));
  const asked = placed.flatMap(group => hashes.map(hash => group.firstPage + pageOf(hash, group.pages)));
  const pages = await pagesIn(
    file,
    [...new Set(asked)].sort((a, b) => a - b),
  );
  const without = new Map([...fitting].map(run => [run, [] as number[]]));
  for (const { run, group, firstPage, pages: count } of placed) {
    const holds = hashes.some(hash => {
      const page = pages.get(firstPage + pageOf(hash, count));
      return page === undefined || mayHold(page, hash);
    });
    if (!holds) without.get(run)?.push(group);
  }
  return without;
}

function groupsIn(runs: readonly GroupRun[]): readonly PlacedGroup[] {
  let firstPage = 0;
  return runs.flatMap(run =>
    run.pages.map((pages, index) => {
      firstPage += pages;
      return { run, group: run.first + index, firstPage: firstPage - pages, pages };
    }),
  );
}

/** Reads pages by ascending index, adjacent ones together. */
async function pagesIn(file: BloomFile, numbers: readonly number[]): Promise<ReadonlyMap<number, Buffer>> {
  const found = new Map<number, Buffer>();
  await withFile(file.path, async handle => {
    for (const [first, ...others] of near(numbers)) {
      if (first === undefined) continue;
      const count = (others.at(-1) ?? first) - first + 1;
      const bytes = await bytesAt(handle, file.pagesAt + first * pageBytes, count * pageBytes);
      for (const number of [first, ...others]) {
        const start = (number - first) * pageBytes;
        const page = bytes.subarray(start, start + pageBytes);
        if (!isSealed(page, number)) throw new RangeError('a page of a filter is not as it was written');
        found.set(number, page);
      }
    }
  });
  return found;
}

/** Maximum gap between pages read together, and maximum number of pages per read. */
const gapPages = 16;
const mostPages = 256;

function near(numbers: readonly number[]): readonly (readonly number[])[] {
  const found: number[][] = [];
  for (const number of numbers) {
    const [first = 0, last = 0] = [found.at(-1)?.[0], found.at(-1)?.at(-1)];
    const joins = found.length > 0 && number - last <= gapPages && number - first < mostPages;
    if (joins) found.at(-1)?.push(number);
    else found.push([number]);
  }
  return found;
}
