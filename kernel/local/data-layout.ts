import { createHash } from 'node:crypto';
import { lstatSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { AplKernelError } from '../errors.js';
import { makeDirectory, systemRefusal, userName } from '../machine.js';

/**
 * Named entries of a data directory, besides leases. Anything in the way of one of `ours`, which kernels and the service keep for
 * themselves, blocks nobody; anything in the way of one of the `user`'s is reported when requested.
 */
export const layout = {
  datasets: { is: 'directory', of: 'user' },
  starred: { is: 'directory', of: 'user' },
  annotations: { is: 'directory', of: 'user' },
  external: { is: 'directory', of: 'user' },
  '.cache': { is: 'directory', of: 'ours' },
  '.tmp': { is: 'directory', of: 'ours' },
  agents: { is: 'directory', of: 'ours' },
  tools: { is: 'directory', of: 'ours' },
  'service.lock': { is: 'directory', of: 'ours' },
  'queries.jsonl.lock': { is: 'directory', of: 'ours' },
  'logins.json.lock': { is: 'directory', of: 'ours' },
  'service.json': { is: 'file', of: 'ours' },
  'service.log': { is: 'file', of: 'ours' },
  'format.json': { is: 'file', of: 'ours' },
  'history.jsonl': { is: 'file', of: 'ours' },
  'queries.jsonl': { is: 'file', of: 'ours' },
  'queries.jsonl.old': { is: 'file', of: 'ours' },
  'imports.json': { is: 'file', of: 'ours' },
  'logins.json': { is: 'file', of: 'ours' },
} as const satisfies Readonly<Record<string, { readonly is: 'file' | 'directory'; readonly of: Owner }>>;

type Owner = 'user' | 'ours';

/** A name in the {@link layout} of a data directory. */
export type LayoutName = keyof typeof layout;

/** Returns the path of a named entry in a data directory. */
export function inDataDir(dataDir: string, name: LayoutName): string {
  return join(dataDir, name);
}

/** Location of the runtime file and log of a data directory's service. */
export interface Place {
  readonly directory: string;
  /** The reason why that is not the data directory: it cannot be written, and the service is read-only. */
  readonly refusal?: unknown;
}

/**
 * Returns the data directory, created if missing, or a private directory of this user if it cannot be written. Throws the system's error if
 * neither is possible.
 */
export function placeOf(dataDir: string): Place {
  const refusal = writeError(dataDir);
  if (refusal === undefined) return { directory: dataDir };
  if (systemRefusal(refusal)?.kind !== 'storage') throw refusal;
  const directory = privatePlace(dataDir);
  makeDirectory(directory);
  if (!isOurs(directory))
    throw new AplKernelError('local-service', `other users can write to ${directory}`, {
      hint: 'Remove it, or set TMPDIR to a directory of your own.',
    });
  return { directory, refusal };
}

/** Returns the directories that may contain the runtime file of a data directory's service. */
export function placesOf(dataDir: string): readonly string[] {
  const own = privatePlace(dataDir);
  return isOurs(own) ? [dataDir, own] : [dataDir];
}

/** Returns why no file can be written to a directory; undefined if one can. */
export function writeError(directory: string): unknown {
  const probe = join(directory, `.probe-${crypto.randomUUID()}`);
  try {
    makeDirectory(directory);
    writeFileSync(probe, Buffer.alloc(4096), { mode: 0o600 });
    return undefined;
  } catch (error) {
    // Errors from writing have no path.
    return Object.assign(error as NodeJS.ErrnoException, { path: probe });
  } finally {
    removeIfThere(probe);
  }
}

function removeIfThere(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // A file that could not be written does not exist.
  }
}

function privatePlace(dataDir: string): string {
  const digest = createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 16);
  return join(tmpdir(), `apl-service-${userName().replace(/\W/g, '_')}-${digest}`);
}

/** Returns whether a directory is safe: the temporary directory is shared, so only if no other user can have created it. */
function isOurs(directory: string): boolean {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (found === undefined || !found.isDirectory()) return false;
  return process.platform === 'win32' || (found.uid === process.getuid?.() && (found.mode & 0o077) === 0);
}
