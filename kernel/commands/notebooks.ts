import { mkdir } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { UsageError } from '../errors.js';
import { readNotebook, replaceFile, writeNotebook } from '../headless/file.js';
import { type Freezing, freezeNotebook } from '../headless/freeze.js';
import { notebookPage } from '../headless/page.js';
import { prepareNotebook } from '../headless/prepare.js';
import { type CellProgress, failureLines, runNotebook } from '../headless/run.js';
import type { KernelHandler } from '../jupyter/message.js';
import { present } from '../present.js';
import { oneLine } from '../text.js';

/** The options of `apl-kernel run`, as the command line has them. */
export interface RunOptions {
  /** A directory for a notebook and a page of each. */
  readonly out: string;
  /** The file of the executed notebook; takes the place of the directory. */
  readonly output?: string;
  readonly html?: string;
  readonly param: readonly string[];
  readonly time?: string;
  readonly profile?: string;
  /** Seconds that a cell may take. */
  readonly timeout?: number;
  readonly keepGoing?: boolean;
}

/** What the commands on notebooks need of their process. */
export interface NotebookHost {
  /** A fresh kernel whose relative paths start at the directory of the notebook. */
  readonly kernel: (workDir: string) => Promise<KernelHandler>;
  readonly print: (line: string) => void;
  /** Where progress goes. */
  readonly terminal: { readonly isTTY?: boolean; write(text: string): unknown };
  readonly signal: AbortSignal;
}

/** Runs notebooks one after the other; returns 1 when a cell of one failed, else 0. Throws UsageError. */
export async function run(
  notebooks: readonly string[],
  options: RunOptions,
  host: NotebookHost,
): Promise<number> {
  const isOne = notebooks.length === 1;
  if (!isOne && (options.output !== undefined || options.html !== undefined))
    throw new UsageError('option-invalid', '-o and --html name one file, and there are several notebooks', {
      hint: 'use --out DIRECTORY',
    });
  let failed = false;
  for (const path of notebooks) failed = !(await runOne(path, options, host)) || failed;
  return failed ? 1 : 0;
}

/** Makes the ranges of a notebook absolute; returns 1 when one could not be, else 0. Throws UsageError. */
export async function freeze(
  path: string,
  { output = path }: { readonly output?: string },
  host: NotebookHost,
): Promise<number> {
  if (extname(path).toLowerCase() === '.apl')
    throw new UsageError('option-invalid', 'freeze takes a notebook, not an .apl file');
  const notebook = await readNotebook(path);
  const done = freezeNotebook(notebook, BigInt(Date.now()) * 1_000_000n);
  if (done.length > 0 || output !== path) await writeNotebook(output, notebook);
  for (const line of done.map(freezingLine)) host.print(line);
  if (done.length === 0) host.print(`${path}: every range is absolute already`);
  return done.some(({ kind }) => kind === 'refused') ? 1 : 0;
}

function freezingLine(done: Freezing): string {
  if (done.kind === 'refused') return `cell ${done.cell}: not frozen: ${done.reason}`;
  const when = done.asRun ? 'the window of its outputs' : 'as of now';
  return `cell ${done.cell}: ${oneLine(done.before, 60)} -> ${done.after} (${when})`;
}

/** True when every cell ran. */
async function runOne(path: string, options: RunOptions, host: NotebookHost): Promise<boolean> {
  const notebook = await readNotebook(path);
  prepareNotebook(notebook, { parameters: options.param, ...options });
  const files = await filesOf(path, options);
  const handler = await host.kernel(dirname(path));
  const meter = new Meter(path, host.terminal);
  try {
    const failures = await runNotebook(notebook, handler, {
      output: files.notebook,
      signal: host.signal,
      progress: cell => meter.show(cell),
      ...present({
        timeoutMs: options.timeout === undefined ? undefined : options.timeout * 1000,
        keepGoing: options.keepGoing,
      }),
    });
    if (files.page !== undefined)
      await replaceFile(files.page, notebookPage(notebook, basename(path, extname(path))));
    const written = [files.page, files.notebook].filter(file => file !== undefined).join(', ');
    host.print(`${failures.length === 0 ? 'ok     ' : 'FAILED '} ${path}: ${written}`);
    for (const line of failures.flatMap(failureLines)) host.print(`        ${line}`);
    return failures.length === 0;
  } finally {
    await handler.shutdown(false);
  }
}

interface WrittenFiles {
  readonly notebook: string;
  readonly page: string | undefined;
}

async function filesOf(path: string, { out, output, html }: RunOptions): Promise<WrittenFiles> {
  if (output !== undefined) return { notebook: output, page: html };
  await mkdir(out, { recursive: true });
  const name = basename(path, extname(path));
  return { notebook: join(out, `${name}.ipynb`), page: html ?? join(out, `${name}.html`) };
}

/** Progress: one line that is written over on a terminal, a line for each cell elsewhere. */
class Meter {
  readonly #path: string;
  readonly #terminal: NotebookHost['terminal'];

  constructor(path: string, terminal: NotebookHost['terminal']) {
    this.#path = path;
    this.#terminal = terminal;
  }

  show({ index, cells, firstLine, elapsedMs, failed }: CellProgress): void {
    const place = `${this.#path} ${index}/${cells}`;
    const isOver = this.#terminal.isTTY === true;
    if (elapsedMs === undefined) {
      if (isOver) this.#terminal.write(`${CLEAR}${place} ${oneLine(firstLine, 60)}`);
      return;
    }
    const state = failed === true ? 'failed' : 'ok';
    const line = `${place} ${state} ${(elapsedMs / 1000).toFixed(1)} s  ${oneLine(firstLine, 60)}`;
    if (!isOver) this.#terminal.write(`${line}\n`);
    else if (failed === true || index === cells) this.#terminal.write(CLEAR);
  }
}

/** Back to the start of the line, which is cleared. */
const CLEAR = '\r\u001b[K';
