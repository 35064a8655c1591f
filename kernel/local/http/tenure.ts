import { readFile } from 'node:fs/promises';
import { runtimeFilePath } from '../shared.js';

const checkMs = 2_000;

/** Calls `onLost` once the runtime file with this secret is gone: no kernel finds the service any more. Returns a function that stops the watch. */
export function watchTenure(dataDir: string, secret: string, onLost: () => void): () => void {
  const timer = setInterval(async () => {
    if (await holds(dataDir, secret)) return;
    clearInterval(timer);
    onLost();
  }, checkMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Whether the runtime file of a data directory is the one with this secret. */
export async function holds(dataDir: string, secret: string): Promise<boolean> {
  try {
    return JSON.parse(await readFile(runtimeFilePath(dataDir), 'utf8')).secret === secret;
  } catch (error) {
    // A file that cannot be read at the moment, for lack of descriptors say, may still be there.
    return !['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? 'ENOENT');
  }
}
