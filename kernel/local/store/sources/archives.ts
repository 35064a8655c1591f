import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { formatCount } from '../../../text.js';
import { LocalError } from '../../errors.js';
import { byRotation, mostFiles } from './files.js';
import { firstBytes, isArchive, isZip } from './formats.js';

/** A file of an archive, and its copy. */
interface Unpacked {
  readonly name: string;
  readonly copy: string;
}

/** Puts a file of an archive into the directory of copies; undefined for one that is not imported: hidden, or of the system that packed it. */
type Keep = (name: string, content: NodeJS.ReadableStream) => Promise<void> | undefined;

/** Returns the file, or copies in `workDir` of those in it if it is a ZIP or tar archive, the oldest of a rotated set first. Throws LocalError. */
export async function filesIn(file: string, workDir: string): Promise<readonly string[]> {
  // A file that cannot be looked at is refused by whoever reads it.
  const start = await firstBytes(file).catch(() => Buffer.alloc(0));
  if (!isArchive(file, start)) return [file];
  const found: Unpacked[] = [];
  const directory = path.join(workDir, crypto.randomUUID());
  await mkdir(directory, { mode: 0o700 });
  const keep: Keep = (name, content) => {
    if (name.split('/').some(part => part.startsWith('.') || part === '__MACOSX')) return undefined;
    if (found.length >= mostFiles) return Promise.reject(tooMany(file));
    const copy = path.join(
      directory,
      `${found.length}-${path.posix.basename(name).replace(/[^\w.@-]/g, '_')}`,
    );
    found.push({ name, copy });
    return pipeline(content, createWriteStream(copy, { mode: 0o600 }));
  };
  try {
    await (isZip(start) ? unzip : untar)(file, keep);
  } catch (error) {
    throw error instanceof LocalError ? error : damaged(file, error);
  }
  if (found.length === 0)
    throw new LocalError('invalid', 'empty', `${path.basename(file)} holds no files to import.`);
  return found.sort((a, b) => byRotation(a.name, b.name)).map(({ copy }) => copy);
}

async function unzip(file: string, keep: Keep): Promise<void> {
  const { openPromise } = await import('yauzl');
  const archive = await openPromise(file);
  for await (const entry of archive.eachEntry()) {
    if (entry.fileName.endsWith('/') || entry.uncompressedSize === 0) continue;
    if (entry.isEncrypted()) throw encrypted(file);
    await keep(entry.fileName, await archive.openReadStreamPromise(entry));
  }
}

async function untar(file: string, keep: Keep): Promise<void> {
  const { list } = await import('tar');
  const writes: Promise<void>[] = [];
  let failure: unknown;
  await list({
    file,
    strict: true,
    onReadEntry: entry => {
      const isFile = entry.type === 'File' && entry.size > 0;
      const write = isFile ? keep(entry.path, entry as unknown as Readable) : undefined;
      if (write === undefined) entry.resume();
      else
        writes.push(
          write.catch(error => {
            failure ??= error;
            entry.resume();
          }),
        );
    },
  });
  await Promise.all(writes);
  if (failure !== undefined) throw failure;
}

function damaged(file: string, cause: unknown): LocalError {
  const message = `${path.basename(file)} is cut off or damaged: it does not unpack to its end.`;
  return new LocalError('invalid', 'unreadable', message, { cause });
}

function encrypted(file: string): LocalError {
  return new LocalError('invalid', 'format', `${path.basename(file)} is encrypted.`, {
    hint: 'Unpack it first: unzip FILE.',
  });
}

function tooMany(file: string): LocalError {
  const message = `There are more than ${formatCount(mostFiles)} files in ${path.basename(file)}.`;
  return new LocalError('invalid', 'too-many-files', message, {
    hint: 'Unpack it, and import them in parts, into one dataset.',
  });
}
