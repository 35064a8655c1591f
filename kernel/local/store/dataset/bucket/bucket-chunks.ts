import { constants } from 'node:fs';
import { type FileHandle, mkdir, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { openFile, overwrite, textOf, writeAll } from '../../../../files.js';
import { formatBytes } from '../../../../text.js';
import { LocalError } from '../../../local-errors.js';
import { mapAtMost } from '../../concurrent.js';
import { clearName, makeOwnDirectory, versionOf } from '../../store-files.js';
import type { ObjectEnd } from './bucket-footers.js';
import type { PlacedObject } from './bucket-tree.js';
import type { Asking, BucketClient } from './client/bucket-client.js';
import { type ChunkRange, footerOfGroup, type ObjectGroup } from './object-footer.js';

/** A row group of an object, cached as a Parquet file of its own. */
export interface Unit {
  readonly id: string;
  readonly object: PlacedObject;
  readonly end: ObjectEnd;
  /** Index among the row groups of the object. */
  readonly index: number;
  readonly group: ObjectGroup;
  /** Bytes of columns by the engine's names: those of the object may be equal, or differ only by case. */
  readonly chunks: ReadonlyMap<string, readonly ChunkRange[]>;
}

/** Columns of a row group, by the engine's name of each top-level column. */
export interface Wanted {
  readonly unit: Unit;
  readonly columns: readonly string[];
}

/** Cached bytes with their checksum: columns, and the footer written here. */
type Kept = readonly [from: number, to: number, checksum: number];

interface KeptUnit {
  ranges: readonly Kept[];
  /** Version of the file when its checksums were verified; undefined before that. */
  seen: string | undefined;
  /** Whether the file exists. */
  made: boolean;
  used: number;
  pins: number;
}

/**
 * Cache of row groups of objects, as sparse files of the object's size with the columns read so far and a footer for that row group alone.
 * Files may be deleted at any time while no service runs; one that does not match its checksums is read again.
 */
export class ChunkCache {
  readonly #directory: string;
  readonly #mostBytes: number;
  readonly #units = new Map<string, KeptUnit>();
  readonly #turns = new Map<string, Promise<unknown>>();
  #opened: Promise<void> | undefined;
  #bytes = 0;
  #clock = 0;
  /** Mtime to set on a file, in seconds, unique for each change. */
  #stamp = 0;

  constructor(directory: string, mostBytes: number) {
    this.#directory = directory;
    this.#mostBytes = mostBytes;
  }

  pathOf({ id }: Pick<Unit, 'id'>): string {
    return path.join(this.#directory, `${id}.parquet`);
  }

  /** Whether columns of a row group are cached and readable. */
  has({ unit, columns }: Wanted): boolean {
    const kept = this.#units.get(unit.id);
    return kept?.seen !== undefined && kept.made && missing(kept, rangesOf(unit, columns)).length === 0;
  }

  /** Returns the number of bytes of columns that are not cached. */
  bytesMissing(wanted: readonly Wanted[]): number {
    return lengthOf(wanted.flatMap(({ unit, columns }) => this.#missing(unit, columns)));
  }

  /** Reads what is not cached, and pins everything until `release` is called with the returned ids. Throws LocalError. */
  async fetch(client: BucketClient, wanted: readonly Wanted[], asking: Asking): Promise<readonly string[]> {
    this.#opened ??= this.#open();
    await this.#opened.catch(error => {
      this.#opened = undefined;
      throw error;
    });
    const ids = wanted.map(({ unit }) => this.#pin(unit));
    try {
      await mapAtMost(unitsAtOnce, wanted, each =>
        this.#inTurn(each.unit.id, () => this.#verify(each.unit.id)),
      );
      this.#makeRoom(wanted.flatMap(({ unit, columns }) => this.#missing(unit, columns)));
      await mapAtMost(unitsAtOnce, wanted, each =>
        this.#inTurn(each.unit.id, () => this.#fill(client, each, asking)),
      );
      return ids;
    } catch (error) {
      this.release(ids);
      throw error;
    }
  }

  /** Unpins what {@link fetch} pinned. */
  release(ids: readonly string[]): void {
    for (const id of ids) {
      const kept = this.#units.get(id);
      if (kept !== undefined) kept.pins--;
    }
  }

  /** Whether cached files are intact, compared even if they seem unchanged; damaged ones are read again. */
  async areWhole(ids: readonly string[]): Promise<boolean> {
    const damaged: string[] = [];
    await mapAtMost(unitsAtOnce, ids, id =>
      this.#inTurn(id, async () => {
        const kept = this.#units.get(id);
        if (kept?.made !== true || (await this.#isWhole(id, kept))) return;
        await this.#forget(id, kept);
        damaged.push(id);
      }),
    );
    return damaged.length === 0;
  }

  #pin({ id }: Unit): string {
    const kept = this.#units.get(id) ?? { ranges: [], seen: undefined, made: false, used: 0, pins: 0 };
    this.#units.set(id, kept);
    kept.pins++;
    kept.used = ++this.#clock;
    return id;
  }

  #missing(unit: Unit, columns: readonly string[]): readonly ChunkRange[] {
    const kept = this.#units.get(unit.id);
    const ranges = rangesOf(unit, columns);
    return kept === undefined ? ranges : missing(kept, ranges);
  }

  /** Checks the checksums of a file from an earlier process, or one changed since this process wrote it. */
  async #verify(id: string): Promise<void> {
    const kept = this.#units.get(id);
    if (kept?.made !== true) return;
    const now = versionOf(this.pathOf({ id }))?.text;
    if (now !== undefined && now === kept.seen) return;
    if (now !== undefined && (await this.#isWhole(id, kept))) kept.seen = now;
    else await this.#forget(id, kept);
  }

  #isWhole(id: string, { ranges }: KeptUnit): Promise<boolean> {
    return withFile(this.pathOf({ id }), constants.O_RDONLY, async file => {
      for (const [from, to, checksum] of ranges) {
        const bytes = Buffer.allocUnsafe(to - from);
        const { bytesRead } = await file.read(bytes, 0, bytes.length, from);
        if (bytesRead < bytes.length || crc32(bytes) !== checksum) return false;
      }
      // The engine expects the footer at the end.
      return (await file.stat()).size === Math.max(...ranges.map(([, to]) => to));
    }).catch(() => false);
  }

  async #forget(id: string, kept: KeptUnit): Promise<void> {
    this.#bytes -= bytesIn(kept);
    kept.ranges = [];
    kept.made = false;
    await this.#remove(id);
  }

  /** Evicts the least recently used row groups. Throws LocalError (`too-large`) if one query needs more than the maximum. */
  #makeRoom(ranges: readonly ChunkRange[]): void {
    const bytes = lengthOf(ranges);
    const oldest = [...this.#units]
      .filter(([, { pins }]) => pins === 0)
      .sort(([, a], [, b]) => a.used - b.used);
    for (const [id, kept] of oldest) {
      if (this.#bytes + bytes <= this.#mostBytes) return;
      this.#bytes -= bytesIn(kept);
      this.#units.delete(id);
      void this.#inTurn(id, () => this.#remove(id));
    }
    if (this.#bytes + bytes <= this.#mostBytes) return;
    const [wanted, most] = [formatBytes(bytes), formatBytes(this.#mostBytes)];
    throw new LocalError(
      'too-large',
      'bucket',
      `This query would read ${wanted} from the bucket, more than the ${most} that fit in the local cache.`,
      { hint: 'Choose a shorter time range, or keep fewer fields with `project`.' },
    );
  }

  async #fill(client: BucketClient, { unit, columns }: Wanted, asking: Asking): Promise<void> {
    const kept = this.#units.get(unit.id);
    if (kept === undefined) return;
    const ranges = missing(kept, rangesOf(unit, columns));
    if (ranges.length === 0 && kept.made) return;
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const file = this.pathOf(unit);
    const writing = withFile(file, kept.made ? constants.O_RDWR : newFile, async handle => {
      if (!kept.made) await this.#put(kept, handle, unit.end.start, endOf(unit));
      kept.made = true;
      for (const { from, to } of piecesOf(ranges)) {
        asking.signal?.throwIfAborted();
        await this.#put(kept, handle, from, await client.read(unit.object, from, to, asking));
      }
      // The engine caches bytes by mtime in seconds, including zeros for a missing column.
      this.#stamp += 1;
      await handle.utimes(this.#stamp, this.#stamp);
    });
    await writing.finally(() => {
      kept.seen = versionOf(file)?.text;
    });
    // Without it, the next process reads the row group again.
    await overwrite(this.#noteOf(unit.id), encode(kept.ranges)).catch(() => undefined);
  }

  async #put(kept: KeptUnit, handle: FileHandle, from: number, bytes: Buffer): Promise<void> {
    await writeAll(handle, bytes, from);
    this.#bytes += bytes.length;
    kept.ranges = [...kept.ranges, [from, from + bytes.length, crc32(bytes)]];
  }

  async #open(): Promise<void> {
    for (const directory of [path.dirname(this.#directory), this.#directory])
      await makeOwnDirectory(directory);
    const names = await readdir(this.#directory);
    const found = await Promise.all(
      names
        .filter(name => name.endsWith('.json'))
        .map(async name => {
          const id = name.slice(0, -'.json'.length);
          const ranges = await textOf(this.#noteOf(id))
            .then(decode)
            .catch(() => undefined);
          const [file, note] = await Promise.all(
            [this.pathOf({ id }), this.#noteOf(id)].map(each => stat(each).catch(() => undefined)),
          );
          return { id, ranges, used: file && note?.mtimeMs };
        }),
    );
    const known = found.filter(({ ranges, used }) => ranges !== undefined && used !== undefined);
    known.sort((a, b) => (a.used ?? 0) - (b.used ?? 0));
    for (const { id, ranges = [] } of known) {
      const kept = { ranges, seen: undefined, made: true, used: ++this.#clock, pins: 0 };
      this.#units.set(id, kept);
      this.#bytes += bytesIn(kept);
    }
    const others = names.filter(name => !this.#units.has(name.replace(/\.\w+$/, '')));
    for (const name of others) await clearName(path.join(this.#directory, name));
  }

  #noteOf(id: string): string {
    return path.join(this.#directory, `${id}.json`);
  }

  async #remove(id: string): Promise<void> {
    for (const file of [this.#noteOf(id), this.pathOf({ id })]) await clearName(file);
  }

  /** Runs work on a file, one call at a time. */
  async #inTurn(id: string, work: () => Promise<void>): Promise<void> {
    const mine = (this.#turns.get(id) ?? Promise.resolve()).then(work, work);
    this.#turns.set(id, mine);
    try {
      await mine;
    } finally {
      if (this.#turns.get(id) === mine) this.#turns.delete(id);
    }
  }
}

/** Maximum number of row groups read concurrently. */
const unitsAtOnce = 12;

/** Columns within this distance are read together: a request takes as long as reading this many bytes. */
const gapBytes = 32 * 2 ** 10;

/** An existing file is obsolete. */
const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;

/** Maximum size of a request, which is buffered in memory. */
const pieceBytes = 16 * 2 ** 20;

function rangesOf({ chunks }: Unit, columns: readonly string[]): readonly ChunkRange[] {
  return columns.flatMap(column => chunks.get(column) ?? []);
}

/** Returns the ranges of `wanted` that are not within cached ones, which may be adjacent. */
function missing({ ranges }: KeptUnit, wanted: readonly ChunkRange[]): readonly ChunkRange[] {
  const joined = merged(
    ranges.map(([from, to]) => ({ from, to })),
    0,
  );
  return wanted.filter(({ from, to }) => !joined.some(each => each.from <= from && each.to >= to));
}

function piecesOf(ranges: readonly ChunkRange[]): readonly ChunkRange[] {
  return merged(ranges, gapBytes).flatMap(({ from, to }) => {
    const count = Math.ceil((to - from) / pieceBytes);
    return Array.from({ length: count }, (_, index) => {
      const start = from + index * pieceBytes;
      return { from: start, to: Math.min(to, start + pieceBytes) };
    });
  });
}

function merged(ranges: readonly ChunkRange[], gap: number): readonly ChunkRange[] {
  const result: { from: number; to: number }[] = [];
  for (const { from, to } of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last !== undefined && from <= last.to + gap) last.to = Math.max(last.to, to);
    else result.push({ from, to });
  }
  return result;
}

function lengthOf(ranges: readonly ChunkRange[]): number {
  return ranges.reduce((total, { from, to }) => total + to - from, 0);
}

function bytesIn({ ranges }: Pick<KeptUnit, 'ranges'>): number {
  return ranges.reduce((total, [from, to]) => total + to - from, 0);
}

/** Returns the end of a Parquet file with only this row group. */
function endOf({ end, index }: Unit): Buffer {
  return parquetEnd(footerOfGroup(end.footer, index));
}

/** Returns the end of a Parquet file with this footer. */
export function parquetEnd(footer: Buffer): Buffer {
  const last = Buffer.from('0000PAR1');
  last.writeUInt32LE(footer.length);
  return Buffer.concat([footer, last]);
}

async function withFile<T>(
  file: string,
  flags: number,
  work: (handle: FileHandle) => Promise<T>,
): Promise<T> {
  const handle = await openFile(file, flags, 0o600);
  try {
    return await work(handle);
  } finally {
    await handle.close();
  }
}

/** Encodes ranges as a line of JSON, followed by a line with its checksum. */
function encode(ranges: readonly Kept[]): string {
  const json = JSON.stringify(ranges);
  return `${json}\n${crc32(json)}\n`;
}

/** Throws RangeError if the note was not written completely. */
function decode(text: string): readonly Kept[] {
  const [json = '', checksum] = text.split('\n');
  if (checksum !== String(crc32(json))) throw new RangeError('the record of a row group is damaged');
  return JSON.parse(json) as readonly Kept[];
}
