import { chmod, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { UsageError } from '../errors.js';
import { anySize, textOf } from '../files.js';
import { systemRefusal } from '../machine.js';
import { type Notebook, notebookText, parseNotebook } from './notebook.js';
import { parseScript, scriptOf } from './script.js';

/** The file to run cannot be read as a notebook or as APL. */
class NotebookFileError extends UsageError {}

/** Returns the notebook in a file, converting an `.apl` file; throws UsageError. */
export async function readNotebook(path: string): Promise<Notebook> {
  let text: string;
  try {
    text = await textOf(path, anySize);
  } catch (cause) {
    const { reason = '', hint = 'check the path; a notebook ends in .ipynb, a plain query file in .apl' } =
      systemRefusal(cause) ?? {};
    throw new NotebookFileError('notebook-unreadable', `cannot read ${path}${reason && `: ${reason}`}`, {
      hint,
      cause,
    });
  }
  const notebook = isScript(path) ? parseScript(text) : parseNotebook(text);
  if (typeof notebook !== 'string') return notebook;
  throw new NotebookFileError('notebook-malformed', `${path} is not a notebook: ${notebook}`, {
    hint: 'save it from Jupyter in notebook format 4',
  });
}

/** Returns whether a file is APL rather than a notebook, by its extension. */
export function isScript(path: string): boolean {
  return extname(path).toLowerCase() === '.apl';
}

/** Writes a notebook, or an `.apl` file without outputs, atomically: after a kill, a reader finds either the old content or the new. */
export async function writeNotebook(path: string, notebook: Notebook): Promise<void> {
  await replaceFile(path, isScript(path) ? scriptOf(notebook) : notebookText(notebook));
}

/** Writes a temporary file, then renames it over the target: follows links and keeps the target's permissions. Throws UsageError. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const beside = `${target}.${process.pid}.tmp`;
  try {
    await writeFile(beside, text, { mode: 0o600 });
    await chmod(beside, await modeOf(target));
    await rename(beside, target);
  } catch (cause) {
    await rm(beside).catch(() => undefined);
    const { reason = '', hint = 'check that its directory exists and may be written to' } =
      systemRefusal(cause) ?? {};
    throw new NotebookFileError('notebook-unwritable', `cannot write ${path}${reason && `: ${reason}`}`, {
      hint,
      cause,
    });
  }
}

/** Returns the permissions of a file, or those a new file would get. */
async function modeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined ? 0o666 & ~process.umask() : found.mode & 0o777;
}
