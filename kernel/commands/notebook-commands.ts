import { lstat, mkdir } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { UsageError } from '../errors.js';
import { type Freezing, freezeNotebook } from '../headless/freeze.js';
import { isScript, readNotebook, replaceFile, writeNotebook } from '../headless/headless-file.js';
import { type CellProgress, failureLines, runLine, runNotebook } from '../headless/headless-run.js';
import type { Notebook } from '../headless/notebook.js';
import { printedOutputs } from '../headless/outputs.js';
import { prepareNotebook } from '../headless/prepare.js';
import type { CodeView, ReportOptions } from '../headless/report/page.js';
import { lineOf } from '../headless/script.js';
import { stripNotebook } from '../headless/strip.js';
import { compareRuns, type Verdict } from '../headless/verify.js';
import type { KernelHandler } from '../jupyter/message.js';
import type { AskedEffect } from '../notebook/magics/effects/effects.js';
import { present } from '../present.js';
import type { RowChange } from '../result/compare.js';
import { oneLine, plural } from '../text.js';

export type { CodeView };

/** How a page shows the cells. */
export type PageOptions = Omit<ReportOptions, 'title'>;

/** The options of `apl-kernel run`, as the command line has them. */
export interface RunOptions extends PageOptions {
  /** The directory that an executed notebook and its page are written to. */
  readonly out: string;
  /** The file of the executed notebook, used in place of the directory. */
  readonly output?: string;
  readonly html?: string;
  /** Whether results are printed as text; files are then written only if they are named. */
  readonly print?: boolean;
  /** The line of an `.apl` file, from 1, below which no cell is run. */
  readonly toLine?: number;
  readonly param: readonly string[];
  readonly time?: string;
  readonly profile?: string;
  /** Seconds that a cell may take. */
  readonly timeout?: number;
  readonly keepGoing?: boolean;
  /**
   * A directory of recorded answers, which are replayed if there are some and recorded otherwise; each of several notebooks
   * has a directory of its own below it.
   */
  readonly cache?: string;
  /** What the notebook may do without a question, as nobody is there to answer one. */
  readonly allow?: readonly AskedEffect[];
}

/** The parts of the process that the commands on notebooks use. */
export interface NotebookHost {
  /** A fresh kernel whose relative paths start at the directory of the notebook, and which may do what is allowed. */
  readonly kernel: (workDir: string, allow?: readonly AskedEffect[]) => Promise<KernelHandler>;
  readonly print: (line: string) => void;
  /** Where progress goes. */
  readonly terminal: { readonly isTTY?: boolean; write(text: string): unknown };
  /** Nanoseconds since 1970, of the clock or of APL_KERNEL_NOW. */
  readonly now: () => bigint;
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
  for (const path of notebooks) {
    const { cache } = options;
    const own = cache === undefined || isOne ? cache : join(cache, nameOf(path));
    failed = !(await runOne(path, { ...options, ...present({ cache: own }) }, host)) || failed;
  }
  return failed ? 1 : 0;
}

/** Makes the ranges of a notebook absolute; returns 1 when one could not be, else 0. Throws UsageError. */
export async function freeze(
  path: string,
  { output = path }: { readonly output?: string },
  host: NotebookHost,
): Promise<number> {
  const notebook = await readNotebook(path);
  const done = freezeNotebook(notebook, host.now());
  if (done.length > 0 || output !== path) await writeNotebook(output, notebook);
  for (const line of done.map(freezingLine)) host.print(line);
  if (done.length === 0) host.print(`${path}: every range is absolute already`);
  return done.some(({ kind }) => kind === 'refused') ? 1 : 0;
}

/** Writes a notebook as an `.apl` file, or an `.apl` file as a notebook, beside it unless the options say where. Throws UsageError. */
export async function convert(
  path: string,
  { output }: { readonly output?: string },
  host: NotebookHost,
): Promise<number> {
  const other = join(dirname(path), `${nameOf(path)}${isScript(path) ? '.ipynb' : '.apl'}`);
  const notebook = await readNotebook(path);
  await writeNotebook(output ?? other, notebook);
  const lost = notebook.cells.some(cell => cell.cell_type === 'code' && cell.outputs.length > 0);
  const note = lost && isScript(output ?? other) ? ', without the outputs' : '';
  host.print(`${path} -> ${output ?? other}: ${plural(notebook.cells.length, 'cell')}${note}`);
  return 0;
}

