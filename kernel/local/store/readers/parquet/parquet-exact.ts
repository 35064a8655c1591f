import { constants } from 'node:fs';
import { chmod, copyFile, type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { sqlText } from '../../../duckdb/literal.js';
import type { Connection } from '../../../engine/duckdb.js';
import type { ArrowDuration } from './parquet-durations.js';
import { type FooterColumn, readFooter } from './parquet-footer.js';

/** A Parquet file whose values the engine reads exactly, and what it does not know of them. */
export interface ExactFile {
  readonly file: string;
  /** As {@link FooterColumn}: also the groups of columns, depth first. */
  readonly columns: readonly FooterColumn[];
  readonly durations: readonly ArrowDuration[];
}

/** Returns the file itself, or a copy in `workDir` with another footer, so that the engine cuts no nanoseconds. */
export async function exactFile(connection: Connection, file: string, workDir: string): Promise<ExactFile> {
  const { start, bytes } = await footerOf(file);
  const { columns, exact } = readFooter(bytes);
  const durations = await durationsIn(connection, file);
  if (columns.every(column => column.exact === undefined)) return { file, columns, durations };
  const copy = path.join(workDir, `${crypto.randomUUID()}.exact.parquet`);
  await copyFile(file, copy, constants.COPYFILE_FICLONE);
  await chmod(copy, 0o600);
  await replaceFooter(copy, start, exact);
  return { file: copy, columns, durations };
}

/** A footer has its length and four letters behind it. */
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
    await handle.write(Buffer.concat([footer, end]), 0, footer.length + endBytes, start);
  } finally {
    await handle.close();
  }
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  return (await handle.read(Buffer.alloc(length), 0, length, position)).buffer;
}

async function durationsIn(connection: Connection, file: string): Promise<readonly ArrowDuration[]> {
  const [row] = await connection.run(
    `SELECT decode(value) FROM parquet_kv_metadata(${sqlText(file)}) WHERE key = 'ARROW:schema'`,
  );
  if (row === undefined) return [];
  const { durationsOf } = await import('./arrow-durations.js');
  return durationsOf(String(row[0]));
}
