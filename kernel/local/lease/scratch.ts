import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inDataDir } from '../data-layout.js';
import { ownerOf, ownName, ownScope } from './processes.js';

/** Makes the directory for drafts and spilled rows: with the data, into which drafts are moved, unless that cannot be written. */
export async function makeWorkDir(dataDir: string): Promise<string> {
  return makeScratch(rootIn(dataDir), '').catch(() => makeScratch(tmpdir(), inTemporary));
}

/**
 * Makes the directory of an engine's profiles: not beside the data, which may be on a slower disk. Without it nothing is counted, and
 * the engine tries again to make it.
 */
export async function makeProfileDir(): Promise<string> {
  return makeScratch(tmpdir(), inTemporary).catch(async () =>
    path.join(tmpdir(), inTemporary + (await scratchName())),
  );
}

function rootIn(dataDir: string): string {
  return inDataDir(dataDir, '.tmp');
}

/** Before the names of ours in the directory for temporary files. */
const inTemporary = 'apl-kernel-';

/**
 * Makes a directory of this process's own whose name begins with `prefix`, and removes those of processes of this scope that were
 * killed: whether others run cannot be known here.
 */
async function makeScratch(parent: string, prefix: string): Promise<string> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const known = (await readdir(parent)).filter(name => name.startsWith(prefix));
  await Promise.all(
    known.map(async name => {
      // A directory of another user stays.
      if ((await ownerOf(name.slice(prefix.length))) === 'gone')
        await rm(path.join(parent, name), { recursive: true, force: true }).catch(() => undefined);
    }),
  );
  const directory = path.join(parent, prefix + (await scratchName()));
  await mkdir(directory, { mode: 0o700 });
  return directory;
}

/** What {@link clearScratch} knows of one who used the data directory before. */
export interface Predecessor {
  /** As {@link ownName} has it. */
  readonly owner: string;
  readonly scope: string;
}

/**
 * Takes their scratch directories away from those who held the data directory before: a file becomes part of a dataset by being
 * renamed out of one, which fails from now on. Takes all but this process's own away if it may have been anybody. For the holder
 * of the lease alone.
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
    // In one step, whatever is being written there.
    const taken = path.join(root, await scratchName());
    await rename(directory, taken).catch(ignoreMissing);
    await rm(taken, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Its engines run in processes of their own, in the same scope. */
function isOf({ owner, scope }: Predecessor, name: string): boolean {
  return name.startsWith(`${owner}-`) || (scope !== ownScope() && name.startsWith(`${scope}-`));
}

/** Whether a directory of another scope is that of a container that is gone, say. */
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
