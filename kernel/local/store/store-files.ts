import { type BigIntStats, constants, lstatSync, statSync } from 'node:fs';
import { copyFile, lstat, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { openFile } from '../../files.js';
import { makeDirectory, systemRefusal } from '../../machine.js';
import { present } from '../../present.js';

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
    await rm(draft).catch(() => undefined);
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

/** Frees the name of a file that may be deleted at any time, whatever has it; a directory that cannot be emptied is set aside. */
export async function clearName(file: string): Promise<void> {
  await rm(file, { recursive: true, force: true })
    .catch(() => setAside(file))
    .catch(() => undefined);
}

/** Makes a directory that we keep for ourselves; what is in its place, and is none, is set aside. */
export async function makeOwnDirectory(directory: string): Promise<void> {
  const found = await stat(directory).catch(() => lstat(directory).catch(() => undefined));
  if (found !== undefined && !found.isDirectory()) await setAside(directory);
  makeDirectory(directory);
}

/** Writes a file that nobody reads yet; it is on the disk once this resolves. */
export async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await openFile(file, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** How a finished file becomes part of the data directory. */
export interface Placing {
  readonly confirm: Confirm;
  /** A directory on the disk of the data, which is taken away from whoever no longer holds it. */
  readonly draftDir: string;
}

/**
 * Renames a finished file into place, where it is whole even after a power failure; `confirm` has the last word before that. One that is
 * not in the directory for drafts, but on another disk, is copied there first.
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

/** Returns undefined if there is none. Synchronous: handing the question to another thread takes longer than its answer. */
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

/** Those of a link where it leads nowhere, or in a circle: it is there. */
function statsOf(file: string): BigIntStats | undefined {
  const options = { bigint: true, throwIfNoEntry: false } as const;
  try {
    return statSync(file, options) ?? lstatSync(file, options);
  } catch (error) {
    if (hasCode(error, 'ELOOP')) return lstatSync(file, options);
    throw error;
  }
}

/** Removes the leftovers of killed operations from a directory: drafts of files, and directories that were being deleted. */
export async function removeLeftovers(directory: string): Promise<void> {
  const { names: entries } = await listed(directory);
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

/** Whether a name is one of a draft or a directory that was being deleted; not `.tmp` itself, in which engines work. */
export function isLeftover(name: string): boolean {
  return /^[^.].*\.tmp$/.test(name) || name.startsWith(deletedPrefix) || name.startsWith(draftPrefix);
}

/** Ends the name of a log of batches that are in no Parquet file yet. */
export const logSuffix = '.log';

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

/** The names in a directory; none if there is no directory, or it has a fault, as in "it {fault}". */
export interface ListedNames {
  readonly names: readonly string[];
  readonly fault?: string;
}

/** Lists a directory that may not be there, or in whose place may be anything. */
export async function listed(directory: string): Promise<ListedNames> {
  try {
    return { names: await readdir(directory) };
  } catch (error) {
    return { names: [], ...present({ fault: systemFault(directory, error) }) };
  }
}

/**
 * Returns why the system does not let something be read, as in "it {fault}"; undefined if there is nothing of its name. Rethrows what is
 * no error of the system.
 */
export function systemFault(file: string, error: unknown): string | undefined {
  const { code = '' } = error as NodeJS.ErrnoException;
  // Errors of our own have codes too.
  if (!/^E[A-Z\d]+$/.test(code)) throw error;
  if (code === 'ENOTDIR') return 'is not a directory';
  if (code !== 'ENOENT') return `cannot be read: ${systemRefusal(error)?.reason ?? code}`;
  const isThere = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  return isThere ? 'cannot be read: it is a link that leads nowhere' : undefined;
}

/** What to do about a directory with a fault. */
export const directoryRemedy = 'Repair it, or move it away: a new one is made when it is needed.';

/** Returns whether an operation on a file failed with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(String((error as NodeJS.ErrnoException | null)?.code));
}

const deletedPrefix = '.deleted-';
const draftPrefix = '.draft-';
const staleMs = 60_000;
