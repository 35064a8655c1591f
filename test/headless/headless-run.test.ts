import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readNotebook } from '../../kernel/headless/headless-file.js';
import {
  type FailedCell,
  failureLines,
  type RunSettings,
  runNotebook,
} from '../../kernel/headless/headless-run.js';
import type { KernelHandler } from '../../kernel/jupyter/message.js';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'apl-run-'));
});

afterEach(() => rm(directory, { recursive: true }));

/** Prints each cell; one that begins with `fail` fails with colored output. */
const handler = {
  execute: async ({ code }, io) => {
    io.stream('stdout', code);
    if (!code.startsWith('fail')) return { status: 'ok', userExpressions: {} };
    return {
      status: 'error',
      ename: 'bad',
      evalue: 'why',
      traceback: ['\u001b[31mbad\u001b[39m: why', '1 | a\n  | ^'],
    };
  },
} as Partial<KernelHandler> as KernelHandler;

async function run(
  name: string,
  text: string,
  settings: Partial<RunSettings> = {},
  by: KernelHandler = handler,
): Promise<readonly FailedCell[]> {
  const path = join(directory, name);
  await writeFile(path, text);
  const output = join(directory, 'out.ipynb');
  return runNotebook(await readNotebook(path), by, {
    output,
    signal: new AbortController().signal,
    ...settings,
  });
}

interface Written {
  readonly execution_count: number | null;
  readonly outputs: readonly { readonly text?: readonly string[]; readonly ename?: string }[];
}

async function written(): Promise<readonly (readonly [number | null, readonly (string | undefined)[]])[]> {
  const { cells } = JSON.parse(await readFile(join(directory, 'out.ipynb'), 'utf8'));
  return (cells as readonly Written[]).map(({ execution_count, outputs }) => [
    execution_count,
    outputs.map(({ text, ename }) => text?.join('') ?? ename),
  ]);
}

const cell = (source: string, tags: readonly string[] = []) => ({
  cell_type: 'code',
  source,
  metadata: { tags },
  outputs: [{ output_type: 'stream', name: 'stdout', text: 'old' }],
  execution_count: 9,
});

const notebook = (...cells: readonly object[]) =>
  JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 });

test('a run stops at a failing cell and names it by its execution count', async () => {
  const [failure, ...others] = await run(
    'a.ipynb',
    notebook(cell('one'), cell(' '), cell('fail'), cell('never')),
  );
  expect([failure, others]).toEqual([
    { executionCount: 2, line: undefined, traceback: ['bad: why', '1 | a', '  | ^'] },
    [],
  ]);
  expect(failureLines(failure as FailedCell)).toEqual(['cell [2]:', 'bad: why', '1 | a', '  | ^']);
  expect(await written()).toEqual([
    [1, ['one']],
    [null, []],
    [2, ['fail', 'bad']],
    [null, []],
  ]);
});

test('a run with keepGoing names every failing cell', async () => {
  const failures = await run('a.ipynb', notebook(cell('fail'), cell('one'), cell('fail')), {
    keepGoing: true,
  });
  expect(failures.map(({ executionCount }) => executionCount)).toEqual([1, 3]);
  expect(await written()).toEqual([
    [1, ['fail', 'bad']],
    [2, ['one']],
    [3, ['fail', 'bad']],
  ]);
});

test('the notebook is written before the first cell and after each', async () => {
  const seen: unknown[] = [];
  const watching = {
    execute: async (request, io) => {
      seen.push(await written());
      return handler.execute(request, io);
    },
  } as Partial<KernelHandler> as KernelHandler;
  await run('a.ipynb', notebook(cell('one'), cell('two')), {}, watching);
  expect(seen).toEqual([
    [
      [null, []],
      [null, []],
    ],
    [
      [1, ['one']],
      [null, []],
    ],
  ]);
});

test('a cell over the time limit is stopped, and the run ends', async () => {
  const slow = {
    execute: (_, { signal }) =>
      new Promise(settle =>
        signal.addEventListener('abort', () =>
          settle({ status: 'error', ename: 'Interrupted', evalue: 'stopped', traceback: [] }),
        ),
      ),
  } as Partial<KernelHandler> as KernelHandler;
  const [failure] = await run('a.ipynb', notebook(cell('one'), cell('two')), { timeoutMs: 20 }, slow);
  expect(failure?.traceback).toEqual([
    'Timeout: the cell was stopped after 0.02 s, the limit of this run; its query was canceled',
  ]);
  expect(await written()).toEqual([
    [1, ['Timeout']],
    [null, []],
  ]);
});

test('a failing cell of a script is also named by its line', async () => {
  const [failure] = await run('a.apl', '// %%\none\n// %%\n\n\nfail\n');
  expect(failureLines(failure as FailedCell)[0]).toBe('cell [2], which begins at line 6:');
});

test('a run continues after a cell that is expected to fail', async () => {
  expect(await run('a.ipynb', notebook(cell('fail', ['raises-exception']), cell('one')))).toEqual([]);
  expect(await written()).toEqual([
    [1, ['fail', 'bad']],
    [2, ['one']],
  ]);
});
