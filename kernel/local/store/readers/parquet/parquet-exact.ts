import { constants } from 'node:fs';
import { chmod, copyFile, type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { DuckDBStructType, type DuckDBType } from '@duckdb/node-api';
import { writeAll } from '../../../../files.js';
import { sqlText } from '../../../duckdb/duckdb-literal.js';
import type { Connection } from '../../../engine/duckdb.js';
import { unlike } from '../reading.js';
import type { ArrowDuration } from './parquet-durations.js';
import { type Footer, type FooterColumn, readFooter } from './parquet-footer.js';

/** Parquet files that the engine reads exactly as one table, with metadata unknown to it. */
export interface ExactFiles {
  readonly files: readonly string[];
  /** Like {@link FooterColumn}, including column groups, depth first. */
  readonly columns: readonly FooterColumn[];
  readonly durations: readonly ArrowDuration[];
}

/**
 * Returns the files, or copies in `workDir` with modified footers, so that the engine keeps nanoseconds. Throws LocalError for a file with
 * a column whose values would have to be changed to match previous files.
 */
export async function exactFiles(
  connection: Connection,
  files: readonly string[],
  workDir: string,
): Promise<ExactFiles> {
  const durations = await durationsIn(connection, files);
  const set = new FileSet(connection);
  for (const file of files) {
    const { start, bytes } = await footerOf(file);
    const footer = readFooter(bytes);
    const isExact = footer.columns.every(column => column.exact === undefined);
    const readable = isExact ? file : await copyWithFooter(file, workDir, start, footer.exact);
    await set.add(file, readable, footer, durations.get(file) ?? []);
  }
  return set;
}

/** Returns the SQL of a list of strings. */
export function listOf(texts: readonly string[]): string {
  return `[${texts.map(sqlText).join(', ')}]`;
}

/** Merged columns of the files; the engine treats names that differ only by case as one column. */
class FileSet implements ExactFiles {
  readonly files: string[] = [];
  readonly columns: FooterColumn[] = [];
  readonly durations: ArrowDuration[] = [];
  readonly #connection: Connection;
  readonly #readings = new Map<string, string>();
  readonly #types = new Map<string, string>();
  readonly #schemas = new Set<string>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Adds a file that the engine reads as `readable`. */
  async add(
    file: string,
    readable: string,
    { columns, schema }: Footer,
    durations: readonly ArrowDuration[],
  ): Promise<void> {
    this.files.push(readable);
    const written = JSON.stringify([schema.toString('base64'), durations]);
    if (this.#schemas.has(written)) return;
    this.#schemas.add(written);
    const units = new Map(durations.map(({ path, unit }) => [keyOf(path), unit]));
    const known = new Map(this.#readings);
    const before = new Map(this.columns.map((column, index) => [keyOf(column.path), { column, index }]));
    for (const column of columns) {
      const key = keyOf(column.path);
      const earlier = before.get(key);
      if (column.untyped) {
        if (earlier === undefined) this.columns.push(column);
        continue;
      }
      const reading = JSON.stringify([column.exact, units.get(key)]);
      if ((known.get(key) ?? reading) !== reading)
        throw unlike(file, `Its \`${column.path.join('.')}\` has values of a different kind.`);
      this.#readings.set(key, reading);
      if (earlier?.column.untyped) this.columns[earlier.index] = column;
      else if (!known.has(key)) this.columns.push(column);
    }
    this.durations.push(
      ...durations.filter(each => !this.durations.some(({ path }) => keyOf(path) === keyOf(each.path))),
    );
    await this.#checkTypes(
      file,
      readable,
      new Set(columns.flatMap(each => (each.untyped ? keyOf(each.path) : []))),
    );
  }

  async #checkTypes(file: string, readable: string, untyped: ReadonlySet<string>): Promise<void> {
    const columns = await this.#connection.columns(`SELECT * FROM read_parquet(${sqlText(readable)})`);
    for (const [key, type] of columns.flatMap(({ name, type }) => typesBelow([name], type))) {
      if (untyped.has(key)) continue;
      const known = this.#types.get(key);
      if (known !== undefined && !isExactTogether(known, type)) {
        const name = (JSON.parse(key) as string[]).join('.');
        throw unlike(file, `Its \`${name}\` is ${type}, but ${known} in other files.`);
      }
      this.#types.set(
        key,
        known === undefined || widths.indexOf(known) < widths.indexOf(type) ? type : known,
      );
    }
  }
}

function keyOf(path: readonly string[]): string {
  return JSON.stringify(path.map(name => name.toLowerCase()));
}

function typesBelow(path: readonly string[], type: DuckDBType): [key: string, type: string][] {
  if (!(type instanceof DuckDBStructType)) return [[keyOf(path), type.alias ?? type.toString()]];
  return type.entryTypes.flatMap((entry, index) =>
    typesBelow([...path, type.entryNames[index] ?? ''], entry),
  );
}

/** Numeric types; each represents the values of all before it, except that a double represents only 32-bit integers and smaller. */
const widths = [
  'UTINYINT',
  'TINYINT',
  'USMALLINT',
  'SMALLINT',
  'UINTEGER',
  'INTEGER',
  'BIGINT',
  'FLOAT',
  'DOUBLE',
];

/** Whether the engine reads values of two types as one without changing any. */
function isExactTogether(a: string, b: string): boolean {
  const [x, y] = [widths.indexOf(a), widths.indexOf(b)];
  if (a === b) return true;
  if (x < 0 || y < 0) return false;
  const integers = widths.indexOf('BIGINT');
  const [least, most] = [Math.min(x, y), Math.max(x, y)];
  return most <= integers || least > integers || (widths[most] === 'DOUBLE' && least < integers);
}

/** Returns a copy of a file in `workDir` with another footer. */
async function copyWithFooter(file: string, workDir: string, start: number, footer: Buffer): Promise<string> {
  const copy = path.join(workDir, `${crypto.randomUUID()}.exact.parquet`);
  await copyFile(file, copy, constants.COPYFILE_FICLONE);
  await chmod(copy, 0o600);
  await replaceFooter(copy, start, footer);
  return copy;
}

/** A footer is followed by its length and a four-byte magic number. */
const endBytes = 8;

async function footerOf(file: string): Promise<{ start: number; bytes: Buffer }> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const end = await readAt(handle, size - endBytes, 4);
    const start = size - endBytes - end.readUInt32LE();
    return { start, bytes: await readAt(handle, start, size - endBytes - start) };
  } finally {
    await handle.close();
  }
}

async function replaceFooter(file: string, start: number, footer: Buffer): Promise<void> {
  const end = Buffer.from('0000PAR1');
  end.writeUInt32LE(footer.length);
  const handle = await open(file, 'r+');
  try {
    await handle.truncate(start);
    await writeAll(handle, Buffer.concat([footer, end]), start);
  } finally {
    await handle.close();
  }
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  return (await handle.read(Buffer.alloc(length), 0, length, position)).buffer;
}

async function durationsIn(
  connection: Connection,
  files: readonly string[],
): Promise<ReadonlyMap<string, readonly ArrowDuration[]>> {
  const rows = await connection.run(
    `SELECT file_name, decode(value) FROM parquet_kv_metadata(${listOf(files)}) WHERE key = 'ARROW:schema'`,
  );
  if (rows.length === 0) return new Map();
  const { durationsOf } = await import('./arrow-durations.js');
  return new Map(rows.map(([file, schema]) => [String(file), durationsOf(String(schema))]));
}
