import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { AplKernelError } from '../errors.js';
import type { KernelHandler } from '../jupyter/message.js';
import { type CodeCell, lineOf, type Notebook, parseNotebook, sourceOf } from './notebook.js';
import { type Displays, OutputCollector } from './outputs.js';
import { notebookPage } from './page.js';

/** A failed cell: its execution count, as in the written notebook, and the traceback of a front end, without colours. */
export interface FailedCell {
  readonly executionCount: number;
  /** In an `.apl` file: the line at which the cell begins, from 1. */
  readonly line: number | undefined;
  readonly traceback: readonly string[];
}

/** One notebook's run: the files that were written, and the cell that failed, if one did. */
export interface HeadlessReport {
  readonly source: string;
  readonly notebook: string;
  readonly page: string;
  readonly cells: number;
  readonly failure: FailedCell | undefined;
}

/** The file to run cannot be read as a notebook or as APL. */
class NotebookFileError extends AplKernelError {}

/**
 * Runs a notebook, or an `.apl` file, cell by cell without Jupyter, and writes `<name>.ipynb` and `<name>.html` into
 * `directory`. A failing cell ends the run as in Jupyter, unless it has the tag `raises-exception`.
 */
export async function runNotebook(
  path: string,
  directory: string,
  handler: KernelHandler,
  signal: AbortSignal,
): Promise<HeadlessReport> {
  const notebook = await readNotebook(path);
  const codeCells = notebook.cells.filter(cell => cell.cell_type === 'code');
  for (const cell of codeCells) forget(cell);
  const failure = await runCells(codeCells, handler, signal);
  await mkdir(directory, { recursive: true });
  const name = basename(path, extname(path));
  const written = { notebook: join(directory, `${name}.ipynb`), page: join(directory, `${name}.html`) };
  await writeFile(written.notebook, `${JSON.stringify(notebook, null, 1)}\n`);
  await writeFile(written.page, notebookPage(notebook, name));
  return { source: path, ...written, cells: codeCells.length, failure };
}

/** A failure as lines for a terminal: which cell, then why and where in it. */
export function failureLines({ executionCount, line, traceback }: FailedCell): readonly string[] {
  const begins = line === undefined ? '' : `, which begins at line ${line}`;
  return [`cell [${executionCount}]${begins}:`, ...traceback];
}

async function readNotebook(path: string): Promise<Notebook> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new NotebookFileError('notebook-unreadable', `cannot read ${path}`, {
      hint: 'check the path; a notebook ends in .ipynb, a plain query file in .apl',
      cause,
    });
  }
  const kind = extname(path).toLowerCase();
  const notebook = parseNotebook(text, kind === '.apl' ? 'apl' : 'ipynb');
  if (typeof notebook !== 'string') return notebook;
  throw new NotebookFileError('notebook-malformed', `${path} is not a notebook: ${notebook}`, {
    hint: 'save it from Jupyter in notebook format 4',
  });
}

function forget(cell: CodeCell): void {
  cell.outputs = [];
  cell.execution_count = null;
}

async function runCells(
  cells: readonly CodeCell[],
  handler: KernelHandler,
  signal: AbortSignal,
): Promise<FailedCell | undefined> {
  const displays: Displays = new Map();
  let executionCount = 0;
  for (const cell of cells) {
    const code = sourceOf(cell);
    if (code.trim() === '') continue;
    executionCount += 1;
    cell.execution_count = executionCount;
    const outputs = new OutputCollector(cell, executionCount, displays, signal);
    const outcome = await handler.execute({ code, userExpressions: {} }, outputs);
    if (outcome.status === 'ok') continue;
    outputs.error(outcome);
    if (cell.metadata.tags?.includes('raises-exception')) continue;
    const traceback = outcome.traceback.flatMap(text => stripVTControlCharacters(text).split('\n'));
    return { executionCount, line: lineOf(cell), traceback };
  }
  return undefined;
}
