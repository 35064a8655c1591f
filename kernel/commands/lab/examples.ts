import { cpSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';

/** Copies the examples into a user's folder; existing files are left alone. */
export function copyExamples(from: string, to: string): void {
  const filter = (path: string) => !['.ipynb_checkpoints', 'out'].includes(basename(path));
  cpSync(from, to, { recursive: true, force: false, filter });
}

/** Returns the names of the notebooks in a folder, in order. */
export function notebooksIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter(name => name.endsWith('.ipynb'))
    .sort();
}
