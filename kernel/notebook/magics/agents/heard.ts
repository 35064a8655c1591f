import { stripVTControlCharacters } from 'node:util';
import type { CellIo, DisplayData, ExecuteOutcome } from '../../../jupyter/message.js';
import type { ResultCache } from '../../results/result-cache.js';
import type { AgentReply } from './agent-link.js';
import { reportOf } from './agent-report.js';

/** Collects what an agent's cell shows, for the agent too. */
export class Heard {
  /** Asks no questions, writes no cells, and ends with `signal`. */
  readonly io: CellIo;
  readonly #outputs: Partial<DisplayData>[] = [];

  constructor(io: CellIo, signal: AbortSignal) {
    const hear = (output: Partial<DisplayData>) => void this.#outputs.push(output);
    this.io = {
      ...{ executionCount: io.executionCount, silent: io.silent, storeHistory: io.storeHistory },
      ...{ allowStdin: false, signal },
      stream: (name, text) => {
        hear({ data: { 'text/plain': text.trimEnd() } });
        io.stream(name, text);
      },
      display: output => {
        hear(output);
        io.display(output);
      },
      updateDisplay: output => {
        const at = this.#outputs.findIndex(({ displayId }) => displayId === output.displayId);
        if (at >= 0) this.#outputs[at] = output;
        io.updateDisplay(output);
      },
      result: output => {
        hear(output);
        io.result(output);
      },
      clearOutput: wait => io.clearOutput(wait),
      passing: output => io.passing(output),
      nextInput: () => undefined,
      leave: () => undefined,
      input: (prompt, password) => io.input(prompt, password),
    };
  }

  /** Returns the response to the agent: the first rows of each result, the text of other outputs, and the error of a failed cell. */
  reply(outcome: ExecuteOutcome, results: ResultCache, rows: number): AgentReply {
    const ids = new Set<string>();
    const parts = this.#outputs.map(({ data, metadata }): AgentReply => {
      const { id } =
        (metadata?.apl as { readonly result?: { readonly id?: string } } | undefined)?.result ?? {};
      const found = id === undefined ? undefined : results.withId(id);
      if (id === undefined || found === undefined) return textOf(String(data?.['text/plain'] ?? ''));
      // The chart of a result is a separate output.
      const isKnown = ids.has(id);
      ids.add(id);
      return isKnown ? { sentences: [], lines: [] } : reportOf(found.result, rows);
    });
    const isError = outcome.status === 'error';
    const end = isError ? textOf(stripVTControlCharacters(outcome.traceback.join('\n'))) : undefined;
    return {
      sentences: [
        `The cell was added to the notebook and ${isError ? 'has failed' : 'has run'}.`,
        ...parts.flatMap(({ sentences }) => sentences),
      ],
      lines: [...parts, ...(end === undefined ? [] : [end])].flatMap(({ lines }) => lines),
      isError,
    };
  }
}

function textOf(text: string): AgentReply {
  return { sentences: [], lines: text.split('\n').map(line => JSON.stringify({ text: line })) };
}
