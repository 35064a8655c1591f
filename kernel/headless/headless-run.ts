import { stripVTControlCharacters } from 'node:util';
import type { ExecuteOutcome, KernelHandler } from '../jupyter/message.js';
import { isLate, underLimit } from '../signals.js';
import { writeNotebook } from './headless-file.js';
import { type CodeCell, type Notebook, sourceOf } from './notebook.js';
import { type Displays, OutputCollector } from './outputs.js';
import { lineOf } from './script.js';

/** A failed cell: its execution count, as in the written notebook, and its traceback without colors. */
export interface FailedCell {
  readonly executionCount: number;
  /** The line at which the cell begins, from 1, in an `.apl` file. */
  readonly line: number | undefined;
  readonly traceback: readonly string[];
}

/** A cell that is about to run or has ended. `index` counts from 1; `elapsedMs` and `failed` are set once it has ended. */
export interface CellProgress {
  readonly index: number;
  readonly cells: number;
  readonly firstLine: string;
  readonly elapsedMs?: number;
  readonly failed?: boolean;
}

export interface RunSettings {
  /** File to write the notebook to, before the first cell and after each one (default: none). */
  readonly output?: string;
  /** Timeout of one cell, in milliseconds (default: none). */
  readonly timeoutMs?: number;
  /** Whether to continue after a failed cell. */
  readonly keepGoing?: boolean;
  readonly signal: AbortSignal;
  readonly progress?: (cell: CellProgress) => void;
}

/**
 * Runs the cells of a notebook without Jupyter, after removing their outputs, and returns the failed ones. The first failure ends
 * the run, as in Jupyter, unless the cell has the tag `raises-exception` or `keepGoing` is set.
 */
export async function runNotebook(
  notebook: Notebook,
  handler: KernelHandler,
  settings: RunSettings,
): Promise<readonly FailedCell[]> {
  const cells = notebook.cells.filter(cell => cell.cell_type === 'code');
  for (const cell of cells) forget(cell);
  const full = cells.filter(cell => sourceOf(cell).trim() !== '');
  const displays: Displays = new Map();
  const failures: FailedCell[] = [];
  const save = async () => settings.output && writeNotebook(settings.output, notebook);
  await save();
  for (const [index, cell] of full.entries()) {
    const cellFacts = { index: index + 1, cells: full.length, firstLine: firstLineOf(cell) };
    settings.progress?.(cellFacts);
    const started = performance.now();
    const failure = await runCell(cell, index + 1, handler, displays, settings);
    if (failure !== undefined) failures.push(failure);
    await save();
    const elapsedMs = performance.now() - started;
    settings.progress?.({ ...cellFacts, elapsedMs, failed: failure !== undefined });
    if (settings.signal.aborted || (failure !== undefined && settings.keepGoing !== true)) break;
  }
  return failures;
}

/** Runs a line outside of any cell, without showing its outputs. */
export function runLine(handler: KernelHandler, code: string, signal: AbortSignal): Promise<ExecuteOutcome> {
  const cell: CodeCell = {
    cell_type: 'code',
    source: code,
    metadata: {},
    execution_count: null,
    outputs: [],
  };
  return handler.execute({ code, userExpressions: {} }, new OutputCollector(cell, 0, new Map(), signal));
}

/** Formats a failure as lines for a terminal: the cell, then the traceback. */
export function failureLines({ executionCount, line, traceback }: FailedCell): readonly string[] {
  const begins = line === undefined ? '' : `, which begins at line ${line}`;
  return [`cell [${executionCount}]${begins}:`, ...traceback];
}

function forget(cell: CodeCell): void {
  cell.outputs = [];
  cell.execution_count = null;
}

function firstLineOf(cell: CodeCell): string {
  return sourceOf(cell).trim().split('\n')[0] ?? '';
}

async function runCell(
  cell: CodeCell,
  executionCount: number,
  handler: KernelHandler,
  displays: Displays,
  settings: RunSettings,
): Promise<FailedCell | undefined> {
  cell.execution_count = executionCount;
  const code = sourceOf(cell);
  const { outputs, ended, late } = await underLimit(settings.signal, settings.timeoutMs, async signal => {
    const outputs = new OutputCollector(cell, executionCount, displays, signal);
    const ended = await handler.execute({ code, userExpressions: {} }, outputs);
    return { outputs, ended, late: isLate(signal) };
  });
  if (ended.status === 'ok') return undefined;
  const outcome = late ? timedOut(settings.timeoutMs ?? 0) : ended;
  outputs.error(outcome);
  if (cell.metadata.tags?.includes('raises-exception')) return undefined;
  const traceback = outcome.traceback.flatMap(text => stripVTControlCharacters(text).split('\n'));
  return { executionCount, line: lineOf(cell), traceback };
}

function timedOut(limitMs: number): Extract<ExecuteOutcome, { status: 'error' }> {
  const evalue = `the cell was stopped after ${limitMs / 1000} s, the limit of this run; its query was canceled`;
  return { status: 'error', ename: 'Timeout', evalue, traceback: [`Timeout: ${evalue}`] };
}