/** Removes the outputs of a notebook that hold data: what ran, and how many rows there were, stay. Throws UsageError. */
export async function strip(
  path: string,
  { output = path }: { readonly output?: string },
  host: NotebookHost,
): Promise<number> {
  const notebook = await readNotebook(path);
  const stripped = stripNotebook(notebook);
  await writeNotebook(output, notebook);
  host.print(`${output}: the data of ${plural(stripped, 'output')} removed`);
  return 0;
}

/**
 * Writes an executed notebook as a page, without running it; the page goes beside it unless the options say where. Throws
 * UsageError.
 */
export async function exportPage(
  path: string,
  { output, ...options }: PageOptions & { readonly output?: string },
  host: NotebookHost,
): Promise<number> {
  const notebook = await readNotebook(path);
  const page = output ?? join(dirname(path), `${nameOf(path)}.html`);
  await writePage(page, notebook, path, options);
  host.print(`${path} -> ${page}: ${plural(notebook.cells.length, 'cell')}`);
  return 0;
}

/** Writes the page of the notebook at `path`; few commands do, so it is loaded late. */
async function writePage(
  page: string,
  notebook: Notebook,
  path: string,
  { code, setup }: PageOptions,
): Promise<void> {
  const { notebookPage } = await import('../headless/report/page.js');
  await replaceFile(page, notebookPage(notebook, { title: nameOf(path), ...present({ code, setup }) }));
}

function freezingLine(done: Freezing): string {
  if (done.kind === 'refused') return `cell ${done.cell}: not frozen: ${done.reason}`;
  const when = done.asRun ? 'the window of its outputs' : 'as of now';
  return `cell ${done.cell}: ${oneLine(done.before, 60)} -> ${done.after} (${when})`;
}

/** The options of `apl-kernel verify`. */
export interface VerifyOptions {
  readonly json?: boolean;
  /** The relative difference up to which two real numbers count as equal. */
  readonly tolerance?: number;
  /** As for a run. */
  readonly allow?: readonly AskedEffect[];
}

/** The exit code when results differ from those of the earlier run. */
const DIFFERENT = 3;

/**
 * Runs a notebook again and compares the results with those that it holds; its file stays as it is. Returns 3 when one differs, 1
 * when one can no longer be computed, else 0. Throws UsageError.
 */
export async function verify(path: string, options: VerifyOptions, host: NotebookHost): Promise<number> {
  const [recorded, again] = [await readNotebook(path), await readNotebook(path)];
  const handler = await host.kernel(dirname(path), options.allow);
  const meter = new Meter(path, host.terminal);
  try {
    const progress = (cell: CellProgress) => meter.show(cell);
    await runNotebook(again, handler, { signal: host.signal, keepGoing: true, progress });
  } finally {
    await handler.shutdown(false);
  }
  const verdicts = compareRuns(recorded, again, options.tolerance ?? TOLERANCE);
  if (verdicts.length === 0)
    throw new UsageError('option-invalid', `${path} holds no results to compare with`, {
      hint: 'run it first, with apl-kernel run or in Jupyter, and save it',
    });
  if (options.json)
    host.print(JSON.stringify({ notebook: path, ...tally(verdicts), results: verdicts }, null, 1));
  else for (const line of reportLines(path, verdicts)) host.print(line);
  const { different, impossible } = tally(verdicts);
  return different > 0 ? DIFFERENT : impossible > 0 ? 1 : 0;
}

/** Sums of real numbers depend on the order in which an engine adds them. */
const TOLERANCE = 1e-9;

function tally(verdicts: readonly Verdict[]): Readonly<Record<Verdict['status'], number>> {
  const count = (wanted: Verdict['status']) => verdicts.filter(({ status }) => status === wanted).length;
  return { same: count('same'), different: count('different'), impossible: count('impossible') };
}

function reportLines(path: string, verdicts: readonly Verdict[]): readonly string[] {
  const { same, different, impossible } = tally(verdicts);
  const others = verdicts.filter(({ status }) => status !== 'same').flatMap(verdictLines);
  return [`${path}: ${same} the same, ${different} different, ${impossible} impossible`, ...others];
}

