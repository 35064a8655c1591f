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

/** Options of `apl-kernel run`, as on the command line. */
export interface RunOptions extends PageOptions {
  /** Output directory for an executed notebook and its page. */
  readonly out: string;
  /** File for the executed notebook, instead of the directory. */
  readonly output?: string;
  readonly html?: string;
  /** Whether results are printed as text; files are then written only if named. */
  readonly print?: boolean;
  /** Line of an `.apl` file, from 1; cells that begin below it are not run. */
  readonly toLine?: number;
  readonly param: readonly string[];
  readonly time?: string;
  readonly profile?: string;
  /** Timeout of a cell, in seconds. */
  readonly timeout?: number;
  readonly keepGoing?: boolean;
  /** Directory of recorded answers: replayed if there are any, else recorded; each of several notebooks has its own subdirectory. */
  readonly cache?: string;
  /** Effects that the notebook may have without confirmation, as nobody is there to give it. */
  readonly allow?: readonly AskedEffect[];
}

/** Process facilities that the notebook commands use. */
export interface NotebookHost {
  /** Starts a new kernel whose relative paths start at the notebook's directory, with the allowed effects. */
  readonly kernel: (workDir: string, allow?: readonly AskedEffect[]) => Promise<KernelHandler>;
  readonly print: (line: string) => void;
  /** Destination of progress output. */
  readonly terminal: { readonly isTTY?: boolean; write(text: string): unknown };
  /** Returns nanoseconds since 1970, from the clock or APL_KERNEL_NOW. */
  readonly now: () => bigint;
  readonly signal: AbortSignal;
}

/** Runs notebooks one after the other; returns 1 if a cell in one failed, else 0. Throws UsageError. */
export async function run(
  notebooks: readonly string[],
  options: RunOptions,
  host: NotebookHost,
): Promise<number> {
  const isOne = notebooks.length === 1;
  if (!isOne && (options.output !== undefined || options.html !== undefined))
    throw new UsageError('option-invalid', '-o and --html name one file, but there are several notebooks', {
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

/** Makes the time ranges of a notebook absolute; returns 1 if one could not be, else 0. Throws UsageError. */
export async function freeze(
  path: string,
  { output = path }: { readonly output?: string },
  host: NotebookHost,
): Promise<number> {
  const notebook = await readNotebook(path);
  const done = freezeNotebook(notebook, host.now());
  if (done.length > 0 || output !== path) await writeNotebook(output, notebook);
  for (const line of done.map(freezingLine)) host.print(line);
  if (done.length === 0) host.print(`${path}: every range is already absolute`);
  return done.some(({ kind }) => kind === 'refused') ? 1 : 0;
}

/** Converts a notebook to an `.apl` file, or back, beside it unless the options name a file. Throws UsageError. */
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

/** Removes notebook outputs that contain data; what ran, and the number of rows, stay. Throws UsageError. */
export async function strip(
  path: string,
  { output = path }: { readonly output?: string },
  host: NotebookHost,
): Promise<number> {
  const notebook = await readNotebook(path);
  const stripped = stripNotebook(notebook);
  await writeNotebook(output, notebook);
  host.print(`${output}: removed the data of ${plural(stripped, 'output')}`);
  return 0;
}

/** Writes an executed notebook as a page, without running it, beside it unless the options name a file. Throws UsageError. */
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

/** Writes the page of the notebook at `path`; loaded lazily, as few commands need it. */
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

/** Options of `apl-kernel verify`. */
export interface VerifyOptions {
  readonly json?: boolean;
  /** Maximum relative difference between real numbers that count as equal. */
  readonly tolerance?: number;
  /** As in `RunOptions`. */
  readonly allow?: readonly AskedEffect[];
}

/** Exit code if results differ from those of the earlier run. */
const DIFFERENT = 3;

/**
 * Runs a notebook again and compares the results with the recorded ones; leaves the file unchanged. Returns 3 if one differs, 1 if one can
 * no longer be computed, else 0. Throws UsageError.
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
    throw new UsageError('option-invalid', `${path} has no results to compare with`, {
      hint: 'run it first with apl-kernel run or in Jupyter, and save it',
    });
  if (options.json)
    host.print(JSON.stringify({ notebook: path, ...tally(verdicts), results: verdicts }, null, 1));
  else for (const line of reportLines(path, verdicts)) host.print(line);
  const { different, impossible } = tally(verdicts);
  return different > 0 ? DIFFERENT : impossible > 0 ? 1 : 0;
}

/** Default tolerance: sums of reals depend on the engine's order of addition. */
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
  const clock =
    frozen || status === 'impossible' ? '' : ' (its range is relative; apl-kernel freeze makes it absolute)';
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

/** Returns the allowed effects; naming a profile for a run allows its use. */
function allowedIn({ allow = [], profile }: RunOptions): readonly AskedEffect[] {
  return profile === undefined ? allow : [...allow, 'profile'];
}

/** Returns true if every cell ran. */
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

/** Makes a kernel replay a recording, or record one if there is none; throws UsageError. */
async function useRecording(handler: KernelHandler, directory: string, signal: AbortSignal): Promise<void> {
  // A dangling link may be a recording on a disk that is not mounted.
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

/** Keeps only the cells that begin at or above a line; throws UsageError. */
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

/** Progress: on a terminal one line that is overwritten, elsewhere a line per cell. */
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
