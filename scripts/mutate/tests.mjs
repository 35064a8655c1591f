/**
 * Runs tests of one copy of the project repeatedly, on request over IPC: `{ changed, tests }` in, `{ passed }` out. Modules that
 * have not changed since the previous run stay compiled, which saves most of the work.
 */
import { createVitest } from 'vitest/node';

const vitest = await createVitest('test', {
  root: process.cwd(),
  watch: false,
  bail: 1,
  maxWorkers: 1,
  reporters: [{}],
  project: ['fast', 'service'],
});

process.on('message', async (/** @type {{ changed: string[], tests: string[] }} */ { changed, tests }) => {
  for (const file of changed) vitest.invalidateFile(file);
  const specifications = await vitest.globTestSpecifications(tests);
  const { unhandledErrors } = await vitest.runTestSpecifications(specifications);
  // The returned modules are those of all runs so far: an earlier failure would otherwise fail each run.
  const failed = specifications.some(({ testModule }) => testModule?.state() === 'failed');
  // A stage without tests, such as one of the built package alone, detects nothing.
  process.send?.({ passed: !failed && unhandledErrors.length === 0 });
});
process.send?.('ready');
