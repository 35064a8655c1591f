import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';

/** The directories that file names in magics start from. */
export interface FilePlaces {
  readonly homeDir: string;
  readonly workDir: string;
}

/** Returns the absolute path of a file named in a magic; `~` is the home directory. */
export function pathOf({ homeDir, workDir }: FilePlaces, written: string): string {
  return resolve(
    workDir,
    written.replace(/^~(?=$|[\\/])/, () => homeDir),
  );
}

/**
 * Returns the files that a typed name may become; directories end in `/`. Hidden files, and names that would need quotes, are
 * left out.
 */
export async function fileNames(places: FilePlaces, typed: string): Promise<readonly string[]> {
  const folder = typed.slice(0, typed.lastIndexOf('/') + 1);
  const entries = await readdir(pathOf(places, folder), { withFileTypes: true }).catch(() => []);
  return entries
    .filter(({ name }) => !/^\.|[\s"']/.test(name))
    .map(entry => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .sort();
}
