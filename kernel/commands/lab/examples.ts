import { cpSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';

/** Copies the examples into a folder of the user's; what already exists stays as it is. */
export function copyExamples(from: string, to: string): void {
  const filter = (path: string) => !['.ipynb_checkpoints', 'out'].includes(basename(path));
  cpSync(from, to, { recursive: true, force: false, filter });
}

/** The names of the notebooks in a folder, in order. */
export function notebooksIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter(name => name.endsWith('.ipynb'))
    .sort();
}