function verdictLines({ cell, table, status, reason, frozen, changes }: Verdict): readonly string[] {
  const clock = frozen || status === 'impossible' ? '' : ' (its range follows the clock: apl-kernel freeze)';
  const head = `cell ${cell}, result ${table}: ${status}: ${oneLine(reason, 300)}${clock}`;
  return [
    head,
    ...(changes?.examples ?? []).slice(0, SHOWN_CHANGES).map(change => `  ${changeText(change)}`),
  ];
}

const SHOWN_CHANGES = 5;

function changeText(change: RowChange): string {
  const pairs = (cells: Readonly<Record<string, string | null>>) =>
    Object.entries(cells).map(([name, text]) => `${name} ${text ?? 'null'}`);
  if (change.kind !== 'changed') return oneLine(`${change.kind}: ${pairs(change.cells).join(', ')}`, 200);
  const cells = change.cells.map(
    ({ column, before, after }) => `${column} ${before ?? 'null'} -> ${after ?? 'null'}`,
  );
  return oneLine(`changed: ${[...pairs(change.key), ...cells].join(', ')}`, 200);
}

/** Whoever names a profile for a run allows its use. */
function allowedIn({ allow = [], profile }: RunOptions): readonly AskedEffect[] {
  return profile === undefined ? allow : [...allow, 'profile'];
}

/** True when every cell ran. */
async function runOne(path: string, options: RunOptions, host: NotebookHost): Promise<boolean> {
  const notebook = await readNotebook(path);
  if (options.toLine !== undefined) endAtLine(notebook, options.toLine, path);
  prepareNotebook(notebook, { parameters: options.param, ...options });
  const files = await filesOf(path, options);
  const handler = await host.kernel(dirname(path), allowedIn(options));
  const meter = new Meter(path, host.terminal);
  try {
    if (options.cache !== undefined) await useRecording(handler, options.cache, host.signal);
    const failures = await runNotebook(notebook, handler, {
      signal: host.signal,
      progress: cell => meter.show(cell),
      ...present({
        output: files.notebook,
        timeoutMs: options.timeout === undefined ? undefined : options.timeout * 1000,
        keepGoing: options.keepGoing,
      }),
    });
    if (files.page !== undefined) await writePage(files.page, notebook, path, options);
    if (options.print === true) for (const text of printedOutputs(notebook)) host.print(text);
    const written = [files.page, files.notebook].filter(file => file !== undefined).join(', ');
    if (written !== '') host.print(`${failures.length === 0 ? 'ok     ' : 'FAILED '} ${path}: ${written}`);
    for (const line of failures.flatMap(failureLines)) host.print(`        ${line}`);
    return failures.length === 0;
  } finally {
    await handler.shutdown(false);
  }
}

/** Has a kernel replay a recording, or make one if there is none; throws UsageError. */
async function useRecording(handler: KernelHandler, directory: string, signal: AbortSignal): Promise<void> {
  // A link that leads nowhere is a recording on a disk that is not mounted, say.
  const isThere = await lstat(join(directory, 'recording.json')).then(
    () => true,
    () => false,
  );
  const code = `%cache ${isThere ? 'replay' : 'record'} ${JSON.stringify(resolve(directory))}`;
  const ended = await runLine(handler, code, signal);
  if (ended.status === 'error')
    throw new UsageError('option-invalid', `--cache: ${ended.evalue}`, {
      hint: 'name another directory, or delete this one to record again',
    });
}

/** Leaves the cells that begin at or above a line; throws UsageError. */
function endAtLine(notebook: Notebook, line: number, path: string): void {
  if (!isScript(path))
    throw new UsageError('option-invalid', '--to-line counts the lines of an .apl file', {
      hint: `convert ${path} with apl-kernel convert`,
    });
  notebook.cells = notebook.cells.filter(cell => (lineOf(cell) ?? 0) <= line);
}

interface WrittenFiles {
  readonly notebook: string | undefined;
  readonly page: string | undefined;
}

function nameOf(path: string): string {
  return basename(path, extname(path));
}

async function filesOf(path: string, { out, output, html, print }: RunOptions): Promise<WrittenFiles> {
  if (output !== undefined || print === true) return { notebook: output, page: html };
  await mkdir(out, { recursive: true });
  const name = nameOf(path);
  return { notebook: join(out, `${name}.ipynb`), page: html ?? join(out, `${name}.html`) };
}

/** Progress: on a terminal one line that is overwritten, elsewhere a line for each cell. */
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

/** Moves to the start of the line and clears it. */
const CLEAR = '\r\u001b[K';
