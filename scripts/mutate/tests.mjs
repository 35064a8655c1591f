/**
 * Runs tests of one copy of the project again and again, as asked over IPC: `{ changed, tests }` in, `{ passed }` out. Modules that
 * did not change since the run before stay translated, which is most of the work.
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
  // The modules in the answer are those of all runs so far: one that failed before would fail each run without it.
  const failed = specifications.some(({ testModule }) => testModule?.state() === 'failed');
  // A stage without tests, such as one of the built package alone, notices nothing.
  process.send?.({ passed: !failed && unhandledErrors.length === 0 });
});
process.send?.('ready');
