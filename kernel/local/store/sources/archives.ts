import { createReadStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { ReadEntry } from 'tar';
import type { Options, ZipFile } from 'yauzl';
import { systemRefusal } from '../../../machine.js';
import { present } from '../../../present.js';
import { formatCount } from '../../../text.js';
import { LocalError } from '../../local-errors.js';
import { writeCopy } from '../bounds/bounded-copies.js';
import { byRotation, mostFiles } from './source-files.js';
import { firstBytes, isArchive, isZip } from './source-formats.js';

/** A file of an archive, with its copy. */
interface Unpacked {
  readonly name: string;
  readonly copy: string;
}

/**
 * Copies a file of an archive into the scratch directory; returns undefined for one to skip: hidden, or metadata of the system that packed
 * it.
 */
type Keep = (name: string, open: () => Promise<Readable> | Readable) => Promise<void> | undefined;

/**
 * Returns the file, or copies in `workDir` of its contents if it is a ZIP or tar archive, the oldest of a rotated set first. Throws
 * LocalError or a system error; stops when the signal aborts.
 */
export async function filesIn(
  file: string,
  workDir: string,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  // A file that cannot be read is reported by its reader.
  const start = await firstBytes(file).catch(() => Buffer.alloc(0));
  if (!isArchive(file, start)) return [file];
  const found: Unpacked[] = [];
  const directory = path.join(workDir, crypto.randomUUID());
  await mkdir(directory, { mode: 0o700 });
  const keep: Keep = (name, open) => {
    if (name.split('/').some(part => part.startsWith('.') || part === '__MACOSX')) return undefined;
    if (found.length >= mostFiles) return Promise.reject(tooMany(file));
    const copy = path.join(
      directory,
      `${found.length}-${path.posix.basename(name).replace(/[^\w.@-]/g, '_')}`,
    );
    found.push({ name, copy });
    return Promise.resolve(open()).then(content => writeCopy(copy, [content], present({ signal })));
  };
  try {
    await (isZip(start) ? unzip(file, directory, keep) : untar(file, keep, signal));
  } catch (error) {
    const isOurs = error instanceof LocalError || signal?.aborted || systemRefusal(error) !== undefined;
    throw isOurs ? error : damaged(file, error);
  }
  if (found.length === 0)
    throw new LocalError('invalid', 'empty', `${path.basename(file)} contains no files to import.`);
  return found.sort((a, b) => byRotation(a.name, b.name)).map(({ copy }) => copy);
}

async function unzip(file: string, workDir: string, keep: Keep): Promise<void> {
  const archive = await openZip(file, workDir);
  for await (const entry of archive.eachEntry()) {
    if (entry.fileName.endsWith('/') || entry.uncompressedSize === 0) continue;
    if (!entry.canDecodeFileData()) throw undecodable(file, entry.isEncrypted());
    await keep(entry.fileName, () => archive.openReadStreamPromise(entry));
  }
}

/** Opens a ZIP archive, or a copy in `workDir` that ends with it if more bytes follow, such as a line break. */
export async function openZip(file: string, workDir: string, options: Options = {}): Promise<ZipFile> {
  const { openPromise } = await import('yauzl');
  try {
    return await openPromise(file, options);
  } catch (error) {
    const end = await endOfZip(file);
    if (end === undefined) throw error;
    const copy = path.join(workDir, crypto.randomUUID());
    await writeCopy(copy, [createReadStream(file, { end: end - 1 })]);
    return openPromise(copy, options);
  }
}

/** Returns the length of the ZIP archive at the beginning of a file, undefined if it has no end or nothing follows. */
async function endOfZip(file: string): Promise<number | undefined> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const from = Math.max(0, size - longestEnd);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(longestEnd), 0, longestEnd, from);
    const bytes = buffer.subarray(0, bytesRead);
    const at = bytes.lastIndexOf('PK\x05\x06', undefined, 'latin1');
    if (at < 0 || at + endRecord > bytes.length) return undefined;
    const end = from + at + endRecord + bytes.readUInt16LE(at + endRecord - 2);
    return end < size ? end : undefined;
  } finally {
    await handle.close();
  }
}

/** Bytes of the record that ends a ZIP archive, without its comment. */
const endRecord = 22;
/** Bytes at the end of a file in which to look for it. */
const longestEnd = 2 ** 17;

async function untar(file: string, keep: Keep, signal: AbortSignal | undefined): Promise<void> {
  const { Parser } = await import('tar');
  const writes = new Map<ReadEntry, Promise<void>>();
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const parser = new Parser({
    strict: true,
    // Disk space is the limit, see writeCopy.
    maxDecompressionRatio: Number.POSITIVE_INFINITY,
    onReadEntry: entry => {
      const isFile = entry.type === 'File' && entry.size > 0;
      const write = isFile ? keep(entry.path, () => entry as unknown as Readable) : undefined;
      if (write === undefined) entry.resume();
      else
        writes.set(
          entry,
          write.catch(fail).finally(() => writes.delete(entry)),
        );
    },
  });
  parser.on('error', fail);
  const ended = new Promise(resolve => parser.on('end', resolve));
  const source = createReadStream(file, present({ signal }));
  const read = async () => {
    for await (const chunk of source)
      if (!parser.write(chunk)) await new Promise(resolve => parser.once('drain', resolve));
    parser.end();
    await ended;
    await Promise.all(writes.values());
  };
  try {
    // A parser that failed, or whose entry is not consumed, would never end.
    await Promise.race([read(), failed]);
  } finally {
    source.destroy();
    for (const entry of writes.keys()) entry.destroy(new Error('the archive is not read on'));
  }
}

function damaged(file: string, cause: unknown): LocalError {
  const message = `${path.basename(file)} is truncated or damaged: it cannot be unpacked completely.`;
  return new LocalError('invalid', 'unreadable', message, { cause });
}

function undecodable(file: string, isEncrypted: boolean): LocalError {
  const how = isEncrypted ? 'encrypted' : 'a ZIP archive that uses a newer compression method';
  return new LocalError('invalid', 'format', `${path.basename(file)} is ${how}.`, {
    hint: isEncrypted ? 'Unpack it first: unzip FILE.' : 'Unpack it first: 7z x FILE.',
  });
}

function tooMany(file: string): LocalError {
  const message = `${path.basename(file)} contains more than ${formatCount(mostFiles)} files.`;
  return new LocalError('invalid', 'too-many-files', message, {
    hint: 'Unpack it and import the files in batches into one dataset.',
  });
}
