import { statSync } from 'node:fs';
import { lstat, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Writes a file so that a reader sees the old text or the new, never a part, even after a power failure. A directory of its name,
 * which no program of ours makes, is set aside.
 */
export async function replaceFile(file: string, text: string): Promise<void> {
  const draft = `${file}.${crypto.randomUUID()}.tmp`;
  try {
    await writeDurably(draft, text);
    if (await isDirectory(file)) await setAside(file);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncDirectory(path.dirname(file));
}

/** Whether there is a directory, and no link to one. */
export async function isDirectory(file: string): Promise<boolean> {
  return (await lstat(file).catch(() => undefined))?.isDirectory() === true;
}

/** Renames what holds nothing that can be read, whoever it belongs to. */
export async function setAside(file: string): Promise<void> {
  await rename(file, `${file}.${crypto.randomUUID()}${damagedSuffix}`);
}

/** Writes a file that nobody reads yet; it is on the disk once this resolves. */
export async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Renames a finished file into place, where it is whole even after a power failure; `confirm` has the last word before that. */
export async function placeFile(draft: string, file: string, confirm: Confirm): Promise<void> {
  const handle = await open(draft, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  confirm();
  await rename(draft, file);
  await syncDirectory(path.dirname(file));
}

/** Throws when this process may not change the data directory, because another holds its lease. */
export type Confirm = () => void;

/** Makes the names in a directory durable, where the system lets a directory be opened. */
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

/**
 * Runs `work` while no other process or caller holds the lock of this path; the lock of a killed process expires after ten
 * seconds.
 */
export async function locked<T>(lockfilePath: string, work: () => Promise<T>): Promise<T> {
  const unlock = await lockOf(lockfilePath);
  try {
    return await work();
  } finally {
    // The lock is gone with its directory when that was deleted.
    await unlock().catch(() => undefined);
  }
}

/** Waits for a lock that is held, and for nothing else: the library's own way of waiting would try for as long to lock on a full disk. */
async function lockOf(lockfilePath: string): Promise<() => Promise<void>> {
  const { default: lockfile } = await import('proper-lockfile');
  const options = {
    lockfilePath,
    realpath: false,
    stale: staleLockMs,
    // The work is short, and those who read its result check it.
    onCompromised: () => undefined,
  };
  for (const end = performance.now() + 2 * staleLockMs; ; await delay(lockPollMs)) {
    try {
      return await lockfile.lock(lockfilePath, options);
    } catch (error) {
      if (!hasCode(error, 'ELOCKED') || performance.now() > end) throw error;
    }
  }
}

/** What changes when a file or a directory does. */
export interface Version {
  /** Differs when it was changed, or another one has its name. */
  readonly text: string;
  /** Its size and the time of its last change, which a copy of the file may share. */
  readonly content: string;
  readonly bytes: number;
  readonly changedMs: number;
  readonly isDirectory: boolean;
}

/** Returns undefined where there is none. Synchronous: handing the question to another thread takes longer than its answer. */
export function versionOf(file: string): Version | undefined {
  try {
    const found = statSync(file, { bigint: true, throwIfNoEntry: false });
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

/** Removes the leftovers of killed operations from a directory: drafts of files, and directories that were being deleted. */
export async function removeLeftovers(directory: string): Promise<void> {
  const entries = await readdir(directory).catch(emptyWhenMissing);
  await removeStale(entries.filter(isLeftover).map(name => path.join(directory, name)));
}

/** Removes files that nobody has touched for a while: another process may be about to use a newer one. */
export async function removeStale(files: readonly string[]): Promise<void> {
  for (const leftover of files) {
    const found = await stat(leftover).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > staleMs)
      // What cannot be removed, on a file system that is read-only for example, hinders nobody.
      await rm(leftover, { recursive: true, force: true }).catch(() => undefined);
  }
}

const staleLockMs = 10_000;
const lockPollMs = 20;

/** Whether a name is one of a draft or a directory that was being deleted; not `.tmp` itself, in which engines work. */
export function isLeftover(name: string): boolean {
  return /^[^.].*\.tmp$/.test(name) || name.startsWith(deletedPrefix) || name.startsWith(draftPrefix);
}

/** Ends the name of a log of batches that are in no Parquet file yet. */
export const logSuffix = '.log';

/** The folder of a data directory for what is no data: JupyterLab of `apl-kernel lab`, and copies of the program. */
export const toolsDirectory = 'tools';

/** Ends the name of a file that was set aside, as not all of it could be read. Nothing of ours removes it. */
export const damagedSuffix = '.damaged';

/** A name for a directory that is about to be deleted. */
export function deletedName(): string {
  return `${deletedPrefix}${crypto.randomUUID()}`;
}

/** A name for a directory that is about to be renamed into place. */
export function draftName(): string {
  return `${draftPrefix}${crypto.randomUUID()}`;
}

/** Returns an empty list for a directory that does not exist; rethrows any other error. */
export function emptyWhenMissing(error: unknown): [] {
  if (hasCode(error, 'ENOENT')) return [];
  throw error;
}

/** Returns whether an operation on a file failed with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(String((error as NodeJS.ErrnoException | null)?.code));
}

const deletedPrefix = '.deleted-';
const draftPrefix = '.draft-';
const staleMs = 60_000;
