import { mkdirSync, statSync } from 'node:fs';
import { totalmem } from 'node:os';
import { dirname, sep } from 'node:path';
import process from 'node:process';

/** Returns how many bytes of memory this process may use at most: those of the machine, or of the container that it runs in. */
export function memoryAtMost(): number {
  const container = process.constrainedMemory();
  // Without a bound it is 0, or more than any machine has.
  return container > 0 ? Math.min(container, totalmem()) : totalmem();
}

const MiB = 2 ** 20;

/**
 * Returns how large the answer of a query may be where so much memory may be used: a quarter of it, from 512 MiB to 2 GiB. Both in
 * bytes, the answer in whole MiB.
 */
export function largestAnswer(memory: number): number {
  const share = Math.floor(memory / 4 / MiB) * MiB;
  return Math.max(512 * MiB, Math.min(share, 2048 * MiB));
}

/**
 * Makes a directory for this user alone, and those above it; one that is there stays as it is. Throws what the system says.
 * Node's own recursive way never returns where a file system refuses new names as if the directory above were missing, as /proc does.
 */
export function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(directory).isDirectory()) return;
    const above = dirname(directory);
    if (code !== 'ENOENT' || above === directory) throw error;
    makeDirectory(above);
    makeLast(directory);
  }
}

/** Another process may have made it meanwhile. */
function makeLast(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Whether a path goes through a name that begins with a dot, as those of keys and settings do; links are to be resolved before. */
export function isHidden(path: string): boolean {
  return path.split(sep).some(name => name.startsWith('.') && name !== '.' && name !== '..');
}
