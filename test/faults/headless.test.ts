import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aplKernel, startAplKernel } from '../commands/command.js';
import { randomOf, rounds } from './bench.js';

interface Written {
  readonly cells: readonly {
    readonly execution_count: number | null;
    readonly outputs: readonly unknown[];
  }[];
}

/** All commands share one home and one service. */
const home = mkdtempSync(join(tmpdir(), 'apl-faults-'));
const env = { HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'data') };

/** The notebook given to each command. */
let book = '';

beforeAll(async () => {
  const source = '%time last 1h\n// %%\nprint a = 1\n// %%\nprint n = range(1, 9000, 1)';
  writeFileSync(join(home, 'book-source.apl'), source);
  expect(await aplKernel(['run', 'book-source.apl', '-o', 'book.ipynb'], env)).toMatchObject({ code: 0 });
  book = readFileSync(join(home, 'book.ipynb'), 'utf8');
});

afterAll(async () => {
  await aplKernel(['serve', '--stop'], env);
  rmSync(home, { recursive: true, force: true });
});

/** Divides the run into this many equal intervals and kills it in each, in turn. */
const spans = 5;

test('a run killed at any moment leaves a valid notebook with the cells that had ended', async () => {
  const cells = Array.from({ length: 12 }, (_, index) => `print n = range(1, ${index + 1}000, 1)`);
  writeFileSync(join(home, 'in.apl'), cells.join('\n// %%\n'));
  const output = join(home, 'out.ipynb');
  const startedMs = performance.now();
  expect(await aplKernel(['run', 'in.apl', '-o', 'out.ipynb'], env)).toMatchObject({ code: 0 });
  const wholeMs = performance.now() - startedMs;
  const whole = JSON.parse(readFileSync(output, 'utf8')) as Written;
  const random = randomOf('headless');
  const count = rounds('headless', 5, 200);
  for (let round = 0; round < count; round++) {
    const run = startAplKernel(['run', 'in.apl', '-o', 'out.ipynb'], env);
    const afterMs = (((round % spans) + random()) / spans) * wholeMs;
    await Promise.race([once(run, 'exit'), delay(afterMs)]);
    run.kill('SIGKILL');
    expect(existsSync(output)).toBe(true);
    const { cells: left } = JSON.parse(readFileSync(output, 'utf8')) as Written;
    expect(left.length).toBe(whole.cells.length);
    const ended = left.filter(({ outputs }) => outputs.length > 0).length;
    for (const [index, { outputs, execution_count }] of left.entries())
      expect([index, execution_count, outputs.length]).toEqual(
        index < ended ? [index, index + 1, whole.cells[index]?.outputs.length] : [index, null, 0],
      );
    console.log(`killed after ${afterMs.toFixed(0)} ms: ${ended} cells had ended`);
  }
});

test.each([
  ['freeze', ['freeze', 'book.ipynb']],
  ['strip', ['strip', 'book.ipynb']],
  ['convert', ['convert', 'book.ipynb', '-o', 'book.apl']],
  ['export', ['export', 'book.ipynb', '-o', 'book.html']],
  ['verify', ['verify', 'book.ipynb']],
])('%s killed at any moment leaves each file as before or complete', async (name, args) => {
  const files = ['book.ipynb', 'book.apl', 'book.html'].map(file => join(home, file));
  const state = () => files.map(file => (existsSync(file) ? readFileSync(file, 'utf8') : undefined));
  const layOut = (texts: readonly (string | undefined)[]) => {
    for (const [index, file] of files.entries()) writeFileSync(file, texts[index] ?? 'as it was');
  };
  const before = [book, 'as it was', 'as it was'];
  layOut(before);
  const started = performance.now();
  expect(await aplKernel(args, env)).toMatchObject({ code: 0 });
  const whole = performance.now() - started;
  const after = state();
  expect(after.filter((text, index) => text !== before[index]).length).toBe(name === 'verify' ? 0 : 1);
  const random = randomOf(name);
  const count = rounds(name, 3, 200);
  let ended = 0;
  for (let round = 0; round < count; round++) {
    layOut(before);
    const command = startAplKernel(args, env);
    await Promise.race([once(command, 'exit'), delay(random() * 1.2 * whole)]);
    command.kill('SIGKILL');
    if (command.exitCode === null && command.signalCode === null) await once(command, 'exit');
    const left = state();
    expect([before, after]).toContainEqual(left);
    if (JSON.stringify(left) === JSON.stringify(after)) ended++;
  }
  if (name !== 'verify') console.log(`${name}: ${ended} of ${count} had written`);
});
