import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inDataDir } from '../data-layout.js';
import { ownerOf, ownName, ownScope } from './processes.js';

/** Creates the directory for drafts and spilled rows: next to the data, into which drafts are moved, unless that cannot be written. */
export async function makeWorkDir(dataDir: string): Promise<string> {
  return makeScratch(rootIn(dataDir), '').catch(() => makeScratch(tmpdir(), inTemporary));
}

/**
 * Creates the directory of an engine's profiles, away from the data, which may be on a slower disk. Without it nothing is counted, and the
 * engine retries.
 */
export async function makeProfileDir(): Promise<string> {
  return makeScratch(tmpdir(), inTemporary).catch(async () =>
    path.join(tmpdir(), inTemporary + (await scratchName())),
  );
}

function rootIn(dataDir: string): string {
  return inDataDir(dataDir, '.tmp');
}

/** Prefix of our names in the directory for temporary files. */
const inTemporary = 'apl-kernel-';

/**
 * Creates a directory for this process whose name begins with `prefix`, and removes those of killed processes in this scope: whether
 * processes of other scopes are running is unknown here.
 */
async function makeScratch(parent: string, prefix: string): Promise<string> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const known = (await readdir(parent)).filter(name => name.startsWith(prefix));
  await Promise.all(
    known.map(async name => {
      // Directories of other users stay.
      if ((await ownerOf(name.slice(prefix.length))) === 'gone')
        await rm(path.join(parent, name), { recursive: true, force: true }).catch(() => undefined);
    }),
  );
  const directory = path.join(parent, prefix + (await scratchName()));
  await mkdir(directory, { mode: 0o700 });
  return directory;
}

/** A previous user of the data directory, as known to {@link clearScratch}. */
export interface Predecessor {
  /** From {@link ownName}. */
  readonly owner: string;
  readonly scope: string;
}

/**
 * Removes the scratch directories of previous holders of the data directory: a file becomes part of a dataset by being renamed out of one,
 * which fails from now on. Removes all but this process's own if the predecessor is unknown. Only for the holder of the lease.
 */
export async function clearScratch(
  dataDir: string,
  predecessors: readonly Predecessor[] | 'anybody',
): Promise<void> {
  const root = rootIn(dataDir);
  const [names, own] = [await readdir(root).catch(() => []), await ownName()];
  const isTheirs = (name: string) =>
    predecessors === 'anybody' ? !name.startsWith(`${own}-`) : predecessors.some(each => isOf(each, name));
  for (const name of names) {
    const directory = path.join(root, name);
    if (!isTheirs(name) && !(await isForgotten(directory, name))) continue;
    // Atomically, whatever is being written there.
    const taken = path.join(root, await scratchName());
    await rename(directory, taken).catch(ignoreMissing);
    await rm(taken, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Matches the predecessor's engines too, which run in separate processes of the same scope. */
function isOf({ owner, scope }: Predecessor, name: string): boolean {
  return name.startsWith(`${owner}-`) || (scope !== ownScope() && name.startsWith(`${scope}-`));
}

/** Returns whether a directory from another scope is abandoned, such as that of a removed container. */
async function isForgotten(directory: string, name: string): Promise<boolean> {
  if ((await ownerOf(name)) !== 'unknown') return false;
  const found = await stat(directory).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > forgottenMs;
}

const forgottenMs = 24 * 3_600_000;

async function scratchName(): Promise<string> {
  return `${await ownName()}-${crypto.randomUUID()}`;
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
