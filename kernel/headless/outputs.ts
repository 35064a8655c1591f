import { stripVTControlCharacters } from 'node:util';
import { AplKernelError } from '../errors.js';
import type { CellIo, DisplayData, ExecuteOutcome } from '../jupyter/message.js';
import { visibleAgain } from '../text.js';
import { type CodeCell, type Notebook, type NotebookOutput, textOf } from './notebook.js';

/** Displays of a run by id, so that a later cell can update an earlier output. */
export type Displays = Map<string, Extract<NotebookOutput, { output_type: 'display_data' }>>;

/** Collects what a cell emits as notebook outputs, as a front end does. */
export class OutputCollector implements CellIo {
  readonly executionCount: number;
  readonly silent = false;
  readonly storeHistory = true;
  readonly allowStdin = false;
  readonly signal: AbortSignal;
  readonly #cell: CodeCell;
  readonly #displays: Displays;
  #clearBeforeNext = false;

  constructor(cell: CodeCell, executionCount: number, displays: Displays, signal: AbortSignal) {
    this.#cell = cell;
    this.#displays = displays;
    this.executionCount = executionCount;
    this.signal = signal;
  }

  stream(name: 'stdout' | 'stderr', text: string): void {
    const last = this.#clearBeforeNext ? undefined : this.#cell.outputs.at(-1);
    if (last?.output_type === 'stream' && last.name === name) last.text = textOf(last.text) + text;
    else this.#add({ output_type: 'stream', name, text });
  }

  display({ data, metadata, displayId }: DisplayData): void {
    const shown = { output_type: 'display_data' as const, data, metadata };
    if (displayId !== undefined) this.#displays.set(displayId, shown);
    this.#add(shown);
  }

  updateDisplay({ data, metadata, displayId }: DisplayData & { readonly displayId: string }): void {
    const shown = this.#displays.get(displayId);
    if (shown) Object.assign(shown, { data, metadata });
  }

  result({ data, metadata }: DisplayData): void {
    this.#add({ output_type: 'execute_result', execution_count: this.executionCount, data, metadata });
  }

  clearOutput(wait: boolean): void {
    this.#clearBeforeNext = wait;
    if (!wait) this.#cell.outputs = [];
  }

  /** Nobody is watching. */
  passing(): void {}

  /** A run leaves the sources of the notebook unchanged. */
  nextInput(): void {}

  leave(): void {}

  async input(): Promise<string> {
    throw new AplKernelError('no-input', 'this cell asks for input, but nobody can be asked in this run', {
      hint: 'run it in a notebook',
    });
  }

  /** Adds a failed cell's error as its last output. */
  error({ ename, evalue, traceback }: Extract<ExecuteOutcome, { status: 'error' }>): void {
    this.#add({ output_type: 'error', ename, evalue, traceback: [...traceback] });
  }

  #add(output: NotebookOutput): void {
    if (this.#clearBeforeNext) this.#cell.outputs = [];
    this.#clearBeforeNext = false;
    this.#cell.outputs.push(output);
  }
}

/** Returns the text outputs of a notebook as a terminal shows them, with control sequences made harmless. Omits errors. */
export function printedOutputs({ cells }: Notebook): readonly string[] {
  return cells
    .flatMap(cell => (cell.cell_type === 'code' ? cell.outputs : []))
    .flatMap(output => {
      const text = printed(output);
      return text === undefined ? [] : visibleAgain(stripVTControlCharacters(textOf(text))).trimEnd();
    });
}

function printed(output: NotebookOutput): string | string[] | undefined {
  if (output.output_type === 'error') return undefined;
  if (output.output_type === 'stream') return output.text;
  const plain = output.data['text/plain'];
  return typeof plain === 'string' || Array.isArray(plain) ? plain : undefined;
}
