import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { aplKernel, startAplKernel } from '../commands/command.js';
import { randomOf, rounds, temporaryDirectory } from './bench.js';

interface Written {
  readonly cells: readonly {
    readonly execution_count: number | null;
    readonly outputs: readonly unknown[];
  }[];
}

test('a run that is killed at any moment leaves a whole notebook, with the cells that had ended', async () => {
  const home = await temporaryDirectory();
  const env = { HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'data') };
  const cells = Array.from({ length: 12 }, (_, index) => `print n = range(1, ${index + 1}000, 1)`);
  writeFileSync(join(home, 'in.apl'), cells.join('\n// %%\n'));
  const output = join(home, 'out.ipynb');
  expect(await aplKernel(['run', 'in.apl', '-o', 'out.ipynb'], env)).toMatchObject({ code: 0 });
  const whole = JSON.parse(readFileSync(output, 'utf8')) as Written;
  const random = randomOf('headless');
  const count = rounds('headless', 10, 200);
  try {
    for (let round = 0; round < count; round++) {
      const run = startAplKernel(['run', 'in.apl', '-o', 'out.ipynb'], env);
      await Promise.race([once(run, 'exit'), delay(random() * 2_500)]);
      run.kill('SIGKILL');
      expect(existsSync(output)).toBe(true);
      const { cells: left } = JSON.parse(readFileSync(output, 'utf8')) as Written;
      expect(left.length).toBe(whole.cells.length);
      const ended = left.filter(({ outputs }) => outputs.length > 0).length;
      for (const [index, { outputs, execution_count }] of left.entries())
        expect([index, execution_count, outputs.length]).toEqual(
          index < ended ? [index, index + 1, whole.cells[index]?.outputs.length] : [index, null, 0],
        );
    }
  } finally {
    await aplKernel(['serve', '--stop'], env);
  }
});
