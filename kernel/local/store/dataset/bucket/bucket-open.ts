import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import { writeAll } from '../../../../files.js';
import { cut, visible } from '../../../../text.js';
import { sqlText } from '../../../duckdb/duckdb-literal.js';
import type { Engine } from '../../../engine/duckdb.js';
import { engineWords } from '../../../engine/engine-failure.js';
import { describedField, type FileField } from '../../../engine/engine-parquet.js';
import { LocalError } from '../../../local-errors.js';
import { type ChunkCache, parquetEnd, type Unit } from './bucket-chunks.js';
import { type FooterStore, notParquet, objectId } from './bucket-footers.js';
import type { PlacedObject } from './bucket-tree.js';
import type { Asking, BucketClient } from './client/bucket-client.js';
import { footerOfGroup, type ObjectFooter, type ObjectGroup, readObjectFooter } from './object-footer.js';

/** An object whose footer has been read. */
export interface KnownObject {
  readonly object: PlacedObject;
  readonly fields: readonly FileField[];
  readonly units: readonly Unit[];
  /** Names of time columns that the engine truncates to microseconds. */
  readonly cut: readonly string[];
  /** Size of its footer, in bytes. */
  readonly bytes: number;
}

/** A bucket and the local caches of its objects. */
export class OpenBucket {
  readonly client: BucketClient;
  readonly chunks: ChunkCache;
  readonly #footers: FooterStore;
  readonly #engine: Engine;
  readonly #shapes = new Map<string, Promise<readonly FileField[]>>();
  /** Objects by id and time column, most recently used last. */
  readonly #described = new Map<string, KnownObject>();
  #describedBytes = 0;

  constructor(client: BucketClient, chunks: ChunkCache, footers: FooterStore, engine: Engine) {
    this.client = client;
    this.chunks = chunks;
    this.#footers = footers;
    this.#engine = engine;
  }

  /**
   * Returns the contents of an object, reading its footer if it is not cached; `time` is the time column. Throws LocalError if it is not a
   * Parquet file.
   */
  async describe(object: PlacedObject, time: string, asking: Asking): Promise<KnownObject> {
    const key = `${objectId(this.client.address, object)} ${time}`;
    const known = this.#described.get(key);
    if (known !== undefined) {
      this.#described.delete(key);
      this.#described.set(key, known);
      return known;
    }
    const described = await this.#describeNew(object, time, asking);
    // Another request may have read it in the meantime.
    this.#describedBytes += described.bytes - (this.#described.get(key)?.bytes ?? 0);
    this.#described.set(key, described);
    for (const [oldest, { bytes }] of this.#described) {
      if (this.#describedBytes <= mostDescribedBytes) break;
      this.#described.delete(oldest);
      this.#describedBytes -= bytes;
    }
    return described;
  }

  async #describeNew(object: PlacedObject, time: string, asking: Asking): Promise<KnownObject> {
    const end = await this.#footers.read(this.client, object, asking);
    return this.#readable(object, async () => {
      const footer = readObjectFooter(end.footer, time);
      const columns = await this.#columnsOf(end.footer, footer);
      const chunksOf = ({ chunks }: ObjectGroup) =>
        new Map(columns.map(({ column }, at) => [column, chunks[at] ?? []]));
      const units = footer.groups.flatMap((group, index) =>
        group.rows === 0
          ? []
          : { id: `${end.id}-${index}`, object, end, index, group, chunks: chunksOf(group) },
      );
      const fields = [...withTime(columns, time, object.key), ...partitionFields(object, columns)];
      return { object, units, fields, cut: footer.cut, bytes: end.footer.length };
    });
  }

  /** Turns errors about the bytes of a footer into LocalError. */
  async #readable<T>({ key }: PlacedObject, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof RangeError || engineWords(error) !== undefined)
        throw notParquet(this.client.address, key);
      throw error;
    }
  }

  /** Reads the columns of an object; throws LocalError like {@link describe}. */
  async columns(object: PlacedObject, asking: Asking): Promise<readonly FileField[]> {
    const end = await this.#footers.read(this.client, object, asking);
    return this.#readable(object, () => this.#columnsOf(end.footer, readObjectFooter(end.footer, '')));
  }

  /** Runs a SELECT of one integer column; returns undefined if this engine rejects the query. */
  async numbers(sql: string, signal: AbortSignal | undefined): Promise<readonly number[] | undefined> {
    try {
      return (await this.#engine.run(sql, signal)).map(([number]) => Number(number));
    } catch (error) {
      if (engineWords(error) === undefined) throw error;
      return undefined;
    }
  }

  /** Caches columns by schema, as most objects have the same one: the engine describes each only once. */
  #columnsOf(bytes: Buffer, { schema, names }: ObjectFooter): Promise<readonly FileField[]> {
    const key = `${schema.toString('base64')} ${JSON.stringify([...names])}`;
    const known = this.#shapes.get(key) ?? this.#describe(bytes).then(fields => named(fields, names));
    this.#shapes.set(key, known);
    known.catch(() => this.#shapes.delete(key));
    return known;
  }

  async #describe(bytes: Buffer): Promise<readonly FileField[]> {
    const file = path.join(this.#engine.workDir, `${crypto.randomUUID()}.parquet`);
    try {
      const handle = await open(file, 'wx', 0o600);
      await writeAll(handle, parquetEnd(footerOfGroup(bytes, undefined)), 4).finally(() => handle.close());
      const rows = await this.#engine.run(`DESCRIBE SELECT * FROM read_parquet(${sqlText(file)})`);
      return rows.map(([column, written]) => describedField(String(column), String(written)));
    } finally {
      await rm(file, { force: true });
    }
  }
}

/** Renames fields as the object specifies, unless that would create duplicates. */
function named(columns: readonly FileField[], names: ReadonlyMap<string, string>): readonly FileField[] {
  const fields = columns.map(field => ({ ...field, name: names.get(field.column) ?? field.name }));
  return new Set(fields.map(({ name }) => name)).size === fields.length ? fields : columns;
}

/**
 * Returns fields for partition keys; a column of the file takes precedence. The engine numbers files by `file_index` unless that is a
 * column.
 */
function partitionFields({ partitions }: PlacedObject, columns: readonly FileField[]): readonly FileField[] {
  const taken = new Set(columns.map(({ column }) => column.toLowerCase()));
  const names = taken.has('file_index') ? [] : [...partitions.keys()];
  return names.flatMap(name =>
    taken.has(name.toLowerCase()) || name === '_time'
      ? []
      : { name, type: 'string', column: '', declared: true, ofDirectory: true },
  );
}

/** Maximum size of footers in memory, in bytes; parsed ones take a few times as much. */
const mostDescribedBytes = 2 ** 26;

/** Adds the time column as `_time`. Throws LocalError if there is none: every result would lack those rows. */
function withTime(columns: readonly FileField[], time: string, key: string): readonly FileField[] {
  const source = columns.find(({ name }) => name === time);
  if (source?.type !== 'datetime') {
    const what = source === undefined ? 'has no column' : 'has no timestamps in';
    const message = `${visible(cut(key, 300))} ${what} \`${visible(time)}\`, the time field of this dataset.`;
    throw new LocalError('invalid', 'bucket', message, {
      hint: 'Import a prefix whose objects have the same columns.',
    });
  }
  return [{ ...source, name: '_time' }, ...columns.filter(({ name }) => name !== '_time')];
}
