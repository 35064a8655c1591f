import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Writes a file so that a reader sees the old text or the new, never a part. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const draft = `${file}.${crypto.randomUUID()}.tmp`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, file);
}

/** Removes the leftovers of killed operations from a directory: drafts of files, and directories that were being deleted. */
export async function removeLeftovers(directory: string): Promise<void> {
  const entries = await readdir(directory).catch(emptyWhenMissing);
  for (const name of entries.filter(isLeftover)) {
    const leftover = path.join(directory, name);
    const found = await stat(leftover).catch(() => undefined);
    // Another process may be about to rename it.
    if (found && Date.now() - found.mtimeMs > staleMs) await rm(leftover, { recursive: true, force: true });
  }
}

/** The directory `.tmp` itself is where engines work. */
function isLeftover(name: string): boolean {
  return /^[^.].*\.tmp$/.test(name) || name.startsWith(deletedPrefix) || name.startsWith(draftPrefix);
}

/** A name for a directory that is about to be deleted. */
export function deletedName(): string {
  return `${deletedPrefix}${crypto.randomUUID()}`;
}

/** A name for a directory that is about to be renamed into place. */
export function draftName(): string {
  return `${draftPrefix}${crypto.randomUUID()}`;
}

/** Returns nothing for a directory that is not there; throws any other error again. */
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
