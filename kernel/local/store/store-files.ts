import { type BigIntStats, constants, lstatSync, statSync } from 'node:fs';
import { copyFile, lstat, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { openFile } from '../../files.js';
import { makeDirectory, systemRefusal } from '../../machine.js';
import { present } from '../../present.js';

/**
 * Replaces a file atomically, even in case of a power failure. A directory with its name, which this product never creates, is moved aside.
 */
export async function replaceFile(file: string, text: string): Promise<void> {
  const draft = `${file}.${crypto.randomUUID()}.tmp`;
  try {
    await writeDurably(draft, text);
    if (await isDirectory(file)) await setAside(file);
    await rename(draft, file);
  } catch (error) {
    await rm(draft).catch(() => undefined);
    throw error;
  }
  await syncDirectory(path.dirname(file));
}

/** Whether there is a directory, rather than a link to one. */
export async function isDirectory(file: string): Promise<boolean> {
  return (await lstat(file).catch(() => undefined))?.isDirectory() === true;
}

/** Renames an unreadable file or directory, regardless of its owner. */
export async function setAside(file: string): Promise<void> {
  await rename(file, `${file}.${crypto.randomUUID()}${damagedSuffix}`);
}

/** Frees the name of a cache file, whatever is there; a directory that cannot be removed is moved aside. */
export async function clearName(file: string): Promise<void> {
  await rm(file, { recursive: true, force: true })
    .catch(() => setAside(file))
    .catch(() => undefined);
}

/** Creates a private directory; anything else in its place is moved aside. */
export async function makeOwnDirectory(directory: string): Promise<void> {
  const found = await stat(directory).catch(() => lstat(directory).catch(() => undefined));
  if (found !== undefined && !found.isDirectory()) await setAside(directory);
  makeDirectory(directory);
}

/** Writes a file without concurrent readers; it is on disk once this resolves. */
export async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await openFile(file, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** How to publish a finished file in the data directory. */
export interface Placing {
  readonly confirm: Confirm;
  /** Directory on the disk of the data, removed when this process loses the lease. */
  readonly draftDir: string;
}

/**
 * Publishes a finished file by renaming it, durably even in case of a power failure; `confirm` is called right before. A file outside the
 * draft directory, which may be on another disk, is copied there first.
 */
export async function placeFile(draft: string, file: string, { confirm, draftDir }: Placing): Promise<void> {
  const isNear = draft.startsWith(draftDir + path.sep);
  const near = isNear ? draft : path.join(draftDir, crypto.randomUUID());
  try {
    if (!isNear) await copyFile(draft, near);
    const handle = await open(near, 'r+');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    confirm();
    await rename(near, file);
  } finally {
    if (!isNear) await rm(near).catch(() => undefined);
  }
  await syncDirectory(path.dirname(file));
}

/** Throws if this process may not change the data directory because another holds its lease. */
export type Confirm = () => void;

/** Makes the entries of a directory durable, if the system allows opening directories. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory).catch(() => undefined);
  try {
    await handle?.sync();
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'EINVAL', 'EISDIR', 'ENOTSUP')) throw error;
  } finally {
    await handle?.close();
  }
}

/** Version of a file or directory. */
export interface Version {
  /** Differs if the file was changed or replaced. */
  readonly text: string;
  /** Size and mtime, which a copy of the file may share. */
  readonly content: string;
  readonly bytes: number;
  readonly changedMs: number;
  readonly isDirectory: boolean;
}

/**
 * Returns the version of a file, undefined if it does not exist. Synchronous, as dispatching to another thread takes longer than the call.
 */
export function versionOf(file: string): Version | undefined {
  try {
    const found = statsOf(file);
    if (found === undefined) return undefined;
    const content = `${found.size}-${found.mtimeNs}`;
    return {
      text: `${found.ino}-${content}`,
      content,
      bytes: Number(found.size),
      changedMs: Number(found.mtimeMs),
      isDirectory: found.isDirectory(),
    };
  } catch (error) {
    if (hasCode(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}

/** Returns the stats of a file; for a broken or circular link, those of the link, as it exists. */
function statsOf(file: string): BigIntStats | undefined {
  const options = { bigint: true, throwIfNoEntry: false } as const;
  try {
    return statSync(file, options) ?? lstatSync(file, options);
  } catch (error) {
    if (hasCode(error, 'ELOOP')) return lstatSync(file, options);
    throw error;
  }
}

/** Removes leftovers of killed operations from a directory: drafts of files, and directories being deleted. */
export async function removeLeftovers(directory: string): Promise<void> {
  const { names: entries } = await listed(directory);
  await removeStale(entries.filter(isLeftover).map(name => path.join(directory, name)));
}

/** Removes files that have not been modified for a while: another process may be about to use a newer one. */
export async function removeStale(files: readonly string[]): Promise<void> {
  for (const leftover of files) {
    const found = await stat(leftover).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > staleMs)
      // Leftovers that cannot be removed, for example on a read-only file system, do no harm.
      await rm(leftover, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Whether a name is that of a draft or a directory being deleted; not `.tmp` itself, the work directory of engines. */
export function isLeftover(name: string): boolean {
  return /^[^.].*\.tmp$/.test(name) || name.startsWith(deletedPrefix) || name.startsWith(draftPrefix);
}

/** Suffix of logs with batches that are in no Parquet file yet. */
export const logSuffix = '.log';

/** Suffix of files moved aside because they could not be read completely. This product never removes them. */
export const damagedSuffix = '.damaged';

/** Returns a name for a directory about to be deleted. */
export function deletedName(): string {
  return `${deletedPrefix}${crypto.randomUUID()}`;
}

/** Returns a name for a directory about to be renamed into place. */
export function draftName(): string {
  return `${draftPrefix}${crypto.randomUUID()}`;
}

/** Names in a directory; none if it does not exist or has a fault, as in "it {fault}". */
export interface ListedNames {
  readonly names: readonly string[];
  readonly fault?: string;
}

/** Lists a directory, which may be missing or not a directory. */
export async function listed(directory: string): Promise<ListedNames> {
  try {
    return { names: await readdir(directory) };
  } catch (error) {
    return { names: [], ...present({ fault: systemFault(directory, error) }) };
  }
}

/** Returns why the system refuses to read something, as in "it {fault}"; undefined if it does not exist. Rethrows other errors. */
export function systemFault(file: string, error: unknown): string | undefined {
  const { code = '' } = error as NodeJS.ErrnoException;
  // Our own errors have codes too.
  if (!/^E[A-Z\d]+$/.test(code)) throw error;
  if (code === 'ENOTDIR') return 'is not a directory';
  if (code !== 'ENOENT') return `cannot be read: ${systemRefusal(error)?.reason ?? code}`;
  const isThere = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  return isThere ? 'cannot be read: it is a broken link' : undefined;
}

/** Remedy for a directory with a fault. */
export const directoryRemedy = 'Repair it, or move it away: a new one is created when needed.';

/** Returns whether an operation on a file failed with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(String((error as NodeJS.ErrnoException | null)?.code));
}

const deletedPrefix = '.deleted-';
const draftPrefix = '.draft-';
const staleMs = 60_000;
