import { cpSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';

/**
 * Copies the examples into a folder of the user's; what is there already stays as it is.
 * @param {string} from
 * @param {string} to
 */
export function copyExamples(from, to) {
  const filter = (/** @type {string} */ path) => !['.ipynb_checkpoints', 'out'].includes(basename(path));
  cpSync(from, to, { recursive: true, force: false, filter });
}

/**
 * The example notebooks of a folder, in order.
 * @param {string} folder
 */
export function notebooksIn(folder) {
  return readdirSync(folder)
    .filter(name => name.endsWith('.ipynb'))
    .sort();
}
