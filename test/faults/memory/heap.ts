import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

/** Memory of a process after a full garbage collection, in bytes. */
export interface Heap {
  /** JavaScript objects and the buffers they hold. */
  readonly used: number;
  /** Resident memory of the process, including the engine. */
  readonly resident: number;
}

/**
 * Makes Node interpret all code and allocate feedback for each function at its first call: code compiled, optimized or flushed over
 * thousands of calls would count as memory. In a long campaign that is negligible, and compiled code saves hours.
 */
const steadyCode = [
  ...['--no-opt', '--no-maglev', '--no-sparkplug'],
  ...['--no-lazy-feedback-allocation', '--no-flush-bytecode'],
];

/** Measures processes started with its arguments; the figures are exchanged through a file in the directory. */
export class HeapMeter {
  readonly #file: string;

  constructor(directory: string) {
    this.#file = join(directory, 'heap.json');
  }

  /** Returns the Node arguments for a program with this much work: on SIGUSR2, it collects garbage and writes the memory in use. */
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

/** Returns the typical growth per step, in bytes: the median, since anything loaded or cached once affects only one step. */
export function growthOf(figures: readonly number[]): number {
  const growths = figures.slice(1).map((figure, index) => figure - (figures[index] ?? 0));
  const sorted = growths.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}
