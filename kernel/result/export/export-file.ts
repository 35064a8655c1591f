import { randomUUID } from 'node:crypto';
import { link, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Table } from 'apache-arrow';
import { AplKernelError } from '../../errors.js';
import { writeAll } from '../../files.js';
import { systemRefusal } from '../../machine.js';
import { type ExportFormat, exportFormats } from './export-formats.js';

/** A file with an exported table. */
export interface ExportedFile {
  readonly rows: number;
  readonly bytes: number;
  readonly format: ExportFormat;
  /** Data that the file cannot hold. */
  readonly loss: string | undefined;
}

export interface ExportOptions {
  /** Replaces an existing file. */
  readonly force: boolean;
  readonly signal: AbortSignal;
  /** Called periodically with the number of rows written. */
  readonly progress: (rows: number) => void;
}

/** A table could not be written to a file. */
class ExportError extends AplKernelError {
  constructor(message: string, hint: string, cause?: unknown) {
    super('export', message, { hint, cause });
  }
}

/**
 * Writes all rows of a table to a file, in the format of its extension. The file appears complete or not at all: it is written next to its
 * target, and renamed once it is on disk. Throws ExportError; an interrupted export leaves nothing behind.
 */
export async function exportTable(table: Table, path: string, options: ExportOptions): Promise<ExportedFile> {
  const format = formatOf(path);
  if (!options.force && (await exists(path))) throw taken(path);
  const draft = join(dirname(path), `.${basename(path).slice(0, 100)}.${randomUUID()}.part`);
  try {
    const bytes = await writeDraft(draft, format, table, options);
    options.signal.throwIfAborted();
    await publish(draft, path, options.force);
    await syncDirectory(dirname(path));
    return { rows: table.numRows, bytes, format, loss: format.loss?.(table) };
  } catch (error) {
    throw explained(error, path);
  } finally {
    await rm(draft, { force: true });
  }
}

function formatOf(path: string): ExportFormat {
  const ending = extname(path).slice(1).toLowerCase();
  const format = exportFormats.find(({ endings }) => endings.includes(ending));
  if (format !== undefined) return format;
  const known = exportFormats.flatMap(({ endings }) => endings.map(each => `.${each}`)).join(', ');
  throw new ExportError(
    ending === '' ? 'the file name has no extension' : `there is no format for the extension .${ending}`,
    `The extension selects the format: ${known}.`,
  );
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

function taken(path: string): ExportError {
  return new ExportError(
    `${basename(path)} already exists`,
    'Choose another name, or replace it with `--force`.',
  );
}

async function writeDraft(
  draft: string,
  format: ExportFormat,
  table: Table,
  { signal, progress }: ExportOptions,
): Promise<number> {
  const file = await open(draft, 'wx', 0o644);
  try {
    let bytes = 0;
    for (const { part, rows } of format.parts(table)) {
      const buffer = typeof part === 'string' ? Buffer.from(part) : part;
      await writeAll(file, buffer);
      bytes += buffer.byteLength;
      progress(rows);
      await setImmediate();
      signal.throwIfAborted();
    }
    await file.sync();
    return bytes;
  } finally {
    await file.close();
  }
}

/** Publishes the draft; a file created in the meantime is not replaced either, if the file system can tell. */
async function publish(draft: string, path: string, force: boolean): Promise<void> {
  if (force) return rename(draft, path);
  try {
    await link(draft, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw taken(path);
    if (!['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK'].includes(code ?? '')) throw error;
    if (await exists(path)) throw taken(path);
    await rename(draft, path);
  }
}

/** Syncs a directory, without which the name of a new file is not on disk; some systems cannot. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory).catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

function explained(error: unknown, path: string): unknown {
  const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
  const reason = isMissing ? 'the directory does not exist' : systemRefusal(error)?.reason;
  if (reason === undefined) return error;
  return new ExportError(
    `${basename(path)} could not be written: ${reason}`,
    'No partial file was left.',
    error,
  );
}
