import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { anySize, overwrite, textOf } from '../../../files.js';
import { inDataDir } from '../../data-layout.js';
import type { FileField, FileSummary } from '../../engine/engine-parquet.js';
import type { RowGroup } from '../../sql/compiled-query.js';

/** Summaries of files by name, each with the file's version: its size and mtime. */
export type CachedSummaries = ReadonlyMap<
  string,
  { readonly version: string; readonly summary: FileSummary }
>;

/**
 * Cache of Parquet file summaries under `<dataDir>/.cache/files`, one file per dataset, so that startup need not read footers. May be
 * deleted at any time; an entry that does not match its checksum counts as absent.
 */
export class SummaryCache {
  readonly #directory: string;
  readonly #unsaved = new Map<string, () => CachedSummaries>();
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();

  constructor(dataDir: string) {
    this.#directory = path.join(inDataDir(dataDir, '.cache'), 'files');
  }

  /** Returns the cached summaries for a key, empty if they are absent or damaged. */
  async load(key: string): Promise<CachedSummaries> {
    try {
      return decode(await textOf(this.#file(key), anySize));
    } catch {
      return new Map();
    }
  }

  /** Caches the result of `current` for a key after a delay, when more may have been read. */
  later(key: string, current: () => CachedSummaries): void {
    this.#unsaved.set(key, current);
    this.#timer ??= setTimeout(() => this.save(), saveMs).unref();
  }

  /** Deletes the summaries of a key. */
  async forget(key: string): Promise<void> {
    this.#unsaved.delete(key);
    await rm(this.#file(key)).catch(() => undefined);
  }

  /** Writes unsaved summaries; if the disk rejects them, only the next start is slower. */
  save(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#saving = this.#saving.then(() => this.#saveAll()).catch(() => undefined);
    return this.#saving;
  }

  async #saveAll(): Promise<void> {
    for (const [key, current] of this.#unsaved) {
      this.#unsaved.delete(key);
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      // Neither durable nor atomic: if the checksum does not match, the footers are read again.
      await overwrite(this.#file(key), encode(current()));
    }
  }

  #file(key: string): string {
    return path.join(this.#directory, `${key}.json`);
  }
}

/** Save delay in milliseconds: batches add a file every second, and writing thousands of summaries each time would be too often. */
const saveMs = 10_000;

const format = 7;

interface Content {
  readonly format: number;
  /** Fields of files: most files of a dataset have the same. */
  readonly shapes: readonly (readonly FileField[])[];
  readonly files: readonly CachedFile[];
}

type CachedFile = Pick<FileSummary, 'bytes' | 'timeless' | 'replaces' | 'foreign' | 'hidesNaN'> & {
  readonly name: string;
  readonly version: string;
  readonly shape: number;
  readonly blocks: readonly (readonly [rows: number, minNs: string, maxNs: string, timed: boolean])[];
};

/** Encodes summaries as a line of JSON, followed by a line with its checksum. */
function encode(cached: CachedSummaries): string {
  const shapes = new Map<string, { readonly index: number; readonly fields: readonly FileField[] }>();
  const files = [...cached].map(([name, { version, summary }]): CachedFile => {
    const { fields, bytes, timeless, replaces, foreign, hidesNaN } = summary;
    const text = JSON.stringify(fields);
    const shape = shapes.get(text) ?? { index: shapes.size, fields };
    shapes.set(text, shape);
    const blocks = summary.blocks.map(
      ({ rows, minNs, maxNs, timed }) => [rows, String(minNs), String(maxNs), timed] as const,
    );
    return { name, version, shape: shape.index, bytes, timeless, replaces, foreign, hidesNaN, blocks };
  });
  const content: Content = { format, shapes: [...shapes.values()].map(({ fields }) => fields), files };
  const json = JSON.stringify(content);
  return `${json}\n${crc32(json)}\n`;
}

/** Throws RangeError if this version did not write it completely. */
function decode(text: string): CachedSummaries {
  const [json = '', checksum] = text.split('\n');
  if (checksum !== String(crc32(json))) throw new RangeError('the cached summaries are damaged');
  const content = JSON.parse(json) as Content;
  if (content.format !== format) throw new RangeError('the cached summaries are from another version');
  return new Map(
    content.files.map(({ name, version, shape, blocks, ...rest }) => {
      const summary = {
        ...rest,
        path: '',
        version,
        fields: content.shapes[shape] ?? [],
        blocks: blocks.map(blockOf),
      };
      return [name, { version, summary }];
    }),
  );
}

function blockOf([rows, minNs, maxNs, timed]: CachedFile['blocks'][number]): RowGroup {
  return { rows, minNs: BigInt(minNs), maxNs: BigInt(maxNs), timed };
}
