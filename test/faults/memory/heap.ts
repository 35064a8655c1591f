import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

/** What a process has in memory after everything unreachable was collected, in bytes. */
export interface Heap {
  /** Objects of JavaScript, and buffers that they hold. */
  readonly used: number;
  /** All memory of the process, the engine's included. */
  readonly resident: number;
}

/**
 * Has Node interpret all code, and allocate at the first call what it remembers of each function: what is compiled, optimized or forgotten
 * over thousands of calls would count as memory. In a long campaign that is little, and compiled code saves hours.
 */
const steadyCode = [
  ...['--no-opt', '--no-maglev', '--no-sparkplug'],
  ...['--no-lazy-feedback-allocation', '--no-flush-bytecode'],
];

/** Measures processes that were started with its arguments; the figures go through a file of the directory. */
export class HeapMeter {
  readonly #file: string;

  constructor(directory: string) {
    this.#file = join(directory, 'heap.json');
  }

  /** Arguments of Node before the program, which will do so much work: on SIGUSR2 it collects, and writes what is left. */
  nodeArguments(count: number): readonly string[] {
    const program = `import { renameSync, writeFileSync } from 'node:fs';
process.on('SIGUSR2', () => setTimeout(() => {
  for (let time = 0; time < 4; time += 1) globalThis.gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  writeFileSync(FILE + '.part', JSON.stringify({ used: heapUsed + external, resident: rss }));
  renameSync(FILE + '.part', FILE);
}, 50));`.replaceAll('FILE', JSON.stringify(this.#file));
    const steady = count < 20_000 ? steadyCode : [];
    return ['--expose-gc', ...steady, '--import', `data:text/javascript,${encodeURIComponent(program)}`];
  }

  async measure(pid: number): Promise<Heap> {
    rmSync(this.#file, { force: true });
    process.kill(pid, 'SIGUSR2');
    const read = () => {
      try {
        return JSON.parse(readFileSync(this.#file, 'utf8')) as Heap;
      } catch {
        return undefined;
      }
    };
    await expect.poll(read, { interval: 20 }).toBeDefined();
    return read() ?? { used: 0, resident: 0 };
  }
}

/** The bytes that a step adds as a rule, of figures after each: their median. What is loaded or cached once moves one step alone. */
export function growthOf(figures: readonly number[]): number {
  const growths = figures.slice(1).map((figure, index) => figure - (figures[index] ?? 0));
  const sorted = growths.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}
