import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';

/** The base directories of file names in magics. */
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

/** Completes a partial file name; directories end in `/`. Omits hidden files and names that would need quotes. */
export async function fileNames(places: FilePlaces, typed: string): Promise<readonly string[]> {
  const folder = typed.slice(0, typed.lastIndexOf('/') + 1);
  const entries = await readdir(pathOf(places, folder), { withFileTypes: true }).catch(() => []);
  return entries
    .filter(({ name }) => !/^\.|[\s"']/.test(name))
    .map(entry => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .sort();
}
