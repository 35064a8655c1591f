import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lineOf, parseNotebook } from '../../kernel/headless/notebook.js';
import { failureLines, type HeadlessReport, runNotebook } from '../../kernel/headless/run.js';
import type { KernelHandler } from '../../kernel/jupyter/message.js';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'apl-run-'));
});

afterEach(() => rm(directory, { recursive: true }));

/** Prints each cell; one that begins with `fail` fails in colour. */
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

async function run(name: string, text: string): Promise<HeadlessReport> {
  const path = join(directory, name);
  await writeFile(path, text);
  return runNotebook(path, join(directory, 'out'), handler, new AbortController().signal);
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

test('the failed cell is named by its execution count, and the run ends there', async () => {
  const report = await run('a.ipynb', notebook(cell('one'), cell(' '), cell('fail'), cell('never')));
  expect(report.failure).toEqual({
    executionCount: 2,
    line: undefined,
    traceback: ['bad: why', '1 | a', '  | ^'],
  });
  expect(failureLines(report.failure as NonNullable<typeof report.failure>)).toEqual([
    'cell [2]:',
    'bad: why',
    '1 | a',
    '  | ^',
  ]);
  const { cells } = JSON.parse(await readFile(report.notebook, 'utf8'));
  const written = cells as readonly {
    execution_count: number | null;
    outputs: readonly { text?: string }[];
  }[];
  expect(
    written.map(({ execution_count, outputs }) => [execution_count, outputs.map(({ text }) => text)]),
  ).toEqual([
    [1, ['one']],
    [null, []],
    [2, ['fail', undefined]],
    [null, []],
  ]);
});

test('the failed cell of a script is named by its line too', async () => {
  const { failure } = await run('a.apl', '// %%\none\n// %%\n\n\nfail\n');
  expect(failureLines(failure as NonNullable<typeof failure>)[0]).toBe('cell [2], which begins at line 6:');
});

test('a cell that is expected to fail ends nothing', async () => {
  const report = await run('a.ipynb', notebook(cell('fail', ['raises-exception']), cell('one')));
  expect([report.failure, report.cells]).toEqual([undefined, 2]);
});

test.each<readonly [string, readonly (number | undefined)[]]>([
  ['one', [1]],
  ['\n\none\ntwo', [3]],
  ['one\n// %%\ntwo\n// %% [markdown]\n// prose\n// %%\n\nthree', [1, 3, 4, 8]],
  ['// %% a title\none\n\n// %%\none', [2, 5]],
])('the cells of %j begin at their lines', (text, lines) => {
  const parsed = parseNotebook(text, 'apl');
  expect(typeof parsed === 'string' ? parsed : parsed.cells.map(lineOf)).toEqual(lines);
});
